// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/statistics.h"

#include <cmath>

#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/linalg/matmul.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

std::tuple<Tensor, Tensor> extremum_with_indices(bool largest, const Tensor& input, int64_t axis,
                                                 bool keepdims, const Out& values,
                                                 const Out& indices) {
  check_apart(values, "values", indices, "indices");
  const int64_t along = wrap_axis(axis, input.ndim());
  const Tensor found = largest ? argmax(input, along, true) : argmin(input, along, true);
  const Tensor chosen = gather(input, along, found);
  const auto shaped = [&](const Tensor& kept) {
    return keepdims || input.ndim() == 0 ? kept : squeeze(kept, Dims{along});
  };
  const Tensor value = shaped(chosen);
  const Tensor index = shaped(found);
  return {deliver(value, values, needs_grad(input)), deliver(index, indices, false)};
}

// ---- covariances ----

void check_weights(const Tensor& weights, const Tensor& rows, const char* arg) {
  check_same_device(rows, weights, arg);
  TSR_CHECK(weights.ndim() <= 1 && weights.numel() == rows.size(1), Code::kShape, arg,
            "expected one weight for each of ", rows.size(1), " observations, got shape ",
            weights.sizes());
  TSR_CHECK(!read<bool>(any(less(weights.detached(), 0))), Code::kValue, arg,
            "expected weights that are not negative, got a negative one");
}

// Both weights of the observations as one; undefined where there are none.
Tensor joint_weights(const Tensor& fweights, const Tensor& aweights, const Tensor& rows) {
  const DType real = real_dtype(rows.dtype());
  Tensor weights;
  if (fweights.defined()) {
    TSR_CHECK(is_integral(fweights.dtype()), Code::kDType, "fweights",
              "expected an integer dtype, got ", fweights.dtype());
    check_weights(fweights, rows, "fweights");
    weights = astype(reshape(fweights, Dims{-1}), real);
  }
  if (aweights.defined()) {
    TSR_CHECK(is_floating(aweights.dtype()), Code::kDType, "aweights",
              "expected a floating dtype, got ", aweights.dtype());
    check_weights(aweights, rows, "aweights");
    const Tensor own = astype(reshape(aweights, Dims{-1}), real);
    weights = weights.defined() ? multiply(weights, own) : own;
  }
  return weights;
}

// (variables, observations) in the dtype in which the covariances are computed.
Tensor rows_of_variables(const Tensor& input) {
  TSR_CHECK(input.ndim() <= 2, Code::kShape, "input", "expected at most 2 dimensions, got shape ",
            input.sizes());
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected integers or a floating or complex dtype, got bool");
  const Tensor numbers =
      is_integral_or_bool(input.dtype()) ? astype(input, default_dtype()) : in_opmath(input);
  return input.ndim() == 2 ? numbers : reshape(numbers, Dims{1, input.numel()});
}

// What sums of weighted products are divided by, N - correction where all weights are 1; not below
// 0. NumPy's formula: weights that are no counts lose correction Σ w aweights / Σ w.
Tensor divisor_of(const Tensor& weights, const Tensor& total, const Tensor& aweights,
                  double correction) {
  if (!aweights.defined()) return maximum(subtract(total, correction), 0);
  const Tensor own = astype(reshape(aweights, Dims{-1}), weights.dtype());
  const Tensor lost = divide(multiply(sum(multiply(weights, own)), correction), total);
  return maximum(subtract(total, lost), 0);
}

Tensor centred(const Tensor& rows, const Tensor& weights, const Tensor& total) {
  const Dims last{-1};
  if (!weights.defined()) return subtract(rows, mean(rows, DimsView(last), true));
  return subtract(rows, divide(sum(multiply(rows, weights), DimsView(last), true), total));
}

Tensor covariances(const Tensor& rows, double correction, const Tensor& fweights,
                   const Tensor& aweights) {
  const Tensor weights = joint_weights(fweights, aweights, rows);
  const Tensor total = weights.defined() ? sum(weights) : Tensor();
  const Tensor x = centred(rows, weights, total);
  const Tensor other = matrix_transpose(conj_of(x));
  if (!weights.defined()) {
    const double divisor = std::fmax(static_cast<double>(rows.size(1)) - correction, 0);
    return divide(matmul(x, other), divisor);
  }
  const Tensor products = matmul(multiply(x, weights), other);
  return divide(products, divisor_of(weights, total, aweights, correction));
}

// As `input` wants it: 0-dim for one variable, as in NumPy, and in its own dtype.
Tensor shaped_covariances(const Tensor& found, const Tensor& input) {
  const Tensor shaped = found.numel() == 1 ? reshape(found, Dims{}) : found;
  return is_integral_or_bool(input.dtype()) ? shaped : astype(shaped, input.dtype());
}

}  // namespace

Tensor nanmean(const Tensor& input, Axes axes, bool keepdims, std::optional<DType> dtype, Out out) {
  const Tensor source =
      dtype.has_value() && is_differentiable(*dtype) ? astype(input, *dtype) : input;
  TSR_CHECK(is_differentiable(source.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", source.dtype());
  const Tensor count = sum(logical_not(isnan(source.detached())), axes, keepdims);
  const Tensor result = divide(nansum(in_opmath(source), axes, keepdims), count);
  return deliver(astype(result, source.dtype()), out, needs_grad(input));
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& input, Axes axes, bool keepdims, Out smallest,
                                   Out largest) {
  check_apart(smallest, "min", largest, "max");
  const Tensor low = min(input, axes, keepdims);
  const Tensor high = max(input, axes, keepdims);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  return {deliver(low, smallest, grad), deliver(high, largest, grad)};
}

std::tuple<Tensor, Tensor> var_mean(const Tensor& input, Axes axes, double correction,
                                    bool keepdims, Out variance, Out average) {
  check_apart(variance, "variance", average, "mean");
  const Tensor spread = var(input, axes, correction, keepdims);
  const Tensor middle = mean(input, axes, keepdims);
  const bool grad = needs_grad(input);
  return {deliver(spread, variance, grad), deliver(middle, average, grad)};
}

std::tuple<Tensor, Tensor> std_mean(const Tensor& input, Axes axes, double correction,
                                    bool keepdims, Out deviation, Out average) {
  check_apart(deviation, "deviation", average, "mean");
  const Tensor spread = ops::std(input, axes, correction, keepdims);
  const Tensor middle = mean(input, axes, keepdims);
  const bool grad = needs_grad(input);
  return {deliver(spread, deviation, grad), deliver(middle, average, grad)};
}

std::tuple<Tensor, Tensor> max_with_indices(const Tensor& input, int64_t axis, bool keepdims,
                                            Out values, Out indices) {
  return extremum_with_indices(true, input, axis, keepdims, values, indices);
}

std::tuple<Tensor, Tensor> min_with_indices(const Tensor& input, int64_t axis, bool keepdims,
                                            Out values, Out indices) {
  return extremum_with_indices(false, input, axis, keepdims, values, indices);
}

Tensor norm(const Tensor& input, double p, Axes axes, bool keepdims, std::optional<DType> dtype,
            Out out) {
  return vector_norm(dtype.has_value() ? astype(input, *dtype) : input, axes, keepdims, p, out);
}

Tensor dist(const Tensor& input, const Tensor& other, double p, Out out) {
  const DType common = promote_types(input.dtype(), other.dtype());
  TSR_CHECK(is_differentiable(common), Code::kDType, "input",
            "expected floating or complex dtypes, got ", common);
  const Tensor apart = subtract(in_opmath(astype(input, common)), in_opmath(astype(other, common)));
  const Tensor distance = vector_norm(apart, {}, false, p);
  return deliver(astype(distance, real_dtype(common)), out, needs_grad(input, other));
}

Tensor renorm(const Tensor& input, double p, int64_t axis, double max_norm, Out out) {
  TSR_CHECK(p > 0, Code::kValue, "p", "expected a positive order, got ", p);
  TSR_CHECK(max_norm >= 0, Code::kValue, "max_norm", "expected a norm that is not negative, got ",
            max_norm);
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  const int64_t along = wrap_axis(axis, input.ndim());
  Dims others;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (d != along) others.push_back(d);
  }
  const Tensor x = operand(input, out);
  const Tensor norms =
      others.empty() ? abs(in_opmath(x)) : vector_norm(in_opmath(x), DimsView(others), true, p);
  // What keeps a quotient just above the limit from passing it.
  constexpr double kMargin = 1e-7;
  const Tensor factor = where(greater(norms, max_norm), divide(max_norm, add(norms, kMargin)), 1);
  return multiply(x, astype(factor, real_dtype(input.dtype())), out);
}

Tensor cov(const Tensor& input, double correction, const Tensor& fweights, const Tensor& aweights,
           Out out) {
  const Tensor found = covariances(rows_of_variables(input), correction, fweights, aweights);
  return deliver(shaped_covariances(found, input), out, needs_grad(input, aweights));
}

Tensor corrcoef(const Tensor& input, Out out) {
  const Tensor products = covariances(rows_of_variables(input), 1, {}, {});
  const Tensor variances = diagonal(products);
  const Tensor deviations = sqrt(is_complex(products.dtype()) ? real(variances) : variances);
  Tensor found = divide(divide(products, expand_dims(deviations, -1)), deviations);
  if (!is_complex(found.dtype())) found = clip(found, Scalar(-1.0), Scalar(1.0));
  return deliver(shaped_covariances(found, input), out, needs_grad(input));
}

}  // namespace tsr::ops
