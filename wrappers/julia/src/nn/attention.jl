# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Multi-head attention, the layers of a Transformer, and layers one after the other.

"""
    MultiheadAttention(features, heads; dropout=0, bias=true, add_bias_kv=false, add_zero_attn=false,
        kdim=features, vdim=features, batch_first=false, dtype=Float32)

Projects query, key and value, attends with every head, and projects the joined heads. Sequences have the
sizes (length, batch, features), or (batch, length, features) with `batch_first`, or (length, features).
The call `layer(query, key, value; key_padding_mask, need_weights=true, attn_mask,
average_attn_weights=true, is_causal=false)` gives the result and the weights, or `nothing` for them; the
call with one sequence is self-attention and gives the result. Bool masks hide a key where they are true.
"""
struct MultiheadAttention <: Layer
    in_proj_weight::Union{Nothing,Tensor}
    q_proj_weight::Union{Nothing,Tensor}
    k_proj_weight::Union{Nothing,Tensor}
    v_proj_weight::Union{Nothing,Tensor}
    in_proj_bias::Union{Nothing,Tensor}
    bias_k::Union{Nothing,Tensor}
    bias_v::Union{Nothing,Tensor}
    out_proj::Dense
    heads::Int
    dropout::Float64
    add_zero_attn::Bool
    batch_first::Bool
    mode::Mode
end

# Glorot's values for a weight of (outputs, inputs).
glorot_parameter(dtype, outputs, inputs) =
    uniform_parameter(dtype, sqrt(6 / (outputs + inputs)), (outputs, inputs))

function MultiheadAttention(features::Integer, heads::Integer; dropout=0, bias=true, add_bias_kv=false,
        add_zero_attn=false, kdim=features, vdim=features, batch_first=false, dtype=Float32)
    features > 0 && heads > 0 && features % heads == 0 ||
        throw(ArgumentError("MultiheadAttention: $heads heads do not divide $features features"))
    0 <= dropout <= 1 ||
        throw(ArgumentError("MultiheadAttention: dropout: expected a probability, got $dropout"))
    same = kdim == features && vdim == features
    weight(inputs) = same ? nothing : glorot_parameter(dtype, features, inputs)
    out_proj = Dense(features => features; bias=bias, dtype=dtype)
    bias && no_grad(() -> fill!(out_proj.bias, 0))
    row() = add_bias_kv ?
        parameter(normal!(empty((1, 1, features); dtype=dtype); std=sqrt(1 / features))) : nothing
    return MultiheadAttention(same ? glorot_parameter(dtype, 3 * features, features) : nothing,
        weight(features), weight(kdim), weight(vdim),
        bias ? parameter(filled(dtype, 0, 3 * features)) : nothing, row(), row(), out_proj, heads,
        dropout, add_zero_attn, batch_first, Mode(true))
end

function (layer::MultiheadAttention)(query::Tensor, key::Tensor, value::Tensor; key_padding_mask=nothing,
        need_weights::Bool=true, attn_mask=nothing, average_attn_weights::Bool=true,
        is_causal::Bool=false)
    output, weights = multi_head_attention(query, key, value, layer.heads, layer.out_proj.weight;
        out_proj_bias=layer.out_proj.bias, in_proj_weight=layer.in_proj_weight,
        in_proj_bias=layer.in_proj_bias, q_proj_weight=layer.q_proj_weight,
        k_proj_weight=layer.k_proj_weight, v_proj_weight=layer.v_proj_weight, bias_k=layer.bias_k,
        bias_v=layer.bias_v, key_padding_mask=key_padding_mask, attn_mask=attn_mask, is_causal=is_causal,
        add_zero_attn=layer.add_zero_attn, dropout_p=layer.mode.training ? layer.dropout : 0.0,
        need_weights=need_weights, average_attn_weights=average_attn_weights,
        batch_first=layer.batch_first)
    return output, need_weights ? weights : nothing
end
(layer::MultiheadAttention)(x::Tensor) = first(layer(x, x, x; need_weights=false))

"""
    TransformerEncoderLayer(features, heads; dim_feedforward=2048, dropout=0.1, activation=relu,
        layer_norm_eps=1e-5, batch_first=false, norm_first=false, dtype=Float32)

Self-attention and two linear layers, each added to its input and normalised (Vaswani et al., "Attention
is all you need", 2017). The call is `layer(src; src_mask, src_key_padding_mask, is_causal=false)`.
"""
struct TransformerEncoderLayer{F} <: Layer
    self_attn::MultiheadAttention
    linear1::Dense
    dropout::Dropout
    linear2::Dense
    norm1::LayerNorm
    norm2::LayerNorm
    dropout1::Dropout
    dropout2::Dropout
    activation::F
    norm_first::Bool
end

function TransformerEncoderLayer(features::Integer, heads::Integer; dim_feedforward=2048, dropout=0.1,
        activation=relu, layer_norm_eps=1e-5, batch_first=false, norm_first=false, dtype=Float32)
    norm() = LayerNorm(features; eps=layer_norm_eps, dtype=dtype)
    return TransformerEncoderLayer(
        MultiheadAttention(features, heads; dropout=dropout, batch_first=batch_first, dtype=dtype),
        Dense(features => dim_feedforward; dtype=dtype), Dropout(dropout),
        Dense(dim_feedforward => features; dtype=dtype), norm(), norm(), Dropout(dropout),
        Dropout(dropout), activation, norm_first)
end

function (layer::TransformerEncoderLayer)(src::Tensor; src_mask=nothing, src_key_padding_mask=nothing,
        is_causal::Bool=false)
    attend(x) = layer.dropout1(first(layer.self_attn(x, x, x; key_padding_mask=src_key_padding_mask,
        need_weights=false, attn_mask=src_mask, is_causal=is_causal)))
    feed(x) = layer.dropout2(layer.linear2(layer.dropout(layer.activation(layer.linear1(x)))))
    return sum_with(layer, sum_with(layer, src, attend, layer.norm1), feed, layer.norm2)
end

# A block added to its input, with the normalisation before the block or behind the sum.
sum_with(layer, x, block, norm) = layer.norm_first ? x .+ block(norm(x)) : norm(x .+ block(x))

"""
    TransformerDecoderLayer(features, heads; dim_feedforward=2048, dropout=0.1, activation=relu,
        layer_norm_eps=1e-5, batch_first=false, norm_first=false, dtype=Float32)

Self-attention, attention to the encoder's result and two linear layers, each added to its input and
normalised. The call is `layer(tgt, memory; tgt_mask, memory_mask, tgt_key_padding_mask,
memory_key_padding_mask, tgt_is_causal=false, memory_is_causal=false)`.
"""
struct TransformerDecoderLayer{F} <: Layer
    self_attn::MultiheadAttention
    multihead_attn::MultiheadAttention
    linear1::Dense
    dropout::Dropout
    linear2::Dense
    norm1::LayerNorm
    norm2::LayerNorm
    norm3::LayerNorm
    dropout1::Dropout
    dropout2::Dropout
    dropout3::Dropout
    activation::F
    norm_first::Bool
end

function TransformerDecoderLayer(features::Integer, heads::Integer; dim_feedforward=2048, dropout=0.1,
        activation=relu, layer_norm_eps=1e-5, batch_first=false, norm_first=false, dtype=Float32)
    norm() = LayerNorm(features; eps=layer_norm_eps, dtype=dtype)
    attention() =
        MultiheadAttention(features, heads; dropout=dropout, batch_first=batch_first, dtype=dtype)
    return TransformerDecoderLayer(attention(), attention(), Dense(features => dim_feedforward; dtype=dtype),
        Dropout(dropout), Dense(dim_feedforward => features; dtype=dtype), norm(), norm(), norm(),
        Dropout(dropout), Dropout(dropout), Dropout(dropout), activation, norm_first)
end

function (layer::TransformerDecoderLayer)(tgt::Tensor, memory::Tensor; tgt_mask=nothing, memory_mask=nothing,
        tgt_key_padding_mask=nothing, memory_key_padding_mask=nothing, tgt_is_causal::Bool=false,
        memory_is_causal::Bool=false)
    attend(x) = layer.dropout1(first(layer.self_attn(x, x, x; key_padding_mask=tgt_key_padding_mask,
        need_weights=false, attn_mask=tgt_mask, is_causal=tgt_is_causal)))
    look(x) = layer.dropout2(first(layer.multihead_attn(x, memory, memory;
        key_padding_mask=memory_key_padding_mask, need_weights=false, attn_mask=memory_mask,
        is_causal=memory_is_causal)))
    feed(x) = layer.dropout3(layer.linear2(layer.dropout(layer.activation(layer.linear1(x)))))
    x = sum_with(layer, tgt, attend, layer.norm1)
    x = sum_with(layer, x, look, layer.norm2)
    return sum_with(layer, x, feed, layer.norm3)
end

"""
    TransformerEncoder(layers...; norm=nothing)

Encoder layers one after the other and a last normalisation; keywords of the call are those of a layer.
"""
struct TransformerEncoder{C<:Chain,N} <: Layer
    layers::C
    norm::N
end
TransformerEncoder(layers::TransformerEncoderLayer...; norm=nothing) = TransformerEncoder(Chain(layers...), norm)

"""
    TransformerDecoder(layers...; norm=nothing)

Decoder layers one after the other and a last normalisation; the call is that of a layer.
"""
struct TransformerDecoder{C<:Chain,N} <: Layer
    layers::C
    norm::N
end
TransformerDecoder(layers::TransformerDecoderLayer...; norm=nothing) = TransformerDecoder(Chain(layers...), norm)

last_norm(::Nothing, x) = x
last_norm(norm, x) = norm(x)

(stack::TransformerEncoder)(src::Tensor; options...) =
    last_norm(stack.norm, foldl((x, layer) -> layer(x; options...), stack.layers.layers; init=src))
(stack::TransformerDecoder)(tgt::Tensor, memory::Tensor; options...) =
    last_norm(stack.norm, foldl((x, layer) -> layer(x, memory; options...), stack.layers.layers; init=tgt))
