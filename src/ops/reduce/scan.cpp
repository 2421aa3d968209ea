// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/scan.h"

#include <array>

#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"

namespace tsr::ops {
namespace {

// result = running sums of source along axis, from the end when `reverse`; same shape and dtype.
void launch_scan(const Tensor& result, const Tensor& source, int64_t axis, bool reverse) {
  if (result.numel() == 0) return;
  kernel::ScanPlan plan;
  plan.op = kernel::ScanOp::kSum;
  plan.axis_size = source.size(axis);
  plan.axis_input_stride = kernel::byte_stride(source, axis);
  plan.axis_output_stride = kernel::byte_stride(result, axis);
  plan.place = kernel::place_on(result.device());
  plan.input = source.data();
  plan.output = result.data();
  plan.dtype = source.dtype();
  if (reverse) {
    plan.input =
        static_cast<const char*>(plan.input) + (plan.axis_size - 1) * plan.axis_input_stride;
    plan.output = static_cast<char*>(plan.output) + (plan.axis_size - 1) * plan.axis_output_stride;
    plan.axis_input_stride = -plan.axis_input_stride;
    plan.axis_output_stride = -plan.axis_output_stride;
  }
  int32_t dims = 0;
  plan.numel = 1;
  for (int64_t d = 0; d < source.ndim(); ++d) {
    if (d == axis) continue;
    plan.sizes[dims] = source.size(d);
    plan.input_strides[dims] = kernel::byte_stride(source, d);
    plan.output_strides[dims++] = kernel::byte_stride(result, d);
    plan.numel *= source.size(d);
  }
  const std::array<int64_t*, 2> strides{plan.output_strides, plan.input_strides};
  plan.ndim = kernel::merge_dims(dims, plan.sizes, strides, false);
  kernel::launch(kernel::kScan, result.device(), plan);
}

Tensor running_sum(const Tensor& input, int64_t axis, bool reverse) {
  Tensor output = empty(input.sizes(), input.dtype(), input.device());
  launch_scan(output, input, axis, reverse);
  if (is_differentiable(input.dtype()) && needs_grad(input)) {
    record(output, "CumulativeSumBackward", {input}, {},
           [axis, reverse](Backward& ctx) { ctx.set(0, running_sum(ctx.grad(), axis, !reverse)); });
  }
  return output;
}

// The part of `tensor` behind its first element along axis.
Tensor behind_first(const Tensor& tensor, int64_t axis) {
  Dims sizes = tensor.sizes();
  --sizes[static_cast<size_t>(axis)];
  return make_view(tensor, sizes, tensor.strides(), tensor.offset() + tensor.stride(axis));
}

// The same as a differentiable view.
Tensor without_first(const Tensor& tensor, int64_t axis) {
  Dims sizes = tensor.sizes();
  --sizes[static_cast<size_t>(axis)];
  return as_strided_view(tensor, sizes, tensor.strides(), tensor.offset() + tensor.stride(axis));
}

DType scan_dtype(DType input) {
  if (!is_integral_or_bool(input)) return input;
  return input == DType::kBool || info(input).is_signed ? DType::kInt64 : DType::kUInt64;
}

}  // namespace

Tensor cumulative_sum(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype,
                      bool include_initial, Out out) {
  TSR_CHECK(axis.has_value() || input.ndim() == 1, Code::kValue, "axis",
            "expected an axis for an input of shape ", input.sizes());
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  const int64_t along = wrap_axis(axis.value_or(0), input.ndim());
  const DType compute = dtype.value_or(scan_dtype(input.dtype()));
  const Tensor source =
      is_differentiable(compute) ? astype(input, compute) : cast_memory(input, compute);
  const bool grad = is_differentiable(compute) && needs_grad(source);
  Dims shape = source.sizes();
  if (include_initial) ++shape[static_cast<size_t>(along)];
  Result result = allocate_apart(out, shape, compute, input.device(), grad, {&input});
  if (include_initial) fill_memory(result.value(), 0);
  launch_scan(include_initial ? behind_first(result.value(), along) : result.value(), source, along,
              false);
  Tensor output = result.finish();
  if (grad) {
    record(output, "CumulativeSumBackward", {source}, {}, [along, include_initial](Backward& ctx) {
      ctx.set(0, running_sum(include_initial ? without_first(ctx.grad(), along) : ctx.grad(), along,
                             true));
    });
  }
  return output;
}

}  // namespace tsr::ops
