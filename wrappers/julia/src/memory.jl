# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Memory: runs Julia's collector before the library takes more memory; statistics, limits.

# The collector sees only 16 bytes of a tensor, however large it is. So the library calls back before it
# grows beyond a threshold, which is twice the memory in use after a collection. A collection of young
# objects is mostly enough; a full one runs if more than three quarters of the threshold stay in use
# after it. Only then may the threshold rise, so that a program that holds much memory does not run a
# full collection each time.
const LEAST_THRESHOLD = 16 << 20

# Set during a collection: the finalizers that it runs must not begin another one.
const COLLECTING = Threads.Atomic{Bool}(false)

function init_memory()
    id = Ref{Int64}(0)
    check(C.tsr_memory_pressure_add(CPU.type, CPU.index, pressure_pointer(), C_NULL, C_NULL, id))
    check(threshold!(CPU, LEAST_THRESHOLD))
end

function run_pressure(user::Ptr{Cvoid}, event::Ptr{C.tsr_memory_event})::Int32
    Threads.atomic_xchg!(COLLECTING, true) && return C.TSR_PRESSURE_NOTHING
    try
        what = unsafe_load(event)
        collect_for(Device(what.device_type, what.device_index), what.requested)
        return C.TSR_PRESSURE_FREED_MAYBE
    catch
        # No exception may pass through C, and the result is a number, not a status.
        return C.TSR_PRESSURE_NOTHING
    finally
        COLLECTING[] = false
    end
end

pressure_pointer() = @cfunction(run_pressure, Int32, (Ptr{Cvoid}, Ptr{C.tsr_memory_event}))

function collect_for(d::Device, requested)
    GC.gc(false)
    highest = threshold(d)
    if allocated_bytes(d) + requested > highest ÷ 4 * 3
        one_thread() ? collect_cycles() : GC.gc(true)
        highest = typemax(Int64)
    end
    # The requested bytes do not count: the request may be larger than all memory.
    threshold!(d, min(highest, max(LEAST_THRESHOLD, 2allocated_bytes(d))))
end

# From Julia 1.9 on there may be threads beside those that nthreads() counts.
one_thread() = (isdefined(Threads, :maxthreadid) ? Threads.maxthreadid() : Threads.nthreads()) == 1

function threshold(d::Device)
    nbytes = Ref{Int64}(LEAST_THRESHOLD)
    C.tsr_memory_pressure_threshold(d.type, d.index, nbytes)
    return nbytes[]
end

threshold!(d::Device, nbytes) = C.tsr_memory_pressure_threshold_set(d.type, d.index, nbytes)

function raw_stats(d::Device)
    stats = Ref{C.tsr_memory_stats}()
    GC.@preserve stats begin
        memory = Base.unsafe_convert(Ptr{C.tsr_memory_stats}, stats)
        ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), memory, 0, sizeof(C.tsr_memory_stats))
        unsafe_store!(Ptr{UInt32}(memory), sizeof(C.tsr_memory_stats) % UInt32)
    end
    return C.tsr_memory_stats_get(d.type, d.index, stats), stats
end

function allocated_bytes(d::Device)
    status, stats = raw_stats(d)
    return status == C.TSR_OK ? stats[].allocated_bytes.all.current : Int64(0)
end

"""
    Tessera.memory_stats(device=CPU)

Bytes in use (`allocated`), bytes held from the device (`reserved`), the peaks of both, and the number
of failed allocations.
"""
function memory_stats(d::Device=CPU)
    status, stats = raw_stats(d)
    check(status)
    s = stats[]
    return (
        allocated=s.allocated_bytes.all.current,
        allocated_peak=s.allocated_bytes.all.peak,
        reserved=s.reserved_bytes.all.current,
        reserved_peak=s.reserved_bytes.all.peak,
        retries=s.num_alloc_retries,
        out_of_memory=s.num_ooms,
    )
end

"Sets every peak to the current value."
reset_peak!(d::Device=CPU) = check(C.tsr_memory_reset_peak(d.type, d.index))

"Returns cached memory to the device; the result is the number of bytes."
function empty_cache!(d::Device=CPU)
    freed = Ref{Int64}(0)
    check(C.tsr_memory_empty_cache(d.type, d.index, freed))
    return freed[]
end

"""
    trim!(keep, device=CPU)

Returns cached memory to the device until at most `keep` bytes are held, as far as possible; the result
is the number of bytes.
"""
function trim!(keep::Integer, d::Device=CPU)
    freed = Ref{Int64}(0)
    check(C.tsr_memory_trim(d.type, d.index, keep, freed))
    return freed[]
end

"The most bytes the library may hold; `typemax(Int64)` means no limit."
function memory_limit(d::Device=CPU)
    nbytes = Ref{Int64}(0)
    check(C.tsr_memory_limit(d.type, d.index, nbytes))
    return nbytes[]
end

"Sets the most bytes the library may hold; beyond it an [`OutOfMemory`](@ref) is thrown."
memory_limit!(nbytes::Integer, d::Device=CPU) = check(C.tsr_memory_set_limit(d.type, d.index, nbytes))

"How many tensors are alive in the process."
live_tensors() = C.tsr_live_handles()

"How many nodes of autograd graphs are alive in the process."
live_nodes() = C.tsr_live_nodes()
