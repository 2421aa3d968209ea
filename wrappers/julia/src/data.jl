# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# DataLoader: batches of samples.

"""
    DataLoader(tensors; batch_size=1, shuffle=false, drop_last=false, generator=nothing, sampler=nothing)
    DataLoader(f, count; ...)

Batches of samples, in order or newly shuffled in each pass. The samples of a tensor, or of a tuple of
tensors, are along the first axis. With a function, `f(i)` returns sample number `i`, a tensor or a
tuple of tensors, and the batch is stacked. With a [`DistributedSampler`](@ref) as `sampler` the samples and their order are
its own, whatever `shuffle` says.

```julia
for (images, classes) in DataLoader((x, y); batch_size=64, shuffle=true)
```
"""
struct DataLoader{S}
    source::S
    count::Int
    batch_size::Int
    shuffle::Bool
    drop_last::Bool
    generator::Union{Nothing,Generator}
    sampler::Union{Nothing,DistributedSampler}

    function DataLoader(source::S, count, batch_size, shuffle, drop_last, generator, sampler) where {S}
        batch_size >= 1 || throw(ArgumentError("DataLoader: batch_size $batch_size is below 1"))
        count = sampler === nothing ? count : length(sampler)
        return new{S}(source, count, batch_size, shuffle, drop_last, generator, sampler)
    end
end

function DataLoader(tensors::Union{Tensor,Tuple{Vararg{Tensor}}}; batch_size=1, shuffle=false,
        drop_last=false, generator=nothing, sampler=nothing)
    counts = unique(map(t -> size(t, 1), listed(tensors)))
    length(counts) == 1 || throw(DimensionMismatch("DataLoader: the tensors have $counts samples"))
    return DataLoader(tensors, counts[1], batch_size, shuffle, drop_last, generator, sampler)
end

DataLoader(f, count::Integer; batch_size=1, shuffle=false, drop_last=false, generator=nothing, sampler=nothing) =
    DataLoader(f, Int(count), batch_size, shuffle, drop_last, generator, sampler)

Base.length(d::DataLoader) = d.drop_last ? d.count ÷ d.batch_size : cld(d.count, d.batch_size)
Base.eltype(::Type{<:DataLoader}) = Any

function Base.iterate(d::DataLoader)
    order = d.sampler !== nothing ? zero_based_positions(d.sampler) :
        d.shuffle ? randperm(d.count; generator=d.generator) : Tensor(collect(0:(d.count - 1)))
    return iterate(d, (order, 1))
end

function Base.iterate(d::DataLoader, (order, first))
    last = min(first + d.batch_size - 1, d.count)
    enough = d.drop_last ? last - first + 1 == d.batch_size : first <= last
    enough || return nothing
    return batch(d.source, view(order, first:last)), (order, last + 1)
end

batch(t::Tensor, chosen) = no_grad(() -> index_select(t, chosen; dims=1))
batch(tensors::Tuple, chosen) = map(t -> batch(t, chosen), tensors)
batch(f, chosen) = stacked([f(i + 1) for i in Array(chosen)])

stacked(samples::Vector{Tensor}) = stack(samples; dims=1)
stacked(samples::Vector{<:Tuple}) =
    ntuple(k -> stack(Tensor[s[k] for s in samples]; dims=1), length(samples[1]))
