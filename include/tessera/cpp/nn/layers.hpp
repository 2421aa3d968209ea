// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers with parameters; defaults and initial values are the same as in the Python package.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "tessera/cpp/nn/init.hpp"
#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

namespace detail {

// Initial values of the bias of a layer whose outputs have this number of inputs.
inline void init_bias(Tensor& bias, int64_t fan_in) {
  const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

}  // namespace detail

// input @ weight.T + bias, with weight of shape (out_features, in_features).
class Linear : public Module {
 public:
  Tensor weight, bias;

  Linear(int64_t in_features, int64_t out_features, bool with_bias = true,
         std::optional<DType> dtype = std::nullopt)
      : weight(empty({out_features, in_features}, dtype)) {
    if (with_bias) bias = empty({out_features}, dtype);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    init::kaiming_uniform_(weight, std::sqrt(5.0));
    if (with_bias) detail::init_bias(bias, in_features);
  }

  Tensor forward(const Tensor& input) override { return linear(input, weight, bias); }
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  std::optional<DType> dtype = std::nullopt;
};

// Normalises over the last axes, whose sizes are given.
class LayerNorm : public Module {
 public:
  Tensor weight, bias;

  // A separate overload, because {8} could be an IntList or a LayerNorm to copy.
  explicit LayerNorm(std::initializer_list<int64_t> normalized_shape,
                     const LayerNormOptions& given = {})
      : LayerNorm(IntList(normalized_shape), given) {}
  explicit LayerNorm(const IntList& normalized_shape, const LayerNormOptions& given = {})
      : shape_(normalized_shape.to_vector()), eps_(given.eps) {
    if (given.elementwise_affine) {
      weight = ones(shape_, given.dtype);
      if (given.bias) bias = zeros(shape_, given.dtype);
    }
    register_parameter("weight", weight);
    register_parameter("bias", bias);
  }

  Tensor forward(const Tensor& input) override {
    return layer_norm(input, shape_, weight, bias, eps_);
  }

 private:
  std::vector<int64_t> shape_;
  double eps_;
};

// Rows of a table, looked up by integers.
class Embedding : public Module {
 public:
  Tensor weight;

  Embedding(int64_t num_embeddings, int64_t embedding_dim,
            std::optional<int64_t> padding_idx = std::nullopt,
            std::optional<DType> dtype = std::nullopt)
      : weight(empty({num_embeddings, embedding_dim}, dtype)), padding_idx_(padding_idx) {
    if (padding_idx && (*padding_idx < -num_embeddings || *padding_idx >= num_embeddings)) {
      tessera::detail::throw_value("Embedding", "padding_idx",
                                   "a row of " + std::to_string(num_embeddings) + " embeddings",
                                   std::to_string(*padding_idx));
    }
    if (padding_idx && *padding_idx < 0) *padding_idx_ += num_embeddings;
    register_parameter("weight", weight);
    init::normal_(weight);
    if (padding_idx_) weight.detach().select(0, *padding_idx_).zero_();
  }

  Tensor forward(const Tensor& input) override { return embedding(input, weight, padding_idx_); }

 private:
  std::optional<int64_t> padding_idx_;
};

}  // namespace tessera::nn
