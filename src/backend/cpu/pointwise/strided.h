// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Moving elements between strided arrays and contiguous buffers; elements are bytes of a known
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/contract.h"

namespace tsr::cpu {

// A position in a row-major loop over `ndim` dims.
struct Cursor {
  int32_t ndim;
  const int64_t* sizes;
  int64_t index[kernel::kMaxRank];

  // Moves to the element of that linear number.
  void seek(int64_t linear);
  // Moves `count` elements on within the innermost dim, or to the start of the next row at its end.
  void advance_in_row(int64_t count);
  // Moves `count` elements on.
  void advance(int64_t count);
  // Elements left in the current row.
  [[nodiscard]] int64_t left_in_row() const { return sizes[ndim - 1] - index[ndim - 1]; }
  // Byte offset of the current element in an operand of those strides.
  [[nodiscard]] int64_t offset(const int64_t* strides) const;
};

// Copies `count` elements of `size` bytes (1, 2, 4, 8 or 16) from one stride to another.
void copy_strided(int64_t count, int64_t size, void* to, int64_t to_stride, const void* from,
                  int64_t from_stride);
// Matrices smaller than this in either direction are not worth transposing by tiles.
inline constexpr int64_t kTransposeTile = 16;
// to[r][c] = from[c][r] for a block of elements: rows of `to` and columns of `from` are contiguous
// inside.
void transpose(int64_t rows, int64_t columns, int64_t size, void* to, int64_t to_step,
               const void* from, int64_t from_step);
// ---- Short rows ----

// Longer rows are copied by memcpy, whose call is then the smaller part.
inline constexpr int64_t kLongRow = 512;
inline constexpr int64_t kRegister = 16;

// Calls a function with the type whose size is that of half a row of at most 15 bytes, rounded up.
template <class F>
void with_half(int64_t nbytes, F&& function) {
  if (nbytes >= 8) return function(uint64_t{});
  if (nbytes >= 4) return function(uint32_t{});
  if (nbytes >= 2) return function(uint16_t{});
  function(uint8_t{});
}

// Calls a function with copy(to, from), which copies `nbytes` contiguous bytes and whose way is
// chosen once for many rows. Its registers overlap at the end of a row: no byte outside of it is
// read or written.
template <class F>
void with_copy_of(int64_t nbytes, F&& function) {
  if (nbytes < kRegister) {
    return with_half(nbytes, [&](auto half) {
      function([=](std::byte* to, const std::byte* from) {
        auto first = half, last = half;
        const int64_t end = nbytes - static_cast<int64_t>(sizeof(half));
        std::memcpy(&first, from, sizeof(half));
        std::memcpy(&last, from + end, sizeof(half));
        std::memcpy(to, &first, sizeof(half));
        std::memcpy(to + end, &last, sizeof(half));
      });
    });
  }
  if (nbytes > kLongRow) {
    return function([=](std::byte* to, const std::byte* from) {
      std::memcpy(to, from, static_cast<size_t>(nbytes));
    });
  }
  function([=](std::byte* to, const std::byte* from) {
    for (int64_t k = 0; k + kRegister < nbytes; k += kRegister)
      std::memcpy(to + k, from + k, kRegister);
    std::memcpy(to + nbytes - kRegister, from + nbytes - kRegister, kRegister);
  });
}

// Copies `count` elements, from the cursor on, to a contiguous buffer, or back.
void gather(const Cursor& cursor, int64_t count, int64_t size, void* to, const void* base,
            const int64_t* strides);
void scatter(const Cursor& cursor, int64_t count, int64_t size, void* base, const int64_t* strides,
             const void* from);

}  // namespace tsr::cpu
