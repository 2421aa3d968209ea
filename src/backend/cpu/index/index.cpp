// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/generated/entries.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "backend/cpu/host.h"
#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ElementwisePlan;
using kernel::IndexOp;
using kernel::IndexPlan;
using kernel::kMaxOperands;
using kernel::kMaxRank;
using kernel::Status;

constexpr int64_t kLine = 64;
constexpr auto kIndexSize = static_cast<int64_t>(sizeof(int64_t));

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

// ---- Checking the indices ----

// The elements of one index array, each once: dims that only repeat them are left out.
struct IndexArray {
  const std::byte* data;
  int32_t ndim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  IndexArray(const ElementwisePlan& walk, int slot)
      : data(static_cast<const std::byte*>(walk.data[slot])) {
    for (int32_t d = 0; d < walk.ndim; ++d) {
      if (walk.strides[slot][d] == 0) continue;
      sizes[ndim] = walk.sizes[d];
      strides[ndim++] = walk.strides[slot][d];
      numel *= walk.sizes[d];
    }
    if (data == nullptr) numel = 0;  // the index itself is empty, not only the result
    if (ndim != 0) return;
    ndim = 1;
    sizes[0] = 1;
    strides[0] = 0;
  }

  // Calls row(first, stride, count) until it returns false.
  template <class Row>
  void each_row(int64_t begin, int64_t end, Row row) const {
    Cursor cursor{ndim, sizes, {}};
    cursor.seek(begin);
    while (begin < end) {
      const int64_t count = std::min(end - begin, cursor.left_in_row());
      if (!row(data + cursor.offset(strides), strides[ndim - 1], count)) return;
      cursor.advance_in_row(count);
      begin += count;
    }
  }
};

// How far below 0 the indices of an axis may lie.
int64_t reach_below(const IndexPlan& plan, int32_t j) {
  return plan.from_end != 0 ? plan.indexed_sizes[j] : 0;
}

// Whether an index lies outside [-below, size).
bool any_outside(const IndexArray& array, int64_t below, int64_t size) {
  std::atomic<bool> found(false);
  const auto low = static_cast<uint64_t>(below);
  const auto extent = static_cast<uint64_t>(size);
  parallel_for(array.numel, kGrain, [&](int64_t begin, int64_t end) {
    uint64_t signs = 0;
    array.each_row(begin, end, [&](const std::byte* first, int64_t stride, int64_t count) {
      if (stride == kIndexSize) {
        signs |= rows_of<IndexRows>().outside_signs(count, first, low, extent);
      } else {
        for (int64_t i = 0; i < count; ++i)
          signs |= outside_sign(load<uint64_t>(first + i * stride), low, extent);
      }
      return true;
    });
    if (signs >> 63 != 0) found.store(true, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

// The first index that is out of range, in the order of the array.
int64_t first_outside(const IndexArray& array, int64_t below, int64_t size) {
  int64_t found = 0;
  array.each_row(0, array.numel, [&](const std::byte* first, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      found = load<int64_t>(first + i * stride);
      if (found < -below || found >= size) return false;
    }
    return true;
  });
  return found;
}

Status outside(const IndexPlan& plan, int32_t j, const IndexArray& array) {
  const int64_t size = plan.indexed_sizes[j];
  const int64_t below = reach_below(plan, j);
  const std::string text =
      concat("expected indices in [", -below, ", ", size - 1, "] for axis ", plan.indexed_axes[j],
             " of size ", size, ", got ", first_outside(array, below, size));
  return failure(Code::kIndex, text.c_str());
}

Status check_indices(const IndexPlan& plan) {
  for (int32_t j = 0; j < plan.indices; ++j) {
    const IndexArray array(plan.walk, j + 2);
    if (any_outside(array, reach_below(plan, j), plan.indexed_sizes[j]))
      return outside(plan, j, array);
  }
  return kernel::kOk;
}

// ---- Moving elements ----

// Which indices the elements of a part may have. Whatever a check before found, one outside the
// array is passed over: another thread may have written it since.
enum class Range {
  kAll,      // those that were checked before
  kWindow,   // the others are passed over
  kChecked,  // one outside ends the walk
};

// A part of the walk that one thread has to itself.
struct Part {
  const IndexPlan& plan;
  std::byte* data[kMaxOperands];
  int64_t sizes[kMaxRank];
  int64_t numel;
  Range range = Range::kAll;
  // The window of the first index.
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max();

  explicit Part(const IndexPlan& whole) : plan(whole), numel(whole.walk.numel) {
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
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  static void one(std::byte* value, std::byte* element) { std::memcpy(value, element, sizeof(T)); }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    copy_strided(count, sizeof(T), values, step, elements, stride);
  }
};

template <class T>
struct Put {
  static constexpr bool kWrites = true;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  static void one(std::byte* value, std::byte* element) { std::memcpy(element, value, sizeof(T)); }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    copy_strided(count, sizeof(T), elements, stride, values, step);
  }
};

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps
  } else {
    return a + b;
  }
}

template <class T>
struct Accumulate {
  static constexpr bool kWrites = true;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  static void one(std::byte* value, std::byte* element) {
    const T sum = sum_of(load<T>(element), load<T>(value));
    std::memcpy(element, &sum, sizeof(T));
  }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      if (step == kSize && stride == kSize) {
        const IndexRows& rows = rows_of<IndexRows>();
        (std::is_same_v<T, float> ? rows.add_float : rows.add_double)(count, elements, values);
        return;
      }
    }
    for (int64_t i = 0; i < count; ++i) one(values + i * step, elements + i * stride);
  }
};

// The operands at one position of the walk, and their steps along the innermost dim.
struct Place {
  std::byte* at[kMaxOperands];
  int64_t step[kMaxOperands];
};

// The position that an index means; false when it is outside. What is neither negative nor outside
// takes one comparison, which the processor foresees.
bool wrap(const std::byte* index, int64_t below, int64_t size, int64_t& position) {
  const auto value = load<uint64_t>(index);
  const auto low = static_cast<uint64_t>(below);
  const auto end = static_cast<uint64_t>(size);
  position = static_cast<int64_t>(value);
  if (__builtin_expect_with_probability(static_cast<long>(value < end), 1, 0.999) != 0) return true;
  position = static_cast<int64_t>(value + low);
  return value + low < low;
}

// The loop over a row with one index array; false: an index is outside. Everything it reads besides
// is a local: what it writes might alias the plan. Inlined, so that the steps may be constants.
template <class Move, Range kRange>
[[gnu::always_inline]] inline bool single_loop(const Part& part, const Place& place, int64_t count,
                                               int64_t value_step, int64_t element_step,
                                               int64_t index_step, int64_t stride) {
  std::byte* value = place.at[0];
  std::byte* element = place.at[1];
  const std::byte* index = place.at[2];
  const int64_t size = part.plan.indexed_sizes[0];
  const int64_t below = reach_below(part.plan, 0);
  const int64_t low = part.low;
  const int64_t high = part.high;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    if (!wrap(index + i * index_step, below, size, position)) {
      if constexpr (kRange == Range::kChecked) return false;
      continue;
    }
    if constexpr (kRange == Range::kWindow) {
      if (position < low || position >= high) continue;
    }
    Move::one(value + i * value_step, element + i * element_step + position * stride);
  }
  return true;
}

// One row of a walk with one index array; every element has an index of its own.
template <class Move, Range kRange>
bool single_row(const Part& part, const Place& place, int64_t count) {
  constexpr int64_t kSize = Move::kSize;
  const int64_t stride = part.plan.indexed_strides[0];
  const bool dense = place.step[0] == kSize && place.step[2] == kIndexSize;
  if (dense && place.step[1] == 0 && stride == kSize)
    return single_loop<Move, kRange>(part, place, count, kSize, 0, kIndexSize, kSize);
  if (dense && place.step[1] == 0)
    return single_loop<Move, kRange>(part, place, count, kSize, 0, kIndexSize, stride);
  if (dense && place.step[1] == kSize)
    return single_loop<Move, kRange>(part, place, count, kSize, kSize, kIndexSize, stride);
  return single_loop<Move, kRange>(part, place, count, place.step[0], place.step[1], place.step[2],
                                   stride);
}

// The same for any number of index arrays.
template <class Move>
bool scattered_row(const Part& part, const Place& place, int64_t count) {
  const IndexPlan& plan = part.plan;
  if (plan.indices == 1) {
    if constexpr (Move::kWrites) {
      if (part.range == Range::kWindow) return single_row<Move, Range::kWindow>(part, place, count);
    } else {
      if (part.range == Range::kChecked)
        return single_row<Move, Range::kChecked>(part, place, count);
    }
    return single_row<Move, Range::kAll>(part, place, count);
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t first = 0;
    bool inside =
        wrap(place.at[2] + i * place.step[2], reach_below(plan, 0), plan.indexed_sizes[0], first);
    if constexpr (Move::kWrites) {
      if (first < part.low || first >= part.high) continue;
    }
    int64_t offset = first * plan.indexed_strides[0];
    for (int32_t j = 1; j < plan.indices; ++j) {
      int64_t position = 0;
      inside &= wrap(place.at[j + 2] + i * place.step[j + 2], reach_below(plan, j),
                     plan.indexed_sizes[j], position);
      offset += position * plan.indexed_strides[j];
    }
    if (!inside) continue;
    Move::one(place.at[0] + i * place.step[0], place.at[1] + i * place.step[1] + offset);
  }
  return true;
}

// One row whose elements share their indices: embeddings, whole slices.
template <class Move>
void shared_row(const Part& part, const Place& place, int64_t count) {
  const IndexPlan& plan = part.plan;
  int64_t offset = 0;
  for (int32_t j = 0; j < plan.indices; ++j) {
    int64_t position = 0;
    if (!wrap(place.at[j + 2], reach_below(plan, j), plan.indexed_sizes[j], position)) return;
    if (Move::kWrites && j == 0 && (position < part.low || position >= part.high)) return;
    offset += position * plan.indexed_strides[j];
  }
  Move::row(count, place.at[0], place.step[0], place.at[1] + offset, place.step[1]);
}

// False: an index is outside.
template <class Move>
bool run(const Part& part, int64_t begin, int64_t end) {
  const ElementwisePlan& walk = part.plan.walk;
  const int32_t inner = walk.ndim - 1;
  Place place;
  bool shared = true;
  for (int32_t k = 0; k < walk.operands; ++k) {
    place.step[k] = walk.strides[k][inner];
    shared = shared && (k < 2 || place.step[k] == 0);
  }
  Cursor cursor{walk.ndim, part.sizes, {}};
  cursor.seek(begin);
  while (begin < end) {
    const int64_t count = std::min(end - begin, cursor.left_in_row());
    for (int32_t k = 0; k < walk.operands; ++k)
      place.at[k] = part.data[k] + cursor.offset(walk.strides[k]);
    if (shared) {
      shared_row<Move>(part, place, count);
    } else if (!scattered_row<Move>(part, place, count)) {
      return false;
    }
    cursor.advance_in_row(count);
    begin += count;
  }
  return true;
}

// ---- Dividing the work ----

// Whether every element has an index that no other one has: then it is checked as it is used, which
// reads the indices once.
bool checks_while_reading(const IndexPlan& plan) {
  return plan.op == IndexOp::kGet && plan.indices == 1 && plan.walk.numel > 0 &&
         plan.walk.strides[2][plan.walk.ndim - 1] != 0 &&
         IndexArray(plan.walk, 2).numel == plan.walk.numel;
}

template <class Move>
Status run_reading(const IndexPlan& plan) {
  Part whole(plan);
  if (checks_while_reading(plan)) whole.range = Range::kChecked;
  std::atomic<bool> ok(true);
  parallel_for(plan.walk.numel, kGrain, [&](int64_t begin, int64_t end) {
    if (!run<Move>(whole, begin, end)) ok.store(false, std::memory_order_relaxed);
  });
  return ok.load(std::memory_order_relaxed) ? kernel::kOk
                                            : outside(plan, 0, IndexArray(plan.walk, 2));
}

// The longest dim along which the array itself advances: different positions on it never write to
// the same place. -1 when there is none.
int32_t independent_dim(const ElementwisePlan& walk) {
  int32_t best = -1;
  for (int32_t d = 0; d < walk.ndim; ++d) {
    if (walk.strides[1][d] == 0) continue;
    if (best < 0 || walk.sizes[d] > walk.sizes[best]) best = d;
  }
  return best;
}

// Every thread walks its part in row-major order, so repeated positions meet in one fixed order.
template <class Move>
void run_writing(const IndexPlan& plan) {
  const ElementwisePlan& walk = plan.walk;
  const Part whole(plan);
  if (walk.numel < 2 * kGrain) {
    run<Move>(whole, 0, whole.numel);
    return;
  }
  const int32_t dim = independent_dim(walk);
  if (dim >= 0) {
    const int64_t stride = std::max<int64_t>(1, std::abs(walk.strides[1][dim]));
    const int64_t fair = kGrain * walk.sizes[dim] / walk.numel;
    parallel_for(walk.sizes[dim], std::max({kLine / stride, fair, int64_t{1}}),
                 [&](int64_t begin, int64_t end) {
                   const Part part = whole.along(dim, begin, end);
                   run<Move>(part, 0, part.numel);
                 });
    return;
  }
  // All threads read all indices; each writes its own range of positions.
  const int64_t size = plan.indices > 0 ? plan.indexed_sizes[0] : 1;
  parallel_for(size, std::max<int64_t>(1, size / num_threads()), [&](int64_t begin, int64_t end) {
    Part part = whole;
    part.range = Range::kWindow;
    part.low = begin;
    part.high = end;
    run<Move>(part, 0, part.numel);
  });
}

template <class T>
Status move_elements(const IndexPlan& plan) {
  if (plan.op == IndexOp::kGet) return run_reading<Get<T>>(plan);
  run_writing<Put<T>>(plan);
  return kernel::kOk;
}

}  // namespace

Status index(const IndexPlan& plan) {
  const Status status = checks_while_reading(plan) ? kernel::kOk : check_indices(plan);
  if (status != kernel::kOk || plan.walk.numel == 0) return status;
  if (plan.op == IndexOp::kAccumulate) {
    visit_dtype(plan.walk.dtypes[1],
                [&]<class Tag>(Tag) { run_writing<Accumulate<typename Tag::type>>(plan); });
    return kernel::kOk;
  }
  switch (itemsize(plan.walk.dtypes[1])) {
    case 1:
      return move_elements<int8_t>(plan);
    case 2:
      return move_elements<int16_t>(plan);
    case 4:
      return move_elements<int32_t>(plan);
    case 8:
      return move_elements<int64_t>(plan);
    default:
      return move_elements<Pair>(plan);
  }
}

}  // namespace tsr::cpu
