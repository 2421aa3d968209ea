// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/softmax.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/nn/image.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::SoftmaxPlan;

// The numbers of elements before, along and behind the axis, in the memory order of a dense tensor.
SoftmaxPlan plan_of(const Tensor& dense, int64_t axis, bool log) {
  Dims order(static_cast<size_t>(dense.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return dense.stride(a) > dense.stride(b); });
  SoftmaxPlan plan{};
  plan.rows = 1;
  plan.columns = 1;
  plan.inner = 1;
  bool behind = false;
  for (const int64_t d : order) {
    if (d == axis) {
      plan.columns = dense.size(d);
      behind = true;
    } else {
      (behind ? plan.inner : plan.rows) *= dense.size(d);
    }
  }
  plan.log = log ? 1 : 0;
  plan.place = kernel::place_on(dense.device());
  plan.dtype = dense.dtype();
  return plan;
}

// The tensor itself if it has exactly these strides, else a copy.
Tensor with_strides(const Tensor& input, const Dims& strides) {
  if (input.strides() == strides) return input;
  Tensor result = empty_strided(input.sizes(), strides, input.dtype(), input.device());
  copy_memory(result, input);
  return result;
}

// `input` is x, or the upstream gradient if `saved` (the forward's output) is given. All have the
// same strides.
template <class Family>
void launch_softmax(Family family, const Tensor& input, const Tensor& saved, const Tensor& output,
                    int64_t axis, bool log) {
  launch_or_widen(family, {reads(input), reads(saved), writes(output)},
                  [&](const Tensor* const* t) {
                    SoftmaxPlan plan = plan_of(*t[2], axis, log);
                    plan.input = t[0]->data();
                    plan.saved = data_or_null(*t[1]);
                    plan.output = t[2]->data();
                    return plan;
                  });
}

Tensor fused_derivative(const Tensor& g, const Tensor& y, int64_t axis, bool log) {
  const Tensor result = empty_strided(y.sizes(), y.strides(), y.dtype(), y.device());
  if (y.numel() == 0) return result;
  const Tensor slope = with_strides(g, y.strides());
  launch_softmax(kernel::kSoftmaxBackward, slope, y, result, axis, log);
  return result;
}

// softmax: y (g - Σ g y); log_softmax: g - exp(y) Σ g. `grad` may have axes of samples in front.
Tensor derivative(const Tensor& grad, const Tensor& output, int64_t axis, bool log) {
  const Tensor g = in_opmath(grad);
  const Tensor y = in_opmath(output);
  if (y.ndim() == 0) return multiply(g, 0);
  const Dims axes{axis - y.ndim()};
  if (log) return subtract(g, multiply(exp(y), sum(g, DimsView(axes), true)));
  return multiply(y, subtract(g, sum(multiply(g, y), DimsView(axes), true)));
}

// The tangent of the output. The Jacobian of softmax is symmetric: its derivative serves both
// modes. log_softmax: t - Σ exp(y) t
Tensor pushed(const Tensor& tangent, const Tensor& output, int64_t axis, bool log) {
  if (!log) {
    return recording_enabled() ? derivative(tangent, output, axis, log)
                               : fused_derivative(tangent, output, axis, log);
  }
  const Tensor t = in_opmath(tangent);
  const Dims axes{axis};
  if (t.ndim() == 0) return multiply(t, 0);
  return subtract(t, sum(multiply(exp(in_opmath(output)), t), DimsView(axes), true));
}

Tensor run(const Tensor& x, int64_t axis, bool log, const Out& out) {
  const bool grad = needs_grad(x);
  const Tensor dense =
      is_dense(x.sizes(), x.strides()) && out.is_fresh() ? x : contiguous_memory(x);
  // An empty tensor counts as dense with any strides, even negative ones.
  const Dims strides = x.numel() != 0 ? dense.strides() : contiguous_strides(x.sizes());
  Result result = out.is_fresh()
                      ? Result(empty_strided(x.sizes(), strides, x.dtype(), x.device()))
                      : allocate_apart(out, x.sizes(), x.dtype(), x.device(), grad, {&x}, true);
  if (x.numel() != 0) launch_softmax(kernel::kSoftmax, dense, Tensor(), result.value(), axis, log);
  Tensor output = result.finish();
  if (grad) {
    record(output, log ? "LogSoftmaxBackward" : "SoftmaxBackward", {x}, {save_output(output)},
           TakesBatches{[axis, log](Backward& ctx) {
             const Tensor y = ctx.saved(0);
             ctx.set(0, ctx.create_graph() || ctx.lead() == 1
                            ? derivative(ctx.grad(), y, axis, log)
                            : fused_derivative(ctx.grad(), y, axis, log));
           }},
           [&](Forward& ctx) { ctx.set(0, pushed(ctx.tangent(), output, axis, log)); });
  }
  return output;
}

Tensor softmax_family(const Tensor& input, int64_t axis, std::optional<DType> dtype, bool log,
                      const Out& out) {
  const int64_t along = wrap_axis(axis, input.ndim());
  const DType wanted =
      dtype.value_or(is_integral_or_bool(input.dtype()) ? default_dtype() : input.dtype());
  TSR_CHECK(is_floating(wanted), Code::kDType, dtype.has_value() ? "dtype" : "input",
            "expected a real floating dtype, got ", wanted);
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  return run(astype(input, wanted), along, log, out);
}

}  // namespace

Tensor softmax(const Tensor& input, int64_t axis, std::optional<DType> dtype, Out out) {
  return softmax_family(input, axis, dtype, false, out);
}

Tensor log_softmax(const Tensor& input, int64_t axis, std::optional<DType> dtype, Out out) {
  return softmax_family(input, axis, dtype, true, out);
}

Tensor softmax_tangent(const Tensor& tangent, const Tensor& output) {
  return pushed(tangent, output, output.ndim() - 1, false);
}

}  // namespace tsr::ops
