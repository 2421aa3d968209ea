# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Julia's call stacks, for anomaly mode, recordings of memory and profilers.

# One line for each frame, innermost first, without those of the package and of Base at the inner end.
function run_host_stack(user::Ptr{Cvoid}, text::Ptr{UInt8}, capacity::Int64, length::Ptr{Int64})::Int32
    unsafe_store!(length, 0)
    return guarded() do
        lines = sprint(write_frames, stacktrace())
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
        inside = inside && (startswith(file, package) || startswith(file, "./"))  # Base says ./array.jl
        inside || println(io, file, ":", frame.line, " in ", frame.func)
    end
end

# From now on the library gets the stacks of Julia, of all threads, where it wants a stack of the program.
give_host_stack() = check(C.tsr_host_stack_set(host_stack_pointer(), C_NULL, C_NULL))
