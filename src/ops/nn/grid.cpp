// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/weighted_gather.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// The largest plane: places of several axes are added up in int32.
constexpr int64_t kMaxElements = int64_t{1} << 29;

enum class Interpolation { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

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

// The last element of an axis that the dtype has: float32 would round the last of more than 2^24
// up, to one that does not exist.
double last_place(int64_t size, DType dtype) {
  const auto last = static_cast<double>(size - 1);
  if (dtype != DType::kFloat32) return last;
  const auto rounded = static_cast<float>(last);
  return rounded <= last ? rounded : std::nextafter(rounded, 0.0F);
}

// ---- positions ----

// From [-1, 1] to elements.
Tensor to_elements(const Tensor& x, const GridAxis& axis) {
  const Tensor up = add(x, 1);
  if (axis.align_corners) return multiply(up, axis.last() / 2);
  return multiply(subtract(multiply(up, static_cast<double>(axis.size)), 1), 0.5);
}

// Limited to the elements; without a gradient outside of them and at the first and the last, as in
// PyTorch.
Tensor at_border(const Tensor& x, const GridAxis& axis) {
  const double last = last_place(axis.size, x.dtype());
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

// ---- taps ----

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
  const Tensor nearest = clip(places, 0, last_place(size, places.dtype()));
  const Tensor inside = equal(places, nearest);  // not where it is NaN
  const Tensor element = astype(nearest, DType::kInt32);
  return where(inside, step == 1 ? element : multiply(element, step), -elements);
}

// The taps of all axes together, (batch, taps, points).
struct Table {
  Tensor index, weights;
};

// `positions` is (batch, points, axes) and sizes are those of the input.
Table table_of(const Tensor& positions, DimsView sizes, Interpolation interpolation,
               Padding padding, bool align_corners, int64_t elements) {
  const size_t axes = sizes.size() - 2;
  Table made;
  int64_t step = 1;
  int64_t taps = 1;
  for (size_t d = axes; d-- > 0;) {
    const GridAxis axis{sizes[d + 2], align_corners, padding};
    // The last spatial axis is the first coordinate.
    const Tensor coordinate = select(positions, 2, static_cast<int64_t>(axes - 1 - d));
    const Taps found = taps_of(expand_dims(coordinate, 1), axis, interpolation);
    const Tensor shares = spread(found.weights, d, axes);
    const Tensor places = offsets(found.places.detached(), axis.size, step, elements);
    made.weights = made.weights.defined() ? multiply(made.weights, shares) : shares;
    made.index =
        made.index.defined() ? add(made.index, spread(places, d, axes)) : spread(places, d, axes);
    taps *= places.size(1);
    step *= axis.size;
  }
  const Dims shape{positions.size(0), taps, positions.size(1)};
  return {reshape(maximum(made.index, -1), shape), reshape(made.weights, shape)};
}

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
  const Interpolation interpolation = interpolation_of(mode, input.ndim() - 2);
  const Padding padding = padding_of(padding_mode);
  Dims sizes{input.size(0), input.size(1)};
  int64_t elements = 1;
  int64_t points = 1;
  for (int64_t d = 2; d < input.ndim(); ++d) {
    elements *= input.size(d);
    points *= grid.size(d - 1);
    sizes.push_back(grid.size(d - 1));
  }
  const Tensor positions = reshape(in_opmath(grid), Dims{input.size(0), points, input.ndim() - 2});
  const Table table =
      table_of(positions, input.sizes(), interpolation, padding, align_corners, elements);
  const Tensor flat = reshape(in_opmath(input), Dims{input.size(0), input.size(1), elements});
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
