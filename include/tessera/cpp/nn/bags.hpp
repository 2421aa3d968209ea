// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bags of embeddings and bilinear forms; names, defaults and initial values are the same as in the
// Python package.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/cpp/nn/layers.hpp"

namespace tessera::nn {

struct EmbeddingBagOptions {
  bool scale_grad_by_freq = false;
  std::string mode = "mean";  // sum, mean or max
  bool include_last_offset = false;
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<DType> dtype = std::nullopt;
};

// The sum, mean or maximum of the rows of a table that each bag names.
class EmbeddingBag : public Module {
 public:
  Tensor weight;

  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingBagOptions& given = {})
      : weight(empty({num_embeddings, embedding_dim}, given.dtype)), options_(given) {
    std::optional<int64_t>& padding = options_.padding_idx;
    if (padding && (*padding < -num_embeddings || *padding >= num_embeddings)) {
      tessera::detail::throw_value("EmbeddingBag", "padding_idx",
                                   "a row of " + std::to_string(num_embeddings) + " embeddings",
                                   std::to_string(*padding));
    }
    if (given.mode != "sum" && given.mode != "mean" && given.mode != "max") {
      throw InvalidValueError("mode: expected sum, mean or max, got " + given.mode);
    }
    if (padding && *padding < 0) *padding += num_embeddings;
    register_parameter("weight", weight);
    init::normal_(weight);
    if (padding) weight.detach().select(0, *padding).zero_();
  }

  // A 1-D input is divided at the offsets; a 2-D one has a bag in each row.
  Tensor forward(const Tensor& input, const Tensor& offsets,
                 const Tensor& per_sample_weights = {}) {
    return embedding_bag(input, weight, offsets, options_.scale_grad_by_freq, options_.mode,
                         per_sample_weights, options_.include_last_offset, options_.padding_idx);
  }
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }

 private:
  EmbeddingBagOptions options_;
};

// x1ᵀ A x2 + b for every matrix A of the weight (out_features, in1_features, in2_features).
class Bilinear : public Module {
 public:
  Tensor weight, bias;

  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, bool with_bias = true,
           std::optional<DType> dtype = std::nullopt)
      : weight(empty({out_features, in1_features, in2_features}, dtype)) {
    if (in1_features < 1) {
      tessera::detail::throw_value("Bilinear", "in1_features", "a number above 0",
                                   std::to_string(in1_features));
    }
    if (with_bias) bias = empty({out_features}, dtype);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
    detail::init_bias(weight, in1_features);
    if (with_bias) detail::init_bias(bias, in1_features);
  }

  using Module::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2) {
    return bilinear(input1, input2, weight, bias);
  }
};

}  // namespace tessera::nn
