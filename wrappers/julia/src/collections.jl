# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Base that go through a collection, as ops where there is one.

Base.extrema(t::Tensor; options...) = (minimum(t; options...), maximum(t; options...))
Base.count(t::Tensor; options...) = count_nonzero(t; options...)
Base.map(f, t::Tensor) = broadcast(f, t)
Base.map(f, t::Tensor, rest::Tensor...) = (foreach(other -> same_size(t, other), rest); broadcast(f, t, rest...))
"The elements for which a function that is an op is true, in Julia's order."
Base.filter(f, t::Tensor) = t[broadcast(f, t)]

# sum(abs2, t): f must be an op, as in abs2.(t).
Statistics.mean(f, t::Tensor; options...) = Statistics.mean(broadcast(f, t); options...)
for reduction in (:sum, :prod, :maximum, :minimum, :any, :all, :count)
    @eval Base.$reduction(f, t::Tensor; options...) = $reduction(broadcast(f, t); options...)
end

"The places of a mask that are true, counted from 1 as in an array."
Base.findall(mask::Tensor) = findall(Array(mask))
# Places are on the host, and so is the search: f may be any function.
Base.findall(f::Function, t::Tensor) = findall(f, host(t))
Base.findfirst(f::Function, t::Tensor) = findfirst(f, host(t))
Base.findlast(f::Function, t::Tensor) = findlast(f, host(t))
Base.keys(t::Tensor) = ndims(t) == 1 ? Base.OneTo(length(t)) : CartesianIndices(t)

# ---- Parts, one after the other: views, through which gradients flow and writes go ----

"""
    eachslice(tensor; dims)

The parts of a tensor along an axis, as views. `eachrow` and `eachcol` are those of a matrix.
"""
Base.eachslice(t::Tensor; dims) =
    1 <= dims <= ndims(t) ? (selectdim(t, dims, i) for i in axes(t, dims)) :
    throw(DimensionMismatch("eachslice: a tensor of sizes $(size(t)) has no axis $dims"))

Base.eachrow(t::Tensor) = ndims(t) == 1 ? (view(t, i:i) for i in axes(t, 1)) : (matrix("eachrow", t); eachslice(t; dims=1))
Base.eachcol(t::Tensor) = ndims(t) == 1 ? (t for _ in 1:1) : (matrix("eachcol", t); eachslice(t; dims=2))
matrix(name, t) = ndims(t) == 2 ? t :
    throw(DimensionMismatch("$name: expected a vector or a matrix, got sizes $(size(t)); see eachslice"))

# One element by its place, as t[1]: no iteration.
Base.first(t::Tensor) = t[firstindex(t)]
Base.last(t::Tensor) = t[lastindex(t)]
Base.only(t::Tensor) = length(t) == 1 ? item(t) :
    throw(ArgumentError("only: expected one element, got a tensor of sizes $(size(t))"))
Base.first(t::Tensor, n::Integer) = vec(t)[1:min(count_of("first", n), length(t))]
Base.last(t::Tensor, n::Integer) = vec(t)[max(1, length(t) - count_of("last", n) + 1):length(t)]
count_of(name, n) = n >= 0 ? Int(n) : throw(ArgumentError("$name: expected a number of elements from 0, got $n"))

"Elements shifted along the first axes, one number for each; those that leave one end come in at the other."
Base.circshift(t::Tensor, shifts::Integer; dims::Integer=1) = roll(t, shifts; dims=dims)
Base.circshift(t::Tensor, shifts::Union{Tuple,AbstractVector}) = roll(t, Tuple(shifts); dims=Tuple(1:length(shifts)))

# ---- Functions of slices ----

"""
    mapslices(f, tensor; dims)

The results of `f` for each part of the tensor along the axes `dims`, put together as those of an array: a number, or a tensor without
axes, takes one place on these axes.
"""
function Base.mapslices(f, t::Tensor; dims)
    axes = Tuple(dims isa Integer ? (dims,) : dims)
    all(d -> 1 <= d <= ndims(t), axes) ||
        throw(DimensionMismatch("mapslices: expected axes of a tensor of sizes $(size(t)), got $dims"))
    others = Tuple(d for d in 1:ndims(t) if !(d in axes))
    places = CartesianIndices(map(d -> size(t, d), others))
    isempty(places) && throw(ArgumentError("mapslices: the tensor of sizes $(size(t)) has no slices"))
    results = map(vec(collect(places))) do place
        index = ntuple(d -> d in axes ? Colon() : place[findfirst(==(d), others)], ndims(t))
        padded_slice(f(view(t, index...)), length(axes), t)
    end
    joined = reshape(concat(map(r -> reshape(r, :), results); dims=1), size(results[1])..., size(places)...)
    return permutedims(joined, invperm((axes..., others...)))
end
padded_slice(x::Number, rank, t) = reshape(Tensor(x; device=device(t)), ntuple(_ -> 1, rank))
padded_slice(x::AbstractArray{<:Number}, rank, t) = padded_slice(Tensor(x; device=device(t)), rank, t)
padded_slice(x::Tensor, rank, t) = ndims(x) <= rank ? reshape(x, ntuple(d -> size(x, d), rank)) :
    throw(DimensionMismatch("mapslices: expected results of at most $rank axes, got one of sizes $(size(x))"))

# ---- Scans ----

for (f, scan) in ((:+, :(cumsum(t; dims))), (:*, :(cumprod(t; dims))), (:max, :(first(cummax(t; dims)))), (:min, :(first(cummin(t; dims)))))
    @eval Base.accumulate(::typeof($f), t::Tensor; dims=scanned_axis(t)) = $scan
end
scanned_axis(t::Tensor) = ndims(t) == 1 ? 1 :
    throw(ArgumentError("accumulate: dims is needed for a tensor of sizes $(size(t))"))

# What is equal once, in the order in which it comes.
Base.unique(t::Tensor) = Tensor(unique(host(t)); device=device(t))
Base.allunique(t::Tensor) = allunique(host(t))
Base.issorted(t::Tensor; options...) = issorted(host(t); options...)
