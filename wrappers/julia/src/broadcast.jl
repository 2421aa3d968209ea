# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Dotted expressions: each function in one becomes an op of the library, never a loop.

using Base.Broadcast: Broadcast, Broadcasted, BroadcastStyle

include("generated/broadcast.jl")

# The form that writes of an op that has none.
by_copy(op) = (dst, args...) -> copyto!(dst, op(args...))

operation(f, ::Val) = throw(ArgumentError(startswith(string(f), '#') ?
    "a function of your own is no op on tensors. Write its body as a dotted expression, such as t .^ 2 .+ 1 for " *
    "map(x -> x^2 + 1, t), or loop over Array(t)" :
    "$f.(...) is no op on tensors. Write it with functions that are, or loop over Array(t)"))
operation(T::Type{<:Number}, ::Val{1}) = (t -> astype(t, T), by_copy(t -> astype(t, T)), false)
operation(::typeof(identity), ::Val{1}) = (identity, copyto!, false)
operation(::typeof(+), ::Val{1}) = (identity, copyto!, false)
operation(::typeof(abs2), ::Val{1}) = (squared_size, by_copy(squared_size), false)
operation(::typeof(div), ::Val{2}) = (truncated, truncated!, true)

operation(::Union{typeof(muladd),typeof(fma)}, ::Val{3}) = (product_sum, by_copy(product_sum), false)
product_sum(a::Number, b::Number, c) = add(c, a * b)
product_sum(a, b, c) = add(a isa Number ? multiply(b, a) : multiply(a, b), c)
# round.(Int, t)
for f in (:round, :floor, :ceil, :trunc)
    @eval operation(::typeof($f), ::Val{2}) = ($(Symbol(f, :_as)), by_copy($(Symbol(f, :_as))), false)
    @eval $(Symbol(f, :_as))(T::Type{<:Number}, t::Tensor) = astype($f(t), T)
end

squared_size(t) = square(iscomplex(t) ? abs(t) : t)
truncated(a, b) = divide_rounded(a, b; rounding_mode="trunc")
truncated!(arguments...) = divide_rounded!(arguments...; rounding_mode="trunc")
operation(::typeof(Base.literal_pow), ::Val{3}) = (literal_power, literal_power!, false)

literal_power(::typeof(^), t, ::Val{2}) = square(t)
literal_power(::typeof(^), t, ::Val{1}) = t
literal_power(::typeof(^), t, ::Val{-1}) = reciprocal(t)
literal_power(::typeof(^), t, ::Val{n}) where {n} = pow(t, n)
literal_power!(dst, ::typeof(^), t, ::Val{n}) where {n} = pow!(dst, t, n)

struct TensorStyle <: BroadcastStyle end
Base.BroadcastStyle(::Type{Tensor}) = TensorStyle()
Base.BroadcastStyle(::TensorStyle, ::BroadcastStyle) = TensorStyle()
Broadcast.broadcastable(t::Tensor) = t
Broadcast.instantiate(bc::Broadcasted{TensorStyle}) = bc  # the library computes the sizes

# As of an array, the result is a new tensor, also that of identity.(t) and t .^ 1.
function Base.copy(bc::Broadcasted{TensorStyle})
    result, is_new = evaluate(bc)
    return is_new ? result : clone(result)
end

# Returns the result, and whether it is new, that is, not held by anybody else.
@inline function evaluate(bc::Broadcasted{TensorStyle})
    found = host_values(bc.args, values_of(bc.args))
    args = aligned(map(first, found))
    result = operation(bc.f, Val(length(args)))[1](args...)
    free_temporaries(found, args, result)
    return result, !any(map(arg -> arg === result, args))
end

# Frees intermediate results at once: the collector would free them late.
free_temporaries(::Tuple{}, ::Tuple{}, result) = nothing
@inline function free_temporaries(found::Tuple, args::Tuple, result)
    (x, temporary), aligned = found[1], args[1]
    temporary && x !== result && free!(x)
    aligned isa Tensor && aligned !== x && aligned !== result && free!(aligned)
    free_temporaries(Base.tail(found), Base.tail(args), result)
end

values_of(::Tuple{}) = ()
@inline values_of(args::Tuple) = (value(args[1]), values_of(Base.tail(args))...)

# A tensor on the memory of an array becomes a copy where a graph may keep it: the program may write to the array
# before the backward. Whether there is an array follows from the types alone.
host_values(args::Tuple, found::Tuple, others...) = has_array(args...) ? copied_hosts(args, found, others) : found
has_array() = false
has_array(x, rest...) = has_array(rest...)
has_array(::AbstractArray{<:Number}, rest...) = true
has_array(::AbstractArray{<:Number,0}, rest...) = has_array(rest...)
copied_hosts(args, found, others) =
    C.tsr_grad_mode() != 0 && any(x -> x isa Tensor && requires_grad(x), (map(first, found)..., others...)) ?
    map((arg, x) -> arg isa AbstractArray && x[1] isa Tensor ? (clone(x[1]), true) : x, args, found) : found

@inline value(bc::Broadcasted{TensorStyle}) = evaluate(bc)
value(bc::Broadcasted) = value(Broadcast.materialize(bc))
value(x::Base.RefValue) = (x[], false)
value(array::AbstractArray{<:Number}) = (tensor(array), true)
value(array::AbstractArray{<:Number,0}) = (array[], false)
value(list::Tuple{Vararg{Number}}) = (Tensor(collect(list)), true)
value(x) = (x, false)

# Julia aligns sizes at the first axis, the library at the last: shorter ones get more axes of size 1.
aligned(args::Tuple{Any}) = args
@inline function aligned(args::Tuple)
    +(map(x -> x isa Tensor, args)...) < 2 && return args
    ranks = map(rank_of, args)
    rank = max(ranks...)
    return map((x, n) -> padded(x, n, rank), args, ranks)
end

rank_of(t::Tensor) = Int(info(t).ndim)
rank_of(x) = 0
padded(x, n, rank) = x
@inline padded(t::Tensor, n, rank) = n >= rank || n == 0 ? t : with_axes(t, n, rank)
function with_axes(t::Tensor, n, rank)
    rank == n + 1 && return unsqueeze(t; dims=rank)
    return wrap(part(t, item_list(d <= n ? SLICE_ALL : NEW_AXIS_ITEM for d in 1:rank)))
end
padded(t::Tensor, rank) = padded(t, ndims(t), rank)

# ---- In place: a .= f.(b), a .+= b ----

# Base would compute the axes first, whose type is not known to the compiler; the library checks them.
@inline Broadcast.materialize!(dst::Tensor, bc::Broadcasted{Style}) where {Style} = copyto!(dst, bc)

@inline function Base.copyto!(dst::Tensor, bc::Broadcasted{TensorStyle})
    found = host_values(bc.args, values_of(bc.args), dst)
    args = aligned(map(first, found))
    plain, writing, inplace = operation(bc.f, Val(length(args)))
    if inplace && args[1] === dst
        writing(args...)
    elseif can_write(dst, args)
        writing(dst, args...)
    else
        copyto!(dst, padded(plain(args...), ndims(dst)))
    end
    free_temporaries(found, args, dst)
    return dst
end

# The out form is not recorded, and needs a result of the destination's sizes.
@inline function can_write(dst::Tensor, args)
    is_real_floating(dst) && any(map(a -> a isa Tensor && same_sizes(a, dst), args)) || return false
    return C.tsr_grad_mode() == 0 ||
        !(requires_grad(dst) || any(map(a -> a isa Tensor && requires_grad(a), args)))
end

is_real_floating(t::Tensor) =
    info(t).dtype in (C.TSR_FLOAT16, C.TSR_BFLOAT16, C.TSR_FLOAT32, C.TSR_FLOAT64)

# array .= f.(t), as one copy.
function Broadcast.materialize!(array::AbstractArray, bc::Broadcasted{TensorStyle})
    result = copy(bc)
    array .= host(result)
    free!(result)
    return array
end

Base.copyto!(dst::Tensor, bc::Broadcasted) = assign_value!(dst, Broadcast.materialize(bc))
Base.copyto!(dst::Tensor, bc::Broadcasted{<:Broadcast.AbstractArrayStyle{0}}) =
    assign_value!(dst, Broadcast.materialize(Broadcast.broadcasted(bc.f, bc.args...)))
assign_value!(dst::Tensor, x::Number) = (check_exact(dst, x); fill!(dst, x))
assign_value!(dst::Tensor, x) = copyto!(dst, padded(host_source(dst, x), ndims(dst)))
assign_value!(dst::Tensor, list::Tuple) = assign_value!(dst, collect(list))

function Broadcast.materialize!(dst::Elements, bc::Broadcasted{Style}) where {Style}
    t = dst.tensor
    list = Broadcast.materialize!(similar(t, (length(t),)), bc)
    return copyto!(t, reshape(list, size(t)))
end

# t[mask] .= x: a number goes to each place; else the elements there are written as a tensor of their own first.
function Broadcast.materialize!(dst::Places, bc::Broadcasted{<:Broadcast.AbstractArrayStyle{0}})
    value = Broadcast.materialize(bc)
    check_exact(dst.tensor, value)
    write_at!(dst.tensor, value, dst.index)
    return dst.tensor
end
function Broadcast.materialize!(dst::Places, bc::Broadcasted{Style}) where {Style}
    part = read_at(dst.tensor, dst.index)
    Broadcast.materialize!(part, bc)
    write_at!(dst.tensor, part, dst.index)
    return dst.tensor
end
