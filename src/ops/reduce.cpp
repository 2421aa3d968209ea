// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce.h"

#include <algorithm>
#include <numeric>

#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/copy.h"
#include "ops/shape.h"
#include "ops/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::KernelTable;
using kernel::ReduceOp;

DType sum_dtype(DType input) {
  if (!is_integral_or_bool(input)) return input;
  return input == DType::kBool || info(input).is_signed ? DType::kInt64 : DType::kUInt64;
}

void launch_reduce(ReduceOp op, const Tensor& result, const Tensor& source, DimsView axes) {
  if (result.numel() == 0) return;
  kernel::ReducePlan plan;
  kernel::plan_reduction(plan, op, result, source, axes, false);
  kernel::launch<&KernelTable::reduce>(source.device(), "reduce", plan);
}

}  // namespace

Dims reduction_axes(const Tensor& input, const Axes& axes) {
  if (axes.has_value()) return wrap_axes(*axes, input.ndim());
  Dims every(static_cast<size_t>(input.ndim()));
  std::iota(every.begin(), every.end(), 0);
  return every;
}

Tensor restore_axes(const Tensor& reduced, DimsView axes, bool keepdims) {
  if (keepdims) return reduced;
  Dims shape = reduced.sizes();
  Dims sorted(axes);
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t axis : sorted) shape.insert(static_cast<size_t>(axis), 1);
  return reshape(reduced, shape);
}

Tensor sum(const Tensor& input, Axes axes, bool keepdims, std::optional<DType> dtype, Out out) {
  const Dims reduced = reduction_axes(input, axes);
  const DType compute = dtype.value_or(sum_dtype(input.dtype()));
  const Tensor source =
      dtype.has_value() && !is_integral_or_bool(*dtype) ? astype(input, compute) : input;
  const bool grad = is_differentiable(compute) && needs_grad(source);
  Result result = allocate_apart(out, reduced_shape(input.sizes(), reduced, keepdims), compute,
                                 input.device(), grad, {&input});
  const bool cast = is_integral_or_bool(compute) && source.dtype() != compute;
  launch_reduce(ReduceOp::kSum, result.value(), cast ? cast_memory(source, compute) : source,
                reduced);
  Tensor output = result.finish();
  if (grad) {
    record(output, "SumBackward", {source}, {},
           [shape = source.sizes(), reduced, keepdims](Backward& ctx) {
             ctx.set(0, expand_to(restore_axes(ctx.grad(), reduced, keepdims), shape));
           });
  }
  return output;
}

Tensor sum_to(const Tensor& input, DimsView sizes) {
  if (std::equal(sizes.begin(), sizes.end(), input.sizes().begin(), input.sizes().end()))
    return input;
  const auto added = static_cast<size_t>(input.ndim()) - sizes.size();
  Dims axes(added);
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1 && input.sizes()[added + i] != 1)
      axes.push_back(static_cast<int64_t>(added + i));
  }
  const Tensor summed = sum(input, DimsView(axes), true, input.dtype());
  return added == 0 ? summed : reshape(summed, sizes);
}

}  // namespace tsr::ops
