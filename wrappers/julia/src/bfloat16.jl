# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# BFloat16: storage and conversion; arithmetic is done in Float32.

"""
The upper half of a Float32. Arrays of it are exchanged with tensors; numbers are converted to
Float32 for arithmetic.
"""
primitive type BFloat16 <: AbstractFloat 16 end

function BFloat16(x::Float32)
    bits = reinterpret(UInt32, x)
    isnan(x) && return reinterpret(BFloat16, UInt16(bits >> 16) | 0x0040)
    # Rounds to nearest, ties to even.
    return reinterpret(BFloat16, ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) % UInt16)
end
BFloat16(x::Real) = BFloat16(Float32(x))

Base.Float32(x::BFloat16) = reinterpret(Float32, UInt32(reinterpret(UInt16, x)) << 16)
Base.Float64(x::BFloat16) = Float64(Float32(x))
Base.Float16(x::BFloat16) = Float16(Float32(x))
(::Type{T})(x::BFloat16) where {T<:Integer} = T(Float32(x))
Base.Bool(x::BFloat16) = Bool(Float32(x))
Base.promote_rule(::Type{BFloat16}, ::Type{T}) where {T<:Union{Float32,Float64}} = T
Base.promote_rule(::Type{BFloat16}, ::Type{Float16}) = Float32
Base.promote_rule(::Type{BFloat16}, ::Type{<:Integer}) = BFloat16
for f in (:+, :-, :*, :/)
    @eval Base.$f(x::BFloat16, y::BFloat16) = BFloat16($f(Float32(x), Float32(y)))
end
for f in (:(==), :<, :<=)
    @eval Base.$f(x::BFloat16, y::BFloat16) = $f(Float32(x), Float32(y))
end
Base.:-(x::BFloat16) = BFloat16(-Float32(x))
Base.isnan(x::BFloat16) = isnan(Float32(x))
Base.hash(x::BFloat16, h::UInt) = hash(Float32(x), h)
Base.round(x::BFloat16, mode::RoundingMode) = BFloat16(round(Float32(x), mode))
Base.trunc(::Type{T}, x::BFloat16) where {T<:Integer} = trunc(T, Float32(x))
Base.eps(::Type{BFloat16}) = BFloat16(2.0f0^-7)
Base.floatmin(::Type{BFloat16}) = BFloat16(floatmin(Float32))
Base.floatmax(::Type{BFloat16}) = reinterpret(BFloat16, 0x7f7f)
Base.rtoldefault(::Type{BFloat16}) = sqrt(Float32(eps(BFloat16)))  # of isapprox
Base.zero(::Type{BFloat16}) = BFloat16(0.0f0)
Base.one(::Type{BFloat16}) = BFloat16(1.0f0)
Base.show(io::IO, x::BFloat16) = print(io, "BFloat16(", Float32(x), ")")
