# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Recordings of memory: which operation asked for each block, where in the program, and a page about it.

"""
    Tessera.record_memory(f; device=CPU, entries=100_000, stacks=0, operations=true)

Calls `f` and records the allocations of the device meanwhile: with `operations`, the operation that asked
for each block, its type and its shape; with `stacks`, as many frames of the Julia stack, which costs a
fraction of a millisecond at each call. The latest `entries` events are kept.

    Tessera.record_memory(stacks=16) do
        train_step()
        write("memory.html", Tessera.memory_viewer())
    end
"""
function record_memory(f; device::Device=CPU, entries::Integer=100_000, stacks::Integer=0, operations::Bool=true)
    context = operations ? C.TSR_MEMORY_CONTEXT_OPERATIONS : C.TSR_MEMORY_CONTEXT_NONE
    options = Ref(C.tsr_memory_history_options(
        sizeof(C.tsr_memory_history_options), context, entries, stacks, 0))
    stacks > 0 && give_host_stack()
    check(C.tsr_memory_history_start(device.type, device.index, options))
    try
        return f()
    finally
        check(C.tsr_memory_history_stop(device.type, device.index))
    end
end

"Whether the allocations of the device are recorded now."
function is_memory_recorded(d::Device=CPU)
    running = Ref{Int32}(0)
    check(C.tsr_memory_history_running(d.type, d.index, running))
    return running[] != 0
end

"Who holds the memory now, the largest first, as a JSON array; needs a recording."
memory_holders(count::Integer=10, d::Device=CPU) =
    buffer_text(out -> C.tsr_memory_holders(d.type, d.index, count, out))

"Every segment and block of the allocator, and what was recorded, as one JSON object."
memory_snapshot(d::Device=CPU) = buffer_text(out -> C.tsr_memory_snapshot(d.type, d.index, out))

"""
    Tessera.memory_viewer(device=CPU)
    Tessera.memory_viewer(snapshot)

The memory of the device, or an earlier result of `memory_snapshot`, as an HTML page that needs no network.
"""
memory_viewer(d::Device=CPU) = buffer_text(out -> C.tsr_memory_viewer_html(d.type, d.index, out))
memory_viewer(snapshot::AbstractString) =
    buffer_text(out -> C.tsr_memory_viewer_page(snapshot, sizeof(snapshot), out))

function buffer_text(call)
    buffer = Ref{C.tsr_buffer}()
    check(call(buffer))
    return take_text(buffer[])
end

# ---- Settings ----

const SETTINGS = (
    :max_split_size, :max_non_split_rounding, :garbage_collection_threshold, :roundup_power2_divisions,
    :expandable_segments)

function raw_settings(d::Device)
    settings = Ref(C.tsr_memory_settings())
    check(C.tsr_memory_settings_get(d.type, d.index, settings))
    return settings[]
end

"How the caching allocator of the device keeps memory, as a named tuple; see `memory_settings!`."
memory_settings(d::Device=CPU) = NamedTuple{SETTINGS}(getfield.(Ref(raw_settings(d)), SETTINGS))

"""
    Tessera.memory_settings!(device=CPU; settings...)

Changes how the caching allocator keeps memory: `max_split_size`, `max_non_split_rounding`,
`garbage_collection_threshold`, `roundup_power2_divisions`, `expandable_segments`. What is not given stays.
"""
function memory_settings!(d::Device=CPU; settings...)
    all(in(SETTINGS), keys(settings)) || throw(ArgumentError("expected some of $SETTINGS, got $(keys(settings))"))
    now = raw_settings(d)
    fields = [get(settings, name, getfield(now, name)) for name in fieldnames(C.tsr_memory_settings)]
    return check(C.tsr_memory_settings_set(d.type, d.index, Ref(C.tsr_memory_settings(fields...))))
end

"Limits what the library may hold to a fraction of the device's memory."
memory_fraction!(fraction::Real, d::Device=CPU) =
    check(C.tsr_memory_set_limit_fraction(d.type, d.index, fraction))

# ---- Out of memory ----

function run_out_of_memory(user::Ptr{Cvoid}, event::Ptr{C.tsr_memory_event})::Cvoid
    try
        unbox(user)(unsafe_load(event).requested)
    catch
        # The error is reported without it.
    end
    return nothing
end
out_of_memory_pointer() = @cfunction(run_out_of_memory, Cvoid, (Ptr{Cvoid}, Ptr{C.tsr_memory_event}))

"""
    Tessera.with_out_of_memory_observer(f, observer; device=CPU)

Calls `f`; meanwhile `observer(requested_bytes)` runs at every out-of-memory error of the device, just before
it is thrown.
"""
function with_out_of_memory_observer(f, observer; device::Device=CPU)
    id = Ref{Int64}(0)
    check(C.tsr_memory_out_of_memory_add(
        device.type, device.index, out_of_memory_pointer(), root(observer), drop_pointer(), id))
    try
        return f()
    finally
        check(C.tsr_memory_out_of_memory_remove(id[]))
    end
end
