// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Multi-head attention and the encoder layer of a Transformer; names, defaults and initial values
// are the same as in the Python package.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "tessera/cpp/nn/activations.hpp"
#include "tessera/cpp/nn/dropouts.hpp"
#include "tessera/cpp/nn/layers.hpp"
#include "tessera/cpp/nn/norm.hpp"

namespace tessera::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool add_bias_kv = false;
  bool add_zero_attn = false;
  std::optional<int64_t> kdim = std::nullopt;  // features of keys; absent: embed_dim
  std::optional<int64_t> vdim = std::nullopt;  // features of values
  bool batch_first = false;
  std::optional<DType> dtype = std::nullopt;
};

// What a call of MultiheadAttention may say besides its sequences.
struct AttentionCall {
  Tensor key_padding_mask = {};
  bool need_weights = true;
  Tensor attn_mask = {};
  bool average_attn_weights = true;
  bool is_causal = false;
};

// Projects query, key and value, attends with every head, and projects the joined heads. Sequences
// are (length, batch, features), or (batch, length, features) with batch_first, or (length,
// features). Bool masks hide a key where they are true.
class MultiheadAttention : public Module {
 public:
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // undefined beside in_proj_weight
  Tensor in_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear out_proj;

  MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                     const MultiheadAttentionOptions& given = {})
      : out_proj(embed_dim, embed_dim, given.bias, given.dtype),
        num_heads_(num_heads),
        options_(given) {
    if (num_heads < 1 || embed_dim < 1 || embed_dim % num_heads != 0) {
      tessera::detail::throw_value("MultiheadAttention", "num_heads",
                                   "a divisor of embed_dim " + std::to_string(embed_dim),
                                   std::to_string(num_heads));
    }
    if (!(given.dropout >= 0 && given.dropout <= 1)) {
      tessera::detail::throw_value("MultiheadAttention", "dropout", "a probability from 0 to 1",
                                   std::to_string(given.dropout));
    }
    const int64_t key_width = given.kdim.value_or(embed_dim);
    const int64_t value_width = given.vdim.value_or(embed_dim);
    if (key_width == embed_dim && value_width == embed_dim) {
      in_proj_weight = weight(3 * embed_dim, embed_dim);
    } else {
      q_proj_weight = weight(embed_dim, embed_dim);
      k_proj_weight = weight(embed_dim, key_width);
      v_proj_weight = weight(embed_dim, value_width);
    }
    if (given.bias) {
      in_proj_bias = zeros({3 * embed_dim}, given.dtype);
      init::zeros_(out_proj.bias);
    }
    if (given.add_bias_kv) {
      bias_k = row(embed_dim);
      bias_v = row(embed_dim);
    }
    register_parameter("q_proj_weight", q_proj_weight);
    register_parameter("k_proj_weight", k_proj_weight);
    register_parameter("v_proj_weight", v_proj_weight);
    register_parameter("in_proj_weight", in_proj_weight);
    register_parameter("in_proj_bias", in_proj_bias);
    register_parameter("bias_k", bias_k);
    register_parameter("bias_v", bias_v);
    register_module("out_proj", out_proj);
  }

  // The result and, with need_weights, the weights; else the second tensor is undefined.
  std::pair<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionCall& call = {}) {
    MultiHeadAttentionResult found = multi_head_attention(
        query, key, value, num_heads_, out_proj.weight, out_proj.bias, in_proj_weight, in_proj_bias,
        q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v, call.key_padding_mask,
        call.attn_mask, call.is_causal, options_.add_zero_attn,
        is_training() ? options_.dropout : 0.0, call.need_weights, call.average_attn_weights,
        options_.batch_first);
    return {found.output, call.need_weights ? found.weights : Tensor()};
  }
  // Self-attention.
  Tensor forward(const Tensor& input) override {
    AttentionCall call;
    call.need_weights = false;
    return forward(input, input, input, call).first;
  }

 private:
  [[nodiscard]] Tensor weight(int64_t rows, int64_t columns) const {
    Tensor made = empty({rows, columns}, options_.dtype);
    init::xavier_uniform_(made);
    return made;
  }
  [[nodiscard]] Tensor row(int64_t width) const {
    Tensor made = empty({1, 1, width}, options_.dtype);
    init::xavier_normal_(made);
    return made;
  }

  int64_t num_heads_;
  MultiheadAttentionOptions options_;
};

struct TransformerEncoderLayerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::function<Tensor(const Tensor&)> activation = [](const Tensor& x) { return relu(x); };
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
  std::optional<DType> dtype = std::nullopt;
};

namespace detail {

inline MultiheadAttentionOptions attention_options(const TransformerEncoderLayerOptions& given) {
  MultiheadAttentionOptions options;
  options.dropout = given.dropout;
  options.bias = given.bias;
  options.batch_first = given.batch_first;
  options.dtype = given.dtype;
  return options;
}
inline LayerNormOptions norm_options(const TransformerEncoderLayerOptions& given) {
  LayerNormOptions options;
  options.eps = given.layer_norm_eps;
  options.bias = given.bias;
  options.dtype = given.dtype;
  return options;
}
// A block added to its input, with the normalisation before the block or behind the sum.
template <class Block>
Tensor sum_with(bool norm_first, const Tensor& x, const Block& block, LayerNorm& norm) {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

}  // namespace detail

// Self-attention and two linear layers, each added to its input and normalised (Vaswani et al.,
// "Attention is all you need", 2017).
class TransformerEncoderLayer : public Module {
 public:
  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

  TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                          const TransformerEncoderLayerOptions& given = {})
      : self_attn(d_model, nhead, detail::attention_options(given)),
        linear1(d_model, given.dim_feedforward, given.bias, given.dtype),
        dropout(given.dropout),
        linear2(given.dim_feedforward, d_model, given.bias, given.dtype),
        norm1({d_model}, detail::norm_options(given)),
        norm2({d_model}, detail::norm_options(given)),
        dropout1(given.dropout),
        dropout2(given.dropout),
        activation_(given.activation),
        norm_first_(given.norm_first) {
    register_module("self_attn", self_attn);
    register_module("linear1", linear1);
    register_module("dropout", dropout);
    register_module("linear2", linear2);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("dropout1", dropout1);
    register_module("dropout2", dropout2);
  }

  Tensor forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask = {},
                 bool is_causal = false) {
    AttentionCall call;
    call.key_padding_mask = src_key_padding_mask;
    call.need_weights = false;
    call.attn_mask = src_mask;
    call.is_causal = is_causal;
    const auto attend = [&](const Tensor& x) {
      return dropout1(self_attn.forward(x, x, x, call).first);
    };
    const auto feed = [&](const Tensor& x) {
      return dropout2(linear2(dropout(activation_(linear1(x)))));
    };
    const Tensor x = detail::sum_with(norm_first_, src, attend, norm1);
    return detail::sum_with(norm_first_, x, feed, norm2);
  }
  Tensor forward(const Tensor& src) override { return forward(src, Tensor()); }

 private:
  std::function<Tensor(const Tensor&)> activation_;
  bool norm_first_;
};

}  // namespace tessera::nn
