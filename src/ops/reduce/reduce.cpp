// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/sum_to.h"
#include "ops/reduce/total_dtype.h"
#include "ops/shape/shape.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::ReduceOp;

// The parameters of one reduction for LAUNCH.
struct Launch {
  ReduceOp op;
  DType compute;  // dtype of the kernel's input
  DType result;
  double parameter = 0;  // the correction or the order
};

Tensor run(const Launch& reduction, const Tensor& input, DimsView axes, bool keepdims,
           const Out& out, bool grad) {
  Result result = allocate_apart(out, reduced_shape(input.sizes(), axes, keepdims),
                                 reduction.result, input.device(), grad, {&input});
  if (result.value().numel() != 0) {
    kernel::ReducePlan plan;
    const Tensor source = cast_memory(input, reduction.compute);
    const bool keep_order = reduction.op == ReduceOp::kArgmax || reduction.op == ReduceOp::kArgmin;
    kernel::plan_reduction(plan, reduction.op, result.value(), source, axes, keep_order);
    Scalar(reduction.parameter).store(DType::kFloat64, plan.params[0].bytes);
    kernel::launch(kernel::kReduce, input.device(), plan);
  }
  return result.finish();
}

int64_t count_of(DimsView shape, DimsView axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

void check_not_empty(const Tensor& input, DimsView axes) {
  TSR_CHECK(count_of(input.sizes(), axes) != 0, Code::kValue, "input",
            "expected elements to reduce along the axes ", axes, ", got shape ", input.sizes());
}

void check_real(const Tensor& input) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
}

void check_inexact(const Tensor& input) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
}

// For sum and prod the cast to the wanted floating dtype is part of the graph.
Tensor cast_input(const Tensor& input, std::optional<DType> dtype) {
  return dtype.has_value() && is_differentiable(*dtype) ? astype(input, *dtype) : input;
}

Tensor arg_extremum(ReduceOp op, const Tensor& input, std::optional<int64_t> axis, bool keepdims,
                    const Out& out) {
  check_real(input);
  const Dims one = axis.has_value() ? Dims{*axis} : Dims{};
  const Dims reduced = reduction_axes(input, axis.has_value() ? Axes(one) : Axes());
  check_not_empty(input, reduced);
  return run({op, input.dtype(), DType::kInt64}, input, reduced, keepdims, out,
             needs_grad(input) && !out.is_fresh());
}

// g times the product of the other elements. Without zeros that is y / x. With one zero it is the
// product of the rest there, and else, as with more zeros, 0, or NaN where another element is not
// finite. What is the same for a whole line is found in small tensors.
Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& y, DimsView axes) {
  const auto lines = [&](const Tensor& mask) { return count_nonzero(mask, axes, true); };
  const Tensor zero = equal(x, 0);
  const Tensor finite = isfinite(x);
  const Tensor zeros = lines(zero);
  const Tensor special = subtract(count_of(x.sizes(), axes), lines(finite));
  const Tensor whole = equal(zeros, 0);
  const Tensor spoilt = logical_and(logical_not(whole), greater(special, 0));
  const Tensor filled = where(zero, 1, x);
  const Tensor total = where(spoilt, NAN, where(whole, y, 0));
  const Tensor at_zero = where(equal(zeros, 1), prod(filled, axes, true), total);
  const Tensor quotient = divide(where(zero, at_zero, total), filled);
  // Beside a zero, the only element that is not finite has finite others.
  const Tensor only = logical_and(logical_not(finite), logical_and(spoilt, equal(special, 1)));
  return multiply(g, conj_of(where(only, 0, quotient)));
}

// The same as products that can be differentiated at zeros: others_i = Π_j (j == i ? 1 : x_j).
Tensor prod_gradient_recorded(const Tensor& g, const Tensor& x, DimsView axes) {
  Dims order;
  for (int64_t d = 0; d < x.ndim(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  }
  const auto kept = order.size();
  for (const int64_t axis : axes) order.push_back(axis);
  const Tensor moved = permute_dims(x, order);
  Dims rows(moved.sizes().begin(), moved.sizes().begin() + static_cast<int64_t>(kept));
  const int64_t count = count_of(x.sizes(), axes);
  rows.push_back(1);
  rows.push_back(count);
  Dims square = rows;
  square[kept] = count;
  Tensor identity = zeros_like_shape(Dims{count, count}, DType::kBool, x.device());
  fill_memory(make_view(identity, Dims{count}, Dims{count + 1}, 0), true);
  const Tensor others =
      prod(where(identity, 1, broadcast_to(reshape(moved, rows), square)), Dims{-1});
  Dims inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Tensor slope = permute_dims(reshape(others, moved.sizes()), inverse);
  return multiply(g, conj_of(slope));
}

ReduceOp norm_kernel(double ord) {
  if (ord == 0) return ReduceOp::kCountNonzero;
  if (ord == 1) return ReduceOp::kSumOfMagnitudes;
  if (ord == 2) return ReduceOp::kEuclideanNorm;
  if (!std::isinf(ord)) return ReduceOp::kPowerNorm;
  return ord > 0 ? ReduceOp::kLargestMagnitude : ReduceOp::kSmallestMagnitude;
}

// ---- derivatives of the rows: dL/dx ----

Tensor d_sum(const ReductionContext& ctx) {
  return broadcast_to(ctx.g, ctx.full);
}
Tensor d_nansum(const ReductionContext& ctx) {
  return where(isnan(ctx.x), 0, ctx.g);
}
Tensor d_prod(const ReductionContext& ctx) {
  const Tensor g = in_opmath(ctx.g);
  const Tensor x = in_opmath(ctx.x);
  if (ctx.create_graph) return prod_gradient_recorded(g, x, ctx.axes);
  const bool exact = x.dtype() == ctx.x.dtype();
  return prod_gradient(g, x, exact ? ctx.y : prod(x, ctx.axes, true), ctx.axes);
}
Tensor d_mean(const ReductionContext& ctx) {
  const auto count = static_cast<double>(count_of(ctx.shape, ctx.axes));
  return broadcast_to(divide(ctx.g, count), ctx.full);
}
// Equal extrema share the gradient.
Tensor d_extremum(const ReductionContext& ctx) {
  const Tensor chosen = astype(equal(ctx.x, ctx.y), ctx.x.dtype());
  return multiply(ctx.g, divide(chosen, sum(chosen, ctx.axes, true)));
}
// exp(x - y) is the softmax; 0 for a line of -inf alone. A y that was rounded to 16 bits would be
// off by more than the result allows, and is computed again.
Tensor d_logsumexp(const ReductionContext& ctx) {
  const Tensor x = in_opmath(ctx.x);
  const Tensor y = x.dtype() == ctx.x.dtype() ? ctx.y : logsumexp(x, ctx.axes, true);
  const Tensor finite = where(equal(y, -INFINITY), 0, y);
  return multiply(in_opmath(ctx.g), exp(subtract(x, finite)));
}

// The gradient with the reduced axes as axes of size 1.
Tensor restore_grad(const Backward& ctx, const Dims& reduced, bool keepdims) {
  Dims axes = reduced;
  for (int64_t& axis : axes) axis += ctx.lead();
  return restore_axes(ctx.grad(), axes, keepdims);
}

DType result_dtype(ReductionType type, DType compute, std::optional<DType> dtype) {
  if (type == ReductionType::kPredicate) return DType::kBool;
  if (type == ReductionType::kTotal) return dtype.value_or(total_dtype(compute));
  return type == ReductionType::kCount ? DType::kInt64 : compute;
}

// The dtype that the kernel takes. It widens integers and bool for a total itself.
DType compute_dtype(ReductionType type, const Tensor& input, std::optional<DType> dtype) {
  switch (type) {
    case ReductionType::kReal:
      check_real(input);
      return input.dtype();
    case ReductionType::kFloatReal:
      check_real(input);
      return is_integral_or_bool(input.dtype()) ? default_dtype() : input.dtype();
    case ReductionType::kInexact:
      check_inexact(input);
      return input.dtype();
    case ReductionType::kTotal:
      return dtype.has_value() && *dtype != total_dtype(input.dtype()) ? *dtype : input.dtype();
    case ReductionType::kPredicate:
    case ReductionType::kCount:
      return input.dtype();
  }
  return input.dtype();
}

// The tangent of the output. Each derivative is g times the slope of each element, so applied to
// the tangent of the input it gives the summands.
Tensor pushed(const Forward& ctx, const ReductionRule& rule, const Tensor& output,
              const Dims& reduced, bool keepdims) {
  const Tensor& t = ctx.tangent();
  if (rule.derivative == d_mean) return mean(t, DimsView(reduced), keepdims);
  if (rule.derivative == d_sum) return sum(t, DimsView(reduced), keepdims);
  const Tensor g = conj_of(astype(t, output.dtype()));
  const Tensor x = ctx.saved(0);
  const Tensor y = rule.saves == ReductionSaves::kInputAndOutput
                       ? restore_axes(ctx.saved(1), reduced, keepdims)
                       : Tensor();
  const Tensor parts =
      rule.derivative({g, x, y, reduced, t.sizes(), t.sizes(), recording_enabled()});
  return sum(conj_of(parts), DimsView(reduced), keepdims);
}

// A sum or a mean and its tangent, the same of the tangent of the input, in the common case of
// forward mode and where one plan serves both. Undefined: another case, and nothing has been done.
Tensor run_dual(const ReductionRule& rule, const Launch& reduction, const Tensor& input,
                DimsView axes, bool keepdims) {
  if (rule.derivative != d_sum && rule.derivative != d_mean) return {};
  LoneTangents lone;
  if (!lone.find({input}) || !lone.any() || !lone.are_plain()) return {};
  const Tensor& t = lone[0];
  const bool alike = reduction.compute == input.dtype() && t.dtype() == input.dtype() &&
                     t.sizes() == input.sizes() && t.strides() == input.strides();
  Tensor value;
  if (alike)
    value = empty(reduced_shape(input.sizes(), axes, keepdims), reduction.result, input.device());
  if (!alike || value.numel() == 0) return {};
  Tensor tangent = empty_dense_like(value, value.dtype(), value.device());
  kernel::ReducePlan plan;
  kernel::plan_reduction(plan, reduction.op, value, input, axes, false);
  Scalar(reduction.parameter).store(DType::kFloat64, plan.params[0].bytes);
  kernel::launch(kernel::kReduce, input.device(), plan);
  plan.input = t.data();
  plan.output = tangent.data();
  kernel::launch(kernel::kReduce, input.device(), plan);
  lone.give(value, std::move(tangent));
  return value;
}

void record_reduction(const ReductionRule& rule, const Tensor& output, const Tensor& input,
                      const Dims& reduced, bool keepdims) {
  SmallVector<Save, 2> kept;
  if (rule.saves != ReductionSaves::kNothing) kept.push_back(save_input(input));
  if (rule.saves == ReductionSaves::kInputAndOutput) kept.push_back(save_output(output));
  const std::span<const Save> saved(kept.data(), kept.size());
  record(output, rule.node, {input}, saved,
         TakesBatches{[row = &rule, shape = input.sizes(), reduced, keepdims](Backward& ctx) {
           const Tensor g = restore_grad(ctx, reduced, keepdims);
           const Tensor x = row->saves == ReductionSaves::kNothing ? Tensor() : ctx.saved(0);
           const Tensor y = row->saves == ReductionSaves::kInputAndOutput
                                ? restore_axes(ctx.saved(1), reduced, keepdims)
                                : Tensor();
           const Dims full = ctx.batched(shape);
           ctx.set(0, row->derivative({g, x, y, reduced, shape, full, ctx.create_graph()}));
         }},
         [&](Forward& ctx) { ctx.set(0, pushed(ctx, rule, output, reduced, keepdims)); });
}

Tensor reduce(const ReductionRule& rule, const Tensor& input, const Axes& axes, bool keepdims,
              std::optional<DType> dtype, const Out& out) {
  const DType compute = compute_dtype(rule.type, input, dtype);
  const Dims reduced = reduction_axes(input, axes);
  if (rule.needs_elements) check_not_empty(input, reduced);
  const bool grad = rule.node != nullptr && is_differentiable(compute) && needs_grad(input);
  const Launch reduction{rule.op, compute, result_dtype(rule.type, compute, dtype)};
  if (grad && forward_enabled() && out.is_fresh()) [[unlikely]] {
    if (Tensor value = run_dual(rule, reduction, input, reduced, keepdims); value.defined())
      return value;
  }
  Tensor output = run(reduction, input, reduced, keepdims, out, grad);
  if (grad) record_reduction(rule, output, input, reduced, keepdims);
  return output;
}

}  // namespace

Tensor Reduction::operator()(const Tensor& input, Axes axes, bool keepdims, Out out) const {
  return reduce(rule, input, axes, keepdims, {}, out);
}

Tensor Total::operator()(const Tensor& input, Axes axes, bool keepdims, std::optional<DType> dtype,
                         Out out) const {
  return reduce(rule, cast_input(input, dtype), axes, keepdims, dtype, out);
}

Dims reduction_axes(const Tensor& input, const Axes& axes) {
  if (axes.has_value()) {
    Dims wrapped = wrap_axes(*axes, input.ndim());
    return input.ndim() == 0 ? Dims{} : wrapped;
  }
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

namespace {

// The mean of |x - mean|², of dtype `result`: for complex numbers the sum of the variances of their
// parts.
Tensor run_var(const Tensor& input, const Dims& axes, double correction, bool keepdims,
               DType result, const Out& out, bool grad) {
  const DType type = real_dtype(input.dtype());
  const Launch launch{ReduceOp::kVar, type, result, correction};
  if (!is_complex(input.dtype())) return run(launch, input, axes, keepdims, out, grad);
  const Tensor of_parts = run(launch, parts_memory(input), axes, keepdims, {}, false);
  const Dims last{of_parts.ndim() - 1};
  return run({ReduceOp::kSum, result, result}, of_parts, last, false, out, grad);
}

// What the squares are divided by; 0 if the correction takes all, as in the kernel.
double divisor_of(const Tensor& input, DimsView axes, double correction) {
  return std::fmax(static_cast<double>(count_of(input.sizes(), axes)) - correction, 0);
}

Tensor centred(const Tensor& x, const Dims& axes) {
  return subtract(x, mean(x, DimsView(axes), true));
}

}  // namespace

Tensor var(const Tensor& input, Axes axes, double correction, bool keepdims, Out out) {
  check_inexact(input);
  const Dims reduced = reduction_axes(input, axes);
  const bool grad = needs_grad(input);
  const DType type = real_dtype(input.dtype());
  Tensor output = run_var(input, reduced, correction, keepdims, type, out, grad);
  if (grad) {
    const double divisor = divisor_of(input, reduced, correction);
    record(output, "VarBackward", {input}, {save_input(input)},
           TakesBatches{[reduced, keepdims, divisor](Backward& ctx) {
             const Tensor g = in_opmath(restore_grad(ctx, reduced, keepdims));
             const Tensor scale = multiply(g, 2 / divisor);
             ctx.set(0, multiply(scale, centred(in_opmath(ctx.saved(0)), reduced)));
           }},
           // The derivative of Σ c²: Σ 2 c t, where the mean of t adds nothing because Σ c = 0.
           [&](Forward& ctx) {
             const Tensor t = multiply(in_opmath(ctx.tangent()), 2 / divisor);
             const Tensor both = multiply(conj_of(t), centred(in_opmath(input), reduced));
             const Tensor parts = is_complex(both.dtype()) ? real_part(both) : both;
             ctx.set(0, sum(parts, DimsView(reduced), keepdims));
           });
  }
  return output;
}

// The variance may lie outside the range of the result where its root does not, so it is float64,
// as the kernel computes it.
Tensor std(const Tensor& input, Axes axes, double correction, bool keepdims, Out out) {
  check_inexact(input);
  const Dims reduced = reduction_axes(input, axes);
  const bool grad = needs_grad(input);
  const DType type = real_dtype(input.dtype());
  const Tensor variance = run_var(input, reduced, correction, keepdims, DType::kFloat64, {}, false);
  const Tensor root = sqrt(variance, Out::inplace(variance));
  Tensor output = deliver(cast_memory(root, type), out, grad);
  if (grad) {
    const double divisor = divisor_of(input, reduced, correction);
    record(output, "StdBackward", {input}, {save_input(input), save_output(output)},
           TakesBatches{[reduced, keepdims, divisor](Backward& ctx) {
             const Tensor y = in_opmath(restore_axes(ctx.saved(1), reduced, keepdims));
             const Tensor safe = where(equal(y, 0), 1, y);
             const Tensor g = in_opmath(restore_grad(ctx, reduced, keepdims));
             const Tensor scale = where(equal(y, 0), 0, divide(g, multiply(safe, divisor)));
             ctx.set(0, multiply(scale, centred(in_opmath(ctx.saved(0)), reduced)));
           }});
  }
  return output;
}

Tensor argmax(const Tensor& input, std::optional<int64_t> axis, bool keepdims, Out out) {
  return arg_extremum(ReduceOp::kArgmax, input, axis, keepdims, out);
}

Tensor argmin(const Tensor& input, std::optional<int64_t> axis, bool keepdims, Out out) {
  return arg_extremum(ReduceOp::kArgmin, input, axis, keepdims, out);
}

// sign(x) (|x| / r)^(p-1): neither power alone need be a number of the dtype.
Tensor norm_gradient(const Tensor& g, const Tensor& x, const Tensor& r, double ord, DimsView axes) {
  if (ord == 0) return zeros_of(multiply(g, x));
  if (ord == 1) return multiply(g, sign(x));
  if (std::isinf(ord)) {
    const Tensor chosen = astype(equal(abs(x), r), r.dtype());
    return multiply(multiply(g, divide(chosen, sum(chosen, axes, true))), sign(x));
  }
  const Tensor safe = where(equal(r, 0), 1, r);
  if (ord == 2) return multiply(where(equal(r, 0), 0, divide(g, safe)), x);
  const Tensor size = abs(x);
  const Tensor zero = logical_or(equal(size, 0), equal(r, 0));
  const Tensor power = where(zero, 0, pow(where(zero, 1, divide(size, safe)), ord - 1));
  return multiply(multiply(g, power), sign(x));
}

Tensor vector_norm(const Tensor& input, Axes axes, bool keepdims, double ord, Out out) {
  check_inexact(input);
  const Dims reduced = reduction_axes(input, axes);
  if (ord < 0 || std::isinf(ord)) check_not_empty(input, reduced);
  const bool grad = needs_grad(input);
  Tensor output = run({norm_kernel(ord), input.dtype(), real_dtype(input.dtype()), ord}, input,
                      reduced, keepdims, out, grad);
  if (grad) {
    record(output, "VectorNormBackward", {input}, {save_input(input), save_output(output)},
           TakesBatches{[reduced, keepdims, ord](Backward& ctx) {
             const Tensor g = in_opmath(restore_grad(ctx, reduced, keepdims));
             const Tensor r = in_opmath(restore_axes(ctx.saved(1), reduced, keepdims));
             ctx.set(0, norm_gradient(g, in_opmath(ctx.saved(0)), r, ord, reduced));
           }});
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

// ---- the rows ----
// clang-format off
constinit const Total sum{{ReduceOp::kSum, "SumBackward", ReductionType::kTotal, ReductionSaves::kNothing, d_sum}};
constinit const Total nansum{{ReduceOp::kNansum, "NansumBackward", ReductionType::kTotal, ReductionSaves::kInput, d_nansum}};
constinit const Total prod{{ReduceOp::kProd, "ProdBackward", ReductionType::kTotal, ReductionSaves::kInputAndOutput, d_prod}};
constinit const Total mean{{ReduceOp::kMean, "MeanBackward", ReductionType::kInexact, ReductionSaves::kNothing, d_mean}};
constinit const Reduction max{{ReduceOp::kMax, "MaxBackward", ReductionType::kReal, ReductionSaves::kInputAndOutput, d_extremum, true}};
constinit const Reduction min{{ReduceOp::kMin, "MinBackward", ReductionType::kReal, ReductionSaves::kInputAndOutput, d_extremum, true}};
constinit const Reduction any{{ReduceOp::kAny, nullptr, ReductionType::kPredicate}};
constinit const Reduction all{{ReduceOp::kAll, nullptr, ReductionType::kPredicate}};
constinit const Reduction count_nonzero{{ReduceOp::kCountNonzero, nullptr, ReductionType::kCount}};
constinit const Reduction logsumexp{{ReduceOp::kLogsumexp, "LogSumExpBackward", ReductionType::kFloatReal, ReductionSaves::kInputAndOutput, d_logsumexp}};
// clang-format on

}  // namespace tsr::ops
