// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/quantile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/sort.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

void check_real(const Tensor& input) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
}

// An axis of an input with at least one dim: a 0-dim one is shown as 1-D.
struct Lines {
  Tensor input;
  int64_t axis;
  int64_t count;  // elements of a line, at least one
  bool scalar;    // the input was 0-dim
};

Lines lines_of(const Tensor& input, int64_t axis) {
  check_real(input);
  Lines lines;
  lines.scalar = input.ndim() == 0;
  lines.axis = wrap_axis(axis, input.ndim());
  lines.input = lines.scalar ? reshape(input, Dims{1}) : input;
  lines.count = lines.input.size(lines.axis);
  TSR_CHECK(lines.count > 0, Code::kValue, "input", "expected elements along axis ", lines.axis,
            ", got shape ", input.sizes());
  return lines;
}

using Pair = std::tuple<Tensor, Tensor>;

// A pair whose axis has size 1, as the caller wants it.
Pair deliver_pair(const Lines& lines, const Tensor& input, const Pair& found, bool keepdims,
                  const Out& values, const Out& indices) {
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const auto shaped = [&](const Tensor& kept) {
    return keepdims && !lines.scalar ? kept : squeeze(kept, Dims{lines.axis});
  };
  return {deliver(shaped(std::get<0>(found)), values, grad),
          deliver(shaped(std::get<1>(found)), indices, false)};
}

Dims shape_of_one(const Lines& lines) {
  Dims shape = lines.input.sizes();
  shape[static_cast<size_t>(lines.axis)] = 1;
  return shape;
}

// How many elements of each line are not NaN, as int64.
Tensor count_numbers(const Tensor& input, int64_t axis) {
  const Tensor x = input.detached();
  return count_nonzero(equal(x, x), Dims{axis}, true);
}

// The rank of the median of each line.
Tensor median_ranks(const Lines& lines, bool skip_nan) {
  if (!is_floating(lines.input.dtype()))
    return full(shape_of_one(lines), (lines.count - 1) / 2, DType::kInt64, lines.input.device());
  const Tensor numbers = count_numbers(lines.input, lines.axis);
  if (skip_nan) return maximum(floor_divide(subtract(numbers, 1), 2), 0);
  // NaN comes behind the numbers, the first one at the rank that is their count.
  return where(equal(numbers, lines.count), (lines.count - 1) / 2, numbers);
}

Pair median_pair(const Tensor& input, int64_t axis, bool keepdims, bool skip_nan, const Out& values,
                 const Out& indices) {
  check_apart(values, "values", indices, "indices");
  const Lines lines = lines_of(input, axis);
  const Pair found = at_ranks(lines.input, lines.axis, median_ranks(lines, skip_nan));
  return deliver_pair(lines, input, found, keepdims, values, indices);
}

Tensor median_of_all(const Tensor& input, bool keepdims, bool skip_nan, const Out& out) {
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const Lines lines = lines_of(reshape(input.detached(), Dims{-1}), 0);
  const Tensor one = std::get<0>(at_ranks(lines.input, 0, median_ranks(lines, skip_nan)));
  Dims shape(keepdims ? static_cast<size_t>(input.ndim()) : 0);
  std::fill(shape.begin(), shape.end(), 1);
  Tensor output = deliver(reshape(one, shape), out, grad);
  if (grad) {
    record(output, "MedianBackward", {input}, {save_input(input), save_output(output)},
           TakesBatches{[](Backward& ctx) {
             const Tensor x = ctx.saved(0).detached();
             const Tensor y = reshape(ctx.saved(1).detached(), {});
             const Tensor equals = logical_or(equal(x, y), logical_and(isnan(x), isnan(y)));
             const Tensor share = astype(equals, kernel::opmath(x.dtype()));
             Dims ones_shape(static_cast<size_t>(x.ndim()));
             std::fill(ones_shape.begin(), ones_shape.end(), 1);
             const Tensor g = reshape(ctx.grad(), ctx.batched(ones_shape));
             ctx.set(0, multiply(g, divide(share, sum(share))));
           }});
  }
  return output;
}

Tensor median_either(const Tensor& input, std::optional<int64_t> axis, bool keepdims, bool skip_nan,
                     const Out& out) {
  if (!axis.has_value()) return median_of_all(input, keepdims, skip_nan, out);
  return std::get<0>(median_pair(input, *axis, keepdims, skip_nan, out, {}));
}

// ---- modes ----

// The position of the last of the most frequent elements of each line, of shape (lines..., 1). Of
// the sorted lines, in host memory, `changes` (bool) says whether an element differs from the one
// before, and `positions` where it comes from. A walk over the lines: of the few elements that most
// have, each kernel would take longer.
Tensor ends_of_runs(const Tensor& changes, const Tensor& positions) {
  kernel::note_host_decision("the runs of equal elements");
  Dims shape = positions.sizes();
  const int64_t count = std::exchange(shape.back(), 1);
  const Tensor ends = empty(shape, DType::kInt64, Device{});
  const auto* const differs = static_cast<const uint8_t*>(changes.data());
  const auto* const from = positions.data_as<int64_t>();
  auto* const to = ends.data_as<int64_t>();
  constexpr int64_t kGrain = 16384;
  const int64_t grain = std::max<int64_t>(1, kGrain / count);
  parallel_for(ends.numel(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t start = 0;
      int64_t longest = 0;
      int64_t found = 0;
      for (int64_t i = 1; i < count; ++i) {
        start = differs[line * (count - 1) + i - 1] != 0 ? i : start;
        found = i - start > longest ? i : found;
        longest = std::max(longest, i - start);
      }
      to[line] = from[line * count + found];
    }
  });
  return ends;
}

// ---- quantiles ----

// Which ranks a quantile reads, and how it joins what stands there.
enum class Interpolation : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

Interpolation interpolation_of(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"linear", "lower", "higher", "midpoint",
                                                   "nearest"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<Interpolation>(i);
  }
  fail(Code::kValue, "interpolation", __FILE__, __LINE__,
       "expected linear, lower, higher, midpoint or nearest, got \"", name, "\"");
}

void check_quantile(const Tensor& input, const Tensor& q) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input",
            "expected a real floating dtype, got ", input.dtype());
  check_same_device(input, q, "q");
  TSR_CHECK(is_floating(q.dtype()), Code::kDType, "q", "expected a real floating dtype, got ",
            q.dtype());
  TSR_CHECK(q.ndim() <= 1, Code::kShape, "q", "expected at most 1 dimension, got shape ",
            q.sizes());
  const Tensor plain = q.detached();
  const Tensor inside = logical_and(greater_equal(plain, 0), less_equal(plain, 1));
  TSR_CHECK(read<bool>(all(inside)), Code::kValue, "q", "expected numbers in [0, 1]");
}

// The input with its axis last; everything in one line when there is no axis.
Tensor lines_last(const Tensor& input, std::optional<int64_t> axis) {
  const Tensor lines = axis.has_value() && input.ndim() > 0 ? moveaxis(input, Dims{*axis}, Dims{-1})
                                                            : reshape(input, Dims{-1});
  TSR_CHECK(lines.sizes().back() > 0, Code::kValue, "input",
            "expected elements to take quantiles of, got shape ", input.sizes());
  return lines;
}

// The ranks between the elements, as float64: of shape (lines..., q).
Tensor real_ranks(const Tensor& lines, const Tensor& q, bool skip_nan) {
  const int64_t count = lines.sizes().back();
  Dims shape = lines.sizes();
  shape.back() = q.numel();
  const Tensor parts = reshape(astype(q, DType::kFloat64), Dims{-1});
  const Tensor numbers = count_numbers(lines, -1);
  if (skip_nan) return broadcast_to(multiply(parts, maximum(subtract(numbers, 1), 0)), shape);
  // The last element of a line with a NaN is NaN.
  const Tensor wanted = where(equal(numbers, count), multiply(parts, count - 1), count - 1);
  return broadcast_to(wanted, shape);
}

// The quantiles of shape (lines..., q). Ranks are limited, because another thread may have written
// q since it was checked.
Tensor interpolate(const Tensor& lines, const Tensor& ranks, Interpolation kind) {
  const auto elements_at = [&](const Tensor& places) {
    const Tensor whole = astype(places.detached(), DType::kInt64);
    return in_opmath(
        std::get<0>(at_ranks(lines, -1, clip(whole, Scalar(0), Scalar(lines.sizes().back() - 1)))));
  };
  if (kind == Interpolation::kLower) return elements_at(floor(ranks));
  if (kind == Interpolation::kHigher) return elements_at(ceil(ranks));
  if (kind == Interpolation::kNearest) return elements_at(round(ranks));
  const Tensor low = floor(ranks);
  const std::array<Tensor, 2> both{low, ceil(ranks)};
  const Tensor elements = elements_at(ops::concat(both, -1));
  const int64_t count = ranks.sizes().back();
  const Tensor below = narrow(elements, -1, 0, count);
  const Tensor above = narrow(elements, -1, count, count);
  const Tensor weight = kind == Interpolation::kLinear
                            ? astype(subtract(ranks, low), elements.dtype())
                            : full_like(below, 0.5);
  // Between equal infinities there is no distance.
  const Tensor same = logical_and(isinf(below), equal(below, above));
  return add(below, multiply(weight, where(same, 0, subtract(above, below))));
}

Tensor quantile_of(const Tensor& input, const Tensor& q, std::optional<int64_t> axis, bool keepdims,
                   std::string_view interpolation, bool skip_nan, const Out& out) {
  const Interpolation kind = interpolation_of(interpolation);
  check_quantile(input, q);
  if (axis.has_value()) axis = wrap_axis(*axis, input.ndim());
  const Tensor lines = lines_last(input, axis);
  const Tensor found = interpolate(lines, real_ranks(lines, q, skip_nan), kind);
  Tensor result = astype(moveaxis(found, Dims{-1}, Dims{0}), input.dtype());
  Dims shape;
  if (q.ndim() == 1) shape.push_back(q.numel());
  for (int64_t d = 0; d < input.ndim(); ++d) {
    const bool reduced = !axis.has_value() || d == *axis;
    if (!reduced || keepdims) shape.push_back(reduced ? 1 : input.size(d));
  }
  return deliver(reshape(result, shape), out, needs_grad(input, q));
}

Tensor tensor_of(const Scalar& q, const Tensor& input) {
  return full({}, q, DType::kFloat64, input.device());
}

}  // namespace

std::tuple<Tensor, Tensor> kthvalue(const Tensor& input, int64_t k, int64_t axis, bool keepdims,
                                    Out values, Out indices) {
  check_apart(values, "values", indices, "indices");
  const Lines lines = lines_of(input, axis);
  TSR_CHECK(k >= 1 && k <= lines.count, Code::kValue, "k", "expected a rank in [1, ", lines.count,
            "], got ", k);
  const Tensor ranks = full(shape_of_one(lines), k - 1, DType::kInt64, input.device());
  return deliver_pair(lines, input, at_ranks(lines.input, lines.axis, ranks), keepdims, values,
                      indices);
}

std::tuple<Tensor, Tensor> median_with_indices(const Tensor& input, int64_t axis, bool keepdims,
                                               Out values, Out indices) {
  return median_pair(input, axis, keepdims, false, values, indices);
}

std::tuple<Tensor, Tensor> nanmedian_with_indices(const Tensor& input, int64_t axis, bool keepdims,
                                                  Out values, Out indices) {
  return median_pair(input, axis, keepdims, true, values, indices);
}

Tensor median(const Tensor& input, std::optional<int64_t> axis, bool keepdims, Out out) {
  return median_either(input, axis, keepdims, false, out);
}

Tensor nanmedian(const Tensor& input, std::optional<int64_t> axis, bool keepdims, Out out) {
  return median_either(input, axis, keepdims, true, out);
}

std::tuple<Tensor, Tensor> mode(const Tensor& input, int64_t axis, bool keepdims, Out values,
                                Out indices) {
  check_apart(values, "values", indices, "indices");
  const Lines lines = lines_of(input, axis);
  if (input.device().is_cpu()) {
    const Tensor last = transpose(lines.input.detached(), lines.axis, -1);
    const auto [sorted, positions] = sort_with_indices(last, -1);
    const Tensor changes =
        not_equal(narrow(sorted, -1, 1, lines.count - 1), narrow(sorted, -1, 0, lines.count - 1));
    const Tensor ends = ends_of_runs(contiguous_memory(changes), contiguous_memory(positions));
    const Tensor found = contiguous_memory(transpose(ends, lines.axis, -1));
    return deliver_pair(lines, input, {gather(lines.input, lines.axis, found), found}, keepdims,
                        values, indices);
  }
  const auto [sorted, positions] = sort_with_indices(lines.input.detached(), lines.axis);
  Dims along(static_cast<size_t>(lines.input.ndim()));
  std::fill(along.begin(), along.end(), 1);
  along[static_cast<size_t>(lines.axis)] = lines.count;
  const Tensor place = reshape(arange(0, lines.count, 1, DType::kInt64, input.device()), along);
  const Tensor later = narrow(sorted, lines.axis, 1, lines.count - 1);
  const Tensor before = narrow(sorted, lines.axis, 0, lines.count - 1);
  const Tensor places = narrow(place, lines.axis, 1, lines.count - 1);
  // The place at which the run of equal elements began; the longest run ends farthest from it.
  const std::array<Tensor, 2> starts{zeros(shape_of_one(lines), DType::kInt64, input.device()),
                                     where(not_equal(later, before), places, 0)};
  const Tensor start = std::get<0>(cummax(ops::concat(starts, lines.axis), lines.axis));
  const Tensor end = argmax(subtract(place, start), lines.axis, true);
  const Tensor found = gather(positions, lines.axis, end);
  return deliver_pair(lines, input, {gather(lines.input, lines.axis, found), found}, keepdims,
                      values, indices);
}

Tensor quantile(const Tensor& input, const Tensor& q, std::optional<int64_t> axis, bool keepdims,
                std::string_view interpolation, Out out) {
  return quantile_of(input, q, axis, keepdims, interpolation, false, out);
}

Tensor quantile(const Tensor& input, const Scalar& q, std::optional<int64_t> axis, bool keepdims,
                std::string_view interpolation, Out out) {
  return quantile_of(input, tensor_of(q, input), axis, keepdims, interpolation, false, out);
}

Tensor nanquantile(const Tensor& input, const Tensor& q, std::optional<int64_t> axis, bool keepdims,
                   std::string_view interpolation, Out out) {
  return quantile_of(input, q, axis, keepdims, interpolation, true, out);
}

Tensor nanquantile(const Tensor& input, const Scalar& q, std::optional<int64_t> axis, bool keepdims,
                   std::string_view interpolation, Out out) {
  return quantile_of(input, tensor_of(q, input), axis, keepdims, interpolation, true, out);
}

}  // namespace tsr::ops
