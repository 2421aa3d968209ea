# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# JSON of the repository's own files; Julia's library has none.

"An object of JSON, with its keys in order; what it lacks is `nothing`."
struct Row
    pairs::Vector{Pair{String,Any}}
end
Base.keys(row::Row) = first.(row.pairs)
Base.haskey(row::Row, key) = key in keys(row)
Base.get(row::Row, key, default) = haskey(row, key) ? row[key] : default
function Base.getindex(row::Row, key)
    place = findfirst(==(key), keys(row))
    return place === nothing ? throw(KeyError(key)) : row.pairs[place].second
end

function read_json(io::IO)
    mark = next_mark(io)
    mark == '{' && return Row(read_items(read_pair, io, '}'))
    mark == '[' && return read_items(read_json, io, ']')
    mark == '"' && return read_text(io)
    word = string(mark)
    while !(peek(io, Char) in ",]} \n")
        word *= read(io, Char)
    end
    known = Dict("true" => true, "false" => false, "null" => nothing)
    return haskey(known, word) ? known[word] : parse(occursin(r"[.eE]", word) ? Float64 : Int64, word)
end

function read_text(io)
    text = readuntil(io, '"')
    while isodd(length(match(r"\\*$", text).match))  # the quote belongs to the text
        text *= "\"" * readuntil(io, '"')
    end
    return occursin('\\', text) ? Tessera.unescape_json(text) : text
end

function next_mark(io)
    while true
        mark = read(io, Char)
        isspace(mark) || return mark
    end
end

function read_items(read_one, io, stop)
    found = read_one === read_pair ? Pair{String,Any}[] : Any[]
    while true
        mark = next_mark(io)
        mark == stop && return found
        mark == ',' || skip(io, -1)
        push!(found, read_one(io))
    end
end

function read_pair(io)
    key = read_json(io)
    next_mark(io) == ':' || error("expected a colon behind $key")
    return Pair{String,Any}(key, read_json(io))
end
