# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Julia's call stacks, for anomaly mode, recordings of memory and profilers.

# One line for each frame, innermost first, without those of the package and of Base at the inner end.
function run_host_stack(user::Ptr{Cvoid}, text::Ptr{UInt8}, capacity::Int64, length::Ptr{Int64})::Int32
    unsafe_store!(length, 0)
    return guarded() do
        lines = sprint(write_frames, julia_frames())
        size = min(sizeof(lines), capacity)
        GC.@preserve lines unsafe_copyto!(text, pointer(lines), size)
        unsafe_store!(length, size)
        nothing
    end
end
host_stack_pointer() = @cfunction(run_host_stack, Int32, (Ptr{Cvoid}, Ptr{UInt8}, Int64, Ptr{Int64}))

function write_frames(io, frames)
    package, inside = @__DIR__, true
    for frame in frames
        file = string(frame.file)
        # Base says ./array.jl; code of the command line and of the REPL says ./none and ./REPL[1].
        of_base = startswith(file, "./") && endswith(file, ".jl")
        inside = inside && (startswith(file, package) || of_base)
        inside || println(io, file, ":", frame.line, " in ", frame.func)
    end
end

# The frames of Julia code. `stacktrace()` leaves out native frames too, but first reads the debug information of their
# libraries, and prints a complaint about every frame whose information is newer than the LLVM of this Julia.
function julia_frames()
    frames = NamedTuple{(:func, :file, :line),Tuple{Symbol,Symbol,Int}}[]
    for place in backtrace()
        found = place isa Ptr{Cvoid} ? lookup_julia(place) : StackTraces.lookup(place)
        append!(frames, [(func = f.func, file = f.file, line = Int(f.line)) for f in found if !f.from_c])
    end
    return frames
end

# As StackTraces.lookup; `skip_native` stops at the name of a native frame.
function lookup_julia(place::Ptr{Cvoid})
    skip_native = 1
    infos = ccall(:jl_lookup_code_address, Any, (Ptr{Cvoid}, Cint), place, skip_native)
    return [(func = info[1], file = info[2], line = info[3], from_c = info[5]) for info in infos]
end

# From now on the library gets the stacks of Julia, of all threads, where it wants a stack of the program.
give_host_stack() = check(C.tsr_host_stack_set(host_stack_pointer(), C_NULL, C_NULL))
