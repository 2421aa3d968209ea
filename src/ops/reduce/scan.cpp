// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/scan.h"

#include <array>
#include <cmath>
#include <span>

#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/reduce/total_dtype.h"
#include "ops/samples.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::ScanOp;

// The plan's walk along an axis and over the other dims; `positions` may be undefined. A 0-dim
// tensor is a line of one element.
kernel::ScanPlan plan_scan(ScanOp op, const Tensor& result, const Tensor& positions,
                           const Tensor& source, int64_t axis) {
  kernel::ScanPlan plan{};
  const bool scalar = source.ndim() == 0;
  const auto stride = [&](const Tensor& tensor, int64_t d) {
    return tensor.defined() && !scalar ? kernel::byte_stride(tensor, d) : 0;
  };
  plan.op = op;
  plan.axis_size = scalar ? 1 : source.size(axis);
  plan.axis_input_stride = stride(source, axis);
  plan.axis_output_stride = stride(result, axis);
  plan.axis_position_stride = stride(positions, axis);
  plan.place = kernel::place_on(result.device());
  plan.input = source.data();
  plan.output = result.data();
  plan.positions = static_cast<int64_t*>(data_or_null(positions));
  plan.dtype = source.dtype();
  int32_t dims = 0;
  plan.numel = 1;
  for (int64_t d = 0; d < source.ndim(); ++d) {
    if (d == axis) continue;
    plan.sizes[dims] = source.size(d);
    plan.input_strides[dims] = stride(source, d);
    plan.position_strides[dims] = stride(positions, d);
    plan.output_strides[dims++] = stride(result, d);
    plan.numel *= source.size(d);
  }
  const std::array<int64_t*, 3> strides{plan.output_strides, plan.input_strides,
                                        plan.position_strides};
  plan.ndim = kernel::merge_dims(dims, plan.sizes, strides, false);
  return plan;
}

// result = scan of source along axis; same shape and dtype.
void launch_scan(ScanOp op, const Tensor& result, const Tensor& source, int64_t axis,
                 const Tensor& positions = {}) {
  if (result.numel() == 0) return;
  kernel::launch(kernel::kScan, result.device(), plan_scan(op, result, positions, source, axis));
}

// The same from the end of the axis to its start.
void launch_reverse_scan(ScanOp op, const Tensor& result, const Tensor& source, int64_t axis) {
  if (result.numel() == 0) return;
  kernel::ScanPlan plan = plan_scan(op, result, {}, source, axis);
  const int64_t last = plan.axis_size - 1;
  plan.input = static_cast<const char*>(plan.input) + last * plan.axis_input_stride;
  plan.output = static_cast<char*>(plan.output) + last * plan.axis_output_stride;
  plan.axis_input_stride = -plan.axis_input_stride;
  plan.axis_output_stride = -plan.axis_output_stride;
  kernel::launch(kernel::kScan, result.device(), plan);
}

// The derivative of a scan along `axis` of a tensor of `ndim` axes, from its derivative by(ctx,
// axis of the gradient). A scan leaves a 0-dim tensor alone.
template <class By>
auto scan_derivative(int64_t axis, int64_t ndim, By by) {
  return TakesBatches{[axis, ndim, by](Backward& ctx) {
    ctx.set(0, ndim == 0 ? ctx.grad() : by(ctx, axis + ctx.lead()));
  }};
}

Tensor running_sum(const Tensor& input, int64_t axis, bool reverse) {
  Tensor output = empty(input.sizes(), input.dtype(), input.device());
  reverse ? launch_reverse_scan(ScanOp::kSum, output, input, axis)
          : launch_scan(ScanOp::kSum, output, input, axis);
  if (is_differentiable(input.dtype()) && needs_grad(input)) {
    record(output, "CumulativeSumBackward", {input}, {},
           scan_derivative(axis, input.ndim(),
                           [reverse](const Backward& ctx, int64_t along) {
                             return running_sum(ctx.grad(), along, !reverse);
                           }),
           [&](Forward& ctx) { ctx.set(0, running_sum(ctx.tangent(), axis, reverse)); });
  }
  return output;
}

// All of `tensor` but its first element along the axis.
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

// What a running sum and a running product have in common: input, axis and dtype made ready.
struct Cumulation {
  Tensor source;  // of the dtype of the result
  int64_t axis;
  Dims shape;  // of the result
  bool grad;
};

Cumulation make_ready(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype,
                      bool include_initial) {
  TSR_CHECK(axis.has_value() || input.ndim() <= 1, Code::kValue, "axis",
            "expected an axis for an input of shape ", input.sizes());
  TSR_CHECK(!include_initial || input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension for an initial element, got a 0-dim tensor");
  const DType compute = dtype.value_or(total_dtype(input.dtype()));
  const bool differentiable = is_differentiable(compute);
  Cumulation ready;
  ready.axis = wrap_axis(axis.value_or(0), input.ndim());
  ready.source = differentiable ? astype(input, compute) : cast_memory(input, compute);
  ready.shape = ready.source.sizes();
  if (include_initial) ++ready.shape[static_cast<size_t>(ready.axis)];
  ready.grad = differentiable && needs_grad(ready.source);
  return ready;
}

// All but RECORD.
Tensor run(ScanOp op, const Cumulation& ready, const Tensor& input, bool include_initial,
           const Out& out) {
  const Tensor& source = ready.source;
  Result result = allocate_apart(out, ready.shape, source.dtype(), source.device(), ready.grad,
                                 {&input, &source});
  if (include_initial) fill_memory(result.value(), op == ScanOp::kSum ? 0 : 1);
  launch_scan(op, include_initial ? behind_first(result.value(), ready.axis) : result.value(),
              source, ready.axis);
  return result.finish();
}

// dL/dx_i = Σ_{j >= i} g_j Π_{k <= j, k != i} x_k with the product over all but one element formed
// for each pair (i, j): quadratic in the length, but it can be differentiated at zeros. The axis is
// counted from the end, here and in the next functions, because g may have samples in front.
Tensor product_gradient_of_pairs(const Tensor& g, const Tensor& x, int64_t axis) {
  const int64_t count = x.size(x.ndim() + axis);
  const Tensor lines = moveaxis(x, Dims{axis}, Dims{-1});
  const Tensor slopes = moveaxis(g, Dims{axis}, Dims{-1});
  Tensor diagonal = zeros_like_shape(Dims{count, count}, DType::kBool, x.device());
  fill_memory(make_view(diagonal, Dims{count}, Dims{count + 1}, 0), true);
  const Tensor others = where(diagonal, 1, expand_dims(lines, -2));
  const Tensor products = triu(cumulative_prod(others, -1));
  const Tensor terms = multiply(expand_dims(slopes, -2), conj_of(products));
  return moveaxis(sum(terms, Dims{-1}), Dims{-1}, Dims{axis});
}

// Linear in the length. Before the first zero of a line the product without x_i is y / x_i, at it
// the product of the line in which it counts as 1, behind it the slope is 0.
Tensor product_gradient_with_zeros(const Tensor& g, const Tensor& x, const Tensor& y,
                                   int64_t axis) {
  const Tensor zero = equal(x, 0);
  const Tensor seen = cumulative_sum(zero, axis);
  const Tensor first = logical_and(zero, equal(seen, 1));
  const Tensor without_it = cumulative_prod(where(first, 1, x), axis);
  const int64_t along = g.ndim() + axis;
  const Tensor at_first = running_sum(multiply(g, conj_of(without_it)), along, true);
  const Tensor before =
      divide(running_sum(multiply(g, conj_of(y)), along, true), conj_of(where(zero, 1, x)));
  return where(first, at_first, where(equal(seen, 0), before, 0));
}

Tensor product_gradient(const Tensor& grad, const Tensor& input, const Tensor& output, int64_t axis,
                        bool create_graph) {
  const Tensor g = in_opmath(grad);
  const Tensor x = in_opmath(input);
  const Tensor y = in_opmath(output);
  if (!read<bool>(any(equal(x.detached(), 0))))
    return divide(running_sum(multiply(g, conj_of(y)), g.ndim() + axis, true), conj_of(x));
  return create_graph ? product_gradient_of_pairs(g, x, axis)
                      : product_gradient_with_zeros(g, x, y, axis);
}

// Each gradient goes back to the place of its extremum.
std::tuple<Tensor, Tensor> cumulative_extremum(ScanOp op, const Tensor& input, int64_t axis,
                                               const Out& values, const Out& indices) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  check_apart(values, "values", indices, "indices");
  const int64_t along = wrap_axis(axis, input.ndim());
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  Result result =
      allocate_apart(values, input.sizes(), input.dtype(), input.device(), grad, {&input});
  Result places =
      allocate_apart(indices, input.sizes(), DType::kInt64, input.device(), false, {&input});
  launch_scan(op, result.value(), input, along, places.value());
  // The caller may change the tensor that it gave for the positions.
  const Tensor saved = indices.is_fresh() || !grad ? places.value() : clone(places.value());
  Tensor output = result.finish();
  Tensor positions = places.finish();
  if (grad) {
    record(output, op == ScanOp::kMax ? "CummaxBackward" : "CumminBackward", {input},
           {save_input(saved)},
           scan_derivative(along, input.ndim(), [](const Backward& ctx, int64_t of_gradient) {
             const Tensor& g = ctx.grad();
             return scatter_add(zeros_like_shape(g.sizes(), g.dtype(), g.device()), of_gradient,
                                for_samples(ctx, ctx.saved(0)), g);
           }));
  }
  return {std::move(output), std::move(positions)};
}

Tensor log_scan(const Tensor& source, int64_t axis, bool reverse);

// dL/dx_i = Σ_{j >= i} g_j exp(x_i - y_j), by logarithms so that nothing overflows: the positive
// and the negative g apart; the axis is that of g. The third part is 0 and there for its derivative
// with respect to g.
Tensor log_scan_gradient(const Tensor& grad, const Tensor& input, const Tensor& output,
                         int64_t axis, bool reverse, bool create_graph) {
  const Tensor g = in_opmath(grad);
  const Tensor x = in_opmath(input);
  // A y that was rounded to 16 bits would be off by more than the result allows.
  const Tensor y =
      x.dtype() == input.dtype() ? output : log_scan(x, axis - (g.ndim() - x.ndim()), reverse);
  const Tensor finite = where(equal(y, -INFINITY), 0, y);
  const auto part = [&](const Tensor& chosen, const Tensor& size) {
    const Tensor logarithm = where(chosen, log(where(chosen, size, 1)), -INFINITY);
    return exp(add(log_scan(subtract(logarithm, finite), axis, !reverse), x));
  };
  const Tensor slope = subtract(part(greater(g, 0), g), part(less(g, 0), negative(g)));
  if (!create_graph) return slope;
  const Tensor zero = equal(g, 0);
  const Tensor extra = part(zero, add(g, 1));
  const Tensor constant = part(zero, ones_like(g));
  return add(slope, subtract(extra, constant));
}

Tensor record_log_scan(const Tensor& output, const Tensor& source, int64_t axis, bool reverse) {
  record(output, "LogCumsumExpBackward", {source}, {save_input(source), save_output(output)},
         scan_derivative(axis, source.ndim(),
                         [reverse](const Backward& ctx, int64_t along) {
                           return log_scan_gradient(ctx.grad(), ctx.saved(0), ctx.saved(1), along,
                                                    reverse, ctx.create_graph());
                         }),
         // The tangent Σ_{i <= j} t_i exp(x_i - y_j) is the gradient with the parts of x and y
         // exchanged, along the scan instead of against it.
         [&](Forward& ctx) {
           const Tensor& t = ctx.tangent();
           if (source.ndim() == 0) return ctx.set(0, t);
           const Tensor finite = where(equal(output, -INFINITY), 0, output);
           ctx.set(0, log_scan_gradient(t, negative(finite), negative(source), axis, !reverse,
                                        needs_grad(t, source)));
         });
  return output;
}

Tensor log_scan(const Tensor& source, int64_t axis, bool reverse) {
  Tensor output = empty(source.sizes(), source.dtype(), source.device());
  reverse ? launch_reverse_scan(ScanOp::kLogSumExp, output, source, axis)
          : launch_scan(ScanOp::kLogSumExp, output, source, axis);
  return needs_grad(source) ? record_log_scan(output, source, axis, reverse) : output;
}

// logcumsumexp of complex numbers: each pass doubles the number of elements that a place has.
Tensor log_scan_of_complex(const Tensor& input, int64_t axis) {
  Tensor sums = input;
  const int64_t count = input.ndim() == 0 ? 1 : input.size(axis);
  for (int64_t step = 1; step < count; step *= 2) {
    const Tensor before = narrow(sums, axis, 0, count - step);
    const Tensor more = logaddexp(narrow(sums, axis, step, count - step), before);
    const std::array<Tensor, 2> parts{narrow(sums, axis, 0, step), more};
    sums = ops::concat(std::span<const Tensor>(parts), axis);
  }
  return sums.is_same(input) ? clone(input) : sums;
}

}  // namespace

Tensor cumulative_sum(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype,
                      bool include_initial, Out out) {
  const Cumulation ready = make_ready(input, axis, dtype, include_initial);
  Tensor output = run(ScanOp::kSum, ready, input, include_initial, out);
  if (ready.grad) {
    record(output, "CumulativeSumBackward", {ready.source}, {},
           scan_derivative(ready.axis, input.ndim(),
                           [include_initial](const Backward& ctx, int64_t along) {
                             const Tensor& g = ctx.grad();
                             return running_sum(include_initial ? without_first(g, along) : g,
                                                along, true);
                           }),
           [&](Forward& ctx) {
             ctx.set(0, cumulative_sum(ctx.tangent(), ready.axis, output.dtype(), include_initial));
           });
  }
  return output;
}

Tensor cumulative_prod(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype,
                       bool include_initial, Out out) {
  const Cumulation ready = make_ready(input, axis, dtype, include_initial);
  Tensor output = run(ScanOp::kProd, ready, input, include_initial, out);
  if (ready.grad) {
    record(output, "CumulativeProdBackward", {ready.source},
           {save_input(ready.source), save_output(output)},
           scan_derivative(
               ready.axis, input.ndim(), [include_initial](const Backward& ctx, int64_t along) {
                 const int64_t from_end = along - ctx.grad().ndim();
                 const auto part = [&](const Tensor& whole) {
                   return include_initial ? without_first(whole, whole.ndim() + from_end) : whole;
                 };
                 return product_gradient(part(ctx.grad()), ctx.saved(0), part(ctx.saved(1)),
                                         from_end, ctx.create_graph());
               }));
  }
  return output;
}

std::tuple<Tensor, Tensor> cummax(const Tensor& input, int64_t axis, Out values, Out indices) {
  return cumulative_extremum(ScanOp::kMax, input, axis, values, indices);
}

std::tuple<Tensor, Tensor> cummin(const Tensor& input, int64_t axis, Out values, Out indices) {
  return cumulative_extremum(ScanOp::kMin, input, axis, values, indices);
}

Tensor logcumsumexp(const Tensor& input, int64_t axis, Out out) {
  const int64_t along = wrap_axis(axis, input.ndim());
  if (is_complex(input.dtype())) return settle(log_scan_of_complex(input, along), out);
  const Tensor source =
      is_integral_or_bool(input.dtype()) ? cast_memory(input, default_dtype()) : input;
  const bool grad = needs_grad(source);
  Result result =
      allocate_apart(out, source.sizes(), source.dtype(), source.device(), grad, {&input, &source});
  launch_scan(ScanOp::kLogSumExp, result.value(), source, along);
  const Tensor output = result.finish();
  return grad ? record_log_scan(output, source, along, false) : output;
}

}  // namespace tsr::ops
