// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/attention.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "autograd/forward.h"
#include "base/error.h"
#include "kernel/attention.h"
#include "kernel/random.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/index/mask.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/result.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::AttentionMatrix;
using kernel::AttentionPlan;

int64_t columns_of(const Tensor& tensor) {
  return tensor.size(tensor.ndim() - 1);
}
int64_t rows_of(const Tensor& tensor) {
  return tensor.size(tensor.ndim() - 2);
}
int64_t heads_of(const Tensor& tensor) {
  return tensor.size(tensor.ndim() - 3);
}

// What a call is besides its tensors; the node stores it by value.
struct AttentionShape {
  Dims batch;         // the leading axes of the result
  int64_t group = 1;  // heads of the query for one head of the keys
  int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  double scale = 1;
  bool causal = false;
  double dropout = 0;
  GeneratorState random;

  [[nodiscard]] Dims with(int64_t rows, int64_t columns) const {
    Dims shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  }
  // The axes of the kernel's batch: everything before the heads, heads of keys, the group.
  [[nodiscard]] Dims five(int64_t rows, int64_t columns, bool shared) const {
    const int64_t all = batch.empty() ? 1 : batch.back();
    const int64_t outer = all == 0 ? 0 : numel_of(batch) / all;
    return {outer, all / group, shared ? 1 : group, rows, columns};
  }
};

// ---- CHECK, INFER ----

Dims leading(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end() - 2};
}

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value) {
  TSR_CHECK(is_floating(query.dtype()), Code::kDType, "query", "expected a floating dtype, got ",
            query.dtype());
  for (const Tensor* tensor : {&query, &key, &value}) {
    const char* arg = tensor == &query ? "query" : tensor == &key ? "key" : "value";
    check_same_device(query, *tensor, arg);
    TSR_CHECK(tensor->dtype() == query.dtype(), Code::kDType, arg, "expected the query's ",
              query.dtype(), ", got ", tensor->dtype());
    TSR_CHECK(tensor->ndim() >= 2, Code::kShape, arg, "expected at least 2 dimensions, got shape ",
              tensor->sizes());
  }
  TSR_CHECK(columns_of(key) == columns_of(query), Code::kShape, "key", "expected rows of ",
            columns_of(query), " numbers as in the query, got shape ", key.sizes());
  TSR_CHECK(rows_of(value) == rows_of(key), Code::kShape, "value", "expected ", rows_of(key),
            " rows as in the key, got shape ", value.sizes());
}

// The leading axes of the query and the size of a group, with grouped heads.
void infer_groups(AttentionShape& shape, const Tensor& query, const Tensor& key,
                  const Tensor& value) {
  for (const Tensor* tensor : {&query, &key, &value}) {
    TSR_CHECK(tensor->ndim() >= 3, Code::kShape,
              tensor == &query ? "query"
              : tensor == &key ? "key"
                               : "value",
              "expected at least 3 dimensions with enable_gqa, got shape ", tensor->sizes());
  }
  const int64_t heads = heads_of(query);
  const int64_t shared = heads_of(key);
  TSR_CHECK(heads_of(value) == shared, Code::kShape, "value", "expected ", shared,
            " heads as in the key, got shape ", value.sizes());
  TSR_CHECK(shared > 0 && heads % shared == 0, Code::kShape, "key",
            "expected a number of heads that divides the query's ", heads, ", got ", shared);
  shape.group = heads / shared;
}

AttentionShape shape_of(const Tensor& query, const Tensor& key, const Tensor& value, bool grouped) {
  AttentionShape shape;
  shape.queries = rows_of(query);
  shape.keys = rows_of(key);
  shape.width = columns_of(query);
  shape.value_width = columns_of(value);
  if (grouped) infer_groups(shape, query, key, value);
  const auto whole = [&](const Tensor& tensor) {
    Dims axes = leading(tensor);
    if (grouped && tensor.impl() != query.impl()) axes.back() *= shape.group;
    return axes;
  };
  shape.batch =
      broadcast_shapes(broadcast_shapes(leading(query), whole(key), "key"), whole(value), "value");
  return shape;
}

void check_mask(const Tensor& mask, const Tensor& query, const AttentionShape& shape) {
  if (!mask.defined()) return;
  check_same_device(query, mask, "attn_mask");
  TSR_CHECK(!shape.causal, Code::kInvalidArgument, "attn_mask",
            "expected no mask with is_causal, got one");
  TSR_CHECK(mask.dtype() == DType::kBool || mask.dtype() == query.dtype(), Code::kDType,
            "attn_mask", "expected bool or the query's ", query.dtype(), ", got ", mask.dtype());
  const Dims scores = shape.with(shape.queries, shape.keys);
  TSR_CHECK(broadcast_shapes(mask.sizes(), scores, "attn_mask") == scores, Code::kShape,
            "attn_mask", "expected a shape that broadcasts to ", scores, ", got ", mask.sizes());
}

// ---- LAUNCH ----

// Rows of neighbouring columns, far enough apart for a matrix product. No autograd.
Tensor with_rows(const Tensor& tensor) {
  const int64_t columns = columns_of(tensor);
  const int64_t step = tensor.stride(tensor.ndim() - 2);
  const bool dense = (columns <= 1 || tensor.stride(tensor.ndim() - 1) == 1) &&
                     (rows_of(tensor) <= 1 || (step >= columns && step <= INT_MAX));
  return dense ? tensor.detached() : contiguous_memory(tensor.detached());
}

// Strides of a batch of matrices with the columns innermost and the rows before the heads if that
// is the memory order of `like`, as in the heads of a wider tensor.
Tensor empty_matrices(const AttentionShape& shape, int64_t rows, int64_t columns,
                      const Tensor& like) {
  Dims sizes = shape.with(rows, columns);
  const size_t rank = sizes.size();
  if (like.ndim() < 3 || rank < 3 || like.stride(like.ndim() - 2) <= like.stride(like.ndim() - 3))
    return empty(sizes, like.dtype(), like.device());
  Dims stored = sizes;
  std::swap(stored[rank - 2], stored[rank - 3]);
  Dims strides = contiguous_strides(stored);
  std::swap(strides[rank - 2], strides[rank - 3]);
  return empty_strided(sizes, strides, like.dtype(), like.device());
}

// The tensors of a launch, kept alive until it has returned.
class Operand {
 public:
  // The matrices of the result's batch, or those that a group shares.
  Operand(const AttentionShape& shape, const Tensor& tensor, int64_t rows, int64_t columns,
          bool shared) {
    if (!tensor.defined()) return;
    const Unrecorded pause;
    Dims whole = shape.with(rows, columns);
    if (shared && !shape.batch.empty()) whole[shape.batch.size() - 1] /= shape.group;
    kept_ = reshape(broadcast_to(tensor, whole), shape.five(rows, columns, shared));
  }
  [[nodiscard]] AttentionMatrix matrix() const {
    AttentionMatrix result{};
    if (!kept_.defined()) return result;
    result.data = kept_.data();
    for (int d = 0; d < kernel::kAttentionBatch; ++d)
      result.batch_strides[d] = kept_.size(d) == 1 ? 0 : kept_.stride(d);
    result.row_stride = kept_.stride(3);
    return result;
  }
  [[nodiscard]] int64_t column_stride() const { return kept_.defined() ? kept_.stride(4) : 1; }

 private:
  Tensor kept_;
};

// The inputs of both passes, as the kernel reads them.
struct Inputs {
  Inputs(const AttentionShape& shape, const Tensor& q, const Tensor& k, const Tensor& v,
         const Tensor& m)
      : query(shape, with_rows(q), shape.queries, shape.width, false),
        key(shape, with_rows(k), shape.keys, shape.width, true),
        value(shape, with_rows(v), shape.keys, shape.value_width, true),
        mask(shape, m.defined() ? m.detached() : m, shape.queries, shape.keys, false) {}

  [[nodiscard]] AttentionPlan plan(const AttentionShape& shape, const Tensor& like,
                                   const Tensor& m) const {
    AttentionPlan plan{};
    plan.causal = shape.causal ? 1 : 0;
    const Dims sizes = shape.five(0, 0, false);
    for (size_t d = 0; d < kernel::kAttentionBatch; ++d) plan.batch[d] = sizes[d];
    plan.queries = shape.queries;
    plan.keys = shape.keys;
    plan.width = shape.width;
    plan.value_width = shape.value_width;
    plan.scale = shape.scale;
    plan.dropout = shape.dropout;
    plan.seed = shape.random.seed;
    plan.offset = shape.random.offset;
    plan.place = kernel::place_on(like.device());
    plan.dtype = like.dtype();
    plan.query = query.matrix();
    plan.key = key.matrix();
    plan.value = value.matrix();
    plan.mask = mask.matrix();
    plan.mask_dtype = m.defined() ? m.dtype() : DType::kBool;
    plan.mask_column_stride = mask.column_stride();
    return plan;
  }

  Operand query, key, value, mask;
};

// The tangents of query, key and value, undefined if they have none, and the place of the output's.
struct Tangents {
  const Tensor &query, &key, &value, &output;
};

void launch_forward(const AttentionShape& shape, const Tensor& q, const Tensor& k, const Tensor& v,
                    const Tensor& mask, const Tensor& output, const Tensor& lse,
                    const Tangents& tangents) {
  const auto rows = [](const Tensor& t) { return t.defined() ? with_rows(t) : t; };
  const Inputs inputs(shape, q, k, v, mask);
  const Operand out(shape, output, shape.queries, shape.value_width, false);
  const Operand to_q(shape, rows(tangents.query), shape.queries, shape.width, false);
  const Operand to_k(shape, rows(tangents.key), shape.keys, shape.width, true);
  const Operand to_v(shape, rows(tangents.value), shape.keys, shape.value_width, true);
  const Operand to_out(shape, tangents.output, shape.queries, shape.value_width, false);
  AttentionPlan plan = inputs.plan(shape, q, mask);
  plan.output = out.matrix();
  plan.lse = data_or_null(lse);
  plan.tangent_query = to_q.matrix();
  plan.tangent_key = to_k.matrix();
  plan.tangent_value = to_v.matrix();
  plan.tangent_output = to_out.matrix();
  kernel::launch(kernel::kAttention, q.device(), plan);
}

// ---- derivatives ----

// The gradient of keys or values, of the result's batch with one matrix for each group's head.
Tensor shared_gradient(const AttentionShape& shape, const Tensor& gradient) {
  if (shape.group == 1) return gradient;
  Dims apart = shape.with(rows_of(gradient), columns_of(gradient));
  const auto at = static_cast<int64_t>(shape.batch.size());
  apart[static_cast<size_t>(at) - 1] /= shape.group;
  apart.insert(static_cast<size_t>(at), shape.group);
  return sum(reshape(gradient, apart), Dims{at});
}

// One kernel, without autograd.
void set_fused(Backward& ctx, const AttentionShape& shape, const Tensor& q, const Tensor& k,
               const Tensor& v, const Tensor& mask, const Tensor& output, const Tensor& lse) {
  const Tensor g = with_rows(ctx.grad());
  Tensor dq;
  Tensor dk;
  Tensor dv;
  if (ctx.needs(0)) dq = empty_matrices(shape, shape.queries, shape.width, q);
  if (ctx.needs(1)) dk = empty_matrices(shape, shape.keys, shape.width, k);
  if (ctx.needs(2)) dv = empty_matrices(shape, shape.keys, shape.value_width, v);
  if (numel_of(shape.batch) * shape.queries * shape.keys * shape.value_width == 0) {
    for (const Tensor* gradient : {&dq, &dk, &dv})
      if (gradient->defined()) fill_memory(*gradient, 0);
  } else {
    const Inputs inputs(shape, q, k, v, mask);
    const Operand out(shape, output.detached(), shape.queries, shape.value_width, false);
    const Operand grad(shape, g, shape.queries, shape.value_width, false);
    const Operand to_q(shape, dq, shape.queries, shape.width, false);
    const Operand to_k(shape, dk, shape.keys, shape.width, false);
    const Operand to_v(shape, dv, shape.keys, shape.value_width, false);
    AttentionPlan plan = inputs.plan(shape, q, mask);
    plan.backward = 1;
    plan.output = out.matrix();
    plan.lse = lse.data();
    plan.grad = grad.matrix();
    plan.grad_query = to_q.matrix();
    plan.grad_key = to_k.matrix();
    plan.grad_value = to_v.matrix();
    kernel::launch(kernel::kAttention, q.device(), plan);
  }
  ctx.set(0, dq);
  if (dk.defined()) ctx.set(1, shared_gradient(shape, dk));
  if (dv.defined()) ctx.set(2, shared_gradient(shape, dv));
}

// The tensor with its heads as (heads of keys, group) if heads are grouped; differentiable.
Tensor grouped(const AttentionShape& shape, const Tensor& tensor, bool shared) {
  if (shape.group == 1 || tensor.ndim() < 3) return tensor;
  if (shared || heads_of(tensor) == 1) return expand_dims(tensor, -3);
  return unflatten(tensor, -3, Dims{heads_of(tensor) / shape.group, shape.group});
}

// The numbers of dropout that the kernel draws, as a tensor.
Tensor dropout_factors(const AttentionShape& shape, DType dtype, Device device) {
  const Tensor factors = empty(shape.with(shape.queries, shape.keys), dtype, device);
  kernel::RandomPlan plan{};
  plan.op = kernel::RandomOp::kBernoulli;
  plan.numel = factors.numel();
  plan.seed = shape.random.seed;
  plan.offset = shape.random.offset;
  plan.place = kernel::place_on(device);
  plan.dtype = dtype;
  plan.output = factors.data();
  plan.p0 = 1 - shape.dropout;
  plan.p1 = shape.dropout < 1 ? 1 / (1 - shape.dropout) : 0;
  if (factors.numel() != 0) kernel::launch(kernel::kRandom, device, plan);
  return grouped(shape, factors, false);
}

// With P the probabilities and D the factors of dropout: dV = (P D)ᵀ G, dP = (G Vᵀ) D,
// dS = P (dP - Σ dP P), dQ = scale dS K, dK = scale dSᵀ Q.
void set_differentiable(Backward& ctx, const AttentionShape& shape, const Tensor& query,
                        const Tensor& key, const Tensor& value, const Tensor& attn_mask) {
  const Tensor q = grouped(shape, in_opmath(query), false);
  const Tensor k = grouped(shape, in_opmath(key), true);
  const Tensor v = grouped(shape, in_opmath(value), true);
  const Tensor g = grouped(shape, in_opmath(ctx.grad()), false);
  const bool added = attn_mask.defined() && attn_mask.dtype() != DType::kBool;
  const Tensor mask = attn_mask.defined()
                          ? grouped(shape, added ? in_opmath(attn_mask) : attn_mask, false)
                          : attn_mask;
  const Tensor p = attention_probabilities(q, k, mask, shape.causal, shape.scale);
  const Tensor factors =
      shape.dropout > 0 ? dropout_factors(shape, p.dtype(), p.device()) : Tensor();
  const auto dropped = [&](const Tensor& t) {
    return factors.defined() ? multiply(t, factors) : t;
  };
  // Grouped heads in front of the last two axes, back to one axis.
  const auto joined = [&](const Tensor& t) {
    return shape.group == 1 ? t : flatten(t, t.ndim() - 4, t.ndim() - 3);
  };
  const auto shared = [&](const Tensor& t) {
    return shape.group == 1 ? t : sum(t, Dims{t.ndim() - 3});
  };
  if (ctx.needs(2)) ctx.set(2, shared(matmul(matrix_transpose(dropped(p)), g)));
  if (!ctx.needs(0) && !ctx.needs(1) && !ctx.needs(3)) return;
  const Tensor dp = dropped(matmul(g, matrix_transpose(v)));
  const Tensor ds = multiply(p, subtract(dp, sum(multiply(dp, p), Dims{-1}, true)));
  if (ctx.needs(0)) ctx.set(0, joined(multiply(matmul(ds, k), shape.scale)));
  if (ctx.needs(1)) ctx.set(1, shared(multiply(matmul(matrix_transpose(ds), q), shape.scale)));
  if (ctx.needs(3)) ctx.set(3, joined(ds));
}

// With dS = scale (dQ Kᵀ + Q dKᵀ) + dM: dP = P (dS - Σ P dS), dO = (dP D) V + (P D) dV.
Tensor pushed(const Forward& ctx, const AttentionShape& shape, const Tensor& query,
              const Tensor& key, const Tensor& value, const Tensor& attn_mask) {
  const auto part = [&](const Tensor& t, bool shared) {
    return grouped(shape, in_opmath(t), shared);
  };
  // The scale goes to the queries, which are fewer numbers than the scores.
  const auto scaled = [&](const Tensor& t) { return multiply(part(t, false), shape.scale); };
  const Tensor q = scaled(query);
  const Tensor k = part(key, true);
  const bool added = attn_mask.defined() && attn_mask.dtype() != DType::kBool;
  const Tensor mask = added                 ? part(attn_mask, false)
                      : attn_mask.defined() ? grouped(shape, attn_mask, false)
                                            : attn_mask;
  const Tensor p = attention_probabilities(q, k, mask, shape.causal, 1);
  const Tensor factors =
      shape.dropout > 0 ? dropout_factors(shape, p.dtype(), p.device()) : Tensor();
  const auto dropped = [&](const Tensor& t) {
    return factors.defined() ? multiply(t, factors) : t;
  };
  const auto plus = [](const Tensor& a, const Tensor& b) { return a.defined() ? add(a, b) : b; };
  Tensor ds;
  if (ctx.has(0)) ds = matmul(scaled(ctx.tangent(0)), matrix_transpose(k));
  if (ctx.has(1)) ds = plus(ds, matmul(q, matrix_transpose(part(ctx.tangent(1), true))));
  if (ctx.has(3)) ds = plus(ds, part(ctx.tangent(3), false));
  Tensor result;
  if (ds.defined()) {
    ds = broadcast_to(ds, p.sizes());
    result = matmul(dropped(softmax_tangent(ds, p)), part(value, true));
  }
  if (ctx.has(2)) result = plus(result, matmul(dropped(p), part(ctx.tangent(2), true)));
  return shape.group == 1 ? result : flatten(result, result.ndim() - 4, result.ndim() - 3);
}

void record_attention(const Tensor& output, const AttentionShape& shape, const Tensor& q,
                      const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& lse) {
  record(output, "AttentionBackward", {q, k, v, mask},
         {save_input(q), save_input(k), save_input(v), save_input(mask), save_output(output),
          save_input(lse)},
         TakesBatches{[shape](Backward& ctx) {
           const Tensor query = ctx.saved(0);
           if (ctx.create_graph() || ctx.needs(3) || ctx.lead() == 1) {
             set_differentiable(ctx, shape, query, ctx.saved(1), ctx.saved(2), ctx.saved(3));
           } else {
             set_fused(ctx, shape, query, ctx.saved(1), ctx.saved(2), ctx.saved(3), ctx.saved(4),
                       ctx.saved(5));
           }
         }},
         [&](Forward& ctx) { ctx.set(0, pushed(ctx, shape, q, k, v, mask)); });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa,
                                    Generator* generator) {
  check_operands(query, key, value);
  TSR_CHECK(dropout_p >= 0 && dropout_p <= 1, Code::kValue, "dropout_p",
            "expected a probability between 0 and 1, got ", dropout_p);
  AttentionShape shape = shape_of(query, key, value, enable_gqa);
  shape.causal = is_causal;
  shape.scale = scale.value_or(attention_scale(shape.width));
  shape.dropout = dropout_p;
  check_mask(attn_mask, query, shape);
  if (shape.group == 0) {  // a query without heads takes none of the keys'
    const auto none = [](const Tensor& t) { return slice(t, -3, 0, 0, 1); };
    return scaled_dot_product_attention(query, none(key), none(value), attn_mask, dropout_p,
                                        is_causal, scale, false, generator);
  }
  const bool grad = needs_grad(query, key, value, attn_mask);
  const Tensor output = empty_matrices(shape, shape.queries, shape.value_width, query);
  // The tangent of the output in the same pass, or by the rule of forward mode.
  LoneTangents lone;
  const bool dual = grad && query.device().is_cpu() && lone.find({query, key, value, attn_mask}) &&
                    lone.any() && lone.are_plain() && !lone[3].defined();
  Tensor tangent;
  if (dual) tangent = empty_matrices(shape, shape.queries, shape.value_width, query);
  Tensor lse;
  if (grad && !dual) {
    Dims rows = shape.batch;
    rows.push_back(shape.queries);
    lse = empty(rows, kernel::opmath(query.dtype()), query.device());
  }
  if (shape.keys == 0) {
    fill_memory(output, 0);
    if (lse.defined()) fill_memory(lse, 0);
    if (dual) fill_memory(tangent, 0);
  } else if (output.numel() != 0) {
    if (dropout_p > 0) {
      Generator& source = generator != nullptr ? *generator : current_generator();
      const int64_t scores = numel_of(shape.batch) * shape.queries * shape.keys;
      shape.random = source.take(static_cast<uint64_t>(scores * kernel::kBlocksPerElement));
    }
    launch_forward(shape, query, key, value, attn_mask, output, lse,
                   {lone[0], lone[1], lone[2], tangent});
  }
  if (dual) {
    lone.give(output, std::move(tangent));
  } else if (grad) {
    record_attention(output, shape, query, key, value, attn_mask, lse);
  }
  return output;
}

double attention_scale(int64_t width) {
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1)));
}

Tensor attention_probabilities(const Tensor& query, const Tensor& key, const Tensor& mask,
                               bool causal, double scale) {
  const double hidden = -std::numeric_limits<double>::infinity();
  Tensor scores = matmul(query, matrix_transpose(key));
  if (scale != 1) scores = multiply(scores, scale);
  if (mask.defined()) {
    scores = mask.dtype() == DType::kBool ? masked_fill(scores, logical_not(mask), hidden)
                                          : add(scores, mask);
  } else if (causal) {
    const Tensor whole = empty(Dims{rows_of(query), rows_of(key)}, DType::kBool, query.device());
    fill_memory(whole, true);
    scores = masked_fill(scores, triu(whole, 1), hidden);
  }
  if (!mask.defined() || rows_of(key) == 0) return softmax(scores, -1);
  const Tensor empty_row = all(equal(scores.detached(), hidden), Dims{-1}, true);
  return masked_fill(softmax(masked_fill(scores, empty_row, 0), -1), empty_row, 0);
}

}  // namespace tsr::ops
