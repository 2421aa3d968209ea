// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(scale Q Kᵀ + mask) V.
#pragma once

#include <optional>

#include "base/generator.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// query: (..., L, E), key: (..., S, E), value: (..., S, Ev); the result is (..., L, Ev). The
// leading axes broadcast. attn_mask broadcasts with (..., L, S): true lets a key take part, and
// numbers are added to the scores. is_causal: key j takes part for query i if j <= i. A query for
// which no key takes part gives 0. dropout_p is the probability with which a weight becomes 0; the
// others are divided by 1 - dropout_p. scale is 1 / √E if absent. enable_gqa: the axis before the
// last two counts heads, those of the query a multiple of those of key and value; neighbouring
// heads share a key. Memory grows with L + S; only the gradient of the mask and second derivatives
// have tensors of L x S elements. The result has the query's order of rows and heads in memory.
// Floating dtypes. Throws kShape, kDType, kDevice, kValue, kInvalidArgument.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0,
                                    bool is_causal = false, std::optional<double> scale = {},
                                    bool enable_gqa = false, Generator* generator = nullptr);

// 1 / √width, by which scores are scaled. 1 for a width of 0, whose scores are zeros.
double attention_scale(int64_t width);

// The weights of the values, (..., L, S): softmax(scale Q Kᵀ + mask), 0 in rows in which no key
// takes part. Made of ops. The operands are checked by those.
Tensor attention_probabilities(const Tensor& query, const Tensor& key, const Tensor& mask,
                               bool causal, double scale);

}  // namespace tsr::ops
