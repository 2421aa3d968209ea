# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Files in the safetensors format.

"""
    save_file(path, tensors; metadata=Dict())
    save_file(io, tensors; metadata=Dict())

Writes named tensors or arrays (a dictionary or pairs) to a safetensors file; it replaces an existing
file only when it is complete. Metadata are texts. With an `IO` it writes the contents of the file there.
"""
function save_file(path::AbstractString, tensors; metadata=Dict{String,String}())
    with_contents(tensors, metadata) do contents...
        check(C.tsr_archive_save(path, sizeof(path), contents...))
    end
    return nothing
end

function save_file(io::IO, tensors; metadata=Dict{String,String}())
    buffer = Ref{C.tsr_buffer}()
    with_contents(tensors, metadata) do contents...
        check(C.tsr_archive_to_bytes(contents..., buffer))
    end
    write(io, take_text(buffer[]))
    return nothing
end

# f(names, their size, handles, their number, metadata, their size), as the C functions take them.
function with_contents(f, tensors, metadata)
    named = [String(k) => v for (k, v) in pairs_of(tensors)]
    names = json_array(first.(named))
    notes = json_object(metadata)
    list = Tensor[v isa Tensor ? v : Tensor(v) for (_, v) in named]
    raw = handles(list)
    GC.@preserve list f(names, sizeof(names), raw, length(raw), notes, sizeof(notes))
end

pairs_of(tensors::AbstractDict) = sort!(collect(tensors); by=first)
pairs_of(tensors) = collect(tensors)

"""
    load_file(path)
    load_file(io)

The tensors of a safetensors file by name. They share the memory of the mapped file; writes to them
never change the file. What is read from an `IO` is copied once for all tensors.
"""
load_file(source::Union{AbstractString,IO}) = with_archive(source) do archive
    count = Ref{Int64}(0)
    check(C.tsr_archive_count(archive, count))
    Dict{String,Tensor}(archive_entry(archive, i) for i in 0:(count[] - 1))
end

"The metadata of a safetensors file."
load_metadata(source::Union{AbstractString,IO}) = with_archive(source) do archive
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_archive_metadata(archive, buffer))
    parse_json_object(take_text(buffer[]))
end

function open_archive(path::AbstractString, archive)
    check(C.tsr_archive_open(path, sizeof(path), archive))
end

function open_archive(io::IO, archive)
    bytes = read(io)
    GC.@preserve bytes check(C.tsr_archive_from_bytes(pointer(bytes), length(bytes), archive))
end

function with_archive(f, source)
    archive = Ref{C.tsr_archive}()
    open_archive(source, archive)
    try
        return f(archive[])
    finally
        C.tsr_archive_release(archive[])
    end
end

function archive_entry(archive, i)
    name, length = Ref{Ptr{UInt8}}(), Ref{Int64}()
    check(C.tsr_archive_name(archive, i, name, length))
    out = Ref{tsr_tensor}()
    check(C.tsr_archive_tensor(archive, i, out))
    return unsafe_string(name[], length[]) => wrap(out[])
end

"The text of a buffer; releases the buffer."
function take_text(buffer)
    try
        data, length = Ref{Ptr{UInt8}}(), Ref{Int64}()
        check(C.tsr_buffer_data(buffer, data, length))
        return unsafe_string(data[], length[])
    finally
        C.tsr_buffer_release(buffer)
    end
end

# ---- The subset of JSON for names and texts ----

json_array(names) = "[" * join(map(json_text, names), ",") * "]"
json_object(texts) = "{" * join(["$(json_text(k)):$(json_text(v))" for (k, v) in texts], ",") * "}"

function json_text(text)
    escaped = IOBuffer()
    for c in String(text)
        if c in ('"', '\\')
            print(escaped, '\\', c)
        elseif c < ' '
            print(escaped, "\\u", string(UInt32(c); base=16, pad=4))
        else
            print(escaped, c)
        end
    end
    return "\"" * String(take!(escaped)) * "\""
end

# The library writes this JSON: lists and objects of texts, without blanks.
parse_json_array(json) = String[unescape_json(m.captures[1]) for m in eachmatch(r"\"((?:[^\"\\]|\\.)*)\"", json)]
function parse_json_object(json)
    found = Dict{String,String}()
    texts = parse_json_array(json)
    for i in 1:2:length(texts)
        found[texts[i]] = texts[i + 1]
    end
    return found
end

function unescape_json(text)
    plain = Dict('n' => '\n', 't' => '\t', 'r' => '\r', 'b' => '\b', 'f' => '\f')
    units = UInt16[]
    out = IOBuffer()
    for m in eachmatch(r"\\u([0-9a-fA-F]{4})|\\(.)|([^\\])"s, text)
        if m.captures[1] !== nothing
            push!(units, parse(UInt16, m.captures[1]; base=16))
            # The first half of a surrogate pair waits for the second.
            0xd800 <= units[end] < 0xdc00 || (print(out, transcode(String, units)); empty!(units))
        elseif m.captures[2] !== nothing
            c = only(m.captures[2])
            print(out, get(plain, c, c))
        else
            print(out, m.captures[3])
        end
    end
    return String(take!(out))
end
