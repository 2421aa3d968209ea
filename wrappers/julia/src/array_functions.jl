# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Julia's modules that are ops under another name, or a few ops together.

# ---- Sums of functions, and searches ----

for (f, reduction) in ((:+, :sum), (:*, :prod), (:max, :maximum), (:min, :minimum), (:&, :all), (:|, :any))
    @eval Base.reduce(::typeof($f), t::Tensor; options...) = $reduction(t; options...)
    @eval Base.mapreduce(f, ::typeof($f), t::Tensor; options...) = $reduction(f, t; options...)
end

Base.in(x::Number, t::Tensor) = Bool(item(any(equal(t, x))))
Base.findfirst(mask::Tensor) = findfirst(Array(mask))
Base.findlast(mask::Tensor) = findlast(Array(mask))

# The place of one element is a number of Julia, from 1; places along an axis are data, from 0.
for (find, pairs) in ((:findmax, :max_with_indices), (:findmin, :min_with_indices))
    @eval Base.$find(t::Tensor; dims=(:)) = dims === (:) ? $find(Array(t)) : $pairs(t; dims=dims, keepdims=true)
end
Base.sortperm(t::Tensor; dims=nothing, rev::Bool=false) =
    dims === nothing && ndims(t) != 1 ?
    throw(ArgumentError("sortperm: dims is needed for a tensor of sizes $(size(t))")) : argsort(t; dims, rev)

# ---- Repetition, turns, joints ----

"The tensor again and again along its axes (`outer`), after each element was repeated along them (`inner`)."
function Base.repeat(t::Tensor; inner=(), outer=())
    for (axis, count) in enumerate(inner)
        t = repeat_interleave(padded(t, max(axis, ndims(t))), count; dims=axis)
    end
    return tiled(t, outer...)
end
Base.repeat(t::Tensor, count::Integer, counts::Integer...) = tiled(t, count, counts...)
function tiled(t::Tensor, counts::Integer...)
    rank = max(ndims(t), length(counts))
    return tile(padded(t, rank), ntuple(d -> d <= length(counts) ? Int(counts[d]) : 1, rank))
end

Base.rotl90(t::Tensor, k::Integer=1) = rot90(t; k=mod(k, 4), dims=(1, 2))
Base.rotr90(t::Tensor, k::Integer=1) = rotl90(t, -k)
Base.rot180(t::Tensor, k::Integer=1) = rotl90(t, 2k)

# ---- Comparisons of tensors without axes: loss < 0.1 ----

number_of(t::Tensor) = isnumber(t) ? item(t) : throw_sizes_of("a comparison", t)
for f in (:<, :<=)
    @eval Base.$f(a::Tensor, b::Real) = $f(number_of(a), b)
    @eval Base.$f(a::Real, b::Tensor) = $f(a, number_of(b))
    @eval Base.$f(a::Tensor, b::Tensor) = $f(number_of(a), number_of(b))
end

# ---- Linear algebra and statistics ----

einsum(equation::AbstractString, first::Tensor, rest::Tensor...) = einsum(equation, (first, rest...))

LinearAlgebra.tr(t::Tensor) = trace(t)
LinearAlgebra.rank(t::Tensor; rtol=nothing) = item(matrix_rank(t; rtol))
LinearAlgebra.issymmetric(t::Tensor) = ndims(t) == 2 && size(t, 1) == size(t, 2) && t == transpose(t)
LinearAlgebra.diagm(t::Tensor) = ndims(t) == 1 ? diag_embed(t) :
    throw(DimensionMismatch("diagm: expected a vector, got sizes $(size(t))"))
Base.one(t::Tensor) = (square_matrix("one", t); eye(size(t, 1); dtype=eltype(t), device=device(t)))
square_matrix(name, t) = ndims(t) == 2 && size(t, 1) == size(t, 2) ? t :
    throw(DimensionMismatch("$name: expected a square matrix, got sizes $(size(t))"))

const Scaling = LinearAlgebra.UniformScaling
scaled_one(s::Scaling, t::Tensor) = multiply(one(t), s.λ)
Base.:+(t::Tensor, s::Scaling) = add(t, scaled_one(s, t))
Base.:+(s::Scaling, t::Tensor) = t + s
Base.:-(t::Tensor, s::Scaling) = subtract(t, scaled_one(s, t))
Base.:-(s::Scaling, t::Tensor) = subtract(scaled_one(s, t), t)
Base.:*(t::Tensor, s::Scaling) = multiply(t, s.λ)
Base.:*(s::Scaling, t::Tensor) = multiply(t, s.λ)

# As for arrays, the first is conjugated, and matrices are taken as vectors; the package's own dotu does neither.
LinearAlgebra.dot(a::Tensor, b::Tensor) = ndims(a) == ndims(b) == 1 ? vdot(a, b) : (same_size(a, b); vdot(flatten(a), flatten(b)))
LinearAlgebra.dot(a::Tensor, b::AbstractArray{<:Number}) = with_host(x -> LinearAlgebra.dot(a, x), b, a)
LinearAlgebra.dot(a::AbstractArray{<:Number}, b::Tensor) = with_host(x -> LinearAlgebra.dot(x, b), a, b)

"""
    svd(tensor; full=false)

`tensor == U * Diagonal(S) * V'`, as a named tuple `(U, S, V)`. `Tessera.svd` is that of the other languages, with `V'`.
"""
function LinearAlgebra.svd(t::Tensor; full::Bool=false)
    U, S, Vh = svd(t; full_matrices=full)
    return (U=U, S=S, V=adjoint_of_each(Vh))
end
adjoint_of_each(t::Tensor) = iscomplex(t) ? conj(matrix_transpose(t)) : matrix_transpose(t)

"""
    lu(tensor)

`tensor[p, :] == L * U`, as a named tuple `(L, U, p)`; `p` is an array. `Tessera.lu` is that of the other languages, `(p, l, u)` with
`p` a matrix, also for a batch of matrices.
"""
function LinearAlgebra.lu(t::Tensor)
    ndims(t) == 2 || throw(DimensionMismatch("lu: expected a matrix, got sizes $(size(t)); Tessera.lu takes batches"))
    P, L, U = lu(t)
    return (L=L, U=U, p=vec(Array(argmax(P; dims=1))) .+ 1)
end

# Of an even number of elements the mean of the two middle ones; the package's own takes the lower.
Statistics.median(t::Tensor; dims=(:), keepdims::Bool=keeps(dims)) =
    Statistics.quantile(eltype(t) <: Integer ? astype(t, Float64) : t, 0.5; dims, keepdims)

LinearAlgebra.ishermitian(t::Tensor) = ndims(t) == 2 && size(t, 1) == size(t, 2) && t == adjoint(t)
LinearAlgebra.opnorm(t::Tensor, p::Real=2) = matrix_norm(t; ord=p == Inf ? "inf" : string(isinteger(p) ? Int(p) : p))
LinearAlgebra.logabsdet(t::Tensor) = reverse(slogdet(t))
LinearAlgebra.diag(t::Tensor, k::Integer) = LinearAlgebra.diag(t; offset=k)
LinearAlgebra.diagm(entry::Pair{<:Integer,Tensor}) = diag_embed(last(entry); offset=first(entry))

# As for arrays: a row is a sample (dims=1) or a column is. The package's own functions take columns.
Statistics.cov(t::Tensor; dims::Int=1, corrected::Bool=true) =
    of_matrix(cov(ndims(t) == 2 && dims == 1 ? transpose(t) : t; correction=corrected ? 1 : 0), t)
Statistics.cor(t::Tensor; dims::Int=1) = of_matrix(corrcoef(ndims(t) == 2 && dims == 1 ? transpose(t) : t), t)
# The package's own are numbers for one variable, those of arrays a matrix for a matrix.
of_matrix(found::Tensor, t::Tensor) = ndims(t) == 2 && ndims(found) == 0 ? reshape(found, 1, 1) : found
# Of two vectors one number.
Statistics.cov(a::Tensor, b::Tensor; corrected::Bool=true) = of_pair(cov(pair_of("cov", a, b); correction=corrected ? 1 : 0))
Statistics.cor(a::Tensor, b::Tensor) = of_pair(corrcoef(pair_of("cor", a, b)))
pair_of(name, a, b) = ndims(a) == ndims(b) == 1 ? (same_size(a, b); stack((a, b); dims=1)) :
    throw(DimensionMismatch("$name: expected two vectors, got sizes $(size(a)) and $(size(b))"))
of_pair(found) = select(select(found, 1; dims=1), 2; dims=1)
