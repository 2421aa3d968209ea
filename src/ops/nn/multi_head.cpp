// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/multi_head.h"

#include <limits>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/index/mask.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/attention.h"
#include "ops/nn/dropout.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// Query, key and value, or what belongs to each of them.
struct Three {
  Tensor query, key, value;
};

void check_rank(const Tensor& query, const Tensor& key, const Tensor& value) {
  TSR_CHECK(query.ndim() == 2 || query.ndim() == 3, Code::kShape, "query",
            "expected 2 or 3 dimensions, got shape ", query.sizes());
  for (const Tensor* tensor : {&key, &value}) {
    TSR_CHECK(tensor->ndim() == query.ndim(), Code::kShape, tensor == &key ? "key" : "value",
              "expected ", query.ndim(), " dimensions as in the query, got shape ",
              tensor->sizes());
  }
}

// (batch, length, features), views where possible.
Tensor batch_in_front(const Tensor& tensor, bool batch_first) {
  if (tensor.ndim() == 2) return expand_dims(tensor, 0);
  return batch_first ? tensor : transpose(tensor, 0, 1);
}

void check_sizes(const Three& of) {
  TSR_CHECK(of.key.size(0) == of.query.size(0), Code::kShape, "key", "expected a batch of ",
            of.query.size(0), " as in the query, got ", of.key.size(0));
  TSR_CHECK(of.value.size(0) == of.key.size(0) && of.value.size(1) == of.key.size(1), Code::kShape,
            "value", "expected batch and length (", of.key.size(0), ", ", of.key.size(1),
            ") as in the key, got (", of.value.size(0), ", ", of.value.size(1), ")");
}

// Thirds of a tensor along its first axis.
Three thirds(const Tensor& tensor, const char* arg, int64_t rows) {
  TSR_CHECK(tensor.ndim() >= 1 && tensor.size(0) == 3 * rows, Code::kShape, arg, "expected ",
            3 * rows, " rows, got shape ", tensor.sizes());
  const std::vector<Tensor> parts = split(tensor, rows == 0 ? 1 : rows, 0);
  if (rows == 0) return {tensor, tensor, tensor};
  return {parts[0], parts[1], parts[2]};
}

// Query, key and value after their projections; one product for all if they are one tensor.
Three project(const Three& of, bool same, const Tensor& in_proj_weight, const Three& weights,
              const Tensor& in_proj_bias) {
  const int64_t width = of.query.size(2);
  const bool apart = !in_proj_weight.defined();
  for (const Tensor* tensor : {&weights.query, &weights.key, &weights.value}) {
    TSR_CHECK(tensor->defined() == apart, Code::kInvalidArgument,
              tensor == &weights.query ? "q_proj_weight"
              : tensor == &weights.key ? "k_proj_weight"
                                       : "v_proj_weight",
              apart ? "expected all three or in_proj_weight, got none"
                    : "expected none beside in_proj_weight, got one");
  }
  if (same && !apart) {
    TSR_CHECK(in_proj_weight.ndim() == 2 && in_proj_weight.size(0) == 3 * width, Code::kShape,
              "in_proj_weight", "expected shape ", Dims{3 * width, width}, ", got ",
              in_proj_weight.sizes());
    const Tensor whole = linear(of.query, in_proj_weight, in_proj_bias);
    if (width == 0) return {whole, whole, whole};
    const std::vector<Tensor> parts = split(whole, width, -1);
    return {parts[0], parts[1], parts[2]};
  }
  const Three matrices = apart ? weights : thirds(in_proj_weight, "in_proj_weight", width);
  const Three biases =
      in_proj_bias.defined() ? thirds(in_proj_bias, "in_proj_bias", width) : Three{};
  return {linear(of.query, matrices.query, biases.query), linear(of.key, matrices.key, biases.key),
          linear(of.value, matrices.value, biases.value)};
}

// A row for every item of the batch, behind those of the tensor.
Tensor with_row(const Tensor& tensor, const Tensor& row, const char* arg) {
  TSR_CHECK(row.numel() == tensor.size(2), Code::kShape, arg, "expected ", tensor.size(2),
            " numbers, got shape ", row.sizes());
  const Dims shape{tensor.size(0), 1, tensor.size(2)};
  const std::vector<Tensor> both{tensor, broadcast_to(reshape(row, Dims{1, 1, -1}), shape)};
  return ops::concat(both, 1);
}

// Adds the keys and values that no input has; returns how many.
int64_t add_keys(Three& of, const Tensor& bias_k, const Tensor& bias_v, bool zeros) {
  TSR_CHECK(bias_k.defined() == bias_v.defined(), Code::kInvalidArgument,
            bias_k.defined() ? "bias_v" : "bias_k", "expected both or none, got one");
  int64_t count = 0;
  const auto add_row = [&](const Tensor& key, const Tensor& value) {
    of.key = with_row(of.key, key, "bias_k");
    of.value = with_row(of.value, value, "bias_v");
    ++count;
  };
  if (bias_k.defined()) add_row(bias_k, bias_v);
  if (zeros) {
    const Tensor none = zeros_like_shape(Dims{of.key.size(2)}, of.key.dtype(), of.key.device());
    add_row(none, none);
  }
  return count;
}

// (batch, heads, length, features of a head)
Tensor by_heads(const Tensor& tensor, int64_t heads) {
  const Dims shape{tensor.size(0), tensor.size(1), heads, tensor.size(2) / heads};
  return transpose(reshape(tensor, shape), 1, 2);
}

// ---- masks ----

void check_mask(const Tensor& mask, const char* arg) {
  TSR_CHECK(mask.dtype() == DType::kBool || is_floating(mask.dtype()), Code::kDType, arg,
            "expected bool or a floating dtype, got ", mask.dtype());
}

// What is added to the scores: -infinity where a bool mask holds.
Tensor added(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return astype(mask, dtype);
  return masked_fill(zeros_like_shape(mask.sizes(), dtype, mask.device()), mask,
                     -std::numeric_limits<double>::infinity());
}

struct MaskSizes {
  int64_t batch, heads, queries, keys;
  int64_t extra;  // keys that were added behind the caller's; they take part for every query
};

// attn_mask as (1 or batch, 1 or heads, queries, keys), key_padding_mask as (batch, 1, 1, keys).
Tensor shaped_attn_mask(const Tensor& mask, const MaskSizes& of) {
  check_mask(mask, "attn_mask");
  if (mask.ndim() == 2) {
    TSR_CHECK((mask.sizes() == Dims{of.queries, of.keys}), Code::kShape, "attn_mask",
              "expected shape ", Dims{of.queries, of.keys}, ", got ", mask.sizes());
    return reshape(mask, Dims{1, 1, of.queries, of.keys});
  }
  const Dims shape{of.batch * of.heads, of.queries, of.keys};
  TSR_CHECK(mask.sizes() == shape, Code::kShape, "attn_mask", "expected shape ",
            Dims{of.queries, of.keys}, " or ", shape, ", got ", mask.sizes());
  return reshape(mask, Dims{of.batch, of.heads, of.queries, of.keys});
}
Tensor shaped_padding(const Tensor& mask, const MaskSizes& of) {
  check_mask(mask, "key_padding_mask");
  const bool fits = mask.numel() == of.batch * of.keys && mask.ndim() >= 1 && mask.ndim() <= 2 &&
                    mask.size(mask.ndim() - 1) == of.keys;
  TSR_CHECK(fits, Code::kShape, "key_padding_mask", "expected shape ", Dims{of.batch, of.keys},
            ", got ", mask.sizes());
  return reshape(mask, Dims{of.batch, 1, 1, of.keys});
}

// One mask as scaled_dot_product_attention takes it (true lets a key take part); undefined if there
// is none.
Tensor joined_mask(const Tensor& attn_mask, const Tensor& key_padding_mask, const MaskSizes& of,
                   DType dtype) {
  const Tensor scores = attn_mask.defined() ? shaped_attn_mask(attn_mask, of) : Tensor();
  const Tensor padding =
      key_padding_mask.defined() ? shaped_padding(key_padding_mask, of) : Tensor();
  if (!scores.defined() && !padding.defined()) return {};
  const auto is_bool = [](const Tensor& t) { return !t.defined() || t.dtype() == DType::kBool; };
  const Dims behind{0, of.extra};
  if (is_bool(scores) && is_bool(padding)) {
    const Tensor hidden = !scores.defined()    ? padding
                          : !padding.defined() ? scores
                                               : logical_or(scores, padding);
    return logical_not(of.extra > 0 ? pad(hidden, behind, "constant", false) : hidden);
  }
  const Tensor sum = !scores.defined()    ? added(padding, dtype)
                     : !padding.defined() ? added(scores, dtype)
                                          : add(added(scores, dtype), added(padding, dtype));
  return of.extra > 0 ? pad(sum, behind, "constant", 0) : sum;
}

// The caller's mask, which is causal then, or one that hides later keys.
Tensor causal_or(const Tensor& attn_mask, const MaskSizes& of, Device device) {
  if (attn_mask.defined()) return attn_mask;
  const Tensor whole = empty(Dims{of.queries, of.keys}, DType::kBool, device);
  fill_memory(whole, true);
  return triu(whole, 1);
}

// ---- after the attention ----

// (batch, heads, length, features of a head) to the caller's layout, projected.
Tensor output_of(const Tensor& attended, const Tensor& weight, const Tensor& bias, bool batched,
                 bool batch_first) {
  const Tensor rows = transpose(attended, 1, 2);
  const Tensor joined =
      reshape(rows, Dims{rows.size(0), rows.size(1), rows.size(2) * rows.size(3)});
  const Tensor output = linear(joined, weight, bias);
  if (!batched) return squeeze(output, Dims{0});
  return batch_first ? output : transpose(output, 0, 1);
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t num_heads,
    const Tensor& out_proj_weight, const Tensor& out_proj_bias, const Tensor& in_proj_weight,
    const Tensor& in_proj_bias, const Tensor& q_proj_weight, const Tensor& k_proj_weight,
    const Tensor& v_proj_weight, const Tensor& bias_k, const Tensor& bias_v,
    const Tensor& key_padding_mask, const Tensor& attn_mask, bool is_causal, bool add_zero_attn,
    double dropout_p, bool need_weights, bool average_attn_weights, bool batch_first,
    Generator* generator) {
  check_rank(query, key, value);
  const bool batched = query.ndim() == 3;
  const Three given{batch_in_front(query, batch_first), batch_in_front(key, batch_first),
                    batch_in_front(value, batch_first)};
  check_sizes(given);
  const int64_t width = given.query.size(2);
  TSR_CHECK(num_heads > 0 && width % num_heads == 0, Code::kValue, "num_heads",
            "expected a divisor of the query's ", width, " features, got ", num_heads);
  const bool same = query.is_same(key) && key.is_same(value);
  Three of = project(given, same, in_proj_weight, {q_proj_weight, k_proj_weight, v_proj_weight},
                     in_proj_bias);
  MaskSizes sizes{given.query.size(0), num_heads, given.query.size(1), given.key.size(1), 0};
  sizes.extra = add_keys(of, bias_k, bias_v, add_zero_attn);
  // Beside other masks, a causal one is a mask like them.
  const bool causal = is_causal && !key_padding_mask.defined() && sizes.extra == 0 && !need_weights;
  const Tensor mask = joined_mask(causal      ? Tensor()
                                  : is_causal ? causal_or(attn_mask, sizes, query.device())
                                              : attn_mask,
                                  key_padding_mask, sizes, query.dtype());
  const Three heads{by_heads(of.query, num_heads), by_heads(of.key, num_heads),
                    by_heads(of.value, num_heads)};
  if (!need_weights) {
    const Tensor attended = scaled_dot_product_attention(heads.query, heads.key, heads.value, mask,
                                                         dropout_p, causal, {}, false, generator);
    return {output_of(attended, out_proj_weight, out_proj_bias, batched, batch_first),
            empty(Dims{0}, query.dtype(), query.device())};
  }
  Tensor weights = attention_probabilities(heads.query, heads.key, mask, false,
                                           attention_scale(width / num_heads));
  if (dropout_p > 0) weights = dropout(weights, dropout_p, true, generator);
  const Tensor output =
      output_of(matmul(weights, heads.value), out_proj_weight, out_proj_bias, batched, batch_first);
  if (average_attn_weights) weights = mean(weights, Dims{1});
  return {output, batched ? weights : squeeze(weights, Dims{0})};
}

}  // namespace tsr::ops
