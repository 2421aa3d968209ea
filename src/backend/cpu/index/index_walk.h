// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The walk of an index plan over a part of its elements. A Move (Get and Put; Fold of index.cpp,
// AccumulateWide of index_sums.cpp) handles one element.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/cpu/pointwise/strided.h"
#include "kernel/index.h"

namespace tsr::cpu {

inline constexpr auto kIndexSize = static_cast<int64_t>(sizeof(int64_t));

template <class T>
T load(const void* from) {
  if constexpr (std::is_same_v<T, bool>) {
    return *static_cast<const uint8_t*>(from) != 0;  // memory from elsewhere may hold any byte
  } else {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
}

// How far below 0 the indices of an axis may lie.
inline int64_t reach_below(const kernel::IndexPlan& plan, int32_t j) {
  return plan.from_end != 0 ? plan.indexed_sizes[j] : 0;
}

// The longest dim along which the array itself advances: different positions on it never write to
// the same place. -1 when there is none.
inline int32_t independent_dim(const kernel::ElementwisePlan& walk) {
  int32_t best = -1;
  for (int32_t d = 0; d < walk.ndim; ++d) {
    if (walk.strides[1][d] == 0) continue;
    if (best < 0 || walk.sizes[d] > walk.sizes[best]) best = d;
  }
  return best;
}

// ---- Moving elements ----

// Which indices the elements of a part may have. An index outside the array is skipped even if it
// was checked before: another thread may have written it since.
enum class Range {
  kAll,      // the indices were checked before
  kWindow,   // skip those outside the window
  kChecked,  // an index outside the array ends the walk
};

// The part of the walk that one thread runs.
struct Part {
  const kernel::IndexPlan& plan;
  std::byte* data[kernel::kMaxOperands];
  int64_t sizes[kernel::kMaxRank];
  int64_t numel;
  Range range = Range::kAll;
  // The window: the range of the first index that this part handles.
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max();

  explicit Part(const kernel::IndexPlan& whole) : plan(whole), numel(whole.walk.numel) {
    for (int32_t k = 0; k < whole.walk.operands; ++k)
      data[k] = static_cast<std::byte*>(whole.walk.data[k]);
    std::copy_n(whole.walk.sizes, whole.walk.ndim, sizes);
  }
  // The part with positions [begin, end) of one dim.
  Part along(int32_t dim, int64_t begin, int64_t end) const {
    Part part = *this;
    for (int32_t k = 0; k < plan.walk.operands; ++k)
      part.data[k] += begin * plan.walk.strides[k][dim];
    part.sizes[dim] = end - begin;
    part.numel = numel / sizes[dim] * (end - begin);
    return part;
  }
};

struct Pair {
  int64_t low, high;
};

template <class T>
struct Get {
  static constexpr bool kWrites = false;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));  // of a value
  static constexpr auto kElement = kSize;                         // of the array
  static void one(std::byte* value, std::byte* element) { std::memcpy(value, element, sizeof(T)); }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    copy_strided(count, sizeof(T), values, step, elements, stride);
  }
  // Calls a function with the move of one row whose elements are contiguous.
  template <class F>
  static void with_row(int64_t count, F&& function) {
    with_copy_of(count * kSize, [&](auto copy) {
      function([=](std::byte* values, std::byte* elements) { copy(values, elements); });
    });
  }
};

template <class T>
struct Put {
  static constexpr bool kWrites = true;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));  // of a value
  static constexpr auto kElement = kSize;                         // of the array
  static void one(std::byte* value, std::byte* element) { std::memcpy(element, value, sizeof(T)); }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    copy_strided(count, sizeof(T), elements, stride, values, step);
  }
  template <class F>
  static void with_row(int64_t count, F&& function) {
    with_copy_of(count * kSize, [&](auto copy) {
      function([=](std::byte* values, std::byte* elements) { copy(elements, values); });
    });
  }
};

// The operands at one position of the walk, and their steps along the innermost dim.
struct Place {
  std::byte* at[kernel::kMaxOperands];
  int64_t step[kernel::kMaxOperands];
};

// Converts an index to a position; false if it is outside the array. An index in [0, size) takes
// one well-predicted comparison.
inline bool wrap(const std::byte* index, int64_t below, int64_t size, int64_t& position) {
  const auto value = load<uint64_t>(index);
  const auto low = static_cast<uint64_t>(below);
  const auto end = static_cast<uint64_t>(size);
  position = static_cast<int64_t>(value);
  if (__builtin_expect_with_probability(static_cast<long>(value < end), 1, 0.999) != 0) return true;
  position = static_cast<int64_t>(value + low);
  return value + low < low;
}

// Rows with one index array, an index for every element; false if an index is outside the array.
// `steps` are those from row to row. Values that the loops read are local copies, because their
// stores might alias the plan. Inlined, so that the steps along a row can be constants. Unrolled
// for the commonest case only, because it makes the code longer.
template <class Move, Range kRange, bool kUnrolled = false>
[[gnu::always_inline]] inline bool single_loops(const Part& part, const Place& place, int64_t rows,
                                                int64_t count, const int64_t* steps,
                                                int64_t value_step, int64_t element_step,
                                                int64_t index_step, int64_t stride) {
  std::byte* value = place.at[0];
  std::byte* element = place.at[1];
  const std::byte* index = place.at[2];
  const int64_t next_value = steps[0], next_element = steps[1], next_index = steps[2];
  const int64_t size = part.plan.indexed_sizes[0];
  const int64_t below = reach_below(part.plan, 0);
  const int64_t low = part.low;
  const int64_t high = part.high;
  const auto move_one = [&](int64_t i) {
    int64_t position = 0;
    if (!wrap(index + i * index_step, below, size, position)) return kRange != Range::kChecked;
    if constexpr (kRange == Range::kWindow) {
      if (position < low || position >= high) return true;
    }
    Move::one(value + i * value_step, element + i * element_step + position * stride);
    return true;
  };
  for (; rows > 0; --rows) {
    int64_t i = 0;
    if constexpr (kUnrolled) {
#pragma GCC unroll 4
      for (; i < count; ++i) {
        if (!move_one(i)) return false;
      }
    }
    for (; i < count; ++i) {
      if (!move_one(i)) return false;
    }
    value += next_value;
    element += next_element;
    index += next_index;
  }
  return true;
}

// Chooses the loops by the steps along a row.
template <class Move, Range kRange>
bool single_rows(const Part& part, const Place& place, int64_t rows, int64_t count,
                 const int64_t* steps) {
  constexpr int64_t kSize = Move::kSize;
  constexpr int64_t kElement = Move::kElement;
  const int64_t stride = part.plan.indexed_strides[0];
  const bool dense = place.step[0] == kSize && place.step[2] == kIndexSize;
  constexpr bool kUnrolled = !Move::kWrites && kRange == Range::kAll && kElement == sizeof(float);
  if (dense && place.step[1] == 0 && stride == kElement)
    return single_loops<Move, kRange, kUnrolled>(part, place, rows, count, steps, kSize, 0,
                                                 kIndexSize, kElement);
  if (dense && place.step[1] == 0)
    return single_loops<Move, kRange>(part, place, rows, count, steps, kSize, 0, kIndexSize,
                                      stride);
  if (dense && place.step[1] == kElement)
    return single_loops<Move, kRange>(part, place, rows, count, steps, kSize, kElement, kIndexSize,
                                      stride);
  return single_loops<Move, kRange>(part, place, rows, count, steps, place.step[0], place.step[1],
                                    place.step[2], stride);
}

// Rows of elements with indices of their own; false if an index of a kChecked part is outside.
template <class Move>
bool scattered_rows(const Part& part, const Place& place, int64_t rows, int64_t count,
                    const int64_t* steps) {
  const kernel::IndexPlan& plan = part.plan;
  if (plan.indices == 1) {
    if constexpr (Move::kWrites) {
      if (part.range == Range::kWindow)
        return single_rows<Move, Range::kWindow>(part, place, rows, count, steps);
    } else {
      if (part.range == Range::kChecked)
        return single_rows<Move, Range::kChecked>(part, place, rows, count, steps);
    }
    return single_rows<Move, Range::kAll>(part, place, rows, count, steps);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < count; ++i) {
      const auto at = [&](int32_t k) { return place.at[k] + r * steps[k] + i * place.step[k]; };
      int64_t first = 0;
      bool inside = wrap(at(2), reach_below(plan, 0), plan.indexed_sizes[0], first);
      if constexpr (Move::kWrites) {
        if (first < part.low || first >= part.high) continue;
      }
      int64_t offset = first * plan.indexed_strides[0];
      for (int32_t j = 1; j < plan.indices; ++j) {
        int64_t position = 0;
        inside &= wrap(at(j + 2), reach_below(plan, j), plan.indexed_sizes[j], position);
        offset += position * plan.indexed_strides[j];
      }
      if (inside) Move::one(at(0), at(1) + offset);
    }
  }
  return true;
}

// One row whose elements share the same indices: embeddings, whole slices.
template <class Move>
void shared_row(const Part& part, const Place& place, int64_t count) {
  const kernel::IndexPlan& plan = part.plan;
  int64_t offset = 0;
  for (int32_t j = 0; j < plan.indices; ++j) {
    int64_t position = 0;
    if (!wrap(place.at[j + 2], reach_below(plan, j), plan.indexed_sizes[j], position)) return;
    if (Move::kWrites && j == 0 && (position < part.low || position >= part.high)) return;
    offset += position * plan.indexed_strides[j];
  }
  Move::row(count, place.at[0], place.step[0], place.at[1] + offset, place.step[1]);
}

// Rows of contiguous elements, each with one index of one index array: what a row costs beside its
// elements is a few instructions. `steps` are those from row to row.
template <class Move>
void shared_rows(const Part& part, const Place& place, int64_t rows, int64_t count,
                 const int64_t* steps) {
  const int64_t below = reach_below(part.plan, 0);
  const int64_t size = part.plan.indexed_sizes[0];
  const int64_t stride = part.plan.indexed_strides[0];
  const int64_t low = part.low;
  const int64_t high = part.high;
  Move::with_row(count, [&](auto move) {
    for (int64_t r = 0; r < rows; ++r) {
      int64_t position = 0;
      if (!wrap(place.at[2] + r * steps[2], below, size, position)) continue;
      if (Move::kWrites && (position < low || position >= high)) continue;
      move(place.at[0] + r * steps[0], place.at[1] + r * steps[1] + position * stride);
    }
  });
}

// Returns false if an index is outside the array.
template <class Move>
bool walk_part(const Part& part, int64_t begin, int64_t end) {
  const kernel::ElementwisePlan& walk = part.plan.walk;
  const int32_t inner = walk.ndim - 1;
  Place place;
  bool shared = true;
  int64_t steps[kernel::kMaxOperands] = {};  // from row to row
  for (int32_t k = 0; k < walk.operands; ++k) {
    place.step[k] = walk.strides[k][inner];
    if (inner > 0) steps[k] = walk.strides[k][inner - 1];
    shared = shared && (k < 2 || place.step[k] == 0);
  }
  const bool plain =
      part.plan.indices == 1 && place.step[0] == Move::kSize && place.step[1] == Move::kElement;
  Cursor cursor{walk.ndim, part.sizes, {}};
  cursor.seek(begin);
  while (begin < end) {
    const int64_t count = std::min(end - begin, cursor.left_in_row());
    for (int32_t k = 0; k < walk.operands; ++k)
      place.at[k] = part.data[k] + cursor.offset(walk.strides[k]);
    int64_t rows = 1;
    if (inner > 0 && count == part.sizes[inner] && (plain || !shared)) {
      rows = std::min((end - begin) / count, part.sizes[inner - 1] - cursor.index[inner - 1]);
      cursor.index[inner - 1] += rows - 1;
      begin += (rows - 1) * count;
    }
    if (!shared) {
      if (!scattered_rows<Move>(part, place, rows, count, steps)) return false;
    } else if (plain) {
      shared_rows<Move>(part, place, rows, count, steps);
    } else {
      shared_row<Move>(part, place, count);
    }
    cursor.advance_in_row(count);
    begin += count;
  }
  return true;
}

}  // namespace tsr::cpu
