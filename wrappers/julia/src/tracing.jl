# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Traces of the library while a function runs: calls, kernels, nodes of the graph, memory.

const TRACE_KINDS = (
    call=C.TSR_TRACE_CALL, launch=C.TSR_TRACE_LAUNCH, node=C.TSR_TRACE_NODE,
    allocate=C.TSR_TRACE_ALLOCATE, free=C.TSR_TRACE_FREE, annotation=C.TSR_TRACE_ANNOTATION)

"""
One event that has ended. `begin_time` and `end_time` are nanoseconds of the system's monotonic clock, the one of
`time_ns()`. `parent` is the `correlation` of the enclosing record on its thread, 0 if there is none.
`value` is the bytes of memory, the sequence number of a node, the status of a call or kernel. `args`
holds the arguments of a call if they were requested: `(type, size)` for a tensor, `nothing` for an
absent one.
"""
struct TraceRecord
    kind::Symbol
    name::String
    family::String
    id::Int
    begin_time::Int64
    end_time::Int64
    correlation::UInt64
    parent::UInt64
    thread::Int
    value::Int64
    device::Union{Device,Nothing}
    args::Vector{Any}
end

"The result of `record`: the records in the order in which they ended, and the number of lost ones."
struct Trace
    records::Vector{TraceRecord}
    lost::Int
end

"""
    record(f; kinds=(:call, :launch, :node, :allocate, :free, :annotation), arguments=false, capacity=100_000)

Calls `f` and records the events of every thread meanwhile; returns `(f(), trace)`. One trace runs at a
time.
"""
function record(f; kinds=keys(TRACE_KINDS), arguments::Bool=false, capacity::Integer=100_000)
    flags = arguments ? C.TSR_TRACE_ARGUMENTS : Int32(0)
    for kind in kinds
        haskey(TRACE_KINDS, kind) || throw(ArgumentError("kinds: expected some of $(keys(TRACE_KINDS)), got $kind"))
        flags |= TRACE_KINDS[kind]
    end
    check(C.tsr_trace_start(capacity, flags))
    result = try
        f()
    finally
        check(C.tsr_trace_stop())
    end
    return result, read_trace()
end

function read_trace()
    room = 1024
    bytes = Base.zeros(UInt8, room * sizeof(C.tsr_trace_event))
    count, lost, all_lost = Ref{Int32}(room), Ref{Int64}(0), 0
    records = TraceRecord[]
    GC.@preserve bytes while count[] == room
        events = Ptr{C.tsr_trace_event}(pointer(bytes))
        unsafe_store!(Ptr{UInt32}(events), sizeof(C.tsr_trace_event))
        check(C.tsr_trace_read(events, room, count, lost))
        all_lost += lost[]
        append!(records, (trace_record(unsafe_load(events, i)) for i in 1:count[]))
    end
    return Trace(records, all_lost)
end

function trace_record(event::C.tsr_trace_event)
    family = event.family == C_NULL ? "" : unsafe_string(event.family)
    place = event.device_type == 0 ? nothing : Device(event.device_type, event.device_index)
    args = Any[trace_argument(unsafe_load(event.args, i)) for i in 1:event.n_args]
    kind = only(name for (name, bit) in pairs(TRACE_KINDS) if bit == event.kind)
    return TraceRecord(
        kind, unsafe_string(event.name), family, event.id, event.begin_time, event.end_time,
        event.correlation, event.parent, event.thread, event.value, place, args)
end

function trace_argument(value::C.tsr_value)
    kind = value.kind
    numbers(T) = unsafe_wrap(Array, Ptr{T}(value.pointer), value.n)
    kind == C.TSR_VALUE_BOOL && return value.integer != 0
    kind == C.TSR_VALUE_INT && return value.integer
    kind == C.TSR_VALUE_UNSIGNED && return value.integer % UInt64
    kind == C.TSR_VALUE_REAL && return value.real
    kind == C.TSR_VALUE_COMPLEX && return complex(value.real, value.imaginary)
    kind == C.TSR_VALUE_DTYPE && return element_type(Int32(value.integer))
    kind == C.TSR_VALUE_DEVICE && return Device(Int32(value.integer), value.n)
    kind == C.TSR_VALUE_TEXT && return unsafe_string(Ptr{UInt8}(value.pointer), value.integer)
    kind == C.TSR_VALUE_SHAPE && return (element_type(Int32(value.integer)), Tuple(numbers(Int64)))
    kind == C.TSR_VALUE_INTS && return copy(numbers(Int64))
    kind == C.TSR_VALUE_REALS && return copy(numbers(Float64))
    kind in (C.TSR_VALUE_POINTER, C.TSR_VALUE_GENERATOR) && return value.pointer
    kind == C.TSR_VALUE_LIST && return Any[trace_argument(v) for v in numbers(C.tsr_value)]
    return nothing
end
