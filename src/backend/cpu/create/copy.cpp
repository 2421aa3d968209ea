// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fill and copy: moving elements, with conversion where the dtypes differ.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/past_caches.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::ElementwisePlan;
using kernel::Status;

namespace {

template <class T>
bool move_row(int64_t count, void* out, const void* const* in, const kernel::Parameter*) {
  if (out != in[0]) std::memcpy(out, in[0], static_cast<size_t>(count) * sizeof(T));
  return true;
}
struct Pair {
  int64_t low, high;
};
Row find_move(int64_t size) {
  switch (size) {
    case 1:
      return &move_row<int8_t>;
    case 2:
      return &move_row<int16_t>;
    case 4:
      return &move_row<int32_t>;
    case 8:
      return &move_row<int64_t>;
    default:
      return &move_row<Pair>;
  }
}

// Copies with non-temporal stores, whole cache lines of the target at a time.
void stream_run(int64_t nbytes, std::byte* to, const std::byte* from) {
  constexpr int64_t kLine = 64;
  const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
  const int64_t head = std::min(nbytes, (kLine - past) % kLine);
  const int64_t lines = (nbytes - head) / kLine * kLine;
  std::memcpy(to, from, static_cast<size_t>(head));
  rows_of<CopyRows>().stream(to + head, from + head, lines);
  std::memcpy(to + head + lines, from + head + lines, static_cast<size_t>(nbytes - head - lines));
  _mm_sfence();
}

// ---- Transposition ----

// The dim along which the input is contiguous if the output is along the innermost one, and both
// are long enough for tiles; else -1. A plain loop would use one element of each cache line.
int32_t transposed_dim(const ElementwisePlan& plan) {
  if (plan.ndim < 2 || plan.dtypes[0] != plan.dtypes[1]) return -1;
  const int64_t size = itemsize(plan.dtypes[0]);
  const int32_t inner = plan.ndim - 1;
  const int64_t step = plan.strides[1][inner];
  if (plan.strides[0][inner] != size || step == size || step == 0 ||
      plan.sizes[inner] < kTransposeTile)
    return -1;
  for (int32_t d = inner - 1; d >= 0; --d) {
    if (plan.strides[1][d] == size && plan.sizes[d] >= kTransposeTile) return d;
  }
  return -1;
}

bool is_transposed(const ElementwisePlan& plan) {
  return transposed_dim(plan) >= 0;
}

// The plan with one dim moved next to the innermost one.
ElementwisePlan with_outer(const ElementwisePlan& plan, int32_t dim) {
  ElementwisePlan moved = plan;
  const auto move = [&](int64_t* of_dims) {
    std::rotate(of_dims + dim, of_dims + dim + 1, of_dims + plan.ndim - 1);
  };
  move(moved.sizes);
  move(moved.strides[0]);
  move(moved.strides[1]);
  return moved;
}

constexpr int64_t kSquare =
    128;  // tiles are visited in squares, so that few pages are in use at a time

// One task is a band of kSquare rows of one matrix.
void copy_transposed(const ElementwisePlan& given) {
  const ElementwisePlan plan = with_outer(given, transposed_dim(given));
  const int64_t size = itemsize(plan.dtypes[0]);
  const int32_t inner = plan.ndim - 1;
  const int64_t rows = plan.sizes[inner - 1];
  const int64_t columns = plan.sizes[inner];
  const int64_t bands = (rows + kSquare - 1) / kSquare;
  const int64_t grain = std::max<int64_t>(1, kGrain / (kSquare * columns));
  parallel_for(plan.numel / (rows * columns) * bands, grain, [&](int64_t begin, int64_t end) {
    Cursor cursor;
    cursor.ndim = std::max(1, plan.ndim - 2);
    constexpr int64_t kOne = 1;
    cursor.sizes = plan.ndim > 2 ? plan.sizes : &kOne;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task % bands * kSquare;
      std::byte* to = static_cast<std::byte*>(plan.data[0]) + row * plan.strides[0][inner - 1];
      const std::byte* from = static_cast<const std::byte*>(plan.data[1]) + row * size;
      if (plan.ndim > 2) {
        cursor.seek(task / bands);
        to += cursor.offset(plan.strides[0]);
        from += cursor.offset(plan.strides[1]);
      }
      for (int64_t column = 0; column < columns; column += kSquare) {
        transpose(std::min(kSquare, rows - row), std::min(kSquare, columns - column), size,
                  to + column * size, plan.strides[0][inner - 1],
                  from + column * plan.strides[1][inner], plan.strides[1][inner]);
      }
    }
  });
}

// ---- Reversal ----

// True if the input runs backwards along the innermost dim, and the output forwards, in rows that
// are long enough for a call each.
bool is_reversed(const ElementwisePlan& plan) {
  const int64_t size = itemsize(plan.dtypes[0]);
  const int32_t inner = plan.ndim - 1;
  return plan.dtypes[0] == plan.dtypes[1] && plan.strides[0][inner] == size &&
         plan.strides[1][inner] == -size && plan.sizes[inner] * size >= kLongRow;
}

void copy_reversed(const ElementwisePlan& plan) {
  const int64_t size = itemsize(plan.dtypes[0]);
  parallel_for(plan.numel, kGrain, [&](int64_t begin, int64_t end) {
    Cursor cursor{plan.ndim, plan.sizes, {}};
    cursor.seek(begin);
    while (begin < end) {
      const int64_t count = std::min(end - begin, cursor.left_in_row());
      copy_strided(
          count, size, static_cast<std::byte*>(plan.data[0]) + cursor.offset(plan.strides[0]), size,
          static_cast<const std::byte*>(plan.data[1]) + cursor.offset(plan.strides[1]), -size);
      cursor.advance_in_row(count);
      begin += count;
    }
  });
}

// The elements of a register of 16 bytes, the last one first.
template <class T, size_t... kLane>
[[gnu::always_inline]] inline void reverse_register(std::byte* to, const std::byte* from,
                                                    std::index_sequence<kLane...>) {
  using Register [[gnu::vector_size(kRegister)]] = T;
  Register lanes;
  std::memcpy(&lanes, from, kRegister);
  lanes = __builtin_shufflevector(lanes, lanes, (sizeof...(kLane) - 1 - kLane)...);
  std::memcpy(to, &lanes, kRegister);
}

// Reverses a row that fills a register or more. The last register may repeat elements of the one
// before it.
template <class T>
[[gnu::always_inline]] inline void reverse_short_row(int64_t count, std::byte* to,
                                                     const std::byte* from) {
  constexpr auto kLanes = kRegister / static_cast<int64_t>(sizeof(T));
  const auto reverse = [&](int64_t i) {
    reverse_register<T>(to + i * static_cast<int64_t>(sizeof(T)),
                        from + (count - i - kLanes) * static_cast<int64_t>(sizeof(T)),
                        std::make_index_sequence<kLanes>());
  };
  for (int64_t i = 0; i + kLanes < count; i += kLanes) reverse(i);
  reverse(count - kLanes);
}

// ---- Rows, straight from one array to the other ----

// Moves of 16 bytes, the last of which may repeat bytes of the one before: a row is often too short
// to be worth a call of memcpy.
[[gnu::always_inline]] inline void copy_bytes(int64_t count, std::byte* to, const std::byte* from) {
  constexpr int64_t kLong = 256;
  if (count < kRegister || count >= kLong) {
    std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count - kRegister; i += kRegister)
    std::memcpy(to + i, from + i, kRegister);
  std::memcpy(to + count - kRegister, from + count - kRegister, kRegister);
}

// Two dims: `rows` rows of `count` elements. A step is the distance of elements in a row.
struct Plane {
  std::byte* to;
  const std::byte* from;
  int64_t rows, count;
  int64_t to_row, to_step;
  int64_t from_row, from_step;
};

// Element by element, with the longer loop inside.
template <class T>
void copy_short_rows(const Plane& p) {
  const auto copy = [&](int64_t r, int64_t i) {
    std::memcpy(p.to + r * p.to_row + i * p.to_step, p.from + r * p.from_row + i * p.from_step,
                sizeof(T));
  };
  if (p.rows > p.count) {
    for (int64_t i = 0; i < p.count; ++i) {
      for (int64_t r = 0; r < p.rows; ++r) copy(r, i);
    }
    return;
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t i = 0; i < p.count; ++i) copy(r, i);
  }
}

template <class T>
void copy_plane(const Plane& p) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kShort = 8;
  const bool fills = p.to_step == kSize && p.count * kSize >= kRegister;
  if (fills && p.from_step == kSize) {
    for (int64_t r = 0; r < p.rows; ++r)
      copy_bytes(p.count * kSize, p.to + r * p.to_row, p.from + r * p.from_row);
    return;
  }
  if constexpr (std::is_integral_v<T>) {
    if (fills && p.from_step == -kSize) {
      const std::byte* last = p.from - (p.count - 1) * kSize;
      for (int64_t r = 0; r < p.rows; ++r)
        reverse_short_row<T>(p.count, p.to + r * p.to_row, last + r * p.from_row);
      return;
    }
  }
  if (p.count <= kShort) return copy_short_rows<T>(p);
  for (int64_t r = 0; r < p.rows; ++r)
    copy_strided(p.count, kSize, p.to + r * p.to_row, p.to_step, p.from + r * p.from_row,
                 p.from_step);
}

void copy_plane(const Plane& plane, int64_t size) {
  switch (size) {
    case 1:
      return copy_plane<uint8_t>(plane);
    case 2:
      return copy_plane<uint16_t>(plane);
    case 4:
      return copy_plane<uint32_t>(plane);
    case 8:
      return copy_plane<uint64_t>(plane);
    default:
      return copy_plane<Pair>(plane);
  }
}

// Outputs that walk_rows writes past the caches are left to it, if their rows are long enough for
// that to pay.
bool is_direct(const ElementwisePlan& plan) {
  constexpr int64_t kLongRow = 512;
  const int64_t size = itemsize(plan.dtypes[0]);
  return plan.dtypes[0] == plan.dtypes[1] &&
         (plan.sizes[plan.ndim - 1] * size < kLongRow || !past_caches(plan));
}

void copy_direct(const ElementwisePlan& plan) {
  const int64_t size = itemsize(plan.dtypes[0]);
  const int32_t inner = plan.ndim - 1;
  auto* to = static_cast<std::byte*>(plan.data[0]);
  const auto* from = static_cast<const std::byte*>(plan.data[1]);
  const int64_t to_step = plan.strides[0][inner];
  const int64_t from_step = plan.strides[1][inner];
  if (inner == 0) {
    parallel_for(plan.numel, kGrain, [&](int64_t begin, int64_t end) {
      copy_strided(end - begin, size, to + begin * to_step, to_step, from + begin * from_step,
                   from_step);
    });
    return;
  }
  const int64_t count = plan.sizes[inner];
  const int64_t grain = std::max<int64_t>(1, kGrain / count);
  parallel_for(plan.numel / count, grain, [&](int64_t begin, int64_t end) {
    Cursor cursor{inner, plan.sizes, {}};  // over the rows
    cursor.seek(begin);
    while (begin < end) {
      const int64_t rows = std::min(end - begin, cursor.left_in_row());
      copy_plane(
          {to + cursor.offset(plan.strides[0]), from + cursor.offset(plan.strides[1]), rows, count,
           plan.strides[0][inner - 1], to_step, plan.strides[1][inner - 1], from_step},
          size);
      cursor.advance_in_row(rows);
      begin += rows;
    }
  });
}

// ---- Wider elements ----

DType dtype_of_size(int64_t size) {
  if (size == 2) return DType::kInt16;
  if (size == 4) return DType::kInt32;
  return size == 8 ? DType::kInt64 : DType::kComplex128;
}

// Whether the rows of both arrays are contiguous and as long as an element of another dtype. `wide`
// is then the copy of those elements, with a dim less.
bool has_wider_elements(const ElementwisePlan& plan, ElementwisePlan& wide) {
  const int64_t size = itemsize(plan.dtypes[0]);
  const int32_t inner = plan.ndim - 1;
  const int64_t row = plan.sizes[inner] * size;
  if (inner == 0 || row > kRegister || !std::has_single_bit(static_cast<uint64_t>(row)) ||
      plan.dtypes[0] != plan.dtypes[1] || plan.strides[0][inner] != size ||
      plan.strides[1][inner] != size)
    return false;
  wide.ndim = inner;
  wide.operands = 2;
  wide.host_operands = plan.host_operands;
  wide.numel = plan.numel / plan.sizes[inner];
  wide.place = plan.place;
  std::copy_n(plan.sizes, inner, wide.sizes);
  for (int k = 0; k < 2; ++k) {
    std::copy_n(plan.strides[k], inner, wide.strides[k]);
    wide.data[k] = plan.data[k];
    wide.dtypes[k] = dtype_of_size(row);
  }
  return true;
}

// ---- One number, everywhere ----

// Whether the plan is one array, long enough for a call through the table and short enough for the
// caches.
bool is_dense_fill(const ElementwisePlan& plan) {
  constexpr int64_t kFew = 64;
  return plan.ndim == 1 && plan.numel > kFew && plan.strides[0][0] == itemsize(plan.dtypes[0]) &&
         !past_caches(plan.numel * itemsize(plan.dtypes[0]), 0);
}

// Without the buffer of the number that walk_rows copies from.
void fill_dense(const ElementwisePlan& plan) {
  const int64_t size = itemsize(plan.dtypes[0]);
  const auto run = [&](int64_t begin, int64_t end) {
    rows_of<CopyRows>().repeat(
        end - begin, size, static_cast<std::byte*>(plan.data[0]) + begin * size, &plan.params[0]);
  };
  if (plan.numel <= kGrain) return run(0, plan.numel);
  parallel_for(plan.numel, kGrain, run);
}

// ---- Conversion of one contiguous array to another ----

// Outputs past the caches are left to walk_rows.
bool is_dense_cast(const ElementwisePlan& plan) {
  const int64_t to = itemsize(plan.dtypes[0]);
  return plan.ndim == 1 && plan.dtypes[0] != plan.dtypes[1] && plan.strides[0][0] == to &&
         plan.strides[1][0] == itemsize(plan.dtypes[1]) && plan.data[0] != plan.data[1] &&
         !past_caches(plan);
}

// From memory to memory, where walk_rows has buffers between.
void cast_dense(const ElementwisePlan& plan) {
  const CastRow cast = rows_of<CopyRows>().cast(plan.dtypes[1], plan.dtypes[0]);
  const int64_t to_size = itemsize(plan.dtypes[0]);
  const int64_t from_size = itemsize(plan.dtypes[1]);
  parallel_for(plan.numel, kGrain, [&](int64_t begin, int64_t end) {
    cast(end - begin, static_cast<std::byte*>(plan.data[0]) + begin * to_size,
         static_cast<const std::byte*>(plan.data[1]) + begin * from_size);
  });
}

}  // namespace

Status fill(const ElementwisePlan& plan) {
  if (is_dense_fill(plan)) {
    fill_dense(plan);
    return kernel::kOk;
  }
  // The parameter becomes an operand with strides 0. Only the members that walk_rows reads are
  // filled in: the plan is large.
  ElementwisePlan source;
  source.ndim = plan.ndim;
  source.operands = 2;
  source.numel = plan.numel;
  std::copy_n(plan.sizes, plan.ndim, source.sizes);
  std::copy_n(plan.strides[0], plan.ndim, source.strides[0]);
  std::fill_n(source.strides[1], plan.ndim, 0);
  source.data[0] = plan.data[0];
  source.data[1] = const_cast<kernel::Parameter*>(&plan.params[0]);
  source.dtypes[0] = source.dtypes[1] = plan.dtypes[0];
  return walk_rows(source, {find_move(itemsize(plan.dtypes[0]))},
                   {plan.dtypes[0], {plan.dtypes[0]}});
}

Status copy(const ElementwisePlan& plan) {
  const int64_t size = itemsize(plan.dtypes[0]);
  if (plan.ndim == 1 && plan.dtypes[0] == plan.dtypes[1] && plan.strides[0][0] == size &&
      plan.strides[1][0] == size) {
    const bool streams = plan.data[0] != plan.data[1] && past_caches(plan);
    parallel_for(plan.numel * size, kGrain * 8, [&](int64_t begin, int64_t end) {
      auto* to = static_cast<std::byte*>(plan.data[0]) + begin;
      const auto* from = static_cast<const std::byte*>(plan.data[1]) + begin;
      if (streams)
        stream_run(end - begin, to, from);
      else
        std::memmove(to, from, static_cast<size_t>(end - begin));
    });
    return kernel::kOk;
  }
  if (is_dense_cast(plan)) {
    cast_dense(plan);
    return kernel::kOk;
  }
  ElementwisePlan wide;
  if (plan.numel > 0 && has_wider_elements(plan, wide)) return copy(wide);
  if (plan.numel > 0 && is_transposed(plan)) {
    copy_transposed(plan);
    return kernel::kOk;
  }
  if (plan.numel > 0 && is_reversed(plan)) {
    copy_reversed(plan);
    return kernel::kOk;
  }
  if (plan.numel > 0 && is_direct(plan)) {
    copy_direct(plan);
    return kernel::kOk;
  }
  // walk_rows casts the input first where the dtypes differ.
  return walk_rows(plan, {find_move(itemsize(plan.dtypes[0]))}, {plan.dtypes[0], {plan.dtypes[0]}});
}

}  // namespace tsr::cpu
