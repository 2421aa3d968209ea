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

for (type, bits) in DTYPES
    @eval dtype_bits(::Type{$type}) = $bits
end
dtype_bits(::Nothing) = Int32(-1)
dtype_bits(T::Type) = throw(ArgumentError("tensors have no elements of type $T"))

const ELEMENT_TYPES = Dict{Int32,DataType}(bits => type for (type, bits) in DTYPES)

"The element type, known when the program runs: a `Tensor` holds any."
Base.eltype(t::Tensor) = ELEMENT_TYPES[info(t).dtype]
