// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/fft/transforms.h"

#include "autograd/record.h"
#include "kernel/fft.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {

using kernel::FftOp;
using kernel::FftPlan;

namespace {

void launch_transform(FftOp op, const Tensor& input, const Tensor& result, int64_t axis,
                      int64_t length, bool inverse, double scale) {
  if (result.numel() == 0) return;
  FftPlan plan{};
  plan.op = op;
  plan.dtype = real_dtype(input.dtype());
  plan.place = kernel::place_on(input.device());
  plan.inverse = inverse ? 1 : 0;
  plan.length = length;
  plan.scale = scale;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (d == axis) continue;
    plan.sizes[plan.rank] = input.size(d);
    plan.input_strides[plan.rank] = input.stride(d);
    plan.output_strides[plan.rank] = result.stride(d);
    ++plan.rank;
  }
  plan.input_step = input.stride(axis);
  plan.output_step = result.stride(axis);
  plan.input = input.data();
  plan.output = result.data();
  kernel::launch(kernel::kFft, input.device(), plan);
}

DType complex_of(DType real) {
  return real == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
}

// For a half of n/2 + 1 numbers along the axis: 1 for those that are their own conjugates, `other`
// for those that stand for two.
Tensor half_weights(const Tensor& half, int64_t axis, int64_t n, double other) {
  const int64_t count = half.size(axis);
  const Tensor weights = full(Dims{count}, other, real_dtype(half.dtype()), half.device());
  fill_memory(narrow_memory(weights, 0, 0, 1), 1.0);
  if (n % 2 == 0) fill_memory(narrow_memory(weights, 0, count - 1, 1), 1.0);
  Dims shape(static_cast<size_t>(half.ndim()), 1);
  shape[static_cast<size_t>(axis)] = count;
  return reshape(weights, shape);
}

}  // namespace

void transform_complex_memory(const Tensor& numbers, DimsView axes, bool inverse) {
  for (size_t i = axes.size(); i-- > 0;)
    launch_transform(FftOp::kComplex, numbers, numbers, axes[i], numbers.size(axes[i]), inverse, 1);
}

// The adjoint of a symmetric matrix is its conjugate: the transform of the other direction.
Tensor transform_complex(const Tensor& input, DimsView axes, bool inverse, double scale) {
  const Tensor result = empty(input.sizes(), input.dtype(), input.device());
  if (axes.empty()) copy_memory(result, input);
  for (size_t i = axes.size(); i-- > 0;) {
    const bool first = i + 1 == axes.size();
    launch_transform(FftOp::kComplex, first ? input : result, result, axes[i], input.size(axes[i]),
                     inverse, first ? scale : 1);
  }
  if (needs_grad(input)) {
    record(
        result, "FftBackward", {input}, {},
        TakesBatches{[along = Dims(axes), inverse, scale](Backward& ctx) {
          ctx.set(0, transform_complex(ctx.grad(), sample_axes(ctx, along), !inverse, scale));
        }},
        [&](Forward& ctx) { ctx.set(0, transform_complex(ctx.tangent(), axes, inverse, scale)); });
  }
  return result;
}

// The real part of the adjoint: a number of the gradient that stands for two gets half the weight,
// because transform_half counts it twice.
Tensor transform_real(const Tensor& input, int64_t axis, bool inverse, double scale) {
  const int64_t n = input.size(axis);
  Dims shape = input.sizes();
  shape[static_cast<size_t>(axis)] = n / 2 + 1;
  const Tensor result = empty(shape, complex_of(input.dtype()), input.device());
  launch_transform(FftOp::kRealToHalf, input, result, axis, n, inverse, scale);
  if (needs_grad(input)) {
    record(result, "RfftBackward", {input}, {},
           TakesBatches{[axis, n, inverse, scale](Backward& ctx) {
             const int64_t along = axis + ctx.lead();
             const Tensor weighted = multiply(ctx.grad(), half_weights(ctx.grad(), along, n, 0.5));
             ctx.set(0, transform_half(weighted, along, n, !inverse, scale));
           }},
           [&](Forward& ctx) { ctx.set(0, transform_real(ctx.tangent(), axis, inverse, scale)); });
  }
  return result;
}

Tensor transform_half(const Tensor& input, int64_t axis, int64_t n, bool inverse, double scale) {
  Dims shape = input.sizes();
  shape[static_cast<size_t>(axis)] = n;
  const Tensor result = empty(shape, real_dtype(input.dtype()), input.device());
  launch_transform(FftOp::kHalfToReal, input, result, axis, n, inverse, scale);
  if (needs_grad(input)) {
    record(
        result, "IrfftBackward", {input}, {},
        TakesBatches{[axis, n, inverse, scale](Backward& ctx) {
          const int64_t along = axis + ctx.lead();
          const Tensor half = transform_real(ctx.grad(), along, !inverse, scale);
          ctx.set(0, multiply(half, half_weights(half, along, n, 2)));
        }},
        [&](Forward& ctx) { ctx.set(0, transform_half(ctx.tangent(), axis, n, inverse, scale)); });
  }
  return result;
}

}  // namespace tsr::ops
