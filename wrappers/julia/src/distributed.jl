# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Groups of ranks that exchange tensors. Ranks count from 0, as those of MPI.jl do.

"An operation of a group, under way or done. Its tensors must not be used until `wait(work)` has returned."
mutable struct Work
    handle::C.tsr_work
    function Work(handle::C.tsr_work)
        work = new(handle)
        finalizer(x -> C.tsr_work_release(x.handle), work)
        return work
    end
end

Base.unsafe_convert(::Type{C.tsr_work}, work::Work) = work.handle

"""
    wait(work::Work; seconds=nothing)

Waits until the operation is done and throws its failure; after `seconds`, or without them the timeout of the group, it is
a `TesseraError` of the kind `:CANCELLED`.
"""
function Base.wait(work::Work; seconds::Union{Real,Nothing}=nothing)
    check(C.tsr_work_wait(work, seconds === nothing ? 0.0 : Float64(seconds), seconds !== nothing))
    return nothing
end

"Whether `wait(work)` would return at once. A failed operation is done."
function isdone(work::Work)
    found = Ref{Int32}(0)
    check(C.tsr_work_done(work, found))
    return found[] != 0
end

"The rank that a receive came from, after `wait(work)`."
function source_rank(work::Work)
    found = Ref{Int64}(-1)
    check(C.tsr_work_source(work, found))
    return Int(found[])
end

"""
    Group(backend="mpi"; rank=-1, size=-1, timeout=1800, checked=true, address="")

Ranks that exchange tensors; waits until all are there. `"mpi"`: processes that mpirun has started, which know rank and size.
`"threads"`: this process as the only rank. `"nccl"`: one GPU for each rank. Every rank calls the same
collectives in the same order; each waits, or, with `async=true`, returns a [`Work`](@ref) at once. Ranks count from 0.
"""
mutable struct Group
    handle::C.tsr_group
    function Group(handle::C.tsr_group)
        group = new(handle)
        finalizer(x -> C.tsr_group_release(x.handle), group)
        return group
    end
end

Base.unsafe_convert(::Type{C.tsr_group}, group::Group) = group.handle

function Group(backend::AbstractString="mpi"; rank::Integer=-1, size::Integer=-1, timeout::Real=1800, checked::Bool=true,
    address::AbstractString="")
    # A thread that waits in the library holds up the collections of the others, which never come to where it waits for them.
    backend == "threads" && size > 1 && throw(ArgumentError(
        "Group: the ranks of Julia are processes; expected size=1 for the backend \"threads\", got $size"))
    options = Ref(C.tsr_group_options(sizeof(C.tsr_group_options), rank, size, Int32(!checked), timeout, 0, 0))
    out = Ref{C.tsr_group}()
    name, place = String(backend), String(address)
    check(C.tsr_group_init(name, ncodeunits(name), place, ncodeunits(place), options, out))
    return Group(out[])
end

function group_info(group::Group)
    info = Ref(C.tsr_group_info(sizeof(C.tsr_group_info), 0, 0, 0, 0.0))
    check(C.tsr_group_describe(group, info))
    return info[]
end

"The rank of the caller, from 0."
group_rank(group::Group) = Int(group_info(group).rank)
"The number of ranks."
group_size(group::Group) = Int(group_info(group).size)
"Whether the group was aborted; every operation then fails with the first reason."
isaborted(group::Group) = group_info(group).aborted != 0

"The rank that a member has in the group from which this one was split."
function first_rank(group::Group, rank::Integer)
    found = Ref{Int64}(-1)
    check(C.tsr_group_first_rank(group, rank, found))
    return Int(found[])
end

"""
    split_group(group, color, key=0)

A collective of all members: those of one color form a group, in the order of `(key, rank)`; `nothing` for a negative color.
"""
function split_group(group::Group, color::Integer, key::Integer=0)
    out = Ref{C.tsr_group}()
    check(C.tsr_group_split(group, color, key, out))
    return out[] == C_NULL ? nothing : Group(out[])
end

"Ends the operations under way; later ones throw a `TesseraError` of the kind `:CANCELLED` with the reason."
function abort_group(group::Group, reason::AbstractString)
    text = String(reason)
    check(C.tsr_group_abort(group, text, ncodeunits(text)))
    return nothing
end

const REDUCTIONS = (sum=C.TSR_REDUCE_OP_SUM, avg=C.TSR_REDUCE_OP_AVG, min=C.TSR_REDUCE_OP_MIN, max=C.TSR_REDUCE_OP_MAX,
    prod=C.TSR_REDUCE_OP_PROD, bit_and=C.TSR_REDUCE_OP_BIT_AND, bit_or=C.TSR_REDUCE_OP_BIT_OR,
    bit_xor=C.TSR_REDUCE_OP_BIT_XOR)

function reduction(op::Symbol)
    haskey(REDUCTIONS, op) || throw(ArgumentError("op: expected one of $(keys(REDUCTIONS)), got :$op"))
    return REDUCTIONS[op]
end

# The work of a call; without `async` it is waited for.
function started(call, async::Bool)
    out = Ref{C.tsr_work}()
    check(call(out))
    work = Work(out[])
    async && return work
    return wait(work)
end

handles_in(t::Tensor) = handles([t])
handles_in(list) = handles(collect(list))

"Reduces tensors over all ranks, in place. `op`: `:sum`, `:avg`, `:min`, `:max`, `:prod`, `:bit_and`, `:bit_or`, `:bit_xor`."
function all_reduce!(group::Group, tensors; op::Symbol=:sum, async::Bool=false)
    raw = handles_in(tensors)
    return GC.@preserve tensors started(out -> C.tsr_group_all_reduce(group, raw, length(raw), reduction(op), out), async)
end

"As `all_reduce!` for one tensor, with the result only at the root."
reduce!(group::Group, t::Tensor, root::Integer; op::Symbol=:sum, async::Bool=false) =
    started(out -> C.tsr_group_reduce(group, t, reduction(op), root, out), async)

"Copies the root's tensors into those of the other ranks."
function broadcast_from!(group::Group, tensors, root::Integer; async::Bool=false)
    raw = handles_in(tensors)
    return GC.@preserve tensors started(out -> C.tsr_group_broadcast(group, raw, length(raw), root, out), async)
end

"Collects every rank's input on every rank: one output for each, or a single one for all, whose first axis in memory order
holds the ranks."
function all_gather!(group::Group, outputs, input::Tensor; async::Bool=false)
    raw = handles_in(outputs)
    return GC.@preserve outputs started(out -> C.tsr_group_all_gather(group, raw, length(raw), input, out), async)
end

"Reduces the ranks' inputs, one for each rank or a single one; each rank gets its part."
function reduce_scatter!(group::Group, output::Tensor, inputs; op::Symbol=:sum, async::Bool=false)
    raw = handles_in(inputs)
    return GC.@preserve inputs started(
        out -> C.tsr_group_reduce_scatter(group, output, raw, length(raw), reduction(op), out), async)
end

"Collects every rank's input at the root, which alone has outputs."
function gather_to!(group::Group, outputs, input::Tensor, root::Integer; async::Bool=false)
    raw = handles_in(outputs)
    return GC.@preserve outputs started(out -> C.tsr_group_gather(group, raw, length(raw), input, root, out), async)
end

"Gives each rank one input of the root, which alone has inputs."
function scatter_from!(group::Group, output::Tensor, inputs, root::Integer; async::Bool=false)
    raw = handles_in(inputs)
    return GC.@preserve inputs started(out -> C.tsr_group_scatter(group, output, raw, length(raw), root, out), async)
end

"Gives rank r the input of its number from every rank. Shapes may differ."
function all_to_all!(group::Group, outputs, inputs; async::Bool=false)
    to, from = handles_in(outputs), handles_in(inputs)
    return GC.@preserve outputs inputs started(
        out -> C.tsr_group_all_to_all(group, to, length(to), from, length(from), out), async)
end

"""
    all_to_all_single!(group, output, input; output_splits=nothing, input_splits=nothing)

As `all_to_all!`, with parts of single tensors along their first axis; without sizes they are equal.
"""
function all_to_all_single!(group::Group, output::Tensor, input::Tensor; output_splits=nothing, input_splits=nothing,
    async::Bool=false)
    to, from = split_sizes(output_splits), split_sizes(input_splits)
    return GC.@preserve to from started(out -> C.tsr_group_all_to_all_single(group, output, input,
            to === nothing ? C_NULL : pointer(to), to === nothing ? -1 : length(to),
            from === nothing ? C_NULL : pointer(from), from === nothing ? -1 : length(from), out), async)
end

split_sizes(sizes) = sizes === nothing ? nothing : collect(Int64, sizes)

"Waits until every rank has called it."
barrier(group::Group; async::Bool=false) = started(out -> C.tsr_group_barrier(group, out), async)

"Sends a tensor to one rank. Messages between two ranks with one tag arrive in their order."
send_to(group::Group, t::Tensor, peer::Integer; tag::Integer=0, async::Bool=false) =
    started(out -> C.tsr_group_send(group, t, peer, tag, out), async)

"Receives a tensor from one rank, or, with `peer=nothing`, from whichever sends first."
receive!(group::Group, t::Tensor, peer::Union{Integer,Nothing}=nothing; tag::Integer=0, async::Bool=false) =
    started(out -> C.tsr_group_recv(group, t, peer === nothing ? typemin(Int64) : peer, tag, out), async)
