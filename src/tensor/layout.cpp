// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/layout.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "base/error.h"

namespace tsr {

int64_t checked_numel(DimsView sizes, int64_t itemsize) {
  TSR_CHECK(static_cast<int64_t>(sizes.size()) <= kMaxTensorRank, Code::kShape, "shape",
            "expected at most ", kMaxTensorRank, " dimensions, got ", sizes.size());
  int64_t count = 1;
  int64_t nbytes = itemsize;
  bool overflow = false;
  for (const int64_t size : sizes) {
    TSR_CHECK(size >= 0, Code::kShape, "shape", "expected sizes that are not negative, got shape ",
              sizes);
    // Sizes of 0 must not hide an overflow of the strides.
    overflow = overflow || __builtin_mul_overflow(nbytes, std::max<int64_t>(size, 1), &nbytes);
    count = overflow ? 0 : count * size;
  }
  TSR_CHECK(!overflow, Code::kShape, "shape", "expected fewer than 2^63 bytes, got shape ", sizes);
  return count;
}

int64_t numel_of(DimsView sizes) noexcept {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

Dims contiguous_strides(DimsView sizes) {
  Dims strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    // Wraps for sizes that nobody has checked yet, as those of an imported tensor.
    const auto size = static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * size);
  }
  return strides;
}

Dims dense_strides_like(DimsView sizes, DimsView like) {
  Dims order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(like[static_cast<size_t>(a)]) > std::abs(like[static_cast<size_t>(b)]);
  });
  Dims strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

bool is_contiguous(DimsView sizes, DimsView strides) noexcept {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) {
      // A tensor without elements has no gaps, whatever its strides are.
      return std::find(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(i), 0) !=
             sizes.begin() + static_cast<ptrdiff_t>(i);
    }
    expected *= sizes[i];
  }
  return true;
}

namespace {

// Dims that matter (size > 1), smallest stride first. Needs no memory, so that its callers cannot
// fail. For layouts with elements: their number is below 2^63, so fewer than kMaxTensorRank matter.
class DimsByStride {
 public:
  DimsByStride(DimsView sizes, DimsView strides) noexcept {
    for (size_t i = 0; i < sizes.size() && count_ < order_.size(); ++i) {
      if (sizes[i] != 1) insert(i, strides);
    }
  }
  [[nodiscard]] const size_t* begin() const noexcept { return order_.data(); }
  [[nodiscard]] const size_t* end() const noexcept { return order_.data() + count_; }

 private:
  // Behind those of the same stride.
  void insert(size_t dim, DimsView strides) noexcept {
    size_t at = count_++;
    for (; at > 0 && std::abs(strides[order_[at - 1]]) > std::abs(strides[dim]); --at) {
      order_[at] = order_[at - 1];
    }
    order_[at] = dim;
  }

  std::array<size_t, kMaxTensorRank> order_;  // uninitialised behind count_
  size_t count_ = 0;
};

}  // namespace

bool is_dense(DimsView sizes, DimsView strides) noexcept {
  if (is_contiguous(sizes, strides)) return true;
  int64_t expected = 1;
  for (const size_t i : DimsByStride(sizes, strides)) {
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool may_overlap_itself(DimsView sizes, DimsView strides) noexcept {
  if (is_contiguous(sizes, strides)) return false;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return false;
  int64_t reach = 0;  // offset of the last element of the dims seen so far
  for (const size_t i : DimsByStride(sizes, strides)) {
    if (std::abs(strides[i]) <= reach) return true;
    reach += std::abs(strides[i]) * (sizes[i] - 1);
    if (strides[i] == 0) return true;
  }
  return false;
}

Extent extent_of(DimsView sizes, DimsView strides) noexcept {
  Extent extent{0, 1};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return {0, 0};
    const int64_t reach = strides[i] * (sizes[i] - 1);
    (reach < 0 ? extent.low : extent.high) += reach;
  }
  return extent;
}

int64_t wrap_axis(int64_t axis, int64_t rank, const char* arg) {
  const int64_t range = std::max<int64_t>(rank, 1);
  TSR_CHECK(axis >= -range && axis < range, Code::kIndex, arg, "expected an axis in [", -range,
            ", ", range - 1, "] for ", rank, " dimensions, got ", axis);
  return axis < 0 ? axis + range : axis;
}

Dims wrap_axes(DimsView axes, int64_t rank, const char* arg) {
  Dims wrapped;
  uint64_t seen = 0;
  for (const int64_t axis : axes) {
    const int64_t dim = wrap_axis(axis, rank, arg);
    const uint64_t bit = uint64_t{1} << dim;
    TSR_CHECK((seen & bit) == 0, Code::kValue, arg, "expected each axis once, got ", axes, " for ",
              rank, " dimensions");
    seen |= bit;
    wrapped.push_back(dim);
  }
  return wrapped;
}

Dims broadcast_shapes(DimsView a, DimsView b, const char* arg) {
  const DimsView longer = a.size() >= b.size() ? a : b;
  const DimsView shorter = a.size() >= b.size() ? b : a;
  const size_t shift = longer.size() - shorter.size();
  Dims out(longer);
  for (size_t i = 0; i < shorter.size(); ++i) {
    const int64_t x = longer[shift + i];
    const int64_t y = shorter[i];
    TSR_CHECK(x == y || x == 1 || y == 1, Code::kShape, arg, "expected shapes that broadcast, got ",
              a, " and ", b, ": sizes ", x, " and ", y, " differ at dimension ", shift + i);
    out[shift + i] = x == 1 ? y : x;
  }
  return out;
}

Dims broadcast_strides(DimsView sizes, DimsView strides, DimsView target, const char* arg) {
  TSR_CHECK(sizes.size() <= target.size(), Code::kShape, arg, "expected a shape of at least ",
            sizes.size(), " dimensions for an input of shape ", sizes, ", got ", target);
  const size_t shift = target.size() - sizes.size();
  Dims out(target.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool stretched = sizes[i] != target[shift + i];
    TSR_CHECK(!stretched || sizes[i] == 1, Code::kShape, arg, "expected a shape that ", sizes,
              " broadcasts to, got ", target, ": size ", sizes[i], " cannot become ",
              target[shift + i]);
    out[shift + i] = stretched ? 0 : strides[i];
  }
  return out;
}

Dims infer_shape(DimsView shape, int64_t numel, const char* arg) {
  Dims out(shape);
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& size : out) {
    TSR_CHECK(size >= -1, Code::kShape, arg, "expected sizes of at least -1, got ", shape);
    TSR_CHECK(size != -1 || unknown == nullptr, Code::kShape, arg, "expected at most one -1, got ",
              shape);
    if (size == -1) {
      unknown = &size;
    } else {
      TSR_CHECK(!__builtin_mul_overflow(known, size, &known), Code::kShape, arg,
                "expected a shape of ", numel, " elements, got ", shape);
    }
  }
  if (unknown != nullptr) {
    TSR_CHECK(known != 0, Code::kShape, arg, "expected a shape whose -1 has one solution, got ",
              shape, " for ", numel, " elements");
    *unknown = numel / known;
    known *= *unknown;
  }
  TSR_CHECK(known == numel, Code::kShape, arg, "expected a shape of ", numel, " elements, got ",
            shape);
  return out;
}

std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView shape) {
  if (numel_of(sizes) == 0) return contiguous_strides(shape);
  Dims out(shape.size());
  // Walks both shapes from the innermost dim; a run of old dims that is contiguous in memory may be
  // cut anew.
  auto next = static_cast<int64_t>(shape.size()) - 1;
  size_t i = sizes.size();
  while (i > 0) {
    int64_t run = 1;
    const int64_t base_stride = strides[i - 1];
    do {
      run *= sizes[--i];
    } while (i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == run * base_stride));
    int64_t stride = base_stride;
    int64_t filled = 1;
    while (next >= 0 && (filled < run || shape[static_cast<size_t>(next)] == 1)) {
      out[static_cast<size_t>(next)] = stride;
      filled *= shape[static_cast<size_t>(next)];
      stride *= shape[static_cast<size_t>(next)];
      --next;
    }
    if (filled != run) return std::nullopt;
  }
  for (; next >= 0; --next)
    out[static_cast<size_t>(next)] = 1;  // leading sizes of 1 over a 0-dim input
  return out;
}

Dims reduced_shape(DimsView sizes, DimsView axes, bool keepdims) {
  Dims out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!reduced) out.push_back(sizes[i]);
    if (reduced && keepdims) out.push_back(1);
  }
  return out;
}

}  // namespace tsr
