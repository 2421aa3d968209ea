# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Element types of Julia and dtypes of the library, one for one.

const DTYPES = (
    Bool => C.TSR_BOOL,
    UInt8 => C.TSR_UINT8,
    UInt16 => C.TSR_UINT16,
    UInt32 => C.TSR_UINT32,
    UInt64 => C.TSR_UINT64,
    Int8 => C.TSR_INT8,
    Int16 => C.TSR_INT16,
    Int32 => C.TSR_INT32,
    Int64 => C.TSR_INT64,
    Float16 => C.TSR_FLOAT16,
    BFloat16 => C.TSR_BFLOAT16,
    Float32 => C.TSR_FLOAT32,
    Float64 => C.TSR_FLOAT64,
    ComplexF32 => C.TSR_COMPLEX64,
    ComplexF64 => C.TSR_COMPLEX128,
)

# Chains of comparisons: dispatch on a type that is known only at run time would be slower.
@eval function dtype_bits(T::Type)
    $((:(T === $type && return $bits) for (type, bits) in DTYPES)...)
    throw(ArgumentError("tensors have no elements of type $T"))
end
dtype_bits(::Nothing) = Int32(-1)

@eval function element_type(bits::Int32)::DataType
    $((:(bits == $bits && return $type) for (type, bits) in DTYPES)...)
    throw(ArgumentError("this package does not know dtype $bits"))
end

"""
    promote_types(S, T)

The element type of an operation on tensors of `S` and `T`, by the rules of the library, which differ
from `Base.promote_type`. Throws for `UInt64` and a signed integer, which have no common type.
"""
function promote_types(S::Type, T::Type)
    common = Ref{Int32}(0)
    check(C.tsr_promote_types(dtype_bits(S), dtype_bits(T), common))
    return element_type(common[])
end

"Whether `promote_types(S, T)` is `T`."
function can_cast(S::Type, T::Type)
    can = Ref{Int32}(0)
    check(C.tsr_can_cast(dtype_bits(S), dtype_bits(T), can))
    return can[] != 0
end

"""
    default_dtype()

The default element type of the process: what an operation makes of integers that cannot stay what they
are, and what functions that make tensors of floats take when no type is given. `Float32` at first.
"""
function default_dtype()
    dtype = Ref{Int32}(0)
    check(C.tsr_default_dtype(dtype))
    return element_type(dtype[])
end

"Sets `default_dtype()`; throws for a type that is not floating."
set_default_dtype(T::Type) = check(C.tsr_set_default_dtype(dtype_bits(T)))

"The element type. The compiler does not know it: a `Tensor` can have any."
Base.eltype(t::Tensor) = element_type(info(t).dtype)
