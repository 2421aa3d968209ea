// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Indexing as in Python: x.index({Slice(1, 3), None, Ellipsis, 0, mask}).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/ops.hpp"

namespace tessera {

struct NewAxisItem {};
struct EllipsisItem {};

inline constexpr NewAxisItem None{};       // an axis of size 1
inline constexpr EllipsisItem Ellipsis{};  // as many whole axes as no other item takes

// A number of a Slice, or {}, std::nullopt or None: the end that the direction of the step gives, a
// step of 1.
class SliceBound {
 public:
  SliceBound() = default;
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  SliceBound(T value)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<int64_t>(value)) {}
  SliceBound(std::optional<int64_t> value)  // NOLINT(google-explicit-constructor)
      : value_(value) {}
  SliceBound(std::nullopt_t /*absent*/) {}                    // NOLINT(google-explicit-constructor)
  SliceBound(NewAxisItem /*none*/) {}                         // NOLINT(google-explicit-constructor)
  operator std::optional<int64_t>() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  std::optional<int64_t> value_;
};

// start:stop:step; Slice() is a whole axis.
struct Slice {
  Slice() = default;
  Slice(SliceBound start_at, SliceBound stop_at, SliceBound step_by = std::nullopt)
      : start(start_at), stop(stop_at), step(step_by) {}

  std::optional<int64_t> start, stop, step;
};

// One item of an index: an integer, a Slice, None, Ellipsis, or a tensor of integers or bools.
class Index {
 public:
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Index(T position)  // NOLINT(google-explicit-constructor)
      : kind_(TSR_INDEX_KIND_INTEGER), start_(static_cast<int64_t>(position)) {}
  Index(const Slice& slice)  // NOLINT(google-explicit-constructor)
      : kind_(TSR_INDEX_KIND_SLICE),
        start_(slice.start.value_or(tsr_none())),
        stop_(slice.stop.value_or(tsr_none())),
        step_(slice.step.value_or(tsr_none())) {}
  Index(NewAxisItem /*none*/)  // NOLINT(google-explicit-constructor)
      : kind_(TSR_INDEX_KIND_NEW_AXIS) {}
  Index(EllipsisItem /*ellipsis*/)  // NOLINT(google-explicit-constructor)
      : kind_(TSR_INDEX_KIND_ELLIPSIS) {}
  Index(Tensor array)  // NOLINT(google-explicit-constructor)
      : kind_(TSR_INDEX_KIND_ARRAY), array_(std::move(array)) {}

 private:
  friend struct IndexItems;

  tsr_index_kind kind_;
  int64_t start_ = 0;
  int64_t stop_ = 0;
  int64_t step_ = 0;
  Tensor array_;
};

// The items of an index as C arguments.
struct IndexItems {
  template <class Items>
  explicit IndexItems(const Items& items) {
    numbers.reserve(4 * items.size());
    for (const Index& item : items) {
      for (const int64_t number : {int64_t{item.kind_}, item.start_, item.stop_, item.step_}) {
        numbers.push_back(number);
      }
      if (item.kind_ == TSR_INDEX_KIND_ARRAY) arrays.push_back(item.array_);
    }
  }

  std::vector<int64_t> numbers;
  std::vector<Tensor> arrays;
};

inline Tensor Tensor::index(std::initializer_list<Index> items) const {
  const IndexItems known(items);
  return getitem(*this, known.numbers, known.arrays);
}

inline Tensor Tensor::index(const std::vector<Index>& items) const {
  const IndexItems known(items);
  return getitem(*this, known.numbers, known.arrays);
}

inline Tensor Tensor::operator[](const Index& item) const {
  return index({item});
}

inline Tensor& Tensor::set(std::initializer_list<Index> items, const Tensor& value) {
  const IndexItems known(items);
  return setitem_(*this, known.numbers, known.arrays, value);
}

inline Tensor& Tensor::set(std::initializer_list<Index> items, const Scalar& value) {
  const IndexItems known(items);
  return setitem_(*this, known.numbers, known.arrays, value);
}

inline Tensor& Tensor::set(const std::vector<Index>& items, const Tensor& value) {
  const IndexItems known(items);
  return setitem_(*this, known.numbers, known.arrays, value);
}

inline Tensor& Tensor::set(const std::vector<Index>& items, const Scalar& value) {
  const IndexItems known(items);
  return setitem_(*this, known.numbers, known.arrays, value);
}

}  // namespace tessera
