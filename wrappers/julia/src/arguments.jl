# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Conversion of the op layer's arguments to those of C.

# A short list as an argument for C. If the call is inlined it stays on the stack, so that a list of
# sizes or axes costs no allocation.
mutable struct ShortList{N,T}
    values::NTuple{N,T}
end

# A list that was not given.
struct Absent end

Base.unsafe_convert(::Type{Ptr{T}}, list::ShortList{N,T}) where {N,T} =
    Ptr{T}(pointer_from_objref(list))
Base.unsafe_convert(::Type{Ptr{Int64}}, ::Absent) = Ptr{Int64}(C_NULL)
Base.length(::ShortList{N}) where {N} = N

# Longer tuples become vectors, so that no code is compiled for each length.
const SHORT = 8

"One or several sizes or axes."
const Dimensions = Union{
    Integer,Colon,Nothing,Tuple{Vararg{Integer}},AbstractVector{<:Integer},ShortList}

"One or several numbers."
const Numbers = Union{Real,Tuple{Vararg{Real}},AbstractVector{<:Real}}

"Several tensors; `nothing` for an entry that an op allows to be absent. Handles if the caller owns them."
const TensorList = Union{
    Tuple{Vararg{Union{Nothing,Tensor}}},
    AbstractVector{<:Union{Nothing,Tensor}},
    Vector{tsr_tensor},
}

const NONE = typemin(Int64)

int_list(x::Integer) = ShortList{1,Int64}((Int64(x),))
int_list(::Union{Colon,Nothing}) = Absent()
int_list(x::Tuple{Vararg{Any,N}}) where {N} =
    N <= SHORT ? ShortList{N,Int64}(map(Int64, x)) : collect(Int64, x)
int_list(x::AbstractVector) = convert(Vector{Int64}, x)
int_list(x::ShortList) = x

list_count(::Absent) = -1
list_count(list) = length(list)

# ---- Numbers: they stay on the stack if the call is inlined ----

host_number(x::Bool) = Ref(tsr_number(C.TSR_NUMBER_BOOL, 0, x, 0.0, 0.0))
host_number(x::Integer) = Ref(tsr_number(C.TSR_NUMBER_INTEGER, 0, x, 0.0, 0.0))
host_number(x::Unsigned) =
    Ref(tsr_number(x > typemax(Int64) ? C.TSR_NUMBER_UNSIGNED : C.TSR_NUMBER_INTEGER, 0, UInt64(x) % Int64, 0.0, 0.0))
host_number(x::Real) = Ref(tsr_number(C.TSR_NUMBER_REAL, 0, 0, x, 0.0))
host_number(x::Complex) = Ref(tsr_number(C.TSR_NUMBER_COMPLEX, 0, 0, real(x), imag(x)))
host_number(::Nothing) = C_NULL

# ---- Axes and positions, from 1 in Julia and from 0 in the library ----

@inline function zero_based(x::Integer)
    x >= 1 || throw_position(x)
    return Int64(x) - 1
end
zero_based(::Union{Colon,Nothing}) = NONE
zero_based(x::Integer, default) = zero_based(x)
zero_based(::Union{Colon,Nothing}, default) = Int64(default)

zero_based_list(::Union{Colon,Nothing}) = Absent()
zero_based_list(x::Integer) = ShortList{1,Int64}((zero_based(x),))
zero_based_list(x::Tuple{Vararg{Any,N}}) where {N} =
    N <= SHORT ? ShortList{N,Int64}(map(zero_based, x)) : Int64[zero_based(i) for i in x]
zero_based_list(x) = Int64[zero_based(i) for i in x]

@noinline throw_position(x) =
    throw(ArgumentError("axes and positions are counted from 1, got $x"))

# As in Base, a reduction over named axes keeps them with size 1.
keeps(dims) = !(dims isa Union{Colon,Nothing})

# As sum! and its kin in Base: the axes that have size 1 in the destination, or that it does not have.
struct Reduced
    axes::Vector{Int}
    keeps::Bool
end
function reduced(dst::Tensor, input::Tensor)
    rank = ndims(input)
    axes = findall(d -> size(dst, d) == 1, 1:rank)
    fits = ndims(dst) <= rank && all(d -> d in axes || size(dst, d) == size(input, d), 1:rank)
    # Axes of size 1 in front of those that are missing would need two reductions.
    missing_axes = (ndims(dst) + 1):rank
    keeps = isempty(missing_axes)
    fits && (keeps || axes == missing_axes) || throw(DimensionMismatch(
        "expected a destination with the sizes $(size(input)) of the tensor, but for the axes to reduce, which have " *
        "size 1 or are missing at the end; got $(size(dst))"))
    return Reduced(axes, keeps)
end
keeps(dims::Reduced) = dims.keeps
zero_based_list(dims::Reduced) = zero_based_list(dims.axes)
# The mean of integers is a floating number.
mean_type(t) = eltype(t) <: Integer ? Float64 : nothing

# ---- Lists of tensors ----

raw_handle(t::Tensor) = Base.unsafe_convert(tsr_tensor, t)
raw_handle(::Nothing) = tsr_tensor(C_NULL)

handles(list) = tsr_tensor[raw_handle(t) for t in list]
handles(list::Vector{tsr_tensor}) = list
handles(list::Tuple{Vararg{Any,N}}) where {N} = N <= SHORT ?
    ShortList{N,tsr_tensor}(map(raw_handle, list)) : tsr_tensor[raw_handle(t) for t in list]

# ---- Calls of C whose results are tensors ----

"Calls a function whose last argument takes a new tensor."
@inline function fresh(f::F, args::Vararg{Any,N}) where {F,N}
    out = Ref{tsr_tensor}()
    check(f(args..., out))
    return wrap(out[])
end

"Calls a function whose last argument is the tensor to write to."
@inline function written(dst::Tensor, f::F, args::Vararg{Any,N}) where {F,N}
    check(f(args..., dst))
    return dst
end

"Calls a function that changes its first argument."
@inline function changed(input::Tensor, f::F, args::Vararg{Any,N}) where {F,N}
    check(f(input, args...))
    return input
end

"Calls a function that hands out as many tensors as it finds."
function many(f::F, args::Vararg{Any,N}) where {F,N}
    capacity = 16
    while true
        out = Vector{tsr_tensor}(undef, capacity)
        found = Ref{Int32}(0)
        status = f(args..., out, capacity, found)
        if status == C.TSR_BUFFER && found[] > capacity
            capacity = Int(found[])
            continue
        end
        check(status)
        return Tensor[wrap(out[i]) for i in 1:found[]]
    end
end

# The second axis, or that of a vector.
features_axis(t::Tensor) = min(2, ndims(t))
