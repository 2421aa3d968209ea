# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Dotted expressions: each function in one becomes an op of the library, never a loop.

using Base.Broadcast: Broadcast, Broadcasted, BroadcastStyle

include("generated/broadcast.jl")

operation(f, ::Val) = throw(ArgumentError(
    "$f.(...) is no op on tensors. Write it with functions that are (a closure as a dotted " *
    "expression), or loop over Array(t)"))
operation(T::Type{<:Number}, ::Val{1}) = (t -> astype(t, T), (dst, t) -> copyto!(dst, t), false)
operation(::typeof(identity), ::Val{1}) = (identity, copyto!, false)
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
Broadcast.instantiate(bc::Broadcasted{TensorStyle}) = bc  # the library finds the sizes

Base.copy(bc::Broadcasted{TensorStyle}) = evaluate(bc)

function evaluate(bc::Broadcasted{TensorStyle})
    args = aligned(map(value, bc.args))
    return operation(bc.f, Val(length(args)))[1](args...)
end

value(bc::Broadcasted{TensorStyle}) = evaluate(bc)
value(bc::Broadcasted) = value(Broadcast.materialize(bc))
value(x::Base.RefValue) = x[]
value(array::AbstractArray{<:Number}) = tensor(array)
value(array::AbstractArray{<:Number,0}) = array[]
value(list::Tuple{Vararg{Number}}) = Tensor(collect(list))
value(x) = x

# Julia lines sizes up at the first axis, the library at the last: shorter ones get axes of size 1.
aligned(args::Tuple{Any}) = args
function aligned(args::Tuple)
    rank = maximum(map(rank_of, args))
    return map(x -> padded(x, rank), args)
end

rank_of(t::Tensor) = Int(info(t).ndim)
rank_of(x) = 0
padded(x, rank) = x
function padded(t::Tensor, rank)
    n = rank_of(t)
    (n == rank || n == 0) && return t
    return _getitem_basic(t, reduce_items(ntuple(d -> d <= n ? SLICE_ALL : NEW_AXIS_ITEM, rank)))
end

# ---- In place: a .= f.(b), a .+= b ----

function Base.copyto!(dst::Tensor, bc::Broadcasted{TensorStyle})
    args = aligned(map(value, bc.args))
    plain, writing, inplace = operation(bc.f, Val(length(args)))
    if inplace && args[1] === dst
        return writing(args...)
    elseif can_write(dst, args)
        return writing(dst, args...)
    end
    return copyto!(dst, padded(plain(args...), ndims(dst)))
end

# The form with a destination is not recorded, and wants a result of the destination's sizes.
function can_write(dst::Tensor, args)
    shape = size(dst)
    tensors = filter(a -> a isa Tensor, args)
    recording = C.tsr_grad_mode() != 0 && (requires_grad(dst) || any(requires_grad, tensors))
    return !recording && eltype(dst) <: AbstractFloat && any(t -> size(t) == shape, tensors)
end

Base.copyto!(dst::Tensor, bc::Broadcasted) = assign_value!(dst, value(bc))
Base.copyto!(dst::Tensor, bc::Broadcasted{<:Broadcast.AbstractArrayStyle{0}}) =
    assign_value!(dst, Broadcast.materialize(Broadcast.broadcasted(bc.f, bc.args...)))
assign_value!(dst::Tensor, x::Number) = fill!(dst, x)
assign_value!(dst::Tensor, t::Tensor) = copyto!(dst, padded(t, ndims(dst)))
