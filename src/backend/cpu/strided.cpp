// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/strided.h"

#include <algorithm>
#include <cstring>

namespace tsr::cpu {

void Cursor::seek(int64_t linear) {
  for (int32_t d = ndim - 1; d > 0; --d) {
    index[d] = linear % sizes[d];
    linear /= sizes[d];
  }
  index[0] = linear;
}

void Cursor::advance_in_row(int64_t count) {
  int32_t d = ndim - 1;
  index[d] += count;
  while (d > 0 && index[d] == sizes[d]) {
    index[d] = 0;
    ++index[--d];
  }
}

void Cursor::advance(int64_t count) {
  while (count > 0) {
    const int64_t part = std::min(count, left_in_row());
    advance_in_row(part);
    count -= part;
  }
}

int64_t Cursor::offset(const int64_t* strides) const {
  int64_t bytes = 0;
  for (int32_t d = 0; d < ndim; ++d) bytes += index[d] * strides[d];
  return bytes;
}

namespace {

struct Pair {
  int64_t low, high;
};

template <class T>
void copy_elements(int64_t count, std::byte* to, int64_t to_stride, const std::byte* from,
                   int64_t from_stride) {
  if (from_stride == 0) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    if (to_stride == static_cast<int64_t>(sizeof(T))) {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
      return;
    }
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, &value, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}

// A tile is one cache line of elements wide on both sides. Its source lines are brought together
// first: lines that lie a power of two apart share a few places of the cache and would push each
// other out before they are used up.
template <class T>
void transpose_tiles(int64_t rows, int64_t columns, std::byte* to, int64_t to_step,
                     const std::byte* from, int64_t from_step) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kTile = std::max<int64_t>(64 / kSize, 8);
  alignas(64) T tile[kTile][kTile];
  for (int64_t r = 0; r < rows; r += kTile) {
    const int64_t height = std::min(kTile, rows - r);
    for (int64_t c = 0; c < columns; c += kTile) {
      const int64_t width = std::min(kTile, columns - c);
      const std::byte* source = from + c * from_step + r * kSize;
      std::byte* target = to + r * to_step + c * kSize;
      if (height == kTile && width == kTile) {
        for (int64_t k = 0; k < kTile; ++k)
          std::memcpy(tile[k], source + k * from_step, kTile * kSize);
        for (int64_t i = 0; i < kTile; ++i) {
          T line[kTile];
          for (int64_t k = 0; k < kTile; ++k) line[k] = tile[k][i];
          std::memcpy(target + i * to_step, line, kTile * kSize);
        }
        continue;
      }
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t k = 0; k < width; ++k) {
          std::memcpy(target + i * to_step + k * kSize, source + k * from_step + i * kSize, kSize);
        }
      }
    }
  }
}

}  // namespace

void transpose(int64_t rows, int64_t columns, int64_t size, void* to, int64_t to_step,
               const void* from, int64_t from_step) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  switch (size) {
    case 1:
      return transpose_tiles<uint8_t>(rows, columns, target, to_step, source, from_step);
    case 2:
      return transpose_tiles<uint16_t>(rows, columns, target, to_step, source, from_step);
    case 4:
      return transpose_tiles<uint32_t>(rows, columns, target, to_step, source, from_step);
    case 8:
      return transpose_tiles<uint64_t>(rows, columns, target, to_step, source, from_step);
    default:
      return transpose_tiles<Pair>(rows, columns, target, to_step, source, from_step);
  }
}

void copy_strided(int64_t count, int64_t size, void* to, int64_t to_stride, const void* from,
                  int64_t from_stride) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (to_stride == size && from_stride == size) {
    std::memcpy(target, source, static_cast<size_t>(count * size));
    return;
  }
  switch (size) {
    case 1:
      return copy_elements<uint8_t>(count, target, to_stride, source, from_stride);
    case 2:
      return copy_elements<uint16_t>(count, target, to_stride, source, from_stride);
    case 4:
      return copy_elements<uint32_t>(count, target, to_stride, source, from_stride);
    case 8:
      return copy_elements<uint64_t>(count, target, to_stride, source, from_stride);
    default:
      return copy_elements<Pair>(count, target, to_stride, source, from_stride);
  }
}

void gather(Cursor cursor, int64_t count, int64_t size, void* to, const void* base,
            const int64_t* strides) {
  auto* target = static_cast<std::byte*>(to);
  const int64_t inner = strides[cursor.ndim - 1];
  while (count > 0) {
    const int64_t part = std::min(count, cursor.left_in_row());
    copy_strided(part, size, target, size,
                 static_cast<const std::byte*>(base) + cursor.offset(strides), inner);
    cursor.advance_in_row(part);
    target += part * size;
    count -= part;
  }
}

void scatter(Cursor cursor, int64_t count, int64_t size, void* base, const int64_t* strides,
             const void* from) {
  const auto* source = static_cast<const std::byte*>(from);
  const int64_t inner = strides[cursor.ndim - 1];
  while (count > 0) {
    const int64_t part = std::min(count, cursor.left_in_row());
    copy_strided(part, size, static_cast<std::byte*>(base) + cursor.offset(strides), inner, source,
                 size);
    cursor.advance_in_row(part);
    source += part * size;
    count -= part;
  }
}

}  // namespace tsr::cpu
