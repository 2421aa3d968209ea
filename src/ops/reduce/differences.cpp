// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/differences.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

int64_t check_axis(const Tensor& input, int64_t axis) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  return wrap_axis(axis, input.ndim());
}

// All positions of an axis but the last, and all but the first. An empty axis stays empty.
std::array<Tensor, 2> neighbours(const Tensor& input, int64_t axis) {
  const int64_t count = input.size(axis) == 0 ? 0 : input.size(axis) - 1;
  const int64_t first = input.size(axis) - count;
  return {narrow(input, axis, 0, count), narrow(input, axis, first, count)};
}

// What is joined to the input: one position where it is 0-dim.
Tensor joined_part(const Tensor& part, const Tensor& input, int64_t axis) {
  if (part.ndim() != 0) return part;
  Dims shape = input.sizes();
  shape[static_cast<size_t>(axis)] = 1;
  return broadcast_to(part, shape);
}

Tensor join(const Tensor& input, const Tensor& prepend, const Tensor& append, int64_t axis) {
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(joined_part(prepend, input, axis));
  parts.push_back(input);
  if (append.defined()) parts.push_back(joined_part(append, input, axis));
  return parts.size() == 1 ? input : ops::concat(parts, axis);
}

// y in the dtype in which areas are computed, and the widths of the trapezoids: undefined where
// they are all `dx`.
struct Points {
  Tensor y;
  Tensor widths;
  int64_t axis;
  DType result;
};

Points make_ready(const Tensor& input, const Tensor& x, int64_t axis) {
  Points points;
  points.axis = check_axis(input, axis);
  points.result = is_integral_or_bool(input.dtype()) ? default_dtype() : input.dtype();
  if (x.defined()) {
    check_same_device(input, x, "x");
    points.result = promote_types(points.result, x.dtype(), "x");
  }
  points.y = in_opmath(astype(input, points.result));
  if (!x.defined()) return points;
  Tensor places = in_opmath(astype(x, points.result));
  TSR_CHECK(x.ndim() > 0, Code::kShape, "x", "expected at least 1 dimension, got a 0-dim tensor");
  if (x.ndim() == 1) {
    Dims aligned(static_cast<size_t>(input.ndim()));
    std::fill(aligned.begin(), aligned.end(), 1);
    aligned[static_cast<size_t>(points.axis)] = x.size(0);
    places = reshape(places, aligned);
  }
  TSR_CHECK(places.ndim() == input.ndim() && places.size(points.axis) == input.size(points.axis),
            Code::kShape, "x", "expected as many positions as the input has on axis ", points.axis,
            ", got shapes ", x.sizes(), " and ", input.sizes());
  points.widths = diff(places, 1, points.axis, {}, {});
  return points;
}

// The area of each trapezoid.
Tensor areas_of(const Points& points, double dx) {
  const auto [left, right] = neighbours(points.y, points.axis);
  const Tensor heights = add(left, right);
  if (points.widths.defined()) return multiply(heights, multiply(points.widths, 0.5));
  return multiply(heights, dx / 2, needs_grad(heights) ? Out() : Out::inplace(heights));
}

}  // namespace

Tensor diff(const Tensor& input, int64_t n, int64_t axis, const Tensor& prepend,
            const Tensor& append, Out out) {
  TSR_CHECK(n >= 0, Code::kValue, "n", "expected a count that is not negative, got ", n);
  const int64_t along = check_axis(input, axis);
  const bool grad = needs_grad(input, prepend, append);
  Tensor result = n == 0 ? clone(input) : join(input, prepend, append, along);
  for (int64_t i = 0; i < n && (i == 0 || result.size(along) != 0); ++i) {
    const auto [left, right] = neighbours(result, along);
    result = result.dtype() == DType::kBool ? not_equal(right, left) : subtract(right, left);
  }
  return deliver(result, out, grad);
}

Tensor trapezoid(const Tensor& input, const Tensor& x, double dx, int64_t axis, Out out) {
  const Points points = make_ready(input, x, axis);
  const int64_t count = points.y.size(points.axis);
  if (!points.widths.defined() && count >= 2) {
    // Equal widths: every point counts once, but the first and the last half.
    const Tensor inner = sum(narrow(points.y, points.axis, 1, count - 2), Dims{points.axis});
    const Tensor ends =
        add(select(points.y, points.axis, 0), select(points.y, points.axis, count - 1));
    const Tensor area = multiply(add(inner, multiply(ends, 0.5)), dx);
    return deliver(astype(area, points.result), out, needs_grad(input, x));
  }
  const Tensor area = sum(areas_of(points, dx), Dims{points.axis});
  return deliver(astype(area, points.result), out, needs_grad(input, x));
}

Tensor cumulative_trapezoid(const Tensor& input, const Tensor& x, double dx, int64_t axis,
                            Out out) {
  const Points points = make_ready(input, x, axis);
  const Tensor areas = cumulative_sum(areas_of(points, dx), points.axis);
  return deliver(astype(areas, points.result), out, needs_grad(input, x));
}

}  // namespace tsr::ops
