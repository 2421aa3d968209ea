// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Multi-head attention: projections, attention of every head, and a projection of the result.
#pragma once

#include <optional>
#include <tuple>

#include "base/generator.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// As PyTorch's multi_head_attention_forward; the weights are (0) unless need_weights. Arguments in
// the order of the schema, which describes them. Throws kShape, kDType, kDevice, kValue,
// kInvalidArgument.
std::tuple<Tensor, Tensor> multi_head_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t num_heads,
    const Tensor& out_proj_weight, const Tensor& out_proj_bias = {},
    const Tensor& in_proj_weight = {}, const Tensor& in_proj_bias = {},
    const Tensor& q_proj_weight = {}, const Tensor& k_proj_weight = {},
    const Tensor& v_proj_weight = {}, const Tensor& bias_k = {}, const Tensor& bias_v = {},
    const Tensor& key_padding_mask = {}, const Tensor& attn_mask = {}, bool is_causal = false,
    bool add_zero_attn = false, double dropout_p = 0, bool need_weights = true,
    bool average_attn_weights = true, bool batch_first = false, Generator* generator = nullptr);

}  // namespace tsr::ops
