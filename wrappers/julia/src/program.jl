# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Programs: calls recorded while a function runs once, saved as one file, run without the function.

"""
Recorded calls with their tensors, made by [`record_program`](@ref) or [`load_program`](@ref). Call it
with tensors: `program(x)` gives a tensor, or a tuple where there are several outputs.
"""
mutable struct Program
    handle::C.tsr_program
    function Program(handle)
        program = new(handle)
        finalizer(x -> C.tsr_program_release(x.handle), program)
        return program
    end
end

Base.unsafe_convert(::Type{C.tsr_program}, program::Program) = program.handle

"""
    record_program(f, inputs...; parameters=Dict())

The calls that `f(inputs...)` makes. Parameters, by name, keep their names; every other tensor that is
used becomes a constant.
"""
function record_program(f, inputs::Tensor...; parameters=Dict{String,Tensor}())
    named = [String(k) => v for (k, v) in pairs_of(parameters)]
    names = json_array(first.(named))
    given, kept = collect(Tensor, inputs), Tensor[last(p) for p in named]
    raw, raw_kept = handles(given), handles(kept)
    return pinned() do  # the recording is of this thread
        GC.@preserve given kept check(C.tsr_program_record_begin(raw, length(raw), C_NULL, 0, raw_kept,
            length(raw_kept), names, sizeof(names)))
        try
            result = f(inputs...)
            outputs = result isa Tensor ? Tensor[result] : collect(Tensor, something(result, ()))
            raw_outputs, out = handles(outputs), Ref{C.tsr_program}()
            GC.@preserve outputs check(
                C.tsr_program_record_end(raw_outputs, length(raw_outputs), C_NULL, 0, out))
            return Program(out[])
        finally
            check(C.tsr_program_record_cancel())
        end
    end
end

"Reads a program that any language has saved."
function load_program(path::AbstractString)
    out = Ref{C.tsr_program}()
    check(C.tsr_program_load(path, sizeof(path), out))
    return Program(out[])
end

"Writes a program, its tensors and the states of its optimizers as one safetensors file."
function save_program(path::AbstractString, program::Program)
    check(C.tsr_program_save(program, path, sizeof(path)))
    return nothing
end

"Reads a program from the contents of a file."
function load_program(io::IO)
    bytes, out = read(io), Ref{C.tsr_program}()
    GC.@preserve bytes check(C.tsr_program_from_bytes(pointer(bytes), length(bytes), out))
    return Program(out[])
end

"Writes what the file of [`save_program`](@ref) would contain."
function save_program(io::IO, program::Program)
    write(io, program_text(C.tsr_program_to_bytes, program))
    return nothing
end

"""
One program from recordings with different sizes, for every size. `names` are those of the sizes that
differ, in the order of the inputs' axes; without them they are n, or n0, n1 ...
"""
function unify(programs::AbstractVector{Program}; names=String[])
    raw, out = C.tsr_program[p.handle for p in programs], Ref{C.tsr_program}()
    if isempty(names)
        GC.@preserve programs check(C.tsr_program_unify(raw, length(raw), out))
    else
        listed = json_array(names)
        GC.@preserve programs check(
            C.tsr_program_unify_named(raw, length(raw), listed, sizeof(listed), out))
    end
    return Program(out[])
end

function (program::Program)(inputs::Tensor...)
    n_inputs, n_outputs = Ref{Int64}(0), Ref{Int64}(0)
    check(C.tsr_program_counts(program, n_inputs, n_outputs))
    given = collect(Tensor, inputs)
    raw, places, found = handles(given), fill(tsr_tensor(C_NULL), n_outputs[]), Ref{Int32}(0)
    GC.@preserve given check(
        C.tsr_program_run(program, raw, length(raw), places, length(places), found))
    outputs = Tuple(wrap(place) for place in places)
    return length(outputs) == 1 ? only(outputs) : outputs
end

"The parameter or constant of this name; writing to it changes what the program computes."
function program_tensor(program::Program, name::AbstractString)
    out = Ref{tsr_tensor}()
    check(C.tsr_program_tensor(program, name, sizeof(name), out))
    return wrap(out[])
end

function program_text(f, program)
    buffer = Ref{C.tsr_buffer}()
    check(f(program, buffer))
    return take_text(buffer[])
end

"Inputs, outputs, parameters, constants and calls of a program, as JSON."
describe(program::Program) = program_text(C.tsr_program_describe, program)

Base.show(io::IO, ::MIME"text/plain", program::Program) =
    print(io, chomp(program_text(C.tsr_program_text, program)))
Base.show(io::IO, ::Program) = print(io, "Program(…)")
