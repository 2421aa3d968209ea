// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/optim/foreach.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/optim/optim.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// ---- operations by name ----

template <class Op>
using Named = std::pair<std::string_view, Op>;
using Ternary = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Scalar&, Out);

constexpr Named<const Unary*> kUnary[] = {{"abs", &abs},           {"exp", &exp},
                                          {"negative", &negative}, {"reciprocal", &reciprocal},
                                          {"sign", &sign},         {"sqrt", &sqrt}};
constexpr Named<const Binary*> kBinary[] = {
    {"add", &add},       {"subtract", &subtract}, {"multiply", &multiply},
    {"divide", &divide}, {"maximum", &maximum},   {"minimum", &minimum},
    {"pow", &pow}};
constexpr Named<Ternary> kTernary[] = {{"addcmul", &addcmul}, {"addcdiv", &addcdiv}};

template <class Op, size_t kCount>
Op find(const Named<Op> (&table)[kCount], std::string_view name) {
  for (const auto& [known, op] : table) {
    if (known == name) return op;
  }
  std::string names;
  for (const auto& [known, op] : table) names.append(names.empty() ? "" : ", ").append(known);
  fail(Code::kValue, "operation", __FILE__, __LINE__, "expected one of ", names, ", got '", name,
       "'");
}

// ---- lists ----

void check_length(size_t found, TensorList tensors, const char* arg) {
  TSR_CHECK(found == tensors.size(), Code::kInvalidArgument, arg, "expected ", tensors.size(),
            " items, one for each tensor, got ", found);
}

// compute(i, out) for every item, with a fresh result.
template <class Compute>
std::vector<Tensor> each(TensorList tensors, const Compute& compute) {
  std::vector<Tensor> results;
  results.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) results.push_back(compute(i, Out{}));
  return results;
}
// The same in the place of the item.
template <class Compute>
void each_inplace(TensorList tensors, const Compute& compute) {
  for (size_t i = 0; i < tensors.size(); ++i) compute(i, Out::inplace(tensors[i]));
}

// ---- what one item computes ----

auto unary_of(TensorList tensors, std::string_view operation) {
  const Unary& op = *find(kUnary, operation);
  return [&op, tensors](size_t i, const Out& out) { return op(tensors[i], out); };
}

auto binary_of(TensorList tensors, TensorList others, std::string_view operation, double alpha) {
  const Binary& op = *find(kBinary, operation);
  check_length(others.size(), tensors, "others");
  const bool sums = &op == &add || &op == &subtract;
  TSR_CHECK(sums || alpha == 1, Code::kValue, "alpha", "expected 1 for ", operation, ", got ",
            alpha);
  return [&op, tensors, others, alpha](size_t i, const Out& out) {
    if (alpha == 1) return op(tensors[i], others[i], out);
    return op(tensors[i], multiply(others[i], alpha), out);
  };
}

auto scalar_of(TensorList tensors, const Scalar& other, std::string_view operation) {
  const Binary& op = *find(kBinary, operation);
  return [&op, tensors, other](size_t i, const Out& out) { return op(tensors[i], other, out); };
}

auto scalars_of(TensorList tensors, Numbers others, std::string_view operation) {
  const Binary& op = *find(kBinary, operation);
  check_length(others.size(), tensors, "others");
  return
      [&op, tensors, others](size_t i, const Out& out) { return op(tensors[i], others[i], out); };
}

// A whole number stays one beside integers.
Scalar value_for(const Tensor& tensor, double value) {
  const bool whole = is_integral(tensor.dtype()) && value == std::floor(value) &&
                     std::fabs(value) < 9007199254740992.0;
  return whole ? Scalar(static_cast<int64_t>(value)) : Scalar(value);
}

auto ternary_of(TensorList tensors, TensorList firsts, TensorList seconds,
                std::string_view operation, Numbers values) {
  const Ternary op = find(kTernary, operation);
  check_length(firsts.size(), tensors, "firsts");
  check_length(seconds.size(), tensors, "seconds");
  if (values.size() != 1) check_length(values.size(), tensors, "values");
  return [op, tensors, firsts, seconds, values](size_t i, const Out& out) {
    const double value = values[values.size() == 1 ? 0 : i];
    return op(tensors[i], firsts[i], seconds[i], value_for(tensors[i], value), out);
  };
}

auto lerp_of(TensorList tensors, TensorList ends, double weight) {
  check_length(ends.size(), tensors, "ends");
  return [=](size_t i, const Out& out) { return lerp(tensors[i], ends[i], weight, out); };
}

auto lerp_tensors_of(TensorList tensors, TensorList ends, TensorList weights) {
  check_length(ends.size(), tensors, "ends");
  check_length(weights.size(), tensors, "weights");
  return [=](size_t i, const Out& out) { return lerp(tensors[i], ends[i], weights[i], out); };
}

}  // namespace

std::vector<Tensor> foreach_unary(TensorList tensors, std::string_view operation) {
  return each(tensors, unary_of(tensors, operation));
}
void foreach_unary_(TensorList tensors, std::string_view operation) {
  each_inplace(tensors, unary_of(tensors, operation));
}

std::vector<Tensor> foreach_binary(TensorList tensors, TensorList others,
                                   std::string_view operation, double alpha) {
  return each(tensors, binary_of(tensors, others, operation, alpha));
}
void foreach_binary_(TensorList tensors, TensorList others, std::string_view operation,
                     double alpha) {
  each_inplace(tensors, binary_of(tensors, others, operation, alpha));
}

std::vector<Tensor> foreach_scalar(TensorList tensors, const Scalar& other,
                                   std::string_view operation) {
  return each(tensors, scalar_of(tensors, other, operation));
}
void foreach_scalar_(TensorList tensors, const Scalar& other, std::string_view operation) {
  each_inplace(tensors, scalar_of(tensors, other, operation));
}

std::vector<Tensor> foreach_scalars(TensorList tensors, Numbers others,
                                    std::string_view operation) {
  return each(tensors, scalars_of(tensors, others, operation));
}
void foreach_scalars_(TensorList tensors, Numbers others, std::string_view operation) {
  each_inplace(tensors, scalars_of(tensors, others, operation));
}

std::vector<Tensor> foreach_ternary(TensorList tensors, TensorList firsts, TensorList seconds,
                                    std::string_view operation, Numbers values) {
  return each(tensors, ternary_of(tensors, firsts, seconds, operation, values));
}
void foreach_ternary_(TensorList tensors, TensorList firsts, TensorList seconds,
                      std::string_view operation, Numbers values) {
  each_inplace(tensors, ternary_of(tensors, firsts, seconds, operation, values));
}

std::vector<Tensor> foreach_lerp(TensorList tensors, TensorList ends, double weight) {
  return each(tensors, lerp_of(tensors, ends, weight));
}
void foreach_lerp_(TensorList tensors, TensorList ends, double weight) {
  each_inplace(tensors, lerp_of(tensors, ends, weight));
}

std::vector<Tensor> foreach_lerp_tensors(TensorList tensors, TensorList ends, TensorList weights) {
  return each(tensors, lerp_tensors_of(tensors, ends, weights));
}
void foreach_lerp_tensors_(TensorList tensors, TensorList ends, TensorList weights) {
  each_inplace(tensors, lerp_tensors_of(tensors, ends, weights));
}

std::vector<Tensor> foreach_norm(TensorList tensors, double ord) {
  return each(tensors, [&](size_t i, const Out& out) {
    return vector_norm(tensors[i], {}, false, ord, out);
  });
}

void foreach_zero_(TensorList tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) zero_(tensors[i]);
}

void foreach_copy_(TensorList tensors, TensorList sources) {
  check_length(sources.size(), tensors, "sources");
  for (size_t i = 0; i < tensors.size(); ++i) copy_(tensors[i], sources[i]);
}

// ---- scaled losses ----

namespace {

void check_number(const Tensor& tensor, DType dtype, const char* arg) {
  TSR_CHECK(tensor.dtype() == dtype && tensor.numel() == 1, Code::kShape, arg, "expected ", dtype,
            " with one element, got ", tensor.dtype(), " of shape ", tensor.sizes());
}

}  // namespace

void amp_unscale_(TensorList grads, const Tensor& found_inf, const Tensor& inverse_scale) {
  check_number(found_inf, DType::kFloat32, "found_inf");
  check_number(inverse_scale, DType::kFloat32, "inverse_scale");
  check_same_device(found_inf, inverse_scale, "inverse_scale");
  for (const Tensor& grad : grads) {
    TSR_CHECK(is_floating(grad.dtype()), Code::kDType, "grads", "expected floating dtypes, got ",
              grad.dtype());
    check_same_device(found_inf, grad, "grads");
  }
  const NoGrad pause;
  begin_inplace(found_inf, false);
  kernel::OptimPlan plan{};
  plan.op = kernel::OptimOp::kUnscale;
  plan.factor = inverse_scale.data_as<float>();
  plan.found = found_inf.data_as<float>();
  take_step(plan, grads, {}, {});
}

void amp_update_scale_(const Tensor& scale, const Tensor& growth_tracker, const Tensor& found_inf,
                       double growth_factor, double backoff_factor, int64_t growth_interval) {
  check_number(scale, DType::kFloat32, "scale");
  check_number(growth_tracker, DType::kInt32, "growth_tracker");
  check_number(found_inf, DType::kFloat32, "found_inf");
  TSR_CHECK(growth_interval >= 1, Code::kValue, "growth_interval", "expected at least 1, got ",
            growth_interval);
  const NoGrad pause;
  const Tensor bad = not_equal(found_inf, 0);
  const Tensor count = where(bad, 0, add(growth_tracker, 1));
  const Tensor due = greater_equal(count, growth_interval);
  const Tensor grown = multiply(scale, growth_factor);
  const Tensor larger = where(isfinite(grown), grown, scale);
  const Tensor kept = where(due, larger, scale);
  copy_(scale, where(bad, multiply(scale, backoff_factor), kept));
  copy_(growth_tracker, where(due, 0, count));
}

}  // namespace tsr::ops
