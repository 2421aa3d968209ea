# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Streams (queues of work on a device) and events (marks in a stream).

"""
    Stream(device=CPU)

A queue of work on a device. The work of one stream runs in order; streams run beside each other. See
[`with_stream`](@ref). The CPU works in order: every stream there is the default stream, every event is
done, and every wait returns at once.
"""
mutable struct Stream
    handle::tsr_stream
    function Stream(handle::tsr_stream)
        stream = new(handle)
        finalizer(x -> C.tsr_stream_release(x.handle), stream)
        return stream
    end
end

Base.unsafe_convert(::Type{tsr_stream}, stream::Stream) = stream.handle

function made_stream(f)
    out = Ref{tsr_stream}()
    check(f(out))
    return Stream(out[])
end

Stream(d::Device=CPU) = made_stream(out -> C.tsr_stream_create(d.type, d.index, out))

"The stream on which functions of this thread queue their work for a device."
current_stream(d::Device=CPU) = made_stream(out -> C.tsr_stream_current(d.type, d.index, out))

"""
    wrap_stream(device, native)

A stream of other code, such as a `cudaStream_t`, which its owner keeps alive; `C_NULL` is the default
stream.
"""
wrap_stream(d::Device, native::Ptr) =
    made_stream(out -> C.tsr_stream_wrap(d.type, d.index, convert(Ptr{Cvoid}, native), out))

"The device's own handle of a stream; `C_NULL` for the default stream."
function native(stream::Stream)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(C.tsr_stream_native(stream, out))
    return out[]
end

"The device of a stream."
function device(stream::Stream)
    kind, index = Ref{Int32}(0), Ref{Int32}(0)
    check(C.tsr_stream_device(stream, kind, index))
    return Device(kind[], index[])
end

"""
    with_stream(f, stream)

Calls `f` with `stream` as this thread's current stream of its device: functions queue their work on it,
and memory that they allocate belongs to it. A backward runs each operation on the stream of its
forward, and is ordered as one function on the current streams of its caller.
"""
with_stream(f, stream::Stream) = pinned() do
    before = made_stream(out -> C.tsr_stream_set_current(stream, out))
    try
        return f()
    finally
        made_stream(out -> C.tsr_stream_set_current(before, out))
    end
end

"""
    Event(device=CPU)

A mark in a stream, to query or wait for the work that was queued before it; see [`record!`](@ref).
"""
mutable struct Event
    handle::tsr_event
    function Event(d::Device=CPU)
        out = Ref{tsr_event}()
        check(C.tsr_event_create(d.type, d.index, out))
        event = new(out[])
        finalizer(x -> C.tsr_event_release(x.handle), event)
        return event
    end
end

Base.unsafe_convert(::Type{tsr_event}, event::Event) = event.handle

"Marks the work queued on the stream so far, instead of what the event marked before; returns the event."
function record!(event::Event, stream::Stream)
    check(C.tsr_event_record(event, stream))
    return event
end

"Work queued on `stream` from now on starts after the work that the event marks; does not wait itself."
wait_for(stream::Stream, event::Event) = check(C.tsr_stream_wait_event(stream, event))
"The same for all that is queued on another stream now."
wait_for(stream::Stream, other::Stream) = wait_for(stream, record!(Event(device(other)), other))

"Waits until the work of a stream, or the work that an event marks, is done, and reports its failures."
synchronize(stream::Stream) = check(C.tsr_stream_synchronize(stream))
synchronize(event::Event) = check(C.tsr_event_synchronize(event))

function is_done(stream::Stream)
    value = Ref{Int32}(0)
    check(C.tsr_stream_query(stream, value))
    return value[] != 0
end
"Whether the work of a stream, or the work that an event marks, is done; does not wait."
function is_done(event::Event)
    value = Ref{Int32}(0)
    check(C.tsr_event_query(event, value))
    return value[] != 0
end

"""
    record_stream(tensor, stream)

Tells the allocator that the stream uses the memory of the tensor too: once the tensor is gone, the
memory is used again only after the work that is queued on the stream by then.
"""
record_stream(t::Tensor, stream::Stream) = check(C.tsr_tensor_record_stream(t, stream))

"Whether the tensor was made in inference mode."
is_inference(t::Tensor) = info(t).flags & C.TSR_TENSOR_INFERENCE != 0
