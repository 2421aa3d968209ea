# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Bags of embeddings and bilinear forms.

"""
    EmbeddingBag(rows => features; scale_grad_by_freq=false, mode="mean", include_last_offset=false,
        padding_idx=nothing, dtype=Float32)

The sum, mean or maximum of the rows of a table that each bag names. The call is `layer(indices; offsets,
per_sample_weights)`: a matrix of indices has a bag in each row, a list is divided at the offsets. Indices
and offsets are data and count from 0; `padding_idx`, a row that belongs to no bag and is not trained,
counts from 1.
"""
struct EmbeddingBag <: Layer
    weight::Tensor
    scale_grad_by_freq::Bool
    mode::String
    include_last_offset::Bool
    padding_idx::Union{Nothing,Int}
end

function EmbeddingBag(sizes::Pair{<:Integer,<:Integer}; scale_grad_by_freq=false, mode="mean",
        include_last_offset=false, padding_idx=nothing, dtype=Float32)
    mode in ("sum", "mean", "max") ||
        throw(ArgumentError("EmbeddingBag: mode: expected sum, mean or max, got $(repr(mode))"))
    weight = normal!(empty(Tuple(sizes); dtype=dtype))
    if padding_idx !== nothing
        1 <= padding_idx <= first(sizes) ||
            throw(ArgumentError("EmbeddingBag: padding_idx $padding_idx is no row of $(first(sizes))"))
        weight[padding_idx, :] = 0
    end
    return EmbeddingBag(parameter(weight), scale_grad_by_freq, mode, include_last_offset, padding_idx)
end
(layer::EmbeddingBag)(x::Tensor; offsets=nothing, per_sample_weights=nothing) =
    embedding_bag(x, layer.weight; offsets=offsets, scale_grad_by_freq=layer.scale_grad_by_freq,
        mode=layer.mode, per_sample_weights=per_sample_weights,
        include_last_offset=layer.include_last_offset, padding_idx=layer.padding_idx)

"""
    Bilinear((in1, in2) => out; bias=true, dtype=Float32)

`x1' * A * x2 + b` for every matrix `A` of the weight (out, in1, in2); the call is `layer(x1, x2)`.
"""
struct Bilinear <: Layer
    weight::Tensor
    bias::Union{Nothing,Tensor}
end

function Bilinear(sizes::Pair{<:Tuple{Integer,Integer},<:Integer}; bias=true, dtype=Float32)
    (in1, in2), out = sizes
    in1 > 0 || throw(ArgumentError("Bilinear: expected features of the first input, got $in1"))
    bound = 1 / sqrt(in1)
    return Bilinear(uniform_parameter(dtype, bound, (out, in1, in2)),
        bias ? uniform_parameter(dtype, bound, out) : nothing)
end
(layer::Bilinear)(x1::Tensor, x2::Tensor) = bilinear(x1, x2, layer.weight; bias=layer.bias)
