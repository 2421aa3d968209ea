// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/masked.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/nn/distance.h"
#include "ops/nn/softmax.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/quantile.h"
#include "ops/reduce/scan.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The mask in the input's shape, without a copy.
Tensor mask_of(const Tensor& input, const Tensor& mask) {
  TSR_CHECK(mask.dtype() == DType::kBool, Code::kDType, "mask", "expected bool, got ",
            mask.dtype());
  check_same_device(input, mask, "mask");
  broadcast_strides(mask.sizes(), mask.strides(), input.sizes(), "mask");
  return broadcast_to(mask, input.sizes());
}

// The input with `fill` where the mask is false.
Tensor filled(const Tensor& input, const Tensor& mask, const Arg& fill) {
  return mask.defined() ? where(mask_of(input, mask), input, fill) : input;
}

// The lowest or the highest number of a dtype, 0-dim.
Tensor extreme(DType dtype, bool highest, Device device) {
  const Tensor zero = zeros(Dims{}, dtype, device);
  if (is_floating(dtype)) return add(zero, highest ? kInfinity : -kInfinity);
  TSR_CHECK(is_integral_or_bool(dtype), Code::kDType, "input", "expected a real dtype, got ",
            dtype);
  const bool negative = is_integral(dtype) && info(dtype).is_signed;
  if (!negative) return highest ? bitwise_invert(zero) : zero;
  const Tensor lowest =
      bitwise_left_shift(bitwise_invert(zero), static_cast<int64_t>(itemsize(dtype) * 8 - 1));
  return highest ? bitwise_invert(lowest) : lowest;
}
Tensor with_extreme(const Tensor& input, const Tensor& mask, bool highest) {
  if (!mask.defined()) return input;
  return filled(input, mask, extreme(input.dtype(), highest, input.device()));
}

// By the extremum itself and not by what is filled in: an element that takes part may be as low.
Tensor arg_extremum(const Tensor& input, const Tensor& mask, std::optional<int64_t> axis,
                    bool keepdims, bool largest) {
  if (!mask.defined())
    return largest ? argmax(input, axis, keepdims) : argmin(input, axis, keepdims);
  const Tensor x = with_extreme(input.detached(), mask, !largest);
  const Dims one{axis.value_or(0)};
  const Axes axes = axis.has_value() ? Axes(DimsView(one)) : Axes();
  const Tensor best = largest ? max(x, axes, true) : min(x, axes, true);
  const Tensor chosen = logical_or(equal(x, best), isnan(x));
  return argmax(astype(logical_and(chosen, mask_of(input, mask)), DType::kInt8), axis, keepdims);
}

// The number of elements that take part.
Tensor count_of(const Tensor& input, const Tensor& mask, const Axes& axes, bool keepdims) {
  const Tensor all = ones(Dims{}, DType::kBool, input.device());
  return count_nonzero(mask_of(input, mask.defined() ? mask : all), axes, keepdims);
}

Tensor in_dtype(const Tensor& input, std::optional<DType> dtype) {
  return dtype.has_value() ? astype(input, *dtype) : input;
}

void check_inexact(const Tensor& input) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
}
void check_floating(const Tensor& input) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
}

// In opmath.
Tensor variance(const Tensor& input, const Tensor& mask, const Axes& axes, double correction,
                bool keepdims) {
  check_floating(input);
  const Tensor x = filled(in_opmath(input), mask, 0);
  const Tensor middle = divide(sum(x, axes, true), count_of(input, mask, axes, true));
  const Tensor distance = filled(subtract(x, middle), mask, 0);
  const Tensor divisor = maximum(subtract(count_of(input, mask, axes, keepdims), correction), 0);
  return divide(sum(multiply(distance, distance), axes, keepdims), divisor);
}

}  // namespace

// ---- reductions ----

Tensor masked_sum(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims,
                  std::optional<DType> dtype) {
  return sum(filled(input, mask, 0), axes, keepdims, dtype);
}

Tensor masked_prod(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims,
                   std::optional<DType> dtype) {
  return prod(filled(input, mask, 1), axes, keepdims, dtype);
}

Tensor masked_mean(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims,
                   std::optional<DType> dtype) {
  const Tensor x = in_dtype(input, dtype);
  check_inexact(x);
  const Tensor total = sum(filled(in_opmath(x), mask, 0), axes, keepdims);
  return astype(divide(total, count_of(x, mask, axes, keepdims)), x.dtype());
}

Tensor masked_amax(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims) {
  return max(with_extreme(input, mask, false), axes, keepdims);
}

Tensor masked_amin(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims) {
  return min(with_extreme(input, mask, true), axes, keepdims);
}

Tensor masked_argmax(const Tensor& input, const Tensor& mask, std::optional<int64_t> axis,
                     bool keepdims) {
  return arg_extremum(input, mask, axis, keepdims, true);
}

Tensor masked_argmin(const Tensor& input, const Tensor& mask, std::optional<int64_t> axis,
                     bool keepdims) {
  return arg_extremum(input, mask, axis, keepdims, false);
}

Tensor masked_var(const Tensor& input, const Tensor& mask, Axes axes, double correction,
                  bool keepdims) {
  return astype(variance(input, mask, axes, correction, keepdims), input.dtype());
}

Tensor masked_std(const Tensor& input, const Tensor& mask, Axes axes, double correction,
                  bool keepdims) {
  const Tensor spread = variance(input, mask, axes, correction, keepdims);
  // Equal elements have the gradient 0, as in std.
  const Tensor none = equal(spread, 0);
  return astype(where(none, 0, sqrt(where(none, 1, spread))), input.dtype());
}

Tensor masked_norm(const Tensor& input, const Tensor& mask, double ord, Axes axes, bool keepdims) {
  check_inexact(input);
  return vector_norm(filled(input, mask, ord < 0 ? kInfinity : 0), axes, keepdims, ord);
}

Tensor masked_logsumexp(const Tensor& input, const Tensor& mask, Axes axes, bool keepdims) {
  check_floating(input);
  return logsumexp(filled(input, mask, -kInfinity), axes, keepdims);
}

Tensor masked_median(const Tensor& input, const Tensor& mask, std::optional<int64_t> axis,
                     bool keepdims) {
  check_floating(input);
  return nanmedian(filled(input, mask, std::numeric_limits<double>::quiet_NaN()), axis, keepdims);
}

// ---- along an axis ----

Tensor masked_softmax(const Tensor& input, int64_t axis, const Tensor& mask,
                      std::optional<DType> dtype) {
  const Tensor x = in_dtype(input, dtype);
  check_floating(x);
  return filled(softmax(filled(x, mask, -kInfinity), axis), mask, 0);
}

Tensor masked_softmin(const Tensor& input, int64_t axis, const Tensor& mask,
                      std::optional<DType> dtype) {
  return masked_softmax(negative(in_dtype(input, dtype)), axis, mask);
}

Tensor masked_log_softmax(const Tensor& input, int64_t axis, const Tensor& mask,
                          std::optional<DType> dtype) {
  const Tensor x = in_dtype(input, dtype);
  check_floating(x);
  return filled(log_softmax(filled(x, mask, -kInfinity), axis), mask, -kInfinity);
}

Tensor masked_normalize(const Tensor& input, double ord, int64_t axis, const Tensor& mask,
                        double eps) {
  check_floating(input);
  TSR_CHECK(ord >= 0, Code::kValue, "ord", "expected a number of at least 0, got ", ord);
  return normalize(filled(input, mask, 0), ord, axis, eps);
}

Tensor masked_cumsum(const Tensor& input, int64_t axis, const Tensor& mask,
                     std::optional<DType> dtype) {
  return cumulative_sum(filled(input, mask, 0), axis, dtype);
}

Tensor masked_cumprod(const Tensor& input, int64_t axis, const Tensor& mask,
                      std::optional<DType> dtype) {
  return cumulative_prod(filled(input, mask, 1), axis, dtype);
}

}  // namespace tsr::ops
