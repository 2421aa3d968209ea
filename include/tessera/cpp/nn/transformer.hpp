// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The decoder layer of a Transformer, and layers one after the other; names, defaults and initial
// values are the same as in the Python package.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tessera/cpp/nn/attention.hpp"
#include "tessera/cpp/nn/containers.hpp"

namespace tessera::nn {

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

// What a call of a decoder may say besides its sequences.
struct DecoderCall {
  Tensor tgt_mask = {};
  Tensor memory_mask = {};
  Tensor tgt_key_padding_mask = {};
  Tensor memory_key_padding_mask = {};
  bool tgt_is_causal = false;
  bool memory_is_causal = false;
};

// Self-attention, attention to the encoder's result and two linear layers, each added to its input
// and normalised (Vaswani et al., "Attention is all you need", 2017).
class TransformerDecoderLayer : public Module {
 public:
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

  TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                          const TransformerDecoderLayerOptions& given = {})
      : self_attn(d_model, nhead, detail::attention_options(given)),
        multihead_attn(d_model, nhead, detail::attention_options(given)),
        linear1(d_model, given.dim_feedforward, given.bias, given.dtype),
        dropout(given.dropout),
        linear2(given.dim_feedforward, d_model, given.bias, given.dtype),
        norm1({d_model}, detail::norm_options(given)),
        norm2({d_model}, detail::norm_options(given)),
        norm3({d_model}, detail::norm_options(given)),
        dropout1(given.dropout),
        dropout2(given.dropout),
        dropout3(given.dropout),
        activation_(given.activation),
        norm_first_(given.norm_first) {
    register_module("self_attn", self_attn);
    register_module("multihead_attn", multihead_attn);
    register_module("linear1", linear1);
    register_module("dropout", dropout);
    register_module("linear2", linear2);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("norm3", norm3);
    register_module("dropout1", dropout1);
    register_module("dropout2", dropout2);
    register_module("dropout3", dropout3);
  }
  using Module::forward;

  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderCall& given = {}) {
    AttentionCall own;
    own.key_padding_mask = given.tgt_key_padding_mask;
    own.need_weights = false;
    own.attn_mask = given.tgt_mask;
    own.is_causal = given.tgt_is_causal;
    AttentionCall other;
    other.key_padding_mask = given.memory_key_padding_mask;
    other.need_weights = false;
    other.attn_mask = given.memory_mask;
    other.is_causal = given.memory_is_causal;
    const auto attend = [&](const Tensor& x) {
      return dropout1(self_attn.forward(x, x, x, own).first);
    };
    const auto look = [&](const Tensor& x) {
      return dropout2(multihead_attn.forward(x, memory, memory, other).first);
    };
    const auto feed = [&](const Tensor& x) {
      return dropout3(linear2(dropout(activation_(linear1(x)))));
    };
    const Tensor x = detail::sum_with(norm_first_, tgt, attend, norm1);
    const Tensor y = detail::sum_with(norm_first_, x, look, norm2);
    return detail::sum_with(norm_first_, y, feed, norm3);
  }

 private:
  std::function<Tensor(const Tensor&)> activation_;
  bool norm_first_;
};

// Encoder layers one after the other, and a last normalisation if one is given.
class TransformerEncoder : public Module {
 public:
  ModuleList layers;
  ModulePointer norm;

  TransformerEncoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                     const TransformerEncoderLayerOptions& given = {}, ModulePointer last = nullptr)
      : norm(std::move(last)) {
    for (int64_t i = 0; i < num_layers; ++i) {
      ModulePointer layer(new TransformerEncoderLayer(d_model, nhead, given));
      made_.push_back(layer.get());
      layers.append(std::move(layer));
    }
    register_module("layers", layers);
    if (norm != nullptr) register_module("norm", *norm);
  }

  Tensor forward(const Tensor& src, const Tensor& mask, const Tensor& src_key_padding_mask = {},
                 bool is_causal = false) {
    Tensor x = src;
    for (Module* layer : made_) {
      x = static_cast<TransformerEncoderLayer*>(layer)->forward(x, mask, src_key_padding_mask,
                                                                is_causal);
    }
    return norm != nullptr ? norm->forward(x) : x;
  }
  Tensor forward(const Tensor& src) override { return forward(src, Tensor()); }

 private:
  std::vector<Module*> made_;  // of `layers`
};

// Decoder layers one after the other, and a last normalisation if one is given.
class TransformerDecoder : public Module {
 public:
  ModuleList layers;
  ModulePointer norm;

  TransformerDecoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                     const TransformerDecoderLayerOptions& given = {}, ModulePointer last = nullptr)
      : norm(std::move(last)) {
    for (int64_t i = 0; i < num_layers; ++i) {
      ModulePointer layer(new TransformerDecoderLayer(d_model, nhead, given));
      made_.push_back(layer.get());
      layers.append(std::move(layer));
    }
    register_module("layers", layers);
    if (norm != nullptr) register_module("norm", *norm);
  }
  using Module::forward;

  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderCall& given = {}) {
    Tensor x = tgt;
    for (Module* layer : made_) {
      x = static_cast<TransformerDecoderLayer*>(layer)->forward(x, memory, given);
    }
    return norm != nullptr ? norm->forward(x) : x;
  }

 private:
  std::vector<Module*> made_;  // of `layers`
};

}  // namespace tessera::nn
