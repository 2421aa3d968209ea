// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sums of 16-bit floats at indexed positions. The array is summed up tile by tile in float32, so
// that an element is rounded once however many values are added to it. Every element belongs to one
// tile and gets its values in the order of the walk, so the result does not depend on the tiles,
// whose size depends on the number of threads.
#include "backend/cpu/index/index_sums.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/index/index_walk.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ElementwisePlan;
using kernel::IndexPlan;
using kernel::kMaxRank;
using kernel::Status;

constexpr int64_t kTile = int64_t{1} << 16;  // numbers of a tile, at least
constexpr int64_t kParts = 16;   // the tiles of all threads are 1 / kParts of a large array
constexpr int64_t kNarrow = 32;  // the shortest part of a row that is worth a tile

// An axis of the array within a tile: a dim of the walk that advances in the array, or an indexed
// axis.
struct Axis {
  int64_t begin, end;  // the positions of this tile
  int64_t stride;      // bytes in the array
  int64_t wide;        // bytes in the tile
  [[nodiscard]] int64_t size() const { return end - begin; }
};

// Adds values to an array of float32: 16-bit ones, or some that have been widened.
template <class S>
struct AccumulateWide {
  static constexpr bool kWrites = true;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(S));
  static constexpr auto kElement = static_cast<int64_t>(sizeof(float));
  static void one(std::byte* value, std::byte* element) {
    const float sum = load<float>(element) + static_cast<float>(load<S>(value));
    std::memcpy(element, &sum, sizeof(float));
  }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    if (step != kSize || stride != kElement) {
      for (int64_t i = 0; i < count; ++i) one(values + i * step, elements + i * stride);
      return;
    }
    const IndexRows& rows = rows_of<IndexRows>();
    const auto add = std::is_same_v<S, float>  ? rows.add_float
                     : std::is_same_v<S, Half> ? rows.add_half
                                               : rows.add_bfloat;
    add(count, elements, values);
  }
  template <class F>
  static void with_row(int64_t count, F&& function) {
    function([=](std::byte* values, std::byte* elements) {
      row(count, values, kSize, elements, kElement);
    });
  }
};

template <class S>
class WideSums {
 public:
  explicit WideSums(const IndexPlan& plan) : plan_(plan), dim_(independent_dim(plan.walk)) {
    const ElementwisePlan& walk = plan.walk;
    for (int32_t d = 0; d < walk.ndim; ++d) {
      if (walk.strides[1][d] != 0) total_ *= walk.sizes[d];
    }
    for (int32_t j = 0; j < plan.indices; ++j) total_ *= plan.indexed_sizes[j];
    const int64_t length = dim_ < 0 ? 1 : walk.sizes[dim_];
    const int64_t positions = plan.indices > 0 ? plan.indexed_sizes[0] : 1;
    const int64_t rest = total_ / (length * positions);
    const int64_t threads = walk.numel < 2 * kGrain ? 1 : num_threads();
    const int64_t room =
        std::min(std::max(kTile, total_ / (kParts * threads)), (total_ + threads - 1) / threads);
    // If the elements of a row share one index, tiles hold whole rows first: every tile reads all
    // indices again. Otherwise tiles are cut along the dim and hold all positions: in one with some
    // of them no processor foresees which elements it passes over.
    const int64_t beside = index_for_each() ? positions * rest : rest;
    length_ = std::clamp(room / beside, std::min(length, kNarrow), length);
    positions_ = std::clamp<int64_t>(room / (length_ * rest), 1, positions);
    across_ = (length + length_ - 1) / length_;
    tiles_ = across_ * ((positions + positions_ - 1) / positions_);
  }

  Status run() const {
    std::atomic<bool> ok(true);
    parallel_for(tiles_, 1, [&](int64_t begin, int64_t end) {
      const int64_t rest = total_ / (whole_length() * whole_positions());
      const Workspace space(length_ * positions_ * rest * static_cast<int64_t>(sizeof(float)));
      if (space.data() == nullptr) {
        ok.store(false, std::memory_order_relaxed);
        return;
      }
      for (int64_t tile = begin; tile < end; ++tile) sum_tile(tile, space.data());
    });
    return ok.load(std::memory_order_relaxed)
               ? kernel::kOk
               : failure(Code::kOutOfMemory, "expected memory for sums in float32, got none");
  }

 private:
  [[nodiscard]] int64_t whole_length() const { return dim_ < 0 ? 1 : plan_.walk.sizes[dim_]; }
  [[nodiscard]] int64_t whole_positions() const {
    return plan_.indices > 0 ? plan_.indexed_sizes[0] : 1;
  }

  // The axes of a tile. Its numbers are in the order of the array in memory, without gaps.
  struct Axes {
    Axis of_dim[kMaxRank];
    Axis of_index[kernel::kMaxIndices];
    Axis* order[kMaxRank];  // by the array's strides, the longest first
    int32_t count = 0;

    void add(Axis& axis) {
      int32_t at = count++;
      for (; at > 0 && std::abs(order[at - 1]->stride) < std::abs(axis.stride); --at)
        order[at] = order[at - 1];
      order[at] = &axis;
    }
  };

  void set_axes(int64_t tile, Axes& axes) const {
    const ElementwisePlan& walk = plan_.walk;
    for (int32_t d = 0; d < walk.ndim; ++d) {
      if (walk.strides[1][d] == 0) continue;
      const int64_t first = d == dim_ ? tile % across_ * length_ : 0;
      const int64_t last = d == dim_ ? first + length_ : walk.sizes[d];
      axes.of_dim[d] = {first, std::min(last, walk.sizes[d]), walk.strides[1][d], 0};
      axes.add(axes.of_dim[d]);
    }
    for (int32_t j = 0; j < plan_.indices; ++j) {
      const int64_t size = plan_.indexed_sizes[j];
      const int64_t first = j == 0 ? tile / across_ * positions_ : 0;
      axes.of_index[j] = {first, j == 0 ? std::min(size, first + positions_) : size,
                          plan_.indexed_strides[j], 0};
      axes.add(axes.of_index[j]);
    }
    int64_t step = sizeof(float);
    for (int32_t k = axes.count; k-- > 0;) {
      axes.order[k]->wide = step;
      step *= axes.order[k]->size();
    }
  }

  // Copies between the array and the tile; `into` is the side that is written.
  enum class Into { kWide, kArray };
  void copy_tile(const Axes& axes, void* tile, Into into) const {
    const int wide = into == Into::kWide ? 0 : 1;
    ElementwisePlan moved;
    moved.ndim = std::max(axes.count, 1);
    moved.operands = 2;
    moved.host_operands = 0;
    moved.numel = 1;
    moved.place = plan_.walk.place;
    auto* array = static_cast<std::byte*>(plan_.walk.data[1]);
    moved.sizes[0] = 1;
    moved.strides[0][0] = moved.strides[1][0] = 0;
    for (int32_t k = 0; k < axes.count; ++k) {
      const Axis& axis = *axes.order[k];
      moved.sizes[k] = axis.size();
      moved.strides[wide][k] = axis.wide;
      moved.strides[1 - wide][k] = axis.stride;
      moved.numel *= axis.size();
      array += axis.begin * axis.stride;
    }
    moved.data[wide] = tile;
    moved.data[1 - wide] = array;
    moved.dtypes[wide] = DType::kFloat32;
    moved.dtypes[1 - wide] = plan_.walk.dtypes[1];
    copy(moved);
  }

  void sum_tile(int64_t tile, void* memory) const {
    Axes axes;
    set_axes(tile, axes);
    copy_tile(axes, memory, Into::kWide);
    IndexPlan wide = plan_;
    auto* base = static_cast<std::byte*>(memory);
    for (int32_t d = 0; d < plan_.walk.ndim; ++d) {
      if (plan_.walk.strides[1][d] == 0) continue;
      wide.walk.strides[1][d] = axes.of_dim[d].wide;
      base -= axes.of_dim[d].begin * axes.of_dim[d].wide;
    }
    for (int32_t j = 0; j < plan_.indices; ++j) {
      wide.indexed_strides[j] = axes.of_index[j].wide;
      base -= axes.of_index[j].begin * axes.of_index[j].wide;
    }
    wide.walk.data[1] = base;
    const Part whole(wide);
    Part part =
        dim_ < 0 ? whole : whole.along(dim_, axes.of_dim[dim_].begin, axes.of_dim[dim_].end);
    if (plan_.indices > 0 && positions_ < whole_positions()) {
      part.range = Range::kWindow;
      part.low = axes.of_index[0].begin;
      part.high = axes.of_index[0].end;
    }
    if (index_for_each())
      add_widened(part, wide.walk.strides[0]);
    else
      static_cast<void>(walk_part<AccumulateWide<S>>(part, 0, part.numel));
    copy_tile(axes, memory, Into::kArray);
  }

  // Whether neighbours have different indices, so that values are added one by one.
  [[nodiscard]] bool index_for_each() const {
    for (int32_t j = 0; j < plan_.indices; ++j) {
      if (plan_.walk.strides[j + 2][plan_.walk.ndim - 1] != 0) return true;
    }
    return false;
  }

  // Walks the part with values that are widened many at a time, which takes a fraction of the time
  // that each alone would. `strides` are those of the values in the part's plan.
  static void add_widened(Part part, int64_t* strides) {
    constexpr int64_t kPiece = 1024;  // with its copy a small part of the first-level cache
    const CastRow widen = rows_of<CopyRows>().cast(dtype_of<S>(), DType::kFloat32);
    const int32_t ndim = part.plan.walk.ndim;
    const std::byte* const values = part.data[0];
    int64_t of_values[kMaxRank];
    int64_t step = sizeof(float);
    for (int32_t d = ndim; d-- > 0;) {
      of_values[d] = std::exchange(strides[d], step);
      step *= part.sizes[d];
    }
    alignas(S) std::byte gathered[kPiece * sizeof(S)];
    float numbers[kPiece];
    Cursor cursor{ndim, part.sizes, {}};
    for (int64_t begin = 0; begin < part.numel; begin += kPiece) {
      const int64_t count = std::min(kPiece, part.numel - begin);
      cursor.seek(begin);
      gather(cursor, count, sizeof(S), gathered, values, of_values);
      widen(count, numbers, gathered);
      part.data[0] =
          reinterpret_cast<std::byte*>(numbers) - begin * static_cast<int64_t>(sizeof(float));
      static_cast<void>(walk_part<AccumulateWide<float>>(part, begin, begin + count));
    }
  }

  const IndexPlan& plan_;
  int32_t dim_;  // a dim of the walk along which tiles are cut; -1: none
  int64_t total_ = 1;
  int64_t length_, positions_;  // of a tile, along that dim and of the first index
  int64_t across_, tiles_;
};

// ---- Rows ----

// Rows of contiguous values, each with one index of one index array. The values that go to one row
// of the array follow each other here, so that their sum stays in the first-level cache, and rows
// without values are not read.
template <class S>
class RowSums {
 public:
  static bool takes(const IndexPlan& plan) {
    const ElementwisePlan& walk = plan.walk;
    return plan.indices == 1 && walk.ndim == 2 && walk.sizes[1] >= kNarrow &&
           walk.strides[0][1] == kSize && walk.strides[1][1] == kSize && walk.strides[1][0] == 0 &&
           walk.strides[2][1] == 0;
  }

  explicit RowSums(const IndexPlan& plan)
      : plan_(plan),
        rows_(plan.walk.sizes[0]),
        positions_(plan.indexed_sizes[0]),
        columns_(plan.walk.sizes[1]) {}

  Status run() const {
    const Workspace space((positions_ + 2 + 2 * rows_) * kIndexSize);
    auto* const starts = static_cast<int64_t*>(space.data());
    if (starts == nullptr)
      return failure(Code::kOutOfMemory, "expected memory for sums in float32, got none");
    int64_t* const order = starts + positions_ + 2;
    bring_together(starts, order, order + rows_);
    const int64_t each = columns_ * rows_ / positions_ + 1;
    parallel_for(positions_, std::max<int64_t>(1, kGrain / each), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        if (starts[p] < starts[p + 1]) sum_row(p, order + starts[p], order + starts[p + 1]);
      }
    });
    return kernel::kOk;
  }

 private:
  static constexpr auto kSize = static_cast<int64_t>(sizeof(S));

  // The rows of values by their positions, those of one position in their order: `order` has those
  // of position p from starts[p] on. An index outside the array, which another thread has written
  // since the check, counts as one behind the last.
  void bring_together(int64_t* starts, int64_t* order, int64_t* position_of) const {
    std::fill_n(starts, positions_ + 2, 0);
    const auto* const index = static_cast<const std::byte*>(plan_.walk.data[2]);
    const int64_t below = reach_below(plan_, 0);
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t position = 0;
      if (!wrap(index + row * plan_.walk.strides[2][0], below, positions_, position))
        position = positions_;
      position_of[row] = position;
      ++starts[position + 1];
    }
    for (int64_t p = 0; p < positions_; ++p) starts[p + 1] += starts[p];
    // Each start moves to the end of its position, where the next one began; so one to the right.
    std::copy_backward(starts, starts + positions_ + 1, starts + positions_ + 2);
    for (int64_t row = 0; row < rows_; ++row) order[starts[position_of[row] + 1]++] = row;
  }

  void sum_row(int64_t position, const int64_t* first, const int64_t* last) const {
    constexpr int64_t kPiece = 1024;
    const ElementwisePlan& walk = plan_.walk;
    const CastRow widen = rows_of<CopyRows>().cast(dtype_of<S>(), DType::kFloat32);
    const CastRow narrow = rows_of<CopyRows>().cast(DType::kFloat32, dtype_of<S>());
    auto* const target =
        static_cast<std::byte*>(walk.data[1]) + position * plan_.indexed_strides[0];
    auto* const values = static_cast<std::byte*>(walk.data[0]);
    float sums[kPiece];
    for (int64_t i = 0; i < columns_; i += kPiece) {
      const int64_t count = std::min(kPiece, columns_ - i);
      widen(count, sums, target + i * kSize);
      for (const int64_t* row = first; row != last; ++row) {
        AccumulateWide<S>::row(count, values + *row * walk.strides[0][0] + i * kSize, kSize,
                               reinterpret_cast<std::byte*>(sums), sizeof(float));
      }
      narrow(count, target + i * kSize, sums);
    }
  }

  const IndexPlan& plan_;
  int64_t rows_, positions_, columns_;
};

template <class S>
Status accumulate(const IndexPlan& plan) {
  return RowSums<S>::takes(plan) ? RowSums<S>(plan).run() : WideSums<S>(plan).run();
}

}  // namespace

Status accumulate_short(const IndexPlan& plan) {
  return plan.walk.dtypes[1] == DType::kFloat16 ? accumulate<Half>(plan)
                                                : accumulate<BFloat16>(plan);
}

}  // namespace tsr::cpu
