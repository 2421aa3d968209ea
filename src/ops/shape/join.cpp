// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/join.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

void check_list(std::span<const Tensor> tensors) {
  TSR_CHECK(!tensors.empty(), Code::kValue, "tensors", "expected at least one tensor, got none");
  for (const Tensor& tensor : tensors) check_same_device(tensors[0], tensor, "tensors");
}

DType joined_dtype(std::span<const Tensor> tensors) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = promote_types(dtype, tensor.dtype(), "tensors");
  return dtype;
}

Dims concat_shape(std::span<const Tensor> tensors, size_t axis) {
  Dims shape = tensors[0].sizes();
  for (size_t k = 1; k < tensors.size(); ++k) {
    Dims other = tensors[k].sizes();
    TSR_CHECK(other.size() == shape.size(), Code::kShape, "tensors", "expected ", shape.size(),
              " dimensions in every tensor, got shape ", other, " at position ", k);
    int64_t joined = 0;
    TSR_CHECK(!__builtin_add_overflow(shape[axis], other[axis], &joined), Code::kShape, "tensors",
              "expected fewer than 2^63 elements, got shapes ", shape, " and ", other);
    other[axis] = shape[axis];
    TSR_CHECK(other == shape, Code::kShape, "tensors", "expected sizes that agree except on axis ",
              axis, ", got ", tensors[0].sizes(), " and ", tensors[k].sizes(), " at position ", k);
    shape[axis] = joined;
  }
  return shape;
}

std::vector<Tensor> flattened(std::span<const Tensor> tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& tensor : tensors) flat.push_back(reshape(tensor, Dims{-1}));
  return flat;
}

// The tangents of a list, with zeros where there is none.
std::vector<Tensor> complete(const Forward& ctx, std::span<const Tensor> tensors) {
  std::vector<Tensor> tangents;
  for (size_t i = 0; i < tensors.size(); ++i) {
    tangents.push_back(ctx.tangent_or_zeros(i, tensors[i]));
  }
  return tangents;
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, std::optional<int64_t> axis, Out out) {
  check_list(tensors);
  if (!axis.has_value()) return ops::concat(flattened(tensors), 0, out);
  TSR_CHECK(tensors[0].ndim() > 0, Code::kShape, "tensors",
            "expected at least one dimension, got a 0-dim tensor; stack() joins those");
  const int64_t dim = wrap_axis(*axis, tensors[0].ndim());
  const DType dtype = joined_dtype(tensors);
  const Dims shape = concat_shape(tensors, static_cast<size_t>(dim));
  const bool grad = is_differentiable(dtype) && needs_grad(tensors);
  Result result = allocate_apart(out, shape, dtype, tensors[0].device(), grad, tensors);
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    copy_memory(narrow_memory(result.value(), dim, start, tensor.size(dim)), tensor);
    start += tensor.size(dim);
  }
  Tensor output = result.finish();
  if (grad) {
    std::vector<int64_t> lengths;
    for (const Tensor& tensor : tensors) lengths.push_back(tensor.size(dim));
    record(output, "ConcatBackward", tensors, {}, TakesBatches{[dim, lengths](Backward& ctx) {
             int64_t first = 0;
             for (size_t i = 0; i < lengths.size(); ++i) {
               if (ctx.needs(i))
                 ctx.set(i, narrow(ctx.grad(), dim + ctx.lead(), first, lengths[i]));
               first += lengths[i];
             }
           }},
           [&](Forward& ctx) { ctx.set(0, ops::concat(complete(ctx, tensors), dim)); });
  }
  return output;
}

Tensor stack(std::span<const Tensor> tensors, int64_t axis, Out out) {
  check_list(tensors);
  const int64_t dim = wrap_axis(axis, tensors[0].ndim() + 1);
  const DType dtype = joined_dtype(tensors);
  Dims shape = tensors[0].sizes();
  for (size_t k = 1; k < tensors.size(); ++k) {
    TSR_CHECK(tensors[k].sizes() == shape, Code::kShape, "tensors",
              "expected tensors of one shape, got ", shape, " and ", tensors[k].sizes(),
              " at position ", k);
  }
  shape.insert(static_cast<size_t>(dim), static_cast<int64_t>(tensors.size()));
  const bool grad = is_differentiable(dtype) && needs_grad(tensors);
  Result result = allocate_apart(out, shape, dtype, tensors[0].device(), grad, tensors);
  for (size_t k = 0; k < tensors.size(); ++k)
    copy_memory(select_memory(result.value(), dim, static_cast<int64_t>(k)), tensors[k]);
  Tensor output = result.finish();
  if (grad) {
    record(output, "StackBackward", tensors, {}, TakesBatches{[dim](Backward& ctx) {
             for (size_t i = 0; i < ctx.result_count(); ++i) {
               if (ctx.needs(i)) {
                 ctx.set(i, select(ctx.grad(), dim + ctx.lead(), static_cast<int64_t>(i)));
               }
             }
           }},
           [&](Forward& ctx) { ctx.set(0, stack(complete(ctx, tensors), dim)); });
  }
  return output;
}

}  // namespace tsr::ops
