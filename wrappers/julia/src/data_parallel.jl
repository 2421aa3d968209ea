# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Data-parallel training, optimizers whose state is divided among ranks, checkpoints that ranks write together.
# All ranks of a group call the functions together.

"""
    DataParallel(group, model; find_unused=false, bucket_bytes=25 << 20, first_bucket_bytes=1 << 20,
                 broadcast_buffers=true, gradient_as_bucket_view=false, reduce_dtype=nothing)
    DataParallel(group, tensors; buffers=Tensor[], ...)

Averages the gradients of the parameters over the ranks of a group while the backward runs. At first all ranks get
the parameters and buffers of rank 0. Calling it computes the model's output:

    parallel = DataParallel(group, model)
    backward!(cross_entropy(parallel(images), classes))

With `find_unused` a parameter may get no gradient. With a `reduce_dtype`, `BFloat16` say, wider gradients travel in
it. [`no_sync`](@ref) and [`join_uneven`](@ref) are for several backwards per step and for ranks with fewer samples.
"""
mutable struct DataParallel{M}
    handle::C.tsr_data_parallel
    model::M
    function DataParallel(group, model, tensors, buffers; find_unused::Bool=false, bucket_bytes::Integer=25 << 20,
        first_bucket_bytes::Integer=1 << 20, broadcast_buffers::Bool=true, gradient_as_bucket_view::Bool=false,
        reduce_dtype=nothing)
        options = C.tsr_data_parallel_options(sizeof(C.tsr_data_parallel_options), Int32(find_unused), bucket_bytes,
            first_bucket_bytes, Int32(broadcast_buffers), Int32(gradient_as_bucket_view), dtype_bits(reduce_dtype), Int32(0))
        list, others, out = collect(Tensor, tensors), collect(Tensor, buffers), Ref{C.tsr_data_parallel}()
        raw, more = handles(list), handles(others)
        GC.@preserve list others check(C.tsr_data_parallel_new(group, raw, length(raw), more, length(more),
            Ref(options), out))
        parallel = new{typeof(model)}(out[], model)
        finalizer(x -> C.tsr_data_parallel_release(x.handle), parallel)
        return parallel
    end
end

DataParallel(group, tensors::AbstractVector{Tensor}; buffers=Tensor[], options...) =
    DataParallel(group, nothing, tensors, buffers; options...)
DataParallel(group, model::Layer; options...) = DataParallel(group, model, params(model), buffers(model); options...)

Base.unsafe_convert(::Type{C.tsr_data_parallel}, parallel::DataParallel) = parallel.handle

"""
    forward(f, parallel)

Calls `f`, which computes a tensor or several; the backward from them averages the gradients.
"""
function forward(f, parallel::DataParallel)
    return pinned() do
        check(C.tsr_data_parallel_forward_begin(parallel))
        result = f()
        list = result isa Tensor ? Tensor[result] : Tensor[t for t in result if t isa Tensor]
        raw = handles(list)
        GC.@preserve list check(C.tsr_data_parallel_forward_end(parallel, raw, length(raw)))
        result
    end
end
(parallel::DataParallel)(inputs...) = forward(() -> parallel.model(inputs...), parallel)

"""
    no_sync(f, parallel)

Forwards inside `f` have backwards that only add to the gradients of this rank; the first backward of a forward after
it averages the sums.
"""
function no_sync(f, parallel::DataParallel)
    before = Ref{Int32}(0)
    check(C.tsr_data_parallel_sync_set(parallel, 0, before))
    try
        return f()
    finally
        check(C.tsr_data_parallel_sync_set(parallel, before[], Ref{Int32}(0)))
    end
end

"""
    join_uneven(f, parallel; divide_by_initial_size=true, fail_when_uneven=false)

Ranks may have different numbers of forwards inside `f`. A rank whose `f` has returned takes part in the collectives
of the others; at the end all have the model of one that ran to the end.
"""
function join_uneven(f, parallel::DataParallel; divide_by_initial_size::Bool=true, fail_when_uneven::Bool=false)
    check(C.tsr_data_parallel_join_begin(parallel, divide_by_initial_size, fail_when_uneven))
    result = f()
    check(C.tsr_data_parallel_join_end(parallel))
    return result
end

"The buckets and the events of the last backward that averaged, as JSON."
function report(parallel::DataParallel)
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_data_parallel_report(parallel, buffer))
    return take_text(buffer[])
end

# ---- Optimizers whose state is divided ----

"""
    shard(state, group)

Divides the state of an optimizer that [`setup`](@ref) made: each rank keeps that of its share of the parameters.
`update!` of the result updates the share and gives all ranks the new values; options and gradients stay with `state`.
"""
mutable struct ShardedState{S<:OptimizerState}
    handle::C.tsr_sharded_optimizer
    state::S
    function ShardedState(state::S, group) where {S<:OptimizerState}
        out = Ref{C.tsr_sharded_optimizer}()
        check(C.tsr_optimizer_shard(state, group, out))
        sharded = new{S}(out[], state)
        finalizer(x -> C.tsr_sharded_optimizer_release(x.handle), sharded)
        return sharded
    end
end
shard(state::OptimizerState, group) = ShardedState(state, group)

Base.unsafe_convert(::Type{C.tsr_sharded_optimizer}, sharded::ShardedState) = sharded.handle
spare!(spared, sharded::ShardedState) = spare!(spared, sharded.state)

update!(sharded::ShardedState) = (check(C.tsr_sharded_optimizer_step(sharded)); sharded)
zero_grad!(sharded::ShardedState) = zero_grad!(sharded.state)

"""
    gather_state(sharded; to=0)

An optimizer with the states of all parameters, for `save_state`, on rank `to` (-1: on all); `nothing` on the others.
"""
function gather_state(sharded::ShardedState{S}; to::Integer=0) where {S}
    out = Ref{C.tsr_optimizer}()
    check(C.tsr_sharded_optimizer_gather(sharded, to, out))
    return out[] == C_NULL ? nothing : S(out[], sharded.state.params)
end

"The rank of each parameter and the bytes of this rank's states, as JSON."
function report(sharded::ShardedState)
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_sharded_optimizer_report(sharded, buffer))
    return take_text(buffer[])
end

# ---- Checkpoints ----

json_numbers(list) = "[" * join(list, ",") * "]"
json_slices(slices) = "{" * join(["$(json_text(name)):{\"offset\":$(json_numbers(part[1])),\"shape\":" *
    "$(json_numbers(part[2]))}" for (name, part) in slices], ",") * "}"

"""
    save_shards(path, tensors; group=nothing, slices=Dict(), metadata=Dict())

Writes named tensors into a folder, on all ranks together; one that several ranks have completely is written once.
`slices[name] = (offset, shape)` tells of a tensor of which this rank has a part where it begins, counted from 0, and
the shape of the whole. Without a group one process writes all.
"""
function save_shards(path::AbstractString, tensors; group=nothing, slices=Dict(), metadata=Dict{String,String}())
    named = pairs_of(tensors)
    names, parts, notes = json_array(first.(named)), json_slices(slices), json_object(metadata)
    list = Tensor[last(p) for p in named]
    raw = handles(list)
    GC.@preserve list check(C.tsr_shards_save(path, sizeof(path), names, sizeof(names), raw, length(raw), parts,
        sizeof(parts), notes, sizeof(notes), group === nothing ? C_NULL : group))
    return nothing
end

"""
    load_shards!(path, tensors; slices=Dict())

Copies saved values into the tensors; with `slices` as in [`save_shards`](@ref) into the parts that they are. The number
of ranks that saved does not matter.
"""
function load_shards!(path::AbstractString, tensors; slices=Dict())
    named = pairs_of(tensors)
    names, parts = json_array(first.(named)), json_slices(slices)
    list = Tensor[last(p) for p in named]
    raw = handles(list)
    GC.@preserve list check(C.tsr_shards_load(path, sizeof(path), names, sizeof(names), raw, length(raw), parts,
        sizeof(parts)))
    return tensors
end

"What a folder contains, as JSON."
function shards_index(path::AbstractString)
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_shards_index(path, sizeof(path), buffer))
    return take_text(buffer[])
end
