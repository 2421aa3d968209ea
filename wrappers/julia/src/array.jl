# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The functions expected of an array: sizes, conversion, copies, in Julia's order of elements.

# ---- Sizes ----

function Base.size(t::Tensor)
    GC.@preserve t begin
        view = info(t)
        return ntuple(d -> Int(unsafe_load(view.sizes, d)), Int(view.ndim))
    end
end

function Base.size(t::Tensor, d::Integer)
    d >= 1 || throw(ArgumentError("axes and positions are counted from 1, got $d"))
    GC.@preserve t begin
        view = info(t)
        return d <= view.ndim ? Int(unsafe_load(view.sizes, d)) : 1
    end
end

"The distance between neighbours along each axis, in elements."
function Base.strides(t::Tensor)
    GC.@preserve t begin
        view = info(t)
        return ntuple(d -> Int(unsafe_load(view.strides, d)), Int(view.ndim))
    end
end

Base.stride(t::Tensor, d::Integer) = d <= ndims(t) ? strides(t)[d] : length(t)
Base.ndims(t::Tensor) = Int(info(t).ndim)
Base.length(t::Tensor) = Int(info(t).numel)
Base.isempty(t::Tensor) = length(t) == 0
Base.axes(t::Tensor) = map(Base.OneTo, size(t))
Base.axes(t::Tensor, d::Integer) = Base.OneTo(size(t, d))
Base.firstindex(t::Tensor) = 1
Base.lastindex(t::Tensor) = length(t)
Base.firstindex(t::Tensor, d::Integer) = 1
Base.lastindex(t::Tensor, d::Integer) = size(t, d)
Base.eachindex(t::Tensor) = Base.OneTo(length(t))
Base.eachindex(::IndexLinear, t::Tensor) = eachindex(t)
Base.eachindex(::IndexCartesian, t::Tensor) = CartesianIndices(t)
Base.CartesianIndices(t::Tensor) = CartesianIndices(size(t))
Base.LinearIndices(t::Tensor) = LinearIndices(size(t))
Base.checkbounds(::Type{Bool}, t::Tensor, i) = checkindex(Bool, ndims(t) == 1 ? axes(t, 1) : eachindex(t), i)
Base.checkbounds(::Type{Bool}, t::Tensor, index...) = Base.checkbounds_indices(Bool, axes(t), index)
Base.checkbounds(t::Tensor, index...) = checkbounds(Bool, t, index...) ? nothing : throw(BoundsError(t, index))
Base.sizeof(t::Tensor) = Int(info(t).nbytes)

# ---- From Julia ----

Tensor(x::Number; dtype=nothing, device=nothing) = dtype === nothing ? of_number(x, device) :
    Tensor(fill(x); dtype=dtype, device=device)

of_number(x::Union{Bool,Float16,Float32,Float64,Int8,Int16,Int32,Int64,UInt8,UInt16,UInt32,ComplexF32,ComplexF64},
    device) = full((), x; dtype=typeof(x), device=device)
of_number(x::Number, device) = Tensor(fill(x); device=device)
Tensor(t::Tensor; dtype=nothing, device=nothing) =
    dtype === nothing && device === nothing ? clone(t) :
    _to(t, device, dtype === nothing ? nothing : element_type(dtype_bits(dtype)), true, false)
Tensor(list::Tuple{Vararg{Number}}; options...) = Tensor(collect(list); options...)

# Converts arrays whose element type has no dtype in the library, such as those of Julia literals.
storable(array::AbstractArray) = dense(array)
storable(array::AbstractArray{<:Complex{<:Integer}}) = convert(Array{ComplexF64}, array)
storable(array::AbstractArray{<:Union{Rational,Irrational}}) = convert(Array{Float64}, array)

function Tensor(array::AbstractArray{<:Number}; dtype=nothing, device=nothing)
    array = storable(array)
    bits = dtype === nothing ? dtype_bits(eltype(array)) : dtype_bits(dtype)
    target = empty_of(bits, int_list(size(array)), device)
    if array isa Vector && bits == dtype_bits(eltype(array))
        check(C.tsr_tensor_write(target, array, sizeof(array)))
        return target
    elseif Tessera.device(target) == CPU
        # The array must stay alive only during the copy.
        GC.@preserve array begin
            source = from_memory(array, nothing)
            done_with(source, C.tsr_copy_inplace(target, source, false))
        end
        return target
    end
    return copyto!(target, lent(array))
end

Tensor(array::AbstractArray; options...) = throw(ArgumentError(
    "tensors have no elements of type $(eltype(array))" * (
    !isempty(array) && all(x -> x isa Number, array) ? "; identity.(array) gives the numbers their own type" :
    !isempty(array) && all(x -> x isa Union{AbstractArray,Tensor}, array) ? "; join the parts: Tensor(hcat(array...)), stack(tensors)" : "")))

function empty_of(bits::Int32, shape, device)
    out = Ref{tsr_tensor}()
    check(C.tsr_empty(shape, list_count(shape), bits, device_type(device), device_index(device), out))
    return wrap(out[])
end

"A handle on the memory of an array, which keeps `owner` alive as long as the library uses the memory."
function from_memory(array::AbstractArray{T,N}, owner) where {T,N}
    bits, sizes, steps = dtype_bits(T), int_list(size(array)), int_list(strides(array))
    memory = isempty(array) ? C_NULL : Ptr{Cvoid}(pointer(array))
    out = Ref{tsr_tensor}()
    # The last that can throw before the library has the user pointer, which it drops also when it fails.
    user, drop = owner === nothing ? (C_NULL, C_NULL) : (root(owner), drop_pointer())
    check(C.tsr_tensor_from_data(memory, bits, CPU.type, CPU.index, sizes, N, steps, N, 0, user, drop, out))
    return out[]
end

# For the time of one call, after which nobody uses the tensor any more: the array can be resized later.
lent(array::AbstractArray) = wrap(from_memory(array, array))

# What has the memory of an array. From Julia 1.11 on several arrays can share one memory.
if isdefined(Base, :Memory)
    memory_of(array::Array) = getfield(getfield(array, :ref), :mem)
    fixed(array::Array) = memory_of(array)
else
    memory_of(array::Array) = array
    fixed(array::Array) = array
    # A reshaped vector marks the memory as shared; then Julia refuses to resize the vector, which would free it.
    fixed(vector::Vector) = reshape(vector, length(vector), 1)
end
"What keeps the memory of an array where it is."
fixed(array::AbstractArray) = parent(array) === array ? array : fixed(parent(array))

"""
    share(array)

A tensor on the memory of an array, which stays alive as long as any tensor uses it. Writing to one
changes the other. The array must be dense, or have permuted axes (`PermutedDimsArray`). A vector that
was shared cannot be resized any more (`push!` throws); from Julia 1.11 on it can, and leaves the memory
to the tensor.
"""
function share(array::AbstractArray{T}) where {T}
    dtype_bits(T)  # before the array is marked
    return wrap(from_memory(array, fixed(array)))
end

# ---- To Julia ----

"The value of a tensor of one element."
item(t::Tensor) = item(t, info(t).dtype)

@eval function item(t, bits::Int32)
    $((:(bits == $bits && return number($type, t)) for (type, bits) in DTYPES)...)
    element_type(bits)  # which throws
end

@inline number(::Type{T}, t) where {T} = T(number_item(t).real)
@inline function number(::Type{T}, t) where {T<:Complex}
    found = number_item(t)
    return T(found.real, found.imaginary)
end
@inline number(::Type{T}, t) where {T<:Integer} = number_item(t).integer % T
@inline number(::Type{Bool}, t) = number_item(t).integer != 0

@noinline function number_item(t)
    value = Ref{tsr_number}()
    check(C.tsr_tensor_item(t, value))
    return value[]
end

for T in (:Bool, :Int8, :Int16, :Int32, :Int64, :UInt8, :UInt16, :UInt32, :UInt64, :Float16, :Float32, :Float64, :ComplexF32,
    :ComplexF64)
    @eval Base.$T(t::Tensor) = convert($T, item(t))
end

# So that push!(losses, loss) of numbers works.
Base.convert(::Type{T}, t::Tensor) where {T<:Number} = convert(T, item(t))

"A copy as an `Array` of the same sizes."
function Base.Array(t::Tensor)
    view = info(t)
    return read_ranked(t, element_type(view.dtype), view.ndim)
end
Base.Array{T}(t::Tensor) where {T} = convert(Array{T}, Array(t))
Base.Array{T,N}(t::Tensor) where {T,N} = convert(Array{T,N}, Array(t))
Base.Vector(t::Tensor) = Array(t)::Vector
Base.Matrix(t::Tensor) = Array(t)::Matrix
Base.collect(t::Tensor) = Array(t)
Base.convert(::Type{T}, t::Tensor) where {T<:Array} = T(t)

function read_ranked(t::Tensor, ::Type{T}, rank) where {T}
    rank == 0 && return read_array(t, T, Val(0))
    rank == 1 && return read_array(t, T, Val(1))
    rank == 2 && return read_array(t, T, Val(2))
    rank == 3 && return read_array(t, T, Val(3))
    rank == 4 && return read_array(t, T, Val(4))
    return read_array(t, T, Val(Int(rank)))
end

function read_array(t::Tensor, ::Type{T}, ::Val{N}) where {T,N}
    array = Array{T,N}(undef, sizes(t, Val(N)))
    # The library writes in row-major order; with the axes reversed, that is Julia's order.
    source = turned(t, N)
    done_with(source, C.tsr_tensor_read(source, array, sizeof(array)))
    return array
end

function sizes(t::Tensor, ::Val{N}) where {N}
    GC.@preserve t begin
        view = info(t)
        return ntuple(d -> Int(unsafe_load(view.sizes, d)), Val(N))
    end
end

share(::BitArray) = throw(ArgumentError("share: a BitArray has bits where tensors have bytes"))

"""
    share(tensor)

The tensor's memory as a Julia array of the same sizes: an `Array` if its elements are in column-major
order, a `PermutedDimsArray` of one if they are in row-major order. The array keeps the memory alive.
Writing to it changes the tensor, and autograd does not notice.
"""
function share(t::Tensor)
    requires_grad(t) && throw(ArgumentError("share: the tensor requires grad; share(detach(t))"))
    isreadonly(t) && throw(ArgumentError("share: the tensor's memory is read-only; use Array(t)"))
    device(t) == CPU || throw(ArgumentError("share: the tensor is on $(device(t)); share(on(CPU, t))"))
    return share_array(t, eltype(t), size(t))
end

function share_array(t::Tensor, ::Type{T}, shape::NTuple{N,Int}) where {T,N}
    memory = Ptr{T}(info(t).data)
    if memory == C_NULL
        return Array{T,N}(undef, shape...)
    elseif iscontiguous(reversed(t))
        return owned(unsafe_wrap(Array, memory, shape), t)
    elseif iscontiguous(t)
        rows = owned(unsafe_wrap(Array, memory, reverse(shape)), t)
        return PermutedDimsArray(rows, ntuple(d -> N + 1 - d, N))
    end
    throw(ArgumentError("share: the elements have gaps (strides $(strides(t))); use Array(t)"))
end

# The array keeps a reference to the tensor, as a bare handle: finalizers run in any order, so that a
# Tensor which only the array leads to could be freed before the array gives the memory back.
function owned(array, t::Tensor)
    check(C.tsr_storage_lend(t))  # the array has its address
    handle = GC.@preserve t (h = raw_handle(t); C.tsr_tensor_retain(h); h)
    finalizer(memory_of(array)) do _
        C.tsr_storage_give_back(handle)
        C.tsr_tensor_release(handle)
    end
    return array
end

# ---- Copies ----

Base.copy(t::Tensor) = clone(t)
Base.deepcopy_internal(t::Tensor, seen::IdDict) = get!(() -> deep_copy(t), seen, t)

# The copy of a leaf is a leaf, or a copied model would train the original. A copy of a result belongs to its graph.
function deep_copy(t::Tensor)
    isfreed(t) && return Tensor(tsr_tensor(C_NULL))
    is_leaf(t) && requires_grad(t) || return clone(t)
    made = requires_grad!(clone(detach(t)))
    gradient = grad(t)
    gradient === nothing || grad!(made, deep_copy(detach(gradient)))
    return made
end
Base.similar(t::Tensor) = empty_like(t)
Base.similar(t::Tensor, T::Type) = empty_like(t; dtype=T)
Base.similar(t::Tensor, T::Type, dims::Base.Dims) = empty(dims; dtype=T, device=device(t))
Base.similar(t::Tensor, dims::Base.Dims) = similar(t, eltype(t), dims)
Base.similar(t::Tensor, dims::Integer...) = similar(t, Int.(dims))
Base.similar(t::Tensor, T::Type, dims::Integer...) = similar(t, T, Int.(dims))
Base.zero(t::Tensor) = zeros_like(t)
# Copies to the first elements, in Julia's order, if the array is the shorter one.
function Base.copyto!(t::Tensor, source::AbstractArray)
    size(source) == size(t) && return copyto!(t, host_source(t, source))
    length(source) <= length(t) || throw(BoundsError(t, length(source)))
    write_linear!(t, source, 1:length(source))
    return t
end
Base.copy!(t::Tensor, source) = size(t) == size(source) ? copyto!(t, source) :
    throw(ArgumentError("copy!: a tensor of sizes $(size(t)) and an array of $(size(source))"))

function Base.copyto!(array::Array, t::Tensor)
    size(array) == size(t) || throw(DimensionMismatch("array of $(size(array)), tensor of $(size(t))"))
    return copyto!(array, Array(t))
end

# As an array of elements in memory with strides.
dense(array::AbstractArray) = has_strides(array) ? array : collect(array)
dense(array::BitArray) = Array{Bool}(array)
has_strides(array) = array isa DenseArray && !(array isa BitArray)
has_strides(array::PermutedDimsArray) = has_strides(parent(array))

# ---- Shapes, in Julia's order of elements: the first axis runs fastest ----

"A view with the axes in reverse order: row-major order of one is Julia's order of the other."
function reversed(t::Tensor)
    n = ndims(t)
    return n < 2 ? t : wrap(turned(t, n))
end

const REVERSED = [Int64[(n - 1):-1:0;] for n in 1:8]

"A tensor of rank `n` with the axes in reverse order, as a handle that the caller must release."
function turned(t::Union{Tensor,tsr_tensor}, n)
    out = Ref{tsr_tensor}()
    check(turned!(out, t, n))
    return out[]
end

function turned!(out, t, n)
    if n < 2
        out[] = t isa Tensor ? raw_handle(t) : t
        C.tsr_tensor_retain(out[])
        return C.TSR_OK
    end
    return C.tsr_permute_dims(t, n <= 8 ? REVERSED[n] : Int64[(n - 1):-1:0;], n, out)
end

Base.reshape(t::Tensor, dims::Vararg{Integer,N}) where {N} = reshape(t, dims)
Base.reshape(t::Tensor, dims::Vararg{Union{Integer,Colon},N}) where {N} = reshape(t, dims)
function Base.reshape(t::Tensor, dims::Tuple{Vararg{Union{Integer,Colon},N}}) where {N}
    shape = int_list(reverse(map(extent, dims)))
    out = Ref{tsr_tensor}()
    rows = turned(t, ndims(t))
    done_with(rows, C.tsr_reshape(rows, shape, N, -1, out))
    made = out[]
    done_with(made, turned!(out, made, N))
    return wrap(out[])
end
Base.vec(t::Tensor) = reshape(t, :)

extent(d::Integer) = Int64(d)
extent(::Colon) = Int64(-1)

function Base.permutedims(t::Tensor, perm)
    axes, out = zero_based_list(perm), Ref{tsr_tensor}()
    check(C.tsr_permute_dims(t, axes, list_count(axes), out))
    return wrap(cloned(out[]))
end
Base.permutedims(t::Tensor) = ndims(t) == 1 ? unsqueeze(clone(t); dims=1) : clone(transpose(t))
Base.PermutedDimsArray(t::Tensor, perm) = permute_dims(t, perm)
Base.transpose(t::Tensor) = ndims(t) == 1 ? unsqueeze(t; dims=1) : matrix_transpose(t)
Base.adjoint(t::Tensor) = iscomplex(t) ? conj(transpose(t)) : transpose(t)
iscomplex(t::Tensor) = info(t).dtype in (C.TSR_COMPLEX64, C.TSR_COMPLEX128)
Base.selectdim(t::Tensor, d::Integer, i::Integer) = select(t, i; dims=d)
Base.selectdim(t::Tensor, d::Integer, i) = 1 <= d <= ndims(t) ? view(t, ntuple(k -> k == d ? i : (:), ndims(t))...) :
    throw(DimensionMismatch("selectdim: a tensor of sizes $(size(t)) has no axis $d"))

# Along an axis that the tensors do not have, they are stacked.
Base.cat(first::Tensor, rest::Tensor...; dims::Integer) =
    concat(map(t -> padded(t, max(ndims(t), dims)), (first, rest...)); dims=dims)
Base.vcat(first::Tensor, rest::Tensor...) = concat((first, rest...); dims=1)
function Base.hcat(first::Tensor, rest::Tensor...)
    columns = map(t -> ndims(t) == 1 ? unsqueeze(t; dims=2) : t, (first, rest...))
    return concat(columns; dims=2)
end
function Base.hvcat(columns::Tuple{Vararg{Int}}, first::Tensor, rest::Tensor...)
    parts = (first, rest...)
    return vcat((hcat(parts[(stop - count + 1):stop]...) for (stop, count) in zip(cumsum(collect(columns)), columns))...)
end

# An array beside a tensor becomes one.
const Joined = Union{Tensor,AbstractArray{<:Number}}
joined(t::Tensor) = t
joined(array) = Tensor(array)
joined(x::Number) = Tensor([x])
for f in (:vcat, :hcat)
    @eval Base.$f(first::Tensor, rest::Joined...) = $f(first, map(joined, rest)...)
    @eval Base.$f(first::AbstractArray{<:Number}, second::Tensor, rest::Joined...) = $f(joined(first), second, rest...)
end
# A number takes one place of a vector.
Base.vcat(first::Tensor, rest::Union{Joined,Number}...) = vcat(first, map(joined, rest)...)
Base.vcat(first::Number, second::Tensor, rest::Union{Joined,Number}...) = vcat(joined(first), second, map(joined, rest)...)

# ---- Operators without a dot ----

function same_sizes(a, b)
    GC.@preserve a b begin
        x, y = info(a), info(b)
        bytes = x.ndim * sizeof(Int64)
        return x.ndim == y.ndim && 0 == ccall(:memcmp, Cint,
            (Ptr{Int64}, Ptr{Int64}, Csize_t), x.sizes, y.sizes, bytes)
    end
end

same_size(a::Tensor, b::Tensor) = same_sizes(a, b) ? nothing : throw_sizes(a, b)
@noinline throw_sizes(a, b) = throw(DimensionMismatch(
    "sizes $(size(a)) and $(size(b)) differ; to broadcast, write the operator with a dot"))

Base.:+(a::Tensor, b::Tensor) = (same_size(a, b); add(a, b))
Base.:-(a::Tensor, b::Tensor) = (same_size(a, b); subtract(a, b))
Base.:-(a::Tensor) = negative(a)
Base.:+(a::Tensor) = a
function Base.:*(a::Tensor, b::Tensor)
    (isnumber(a) || isnumber(b)) && return multiply(a, b)
    # A vector is a column, as in v * v'; the library takes it as a row.
    isrow(b) && info(a).ndim == 1 && return multiply(unsqueeze(a; dims=2), b)
    return matmul(a, b)
end
isrow(t::Tensor) = info(t).ndim == 2 && size(t, 1) == 1
Base.:*(a::Tensor, b::Number) = multiply(a, b)
Base.:*(a::Number, b::Tensor) = multiply(b, a)
Base.:/(a::Tensor, b::Number) = divide(a, b)
Base.:\(a::Tensor, b::Tensor) = solve(a, b)
Base.:\(a::Number, b::Tensor) = divide(b, a)

# An array on one side is a tensor of its elements, as in a dotted expression.
for (operator, arrays) in ((:*, :AbstractVecOrMat), (:\, :AbstractVecOrMat), (:+, :AbstractArray), (:-, :AbstractArray))
    @eval Base.$operator(a::Tensor, b::$arrays{<:Number}) = with_host(x -> $operator(a, x), alike(b, a), a)
    @eval Base.$operator(a::$arrays{<:Number}, b::Tensor) = with_host(x -> $operator(x, b), alike(a, b), b)
end
Base.:/(a::AbstractArray{<:Number}, b::Tensor) = with_host(x -> x / b, alike(a, b), b)
Base.:/(a::Tensor, b::AbstractArray{<:Number}) = throw_sizes_of("/", b)
Base.:/(a::Tensor, b::AbstractMatrix{<:Number}) = with_host(x -> a / x, alike(b, a), a)
Base.:/(a::Tensor, b::Tensor) = isnumber(b) ? divide(a, b) :
    ndims(a) == ndims(b) == 2 ? solve(b, a; left=false) : throw_sizes_of("/", b)
Base.:/(a::Number, b::Tensor) = isnumber(b) ? divide(a, b) : throw_sizes_of("/", b)

# Integers beside floats become floats, as those of arrays do; products want one element type.
alike(array, t::Tensor) = array
alike(array::AbstractArray{<:Integer}, t::Tensor) = eltype(t) <: Integer ? array : convert(Array{eltype(t)}, array)

# A tensor without axes, such as a loss, takes the place of a number.
isnumber(t::Tensor) = info(t).ndim == 0
for (operator, op) in ((:+, :add), (:-, :subtract))
    text = string(operator)
    @eval Base.$operator(a::Tensor, b::Number) = isnumber(a) ? $op(a, b) : throw_sizes_of($text, a)
    @eval Base.$operator(a::Number, b::Tensor) = isnumber(b) ? $op(a, b) : throw_sizes_of($text, b)
end
Base.:^(t::Tensor, n::Integer) = isnumber(t) ? pow(t, n) : matrix_power(t, n)
Base.:^(t::Tensor, p::Real) = isnumber(t) ? pow(t, p) : throw_sizes_of("^", t)
@noinline throw_sizes_of(operator, t) = throw(DimensionMismatch("$operator with one operand of sizes $(size(t)): " *
    "for each element write .$operator"))

# Calls f with a tensor of an array's elements. A graph may keep it: then it has memory of its own, because the
# program may write to the array before the backward.
function with_host(f, array, other::Tensor)
    kept = C.tsr_grad_mode() != 0 && requires_grad(other)
    x = kept ? Tensor(array) : tensor(array)
    result = f(x)
    kept || free!(x)
    return result
end

Base.:(==)(a::Tensor, b::Tensor) = same_sizes(a, b) && Bool(item(all(equal(a, b))))
Base.:(==)(a::Tensor, b::AbstractArray{<:Number}) = size(a) == size(b) && Array(a) == b
Base.:(==)(a::AbstractArray{<:Number}, b::Tensor) = b == a
# A tensor without axes takes the place of a number; another one is as little a number as an array is.
Base.:(==)(a::Tensor, b::Number) = isnumber(a) && item(a) == b
Base.:(==)(a::Number, b::Tensor) = b == a
Base.isequal(a::Tensor, b::Tensor) = same_sizes(a, b) && isequal(Array(a), Array(b))
Base.isequal(a::Tensor, b::AbstractArray{<:Number}) = isequal(Array(a), b)
Base.isequal(a::AbstractArray{<:Number}, b::Tensor) = isequal(b, a)
Base.isequal(::Tensor, ::Number) = false  # their hashes differ
Base.isequal(::Number, ::Tensor) = false
Base.hash(t::Tensor, h::UInt) = hash(Array(t), h)
Base.isapprox(a::Tensor, b::Tensor; options...) = isapprox(Array(a), Array(b); options...)
Base.isapprox(a::Tensor, b::AbstractArray; options...) = isapprox(Array(a), b; options...)
Base.isapprox(a::AbstractArray, b::Tensor; options...) = isapprox(a, Array(b); options...)
Base.isapprox(a::Tensor, b::Number; options...) = isapprox(number_of(a), b; options...)
Base.isapprox(a::Number, b::Tensor; options...) = isapprox(a, number_of(b); options...)

LinearAlgebra.norm(t::Tensor, p::Real=2) = vector_norm(t; ord=p)
LinearAlgebra.tril(t::Tensor, k::Integer) = LinearAlgebra.tril(t; diagonal=k)
LinearAlgebra.triu(t::Tensor, k::Integer) = LinearAlgebra.triu(t; diagonal=k)
Base.clamp(t::Tensor, low, high) = clip(t, low, high)
Base.atan(y::Tensor, x::Union{Tensor,Real}) = atan2(y, x)

# ---- Creation: Tessera.zeros(Float32, 2, 3) ----

for f in (:empty, :zeros, :ones, :rand, :randn)
    # Keywords by name: forwarding all keywords would cost more than the call.
    names = f in (:rand, :randn) ? [:device, :generator] : [:device]
    absent, passed = [Expr(:kw, k, nothing) for k in names], [Expr(:kw, k, k) for k in names]
    @eval $f(rows::Integer, cols::Integer, rest::Vararg{Integer,N}; dtype=nothing, $(absent...)) where {N} =
        $f((rows, cols, rest...); dtype=dtype, $(passed...))
    @eval $f(T::Type, dims::Vararg{Integer,N}; $(absent...)) where {N} = $f(dims; dtype=T, $(passed...))
    @eval $f(T::Type, dims::Tuple; $(absent...)) = $f(dims; dtype=T, $(passed...))
end

"""
    Tessera.arange(range; dtype)

The numbers of a range, for example `Tessera.arange(0:5; dtype=Float32)`.
"""
arange(r::AbstractRange; dtype=eltype(r)) = Tensor(collect(r); dtype=dtype)
