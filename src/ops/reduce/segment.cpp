// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/segment.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/create/create.h"
#include "ops/index/scatter.h"
#include "ops/index/search.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A fold by name, as scatter_reduce knows it, and what it begins with.
struct Fold {
  std::string_view name, scatter;
  double identity;
};
constexpr Fold kFolds[] = {{"sum", "sum", 0},
                           {"mean", "sum", 0},
                           {"max", "amax", -kInfinity},
                           {"min", "amin", kInfinity},
                           {"prod", "prod", 1}};

const Fold& fold_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFolds), std::end(kFolds),
                                   [&](const Fold& fold) { return fold.name == name; });
  TSR_CHECK(found != std::end(kFolds), Code::kValue, "reduce",
            "expected sum, mean, max, min or prod, got \"", name, "\"");
  return *found;
}

void check_segments(const Tensor& input, const Tensor& segments, const char* arg, int64_t axis) {
  TSR_CHECK(is_integral(segments.dtype()) && segments.dtype() != DType::kUInt64, Code::kDType, arg,
            "expected an integer dtype but uint64, got ", segments.dtype());
  check_same_device(input, segments, arg);
  const auto leading = static_cast<size_t>(axis);
  TSR_CHECK(segments.ndim() == axis + 1 &&
                std::equal(segments.sizes().begin(), segments.sizes().begin() + axis,
                           input.sizes().begin(), input.sizes().begin() + axis),
            Code::kShape, arg, "expected the shape ", DimsView(input.sizes()).first(leading),
            " and one more axis for the segments, got ", segments.sizes());
}

// (leading axes, segments + 1) places where the segments begin and the last one ends.
Tensor places_of(const Tensor& input, const Tensor& lengths, const Tensor& offsets, int64_t axis) {
  TSR_CHECK(lengths.defined() != offsets.defined(), Code::kValue, "lengths",
            "expected either lengths or offsets, got ", lengths.defined() ? "both" : "neither");
  if (lengths.defined()) {
    check_segments(input, lengths, "lengths", axis);
    return cumulative_sum(astype(lengths, DType::kInt64), -1, {}, true);
  }
  check_segments(input, offsets, "offsets", axis);
  TSR_CHECK(offsets.size(axis) >= 1, Code::kShape, "offsets",
            "expected at least one offset, the end of the last segment, got none");
  return astype(offsets, DType::kInt64);
}

void check_cover(const Tensor& places, int64_t size, const char* arg) {
  const int64_t last = places.ndim() - 1;
  const Tensor begins = equal(select(places, last, 0), 0);
  const Tensor ends = equal(select(places, last, -1), size);
  const Tensor ordered = greater_equal(slice(places, last, 1, {}), slice(places, last, {}, -1));
  const Tensor covered = logical_and(logical_and(all(begins), all(ends)), all(ordered));
  TSR_CHECK(read<bool>(covered), Code::kValue, arg,
            "expected segments one after the other that cover all ", size,
            " positions of the axis, got others");
}

// The sizes of `like` with another size of the axis.
Dims with_size(const Tensor& like, int64_t axis, int64_t size) {
  Dims sizes = like.sizes();
  sizes[static_cast<size_t>(axis)] = size;
  return sizes;
}

// (leading axes, n) to (leading axes, n, 1, ...) of the input's rank.
Tensor with_trailing(const Tensor& x, const Tensor& input) {
  Dims sizes = x.sizes();
  sizes.resize(static_cast<size_t>(input.ndim()), 1);
  return reshape(x, sizes);
}

// For each position of the axis, the number of its segment; of segments that cover the axis.
Tensor covering_numbers(const Tensor& input, const Tensor& lengths, int64_t axis) {
  const Tensor numbers = arange(0, lengths.size(axis), 1, DType::kInt64, input.device());
  const Tensor all = contiguous(broadcast_to(numbers, lengths.sizes()));
  const Dims flat{lengths.numel()};
  return repeat(reshape(all, flat), reshape(lengths, flat), 0);
}

// As above for any segments; positions behind the last one get the next number.
Tensor searched_numbers(const Tensor& input, const Tensor& places, int64_t axis) {
  const Tensor positions = arange(0, input.size(axis), 1, DType::kInt64, input.device());
  const Tensor ends = contiguous(slice(places, axis, 1, {}));
  const Tensor values =
      contiguous(broadcast_to(positions, with_size(ends, axis, input.size(axis))));
  return searchsorted(ends, values, "right", Tensor());
}

Tensor divided(const Tensor& sums, const Tensor& counts, std::optional<double> initial) {
  const Tensor filled = greater(counts, 0);
  const double empty = initial.value_or(std::numeric_limits<double>::quiet_NaN());
  return where(filled, divide(sums, where(filled, counts, 1)), empty);
}

}  // namespace

Tensor segment_reduce(const Tensor& input, std::string_view reduce, const Tensor& lengths,
                      const Tensor& offsets, int64_t axis, std::optional<double> initial,
                      bool unchecked) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input", "expected at least one axis, got shape ()");
  const Fold& fold = fold_of(reduce);
  const int64_t along = wrap_axis(axis, input.ndim());
  const Tensor places = places_of(input, lengths, offsets, along);
  if (!unchecked) check_cover(places, input.size(along), lengths.defined() ? "lengths" : "offsets");
  const Tensor counts = subtract(slice(places, along, 1, {}), slice(places, along, {}, -1));
  const int64_t segments = counts.size(along);
  const Tensor x = in_opmath(input);
  // One more segment takes what lies behind the last, which only `unchecked` allows.
  const Tensor start = full(with_size(x, along, segments + 1), initial.value_or(fold.identity),
                            x.dtype(), x.device());
  const bool folds_start = initial.has_value() || fold.scatter == "sum";
  const Tensor numbers =
      unchecked ? searched_numbers(input, places, along) : covering_numbers(input, counts, along);
  const Tensor index = broadcast_to(
      with_trailing(reshape(numbers, with_size(counts, along, input.size(along))), input),
      input.sizes());
  const Tensor folded = scatter_reduce(start, along, index, x, fold.scatter, folds_start);
  const Tensor inner = narrow(folded, along, 0, segments);
  if (fold.name != "mean") return astype(contiguous(inner), input.dtype());
  return astype(divided(inner, with_trailing(counts, input), initial), input.dtype());
}

}  // namespace tsr::ops
