# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Julia's modules that write into a tensor, as they write into an array: sizes must fit.

fitting_sizes(name, dst::Tensor, wanted) = size(dst) == wanted ? dst :
    throw(DimensionMismatch("$name: expected a destination of sizes $wanted, got $(size(dst))"))
# As recorded writes; the library's forms that write into a destination are not recorded.
put_into!(name, dst::Tensor, made::Tensor) = copyto!(fitting_sizes(name, dst, size(made)), made)

# ---- Linear algebra ----

LinearAlgebra.mul!(dst::Tensor, a::Tensor, b::Tensor) = put_into!("mul!", dst, a * b)
function LinearAlgebra.mul!(dst::Tensor, a::Tensor, b::Tensor, alpha::Number, beta::Number)
    product = a * b
    fitting_sizes("mul!", dst, size(product))
    iszero(beta) && return copyto!(dst, multiply(product, alpha))  # also where dst is NaN
    return copyto!(dst, add(multiply(product, alpha), multiply(dst, beta)))
end
LinearAlgebra.mul!(dst::Tensor, a::Tensor, b::Number) = put_into!("mul!", dst, multiply(a, b))
LinearAlgebra.mul!(dst::Tensor, a::Number, b::Tensor) = put_into!("mul!", dst, multiply(b, a))
LinearAlgebra.rmul!(t::Tensor, factor::Number) = multiply!(t, factor)
LinearAlgebra.lmul!(factor::Number, t::Tensor) = multiply!(t, factor)
LinearAlgebra.rdiv!(t::Tensor, divisor::Number) = divide!(t, divisor)
LinearAlgebra.ldiv!(divisor::Number, t::Tensor) = divide!(t, divisor)
LinearAlgebra.ldiv!(a::Tensor, b::Tensor) = put_into!("ldiv!", b, a \ b)
LinearAlgebra.ldiv!(dst::Tensor, a::Tensor, b::Tensor) = put_into!("ldiv!", dst, a \ b)
LinearAlgebra.axpy!(factor::Number, x::Tensor, y::Tensor) = (same_size(x, y); add!(y, multiply(x, factor)))
LinearAlgebra.axpby!(factor::Number, x::Tensor, own::Number, y::Tensor) =
    (same_size(x, y); add!(multiply!(y, own), multiply(x, factor)))

# ---- Elements in another order, and of a function ----

Base.sort!(t::Tensor; dims=nothing, rev::Bool=false) = copyto!(t, sort(t; dims, rev))
Base.reverse!(t::Tensor; dims=(:)) = copyto!(t, reverse(t; dims))
Base.permutedims!(dst::Tensor, t::Tensor, perm) = put_into!("permutedims!", dst, permutedims(t, perm))
Base.clamp!(t::Tensor, low, high) = clip!(t, low, high)
Base.map!(f, dst::Tensor, first::Tensor, rest::Tensor...) = put_into!("map!", dst, map(f, first, rest...))

"Copies elements, in Julia's order, from one place to another."
function Base.copyto!(dst::Tensor, start::Integer, source::Union{Tensor,AbstractArray{<:Number}}, from::Integer, count::Integer)
    count >= 0 || throw(ArgumentError("copyto!: expected a number of elements from 0, got $count"))
    dst[start:(start + count - 1)] = source[from:(from + count - 1)]
    return dst
end
Base.copyto!(dst::Tensor, start::Integer, source::Union{Tensor,AbstractArray{<:Number}}) =
    copyto!(dst, start, source, 1, length(source))
