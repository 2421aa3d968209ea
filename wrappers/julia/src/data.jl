# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# DataLoader: batches of samples.

"""
    DataLoader(tensors; batch_size=1, shuffle=false, drop_last=false, generator=nothing, sampler=nothing)
    DataLoader(data; ...)
    DataLoader(f, count; ...)

Batches of samples, in order or newly shuffled in each pass. The samples of a tensor, or of a tuple of
tensors and arrays, are along the first axis. Any other `data` has a length, and `data[i]` is sample number `i`: a tensor, an
array, a number, or a tuple of these; a batch stacks them. With a function, `f(i)` is the sample. With a [`DistributedSampler`](@ref) as `sampler` the samples and their order are
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

# A tuple with arrays is tensors side by side, and no list of samples.
const ArrayOrTensor = Union{Tensor,AbstractArray{<:Number}}
as_tensors(data::Tuple{Vararg{ArrayOrTensor}}) = map(x -> x isa Tensor ? x : Tensor(x), data)
as_tensors(data) = data

DataLoader(f, count::Integer; batch_size=1, shuffle=false, drop_last=false, generator=nothing, sampler=nothing) =
    DataLoader(f, Int(count), batch_size, shuffle, drop_last, generator, sampler)

function DataLoader(data; options...)
    data isa Tuple{Vararg{ArrayOrTensor}} && return DataLoader(as_tensors(data); options...)
    return DataLoader(i -> data[i], length(data); options...)
end
DataLoader(f::Function; options...) = throw(ArgumentError("DataLoader: a function needs the number of samples: DataLoader(f, count)"))

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

stacked(samples) = stack(map(part_of_sample, samples); dims=1)
stacked(samples::Vector{<:Tuple}) = ntuple(k -> stacked([s[k] for s in samples]), length(samples[1]))
part_of_sample(t::Tensor) = t
part_of_sample(x::Union{Number,AbstractArray{<:Number}}) = Tensor(x)
part_of_sample(x) = throw(ArgumentError("DataLoader: expected samples of tensors, arrays and numbers, got a $(typeof(x))"))

# ---- Data sets made of others ----

"""
    Subset(data, positions)

The samples `data[i]` at these positions, counted from 1.
"""
struct Subset{D}
    data::D
    positions::Vector{Int}
    function Subset(data::D, positions) where {D}
        count = length(data)
        wrong = findfirst(i -> !(1 <= i <= count), positions)
        wrong === nothing || throw(BoundsError(data, positions[wrong]))
        return new{D}(data, positions)
    end
end
Base.length(s::Subset) = length(s.positions)
Base.getindex(s::Subset, i::Integer) = s.data[s.positions[i]]

"""
    random_split(data, lengths; generator=nothing)

Parts of `data` of these lengths, or of these fractions of it, drawn at random without overlap: the same for the same
seed in every language. Tensors, and tuples of tensors and arrays, are divided along the first axis; other data become
[`Subset`](@ref)s.

```julia
train, test = random_split((x, y), [0.8, 0.2])
```
"""
function random_split(data, lengths; generator=nothing)
    data = as_tensors(data)
    count = data isa Union{Tensor,Tuple{Vararg{Tensor}}} ? size(first(listed(data)), 1) : length(data)
    counts = part_lengths(count, lengths)
    sum(counts) == count || throw(ArgumentError("random_split: lengths: expected a sum of $count, got $(sum(counts))"))
    order, ends = randperm(count; generator), cumsum(counts)
    return [part_of(data, order[(stop - n + 1):stop]) for (n, stop) in zip(counts, ends)]
end

part_of(data::Union{Tensor,Tuple{Vararg{Tensor}}}, chosen) = batch(data, chosen)
part_of(data, chosen) = Subset(data, Array(chosen) .+ 1)

part_lengths(count, lengths) = collect(Int, lengths)
# What fractions leave over goes to the first parts, one sample each.
function part_lengths(count, lengths::Union{AbstractVector{<:AbstractFloat},Tuple{Vararg{AbstractFloat}}})
    sum(lengths) ≈ 1 && all(>=(0), lengths) ||
        throw(ArgumentError("random_split: lengths: expected fractions with the sum 1, got $(collect(lengths))"))
    counts = [floor(Int, count * part) for part in lengths]
    for place in 1:(count - sum(counts))
        counts[mod1(place, length(counts))] += 1
    end
    return counts
end

"""
    ConcatDataset(data...)

The samples of several data sets, one after the other.
"""
struct ConcatDataset{D<:Tuple}
    data::D
    ConcatDataset(data...) = new{typeof(data)}(data)
end
Base.length(c::ConcatDataset) = sum(Int[length(data) for data in c.data])
function Base.getindex(c::ConcatDataset, i::Integer)
    place = i
    for data in c.data
        1 <= place <= length(data) && return data[place]
        place -= length(data)
    end
    throw(BoundsError(c, i))
end
