// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/slice.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/nn/window.h"
#include "ops/shape/join.h"

namespace tsr::ops {
namespace {

// More parts than this are treated as a mistake: an expanded axis may be astronomically long.
constexpr int64_t kMaxParts = int64_t{1} << 24;

void check_part_count(int64_t count, const char* arg) {
  TSR_CHECK(count <= kMaxParts, Code::kValue, arg, "expected at most ", kMaxParts, " parts, got ",
            count);
}

int64_t wrap_part_axis(const Tensor& input, int64_t axis) {
  TSR_CHECK(input.ndim() > 0, Code::kIndex, "input",
            "expected at least one dimension, got a 0-dim tensor");
  return wrap_axis(axis, input.ndim());
}

Tensor stride_memory(const Tensor& input, int64_t axis, int64_t start, int64_t count,
                     int64_t step) {
  Dims sizes = input.sizes();
  Dims strides = input.strides();
  const auto dim = static_cast<size_t>(axis);
  const int64_t first = count == 0 ? 0 : start;  // an empty view must stay inside the memory
  const int64_t offset = input.offset() + first * strides[dim];
  sizes[dim] = count;
  strides[dim] = count > 1 ? strides[dim] * step : strides[dim];
  return make_view(input, sizes, strides, offset);
}

// Records the parts; their gradient is the gradients of all parts joined along the axis.
std::vector<Tensor> record_parts(std::vector<Tensor> parts, const Tensor& input, const char* node,
                                 int64_t axis, bool stacked) {
  if (parts.empty()) return parts;
  record_views(parts, input, node, TakesBatches{[axis, stacked](Backward& ctx) {
                 std::vector<Tensor> grads;
                 for (size_t k = 0; k < ctx.grad_count(); ++k) {
                   grads.push_back(ctx.grad_or_zeros(k));
                 }
                 const int64_t along = axis + ctx.lead();
                 ctx.set(0, stacked ? stack(grads, along) : ops::concat(grads, along));
               }});
  return parts;
}

}  // namespace

SliceRange clip_slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step,
                      int64_t size) {
  const bool forward = step > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? size : size - 1;
  const auto clip = [&](int64_t bound) {
    if (bound < 0) bound = bound < -size ? low : bound + size;
    return std::clamp(bound, low, std::max(low, high));
  };
  const int64_t first = start.has_value() ? clip(*start) : (forward ? low : high);
  const int64_t last = stop.has_value() ? clip(*stop) : (forward ? high : low);
  const int64_t distance = forward ? last - first : first - last;
  if (distance <= 0) return {first, 0};
  // The smallest int64 has no positive counterpart; such a step takes one position.
  const int64_t stride = step == std::numeric_limits<int64_t>::min() ? distance : std::abs(step);
  return {first, (distance - 1) / stride + 1};
}

Tensor select_memory(const Tensor& input, int64_t axis, int64_t index) {
  Dims sizes = input.sizes();
  Dims strides = input.strides();
  const auto dim = static_cast<size_t>(axis);
  const int64_t offset = input.offset() + index * strides[dim];
  sizes.erase(dim);
  strides.erase(dim);
  return make_view(input, sizes, strides, offset);
}

Tensor narrow_memory(const Tensor& input, int64_t axis, int64_t start, int64_t length) {
  return stride_memory(input, axis, start, length, 1);
}

Tensor select(const Tensor& input, int64_t axis, int64_t index) {
  const int64_t dim = wrap_part_axis(input, axis);
  const int64_t size = input.size(dim);
  TSR_CHECK(index >= -size && index < size, Code::kIndex, "index", "expected an index in [", -size,
            ", ", size - 1, "] for axis ", dim, " of shape ", input.sizes(), ", got ", index);
  const int64_t position = index < 0 ? index + size : index;
  Tensor view = select_memory(input, dim, position);
  record_window(
      view, input, "SelectBackward", "SelectBackwardBackward",
      [back = dim - input.ndim(), position](const Tensor& t) { return select(t, back, position); });
  return view;
}

Tensor slice(const Tensor& input, int64_t axis, std::optional<int64_t> start,
             std::optional<int64_t> stop, int64_t step) {
  const int64_t dim = wrap_part_axis(input, axis);
  TSR_CHECK(step != 0, Code::kValue, "step", "expected a step other than 0, got 0");
  const SliceRange range = clip_slice(start, stop, step, input.size(dim));
  Tensor view = stride_memory(input, dim, range.start, range.count, step);
  record_window(view, input, "SliceBackward", "SliceBackwardBackward",
                [=, back = dim - input.ndim()](const Tensor& t) {
                  return slice(t, back, start, stop, step);
                });
  return view;
}

Tensor narrow(const Tensor& input, int64_t axis, int64_t start, int64_t length) {
  const int64_t dim = wrap_part_axis(input, axis);
  const int64_t size = input.size(dim);
  TSR_CHECK(length >= 0, Code::kValue, "length", "expected a length that is not negative, got ",
            length);
  TSR_CHECK(start >= -size && start <= size, Code::kIndex, "start", "expected a start in [", -size,
            ", ", size, "] for axis ", dim, " of shape ", input.sizes(), ", got ", start);
  const int64_t first = start < 0 ? start + size : start;
  TSR_CHECK(length <= size - first, Code::kIndex, "length", "expected at most ", size - first,
            " positions from ", first, " of axis ", dim, " of shape ", input.sizes(), ", got ",
            length);
  Tensor view = narrow_memory(input, dim, first, length);
  record_window(
      view, input, "NarrowBackward", "NarrowBackwardBackward",
      [=, back = dim - input.ndim()](const Tensor& t) { return narrow(t, back, first, length); });
  return view;
}

std::vector<Tensor> split(const Tensor& input, int64_t size, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  const int64_t total = input.size(dim);
  TSR_CHECK(size > 0 || (size == 0 && total == 0), Code::kValue, "size",
            "expected a part size above 0 for axis ", dim, " of shape ", input.sizes(), ", got ",
            size);
  check_part_count(size == 0 ? 0 : total / size, "size");
  std::vector<Tensor> parts;
  int64_t start = 0;
  do {
    const int64_t length = std::min(size, total - start);
    parts.push_back(narrow_memory(input, dim, start, length));
    start += length;
  } while (start < total);
  return record_parts(std::move(parts), input, "SplitBackward", dim, false);
}

std::vector<Tensor> split_with_sizes(const Tensor& input, DimsView sizes, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  int64_t left = input.size(dim);
  for (const int64_t size : sizes) {
    TSR_CHECK(size >= 0, Code::kValue, "sizes", "expected sizes that are not negative, got ",
              sizes);
    left = size > left ? -1 : left - size;
    if (left < 0) break;
  }
  TSR_CHECK(left == 0, Code::kShape, "sizes", "expected sizes that add up to ", input.size(dim),
            " for axis ", dim, ", got ", sizes);
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    parts.push_back(narrow_memory(input, dim, start, size));
    start += size;
  }
  return record_parts(std::move(parts), input, "SplitWithSizesBackward", dim, false);
}

std::vector<Tensor> chunk(const Tensor& input, int64_t chunks, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  TSR_CHECK(chunks > 0, Code::kValue, "chunks", "expected at least 1 chunk, got ", chunks);
  const int64_t total = input.size(dim);
  // Parts of no elements can be as many as the caller asks for.
  if (total == 0) return tensor_split(input, chunks, dim);
  return split(input, (total - 1) / chunks + 1, dim);
}

std::vector<Tensor> tensor_split(const Tensor& input, int64_t sections, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  TSR_CHECK(sections > 0, Code::kValue, "sections", "expected at least 1 section, got ", sections);
  check_part_count(sections, "sections");
  const int64_t total = input.size(dim);
  Dims sizes(static_cast<size_t>(sections), total / sections);
  for (int64_t i = 0; i < total % sections; ++i) ++sizes[static_cast<size_t>(i)];
  return split_with_sizes(input, sizes, dim);
}

// Each part is a view of its own, because indices that do not rise show elements more than once.
std::vector<Tensor> tensor_split_at(const Tensor& input, DimsView indices, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  std::vector<Tensor> parts;
  std::optional<int64_t> start;
  for (const int64_t index : indices) {
    parts.push_back(slice(input, dim, start, index));
    start = index;
  }
  parts.push_back(slice(input, dim, start, std::nullopt));
  return parts;
}

std::vector<Tensor> unstack(const Tensor& input, int64_t axis) {
  const int64_t dim = wrap_part_axis(input, axis);
  check_part_count(input.size(dim), "input");
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < input.size(dim); ++i) parts.push_back(select_memory(input, dim, i));
  return record_parts(std::move(parts), input, "UnstackBackward", dim, true);
}

Tensor diagonal(const Tensor& input, int64_t offset, int64_t axis1, int64_t axis2) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  const int64_t rows = wrap_axis(axis1, input.ndim(), "axis1");
  const int64_t columns = wrap_axis(axis2, input.ndim(), "axis2");
  TSR_CHECK(rows != columns, Code::kValue, "axis2", "expected two different axes, got ", axis1,
            " and ", axis2);
  const int64_t room = offset >= 0 ? std::min(input.size(rows), input.size(columns) - offset)
                       : offset < -input.size(rows)
                           ? 0
                           : std::min(input.size(rows) + offset, input.size(columns));
  const int64_t count = std::max<int64_t>(room, 0);
  int64_t first = input.offset();
  if (count > 0)
    first += offset >= 0 ? offset * input.stride(columns) : -offset * input.stride(rows);
  Dims sizes;
  Dims strides;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (d == rows || d == columns) continue;
    sizes.push_back(input.size(d));
    strides.push_back(input.stride(d));
  }
  sizes.push_back(count);
  strides.push_back(input.stride(rows) + input.stride(columns));
  Tensor view = make_view(input, sizes, strides, first);
  record_window(view, input, "DiagonalBackward", "DiagonalBackwardBackward",
                [offset, rows = rows - input.ndim(), columns = columns - input.ndim()](
                    const Tensor& t) { return diagonal(t, offset, rows, columns); });
  return view;
}

}  // namespace tsr::ops
