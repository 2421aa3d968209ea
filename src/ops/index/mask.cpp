// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/mask.h"

#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/index/getitem.h"
#include "ops/pointwise/ternary.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

void check_mask(const Tensor& input, const Tensor& mask) {
  TSR_CHECK(mask.dtype() == DType::kBool, Code::kDType, "mask", "expected a bool tensor, got ",
            mask.dtype());
  check_same_device(input, mask, "mask");
}

void check_fill_value(const Tensor& input, const Arg& value) {
  const Category kind =
      value.is_tensor() ? category(value.tensor().dtype()) : value.scalar().category();
  TSR_CHECK(kind <= category(input.dtype()), Code::kDType, "value", "expected a value that fits ",
            input.dtype(), ", got one of a higher kind");
  if (!value.is_tensor()) return check_fits(value.scalar(), input.dtype(), "value");
  const Tensor& tensor = value.tensor();
  check_same_device(input, tensor, "value");
  broadcast_strides(tensor.sizes(), tensor.strides(), input.sizes(), "value");
}

void launch_where(const Tensor& result, const Tensor& mask, const Arg& value, const Tensor& input) {
  if (result.numel() == 0) return;
  const DType dtype = result.dtype();
  const Tensor cast = value.is_tensor() ? cast_memory(value.tensor(), dtype) : Tensor();
  const kernel::Elementwise walk(
      result,
      {mask, cast.defined() ? kernel::Input(cast) : kernel::Input(value.scalar(), dtype), input});
  kernel::launch(kernel::kTernary, result.device(), kernel::TernaryOp::kWhere, walk.plan());
}

void record_masked_fill(const Tensor& output, const Tensor& input, const Tensor& mask,
                        const Arg& value) {
  const TakesBatches derivative{[](Backward& ctx) {
    const Tensor where_filled = ctx.saved(0);
    if (ctx.needs(0)) ctx.set(0, where(where_filled, 0, ctx.grad()));
    if (ctx.result_count() > 1 && ctx.needs(1)) ctx.set(1, where(where_filled, ctx.grad(), 0));
  }};
  if (value.is_tensor()) {
    record(output, "MaskedFillBackward", {input, value.tensor()}, {save_input(mask)}, derivative);
  } else {
    record(output, "MaskedFillBackward", {input}, {save_input(mask)}, derivative);
  }
}

}  // namespace

Tensor masked_fill(const Tensor& input, const Tensor& mask, const Arg& value, Out out) {
  check_mask(input, mask);
  if (!out.is_inplace()) {
    const Dims shape = broadcast_shapes(input.sizes(), mask.sizes(), "mask");
    if (shape != input.sizes()) return masked_fill(broadcast_to(input, shape), mask, value, out);
  }
  broadcast_strides(mask.sizes(), mask.strides(), input.sizes(), "mask");
  check_fill_value(input, value);
  const Tensor none;
  const Tensor& filler = value.is_tensor() ? value.tensor() : none;
  const bool grad = needs_grad(input, filler);
  if (grad) check_saves({save_input(mask)});
  Result result =
      allocate(out, input.sizes(), input.dtype(), input.device(), grad, {&input, &mask, &filler});
  launch_where(result.value(), mask, value, input);
  Tensor output = result.finish();
  if (grad) record_masked_fill(output, input, mask, value);
  return output;
}

Tensor masked_select(const Tensor& input, const Tensor& mask, Out out) {
  check_mask(input, mask);
  const Dims shape = broadcast_shapes(input.sizes(), mask.sizes(), "mask");
  return getitem_boolean(broadcast_to(input, shape), broadcast_to(mask, shape), out);
}

Tensor nonzero_memory(const Tensor& input) {
  kernel::NonzeroPlan plan;
  plan.ndim = static_cast<int32_t>(input.ndim());
  plan.numel = input.numel();
  plan.place = kernel::place_on(input.device());
  plan.input = input.data();
  plan.dtype = input.dtype();
  int64_t count = 0;
  plan.count = &count;
  plan.output = nullptr;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    plan.sizes[d] = input.size(d);
    plan.strides[d] = kernel::byte_stride(input, d);
  }
  if (input.numel() != 0) kernel::launch(kernel::kNonzero, input.device(), plan);
  const Tensor positions = empty(Dims{input.ndim(), count}, DType::kInt64, input.device());
  plan.output = positions.data_as<int64_t>();
  if (positions.numel() != 0) kernel::launch(kernel::kNonzero, input.device(), plan);
  return positions;
}

std::vector<Tensor> nonzero(const Tensor& input) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least one dimension, got a 0-dim tensor; argwhere() takes any");
  return unstack(nonzero_memory(input), 0);
}

Tensor argwhere(const Tensor& input) {
  return contiguous(matrix_transpose(nonzero_memory(input)));
}

}  // namespace tsr::ops
