// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/grid.h"

#include <algorithm>
#include <vector>

#include "autograd/engine.h"
#include "autograd/forward.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/weighted_gather.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/samples.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::GridPass;
using kernel::GridTapsPlan;
using Interpolation = kernel::GridInterpolation;
using Padding = kernel::GridPadding;

// The largest plane: places of several axes are added up in int32.
constexpr int64_t kMaxElements = int64_t{1} << 29;

Interpolation interpolation_of(std::string_view mode, int64_t axes) {
  if (mode == "bilinear") return Interpolation::kLinear;
  if (mode == "nearest") return Interpolation::kNearest;
  TSR_CHECK(mode == "bicubic", Code::kValue, "mode",
            "expected bilinear, nearest or bicubic, got \"", mode, "\"");
  TSR_CHECK(axes == 2, Code::kValue, "mode",
            "expected bilinear or nearest for 3 spatial axes, got ", "\"bicubic\"");
  return Interpolation::kCubic;
}

Padding padding_of(std::string_view mode) {
  if (mode == "zeros") return Padding::kZeros;
  if (mode == "border") return Padding::kBorder;
  TSR_CHECK(mode == "reflection", Code::kValue, "padding_mode",
            "expected zeros, border or reflection, got \"", mode, "\"");
  return Padding::kReflection;
}

void check_tensors(const Tensor& input, const Tensor& grid) {
  TSR_CHECK(input.ndim() == 4 || input.ndim() == 5, Code::kShape, "input",
            "expected (batch, channels, spatial...) with 2 or 3 spatial axes, got shape ",
            input.sizes());
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(grid.dtype() == input.dtype(), Code::kDType, "grid", "expected the input's ",
            input.dtype(), ", got ", grid.dtype());
  check_same_device(input, grid, "grid");
  const int64_t axes = input.ndim() - 2;
  TSR_CHECK(grid.ndim() == input.ndim() && grid.size(0) == input.size(0) &&
                grid.size(grid.ndim() - 1) == axes,
            Code::kShape, "grid", "expected (", input.size(0), ", ", axes, " spatial axes, ", axes,
            ") for an input of shape ", input.sizes(), ", got shape ", grid.sizes());
  int64_t elements = 1;
  for (int64_t d = 2; d < input.ndim(); ++d) {
    TSR_CHECK(input.size(d) >= 1 && input.size(d) <= kMaxElements / elements, Code::kShape, "input",
              "expected spatial sizes of at least 1 and at most ", kMaxElements,
              " elements in a plane, got shape ", input.sizes());
    elements *= input.size(d);
  }
}

// One axis of the image, whose positions are elements.
struct GridAxis {
  int64_t size;
  bool align_corners;
  Padding padding;

  [[nodiscard]] double last() const { return static_cast<double>(size - 1); }
};

// ---- positions, of ordinary ops ----

// From [-1, 1] to elements.
Tensor to_elements(const Tensor& x, const GridAxis& axis) {
  const Tensor up = add(x, 1);
  if (axis.align_corners) return multiply(up, axis.last() / 2);
  return multiply(subtract(multiply(up, static_cast<double>(axis.size)), 1), 0.5);
}

// Limited to the elements; without a gradient outside of them and at the first and the last, as in
// PyTorch.
Tensor at_border(const Tensor& x, const GridAxis& axis) {
  const double last = kernel::last_place(axis.size, x.dtype());
  const Tensor inside = logical_and(greater(x, 0), less(x, last));
  return where(inside, x, clip(x.detached(), 0, last));
}

// Mirrored at the edges, or with align_corners at the centres, of the first and the last element,
// as often as needed.
Tensor reflected(const Tensor& x, const GridAxis& axis) {
  const double low = axis.align_corners ? 0 : -0.5;
  const double span = axis.align_corners ? axis.last() : static_cast<double>(axis.size);
  if (span == 0) return multiply(x, 0);
  const Tensor distance = abs(subtract(x, low));
  const Tensor rest = fmod(distance, span);
  const Tensor turns = floor(divide(distance.detached(), span));
  const Tensor backwards = not_equal(fmod(turns, 2), 0);
  return where(backwards, subtract(span + low, rest), add(rest, low));
}

Tensor padded(const Tensor& x, const GridAxis& axis) {
  if (axis.padding == Padding::kZeros) return x;
  return at_border(axis.padding == Padding::kReflection ? reflected(x, axis) : x, axis);
}

// ---- taps, of ordinary ops ----

// Of one axis, (batch, taps, points): the elements that each point reads, as whole numbers in the
// dtype of the weights, and their shares.
struct Taps {
  Tensor places, weights;
};

// Keys's cubic convolution with slope -0.75 (see resample_windows.cpp), of the distances 1 + t, t,
// 1 - t and 2 - t.
Tensor cubic_weights(const Tensor& t) {
  constexpr double kSlope = -0.75;
  const auto near = [](const Tensor& x) {
    const Tensor inner = subtract(multiply(x, kSlope + 2), kSlope + 3);
    return add(multiply(multiply(inner, x), x), 1);
  };
  const auto far = [](const Tensor& x) {
    const Tensor inner = add(multiply(subtract(x, 5), x), 8);
    return subtract(multiply(multiply(inner, x), kSlope), 4 * kSlope);
  };
  const Tensor rest = subtract(1, t);
  const Tensor parts[] = {far(add(t, 1)), near(t), near(rest), far(add(rest, 1))};
  return ops::concat(parts, 1);
}

Taps taps_of(const Tensor& position, const GridAxis& axis, Interpolation interpolation) {
  const Tensor x = to_elements(position, axis);
  if (interpolation == Interpolation::kCubic) {
    const Tensor first = floor(x.detached());
    const Tensor places[] = {subtract(first, 1), first, add(first, 1), add(first, 2)};
    return {padded(ops::concat(places, 1), axis), cubic_weights(subtract(x, first))};
  }
  const Tensor inside = padded(x, axis);
  if (interpolation == Interpolation::kNearest) {
    const Tensor place = round(inside.detached());
    return {place, ones_like(place)};
  }
  const Tensor first = floor(inside.detached());
  const Tensor share = subtract(inside, first);
  const Tensor places[] = {first, add(first, 1)};
  const Tensor weights[] = {subtract(1, share), share};
  return {ops::concat(places, 1), ops::concat(weights, 1)};
}

// (batch, taps, points) with the taps at axis `place` of `count` axes of taps.
Tensor spread(const Tensor& taps, size_t place, size_t count) {
  Dims sizes{taps.size(0)};
  for (size_t d = 0; d < count; ++d) sizes.push_back(d == place ? taps.size(1) : 1);
  sizes.push_back(taps.size(2));
  return reshape(taps, sizes);
}

// The offset of each tap in the plane as int32, and -elements where it lies outside, so that the
// sum over the axes is negative if one of them is outside.
Tensor offsets(const Tensor& places, int64_t size, int64_t step, int64_t elements) {
  const Tensor nearest = clip(places, 0, kernel::last_place(size, places.dtype()));
  const Tensor inside = equal(places, nearest);  // not where it is NaN
  const Tensor element = astype(nearest, DType::kInt32);
  return where(inside, step == 1 ? element : multiply(element, step), -elements);
}

// The taps of all axes together, (batch, taps, points).
struct Table {
  Tensor index, weights;
};

// A call besides its tensors; nodes store it by value.
struct Sampling {
  Dims image;  // the sizes of its spatial axes
  Interpolation interpolation;
  Padding padding;
  bool align_corners;

  [[nodiscard]] int64_t axes() const { return static_cast<int64_t>(image.size()); }
  [[nodiscard]] int64_t elements() const { return numel_of(image); }
};

// `positions` is (batch, points, axes).
Table composed_table(const Sampling& call, const Tensor& positions) {
  const size_t axes = call.image.size();
  Table made;
  int64_t step = 1;
  int64_t taps = 1;
  for (size_t d = axes; d-- > 0;) {
    const GridAxis axis{call.image[d], call.align_corners, call.padding};
    // The last spatial axis is the first coordinate.
    const Tensor coordinate = select(positions, 2, static_cast<int64_t>(axes - 1 - d));
    const Taps found = taps_of(expand_dims(coordinate, 1), axis, call.interpolation);
    const Tensor shares = spread(found.weights, d, axes);
    const Tensor places = offsets(found.places.detached(), axis.size, step, call.elements());
    made.weights = made.weights.defined() ? multiply(made.weights, shares) : shares;
    made.index =
        made.index.defined() ? add(made.index, spread(places, d, axes)) : spread(places, d, axes);
    taps *= places.size(1);
    step *= axis.size;
  }
  const Dims shape{positions.size(0), taps, positions.size(1)};
  return {reshape(maximum(made.index, -1), shape), reshape(made.weights, shape)};
}

// ---- taps, of one kernel ----

GridTapsPlan plan_of(const Sampling& call, const Tensor& positions) {
  GridTapsPlan plan{};
  plan.interpolation = call.interpolation;
  plan.padding = call.padding;
  plan.align_corners = call.align_corners ? 1 : 0;
  plan.axes = static_cast<int32_t>(call.axes());
  plan.batch = positions.size(0);
  plan.points = positions.size(1);
  std::copy(call.image.begin(), call.image.end(), plan.sizes);
  plan.place = kernel::place_on(positions.device());
  plan.dtype = positions.dtype();
  plan.positions = positions.data();
  return plan;
}

// The gradient of the positions from that of the weights.
Tensor pull_positions(const Sampling& call, const Tensor& given, const Tensor& g) {
  const Tensor positions = contiguous_memory(given.detached());
  const Tensor weight_grad = contiguous_memory(g.detached());
  const Tensor result = empty(positions.sizes(), positions.dtype(), positions.device());
  GridTapsPlan plan = plan_of(call, positions);
  plan.pass = GridPass::kBackward;
  plan.weight = weight_grad.data();
  plan.position_grad = result.data();
  kernel::launch(kernel::kGridTaps, positions.device(), plan);
  return result;
}

// The same with a graph of its own.
Tensor differentiable_pull(const Sampling& call, const Tensor& given, const Tensor& g) {
  const bool recorded = grad_enabled();
  const EnableGrad record_all;
  const Tensor positions = multiply(given, 1);  // cuts the history
  if (!requires_grad(positions)) set_requires_grad(positions, true);
  const Tensor roots[] = {composed_table(call, positions).weights};
  const Tensor wanted[] = {positions};
  const Tensor grads[] = {g};
  const Tensor found = grad(roots, wanted, grads, {.create_graph = true}).front();
  // Without grad mode only the tangents of the gradient are wanted.
  return recorded ? found : ops::detach(found);
}

Table table_of(const Sampling& call, const Tensor& positions) {
  const bool pulls = call.interpolation != Interpolation::kNearest && needs_grad(positions);
  if (!positions.device().is_cpu() || (pulls && forward_enabled()))
    return composed_table(call, positions);
  int64_t taps = 1;
  for (int64_t d = 0; d < call.axes(); ++d) taps *= kernel::taps_of_axis(call.interpolation);
  const Tensor dense = contiguous_memory(positions.detached());
  const Dims shape{dense.size(0), taps, dense.size(1)};
  const Table made{empty(shape, DType::kInt32, dense.device()),
                   empty(shape, dense.dtype(), dense.device())};
  if (made.weights.numel() != 0) {
    GridTapsPlan plan = plan_of(call, dense);
    plan.index = made.index.data_as<int32_t>();
    plan.weight = made.weights.data();
    kernel::launch(kernel::kGridTaps, dense.device(), plan);
  }
  if (pulls) {
    record(made.weights, "GridTapsBackward", {positions}, {save_input(positions)},
           TakesBatches{[call](Backward& ctx) {
             const Tensor given = join_samples(ctx, for_samples(ctx, ctx.saved(0)));
             const Tensor g = join_samples(ctx, ctx.grad());
             const bool fuses = !ctx.create_graph() && g.numel() != 0;
             const Tensor found =
                 fuses ? pull_positions(call, given, g) : differentiable_pull(call, given, g);
             ctx.set(0, split_samples(ctx, found));
           }});
  }
  return made;
}

// ---- grids ----

// The positions of an image's elements, with a 1 behind each: (1, elements, axes + 1).
Tensor base_grid(DimsView shape, bool align_corners, DType dtype, Device device) {
  std::vector<Tensor> columns;
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t count = shape[d];
    const double outermost = static_cast<double>(count - 1) / static_cast<double>(count);
    const double edge = align_corners && count > 1 ? 1 : outermost;
    Dims line(shape.size(), 1);
    line[d] = count;
    columns.push_back(
        broadcast_to(reshape(linspace(-edge, edge, count, dtype, true, device), line), shape));
  }
  columns.push_back(ones(shape, dtype, device));
  const auto width = static_cast<int64_t>(columns.size());
  return reshape(stack(columns, -1), Dims{1, -1, width});
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners) {
  check_tensors(input, grid);
  const DimsView image = DimsView(input.sizes()).subspan(2);
  const Sampling call{Dims(image), interpolation_of(mode, input.ndim() - 2),
                      padding_of(padding_mode), align_corners};
  Dims sizes{input.size(0), input.size(1)};
  for (int64_t d = 2; d < input.ndim(); ++d) sizes.push_back(grid.size(d - 1));
  const int64_t points = numel_of(DimsView(sizes).subspan(2));
  const Tensor positions = reshape(in_opmath(grid), Dims{input.size(0), points, call.axes()});
  const Table table = table_of(call, positions);
  const Tensor flat =
      reshape(in_opmath(input), Dims{input.size(0), input.size(1), call.elements()});
  return astype(reshape(weighted_gather(flat, table.weights, table.index), sizes), input.dtype());
}

Tensor affine_grid(const Tensor& theta, DimsView size, bool align_corners) {
  TSR_CHECK(is_floating(theta.dtype()), Code::kDType, "theta", "expected a floating dtype, got ",
            theta.dtype());
  TSR_CHECK(size.size() == 4 || size.size() == 5, Code::kValue, "size",
            "expected (batch, channels, spatial...) with 2 or 3 spatial axes, got ", size);
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  TSR_CHECK(theta.ndim() == 3 && theta.size(0) == size[0] && theta.size(1) == axes &&
                theta.size(2) == axes + 1,
            Code::kShape, "theta", "expected shape (", size[0], ", ", axes, ", ", axes + 1,
            ") for a size of ", size, ", got shape ", theta.sizes());
  const DimsView shape = size.subspan(2);
  TSR_CHECK(std::all_of(shape.begin(), shape.end(), [](int64_t count) { return count >= 1; }),
            Code::kValue, "size", "expected spatial sizes of at least 1, got ", size);
  const Tensor maps = in_opmath(theta);
  const Tensor base = base_grid(shape, align_corners, maps.dtype(), maps.device());
  Dims sizes{size[0]};
  for (const int64_t count : shape) sizes.push_back(count);
  sizes.push_back(axes);
  return astype(reshape(matmul(base, matrix_transpose(maps)), sizes), theta.dtype());
}

}  // namespace tsr::ops
