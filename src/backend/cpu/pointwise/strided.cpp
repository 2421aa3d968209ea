// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise/strided.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/level.h"

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

// Calls a function with a value of the type that has elements of 1, 2, 4, 8 or 16 bytes. It is
// always inlined, since a call of its own costs an operator with a number 2 % of its instructions.
template <class F>
[[gnu::always_inline]] inline void with_element(int64_t size, F&& function) {
  switch (size) {
    case 1:
      return function(uint8_t{});
    case 2:
      return function(uint16_t{});
    case 4:
      return function(uint32_t{});
    case 8:
      return function(uint64_t{});
    default:
      return function(Pair{});
  }
}

// The even ones of the elements that two registers of 16 bytes hold.
[[gnu::always_inline]] inline __m128i even_elements(__m128i a, __m128i b, uint8_t) {
  const __m128i low = _mm_set1_epi16(0xff);
  return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}
[[gnu::always_inline]] inline __m128i even_elements(__m128i a, __m128i b, uint16_t) {
  const auto extended = [](__m128i x) { return _mm_srai_epi32(_mm_slli_epi32(x, 16), 16); };
  return _mm_packs_epi32(extended(a), extended(b));
}
[[gnu::always_inline]] inline __m128i even_elements(__m128i a, __m128i b, uint32_t) {
  return _mm_castps_si128(
      _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
[[gnu::always_inline]] inline __m128i even_elements(__m128i a, __m128i b, uint64_t) {
  return _mm_unpacklo_epi64(a, b);
}
// Copies every second element, a register at a time, and returns how many. The registers end before
// the last element, behind which the memory may be somebody else's.
template <class T>
int64_t take_every_second(int64_t count, std::byte* to, const std::byte* from) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLanes = 16 / kSize;
  const auto load = [&](int64_t offset) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + offset));
  };
  int64_t i = 0;
  for (; i + kLanes < count; i += kLanes) {
    const int64_t offset = 2 * i * kSize;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * kSize),
                     even_elements(load(offset), load(offset + 16), T()));
  }
  return i;
}

template <class T>
void copy_elements(int64_t count, std::byte* to, int64_t to_stride, const std::byte* from,
                   int64_t from_stride) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if (from_stride == 0) {
    // For a few elements the way through the table would cost more than the copies.
    constexpr int64_t kFew = 64 / kSize;
    if (to_stride == kSize && count > kFew) {
      rows_of<CopyRows>().repeat(count, kSize, to, from);
      return;
    }
    T value;
    std::memcpy(&value, from, sizeof(T));
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, &value, sizeof(T));
    return;
  }
  if (to_stride == kSize && from_stride == -kSize) {
    rows_of<CopyRows>().reverse(count, kSize, to, from - (count - 1) * kSize);
    return;
  }
  int64_t i = 0;
  if constexpr (kSize < 16) {
    if (to_stride == kSize && from_stride == 2 * kSize) i = take_every_second<T>(count, to, from);
  }
  for (; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}

// The elements of two registers by turns: their lower halves or their upper ones.
[[gnu::always_inline]] inline __m128i low_by_turns(__m128i a, __m128i b, uint8_t) {
  return _mm_unpacklo_epi8(a, b);
}
[[gnu::always_inline]] inline __m128i high_by_turns(__m128i a, __m128i b, uint8_t) {
  return _mm_unpackhi_epi8(a, b);
}
[[gnu::always_inline]] inline __m128i low_by_turns(__m128i a, __m128i b, uint16_t) {
  return _mm_unpacklo_epi16(a, b);
}
[[gnu::always_inline]] inline __m128i high_by_turns(__m128i a, __m128i b, uint16_t) {
  return _mm_unpackhi_epi16(a, b);
}
[[gnu::always_inline]] inline __m128i low_by_turns(__m128i a, __m128i b, uint32_t) {
  return _mm_unpacklo_epi32(a, b);
}
[[gnu::always_inline]] inline __m128i high_by_turns(__m128i a, __m128i b, uint32_t) {
  return _mm_unpackhi_epi32(a, b);
}
[[gnu::always_inline]] inline __m128i low_by_turns(__m128i a, __m128i b, uint64_t) {
  return _mm_unpacklo_epi64(a, b);
}
[[gnu::always_inline]] inline __m128i high_by_turns(__m128i a, __m128i b, uint64_t) {
  return _mm_unpackhi_epi64(a, b);
}

// Writes the columns of a block, whose rows fill a register of 16 bytes, as rows `to_step` bytes
// apart. Each round rotates the bits of an element's number, those of its row before those of its
// column, by one place: after as many rounds as either has bits they have changed places.
template <class T>
[[gnu::always_inline]] inline void transpose_registers(const T* from, int64_t from_step,
                                                       std::byte* to, int64_t to_step) {
  constexpr int kLanes = 16 / static_cast<int>(sizeof(T));
  __m128i rows[kLanes];
#pragma GCC unroll 16
  for (int k = 0; k < kLanes; ++k)
    rows[k] = _mm_load_si128(reinterpret_cast<const __m128i*>(from + k * from_step));
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
    __m128i turned[kLanes];
#pragma GCC unroll 8
    for (int k = 0; k < kLanes / 2; ++k) {
      turned[2 * k] = low_by_turns(rows[k], rows[k + kLanes / 2], T());
      turned[2 * k + 1] = high_by_turns(rows[k], rows[k + kLanes / 2], T());
    }
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) rows[k] = turned[k];
  }
#pragma GCC unroll 16
  for (int k = 0; k < kLanes; ++k)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + k * to_step), rows[k]);
}

// Writes the columns of an aligned tile as rows.
template <int64_t kTile, class T>
void write_turned(const T (&tile)[kTile][kTile], std::byte* to, int64_t to_step) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if constexpr (kSize < 16) {
    constexpr int64_t kBlock = 16 / kSize;
    for (int64_t i = 0; i < kTile; i += kBlock) {
      for (int64_t k = 0; k < kTile; k += kBlock)
        transpose_registers(&tile[k][i], kTile, to + i * to_step + k * kSize, to_step);
    }
  } else {
    for (int64_t i = 0; i < kTile; ++i) {
      T line[kTile];
      for (int64_t k = 0; k < kTile; ++k) line[k] = tile[k][i];
      std::memcpy(to + i * to_step, line, sizeof(line));
    }
  }
}

// A tile is one cache line of elements in both directions. Its source lines are copied to a buffer
// first: lines whose distance is a power of two share a few sets of the cache and would evict each
// other before all their elements are used.
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
        write_turned(tile, target, to_step);
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
  with_element(size, [&]<class T>(T) {
    transpose_tiles<T>(rows, columns, target, to_step, source, from_step);
  });
}

void copy_strided(int64_t count, int64_t size, void* to, int64_t to_stride, const void* from,
                  int64_t from_stride) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (to_stride == size && from_stride == size) {
    std::memcpy(target, source, static_cast<size_t>(count * size));
    return;
  }
  with_element(
      size, [&]<class T>(T) { copy_elements<T>(count, target, to_stride, source, from_stride); });
}

// ---- Rows ----

namespace {

// Copies rows of `nbytes` contiguous bytes from one step to another.
void copy_rows(int64_t rows, int64_t nbytes, std::byte* to, int64_t to_step, const std::byte* from,
               int64_t from_step) {
  if (from_step == 0 && to_step == nbytes && rows > 1) {  // one row, again and again
    std::memcpy(to, from, static_cast<size_t>(nbytes));
    const int64_t all = rows * nbytes;
    for (int64_t done = nbytes; done < all; done += std::min(done, all - done))
      std::memcpy(to + done, to, static_cast<size_t>(std::min(done, all - done)));
    return;
  }
  with_copy_of(nbytes, [&](auto copy) {
    for (int64_t r = 0; r < rows; ++r) copy(to + r * to_step, from + r * from_step);
  });
}

// A register of 16 bytes full of one element.
template <class T>
__m128i full_of(T element) {
  if constexpr (sizeof(T) == 1) return _mm_set1_epi8(static_cast<char>(element));
  if constexpr (sizeof(T) == 2) return _mm_set1_epi16(static_cast<int16_t>(element));
  if constexpr (sizeof(T) == 4) return _mm_set1_epi32(static_cast<int32_t>(element));
  if constexpr (sizeof(T) == 8) return _mm_set1_epi64x(static_cast<int64_t>(element));
  if constexpr (sizeof(T) == 16) return _mm_set_epi64x(element.high, element.low);
}

// Writes rows one behind the other, each of `count` times one element.
template <class T>
void repeat_each(int64_t rows, int64_t count, std::byte* to, const std::byte* from,
                 int64_t from_step) {
  const int64_t nbytes = count * static_cast<int64_t>(sizeof(T));
  const auto full = [&](int64_t r) {
    T element;
    std::memcpy(&element, from + r * from_step, sizeof(T));
    return full_of(element);
  };
  if (nbytes < kRegister) {
    // The end of a register is overwritten by the next row.
    int64_t r = 0;
    for (; (rows - r) * nbytes >= kRegister; ++r, to += nbytes)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), full(r));
    return with_half(nbytes, [&](auto half) {
      constexpr auto kSize = static_cast<int64_t>(sizeof(half));
      for (; r < rows; ++r, to += nbytes) {
        half = static_cast<decltype(half)>(_mm_cvtsi128_si64(full(r)));
        std::memcpy(to, &half, sizeof(half));
        std::memcpy(to + nbytes - kSize, &half, sizeof(half));
      }
    });
  }
  const auto store = [&](int64_t offset, __m128i value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + offset), value);
  };
  for (int64_t r = 0; r < rows; ++r, to += nbytes) {
    const __m128i value = full(r);
    for (int64_t k = 0; k + kRegister < nbytes; k += kRegister) store(k, value);
    store(nbytes - kRegister, value);
  }
}

void repeat_elements(int64_t rows, int64_t count, int64_t size, std::byte* to,
                     const std::byte* from, int64_t from_step) {
  with_element(size, [&]<class T>(T) { repeat_each<T>(rows, count, to, from, from_step); });
}

// The dims of one operand: those that it steps through as through one are one.
struct Steps {
  int32_t ndim = 0;
  int64_t sizes[kernel::kMaxRank], strides[kernel::kMaxRank], index[kernel::kMaxRank];

  Steps(const Cursor& cursor, const int64_t* operand) {
    for (int32_t d = 0; d < cursor.ndim; ++d) {
      const int64_t size = cursor.sizes[d];
      if (size == 1) continue;
      if (ndim > 0 && strides[ndim - 1] == operand[d] * size) {
        sizes[ndim - 1] *= size;
        strides[ndim - 1] = operand[d];
        index[ndim - 1] = index[ndim - 1] * size + cursor.index[d];
        continue;
      }
      sizes[ndim] = size;
      strides[ndim] = operand[d];
      index[ndim++] = cursor.index[d];
    }
    while (ndim < 2) {  // rows of one element each, or one row
      for (int32_t d = ndim++; d > 0; --d) {
        sizes[d] = sizes[d - 1];
        strides[d] = strides[d - 1];
        index[d] = index[d - 1];
      }
      sizes[0] = 1;
      strides[0] = index[0] = 0;
    }
  }

  [[nodiscard]] int64_t offset() const {
    int64_t bytes = 0;
    for (int32_t d = 0; d < ndim; ++d) bytes += index[d] * strides[d];
    return bytes;
  }
};

// Calls function(rows, width, offset, step, inner) for `count` elements from the cursor on: that
// many rows of `width` elements with the stride `inner`, the first at an offset in bytes, each a
// step behind the one before.
template <class F>
void for_rows(const Cursor& cursor, int64_t count, const int64_t* operand, F&& function) {
  Steps at(cursor, operand);
  const int32_t inner = at.ndim - 1;
  const int32_t outer = inner - 1;
  const int64_t width = at.sizes[inner];
  while (count > 0) {
    int64_t rows = 1;
    int64_t part = width - at.index[inner];
    if (part > count) part = count;
    if (at.index[inner] == 0 && part == width)
      rows = std::min(count / width, at.sizes[outer] - at.index[outer]);
    function(rows, part, at.offset(), at.strides[outer], at.strides[inner]);
    count -= rows * part;
    at.index[inner] += part;
    if (at.index[inner] < width) return;
    at.index[inner] = 0;
    at.index[outer] += rows;
    for (int32_t d = outer; d > 0 && at.index[d] == at.sizes[d]; --d) {
      at.index[d] = 0;
      ++at.index[d - 1];
    }
  }
}

}  // namespace

void gather(const Cursor& cursor, int64_t count, int64_t size, void* to, const void* base,
            const int64_t* strides) {
  auto* target = static_cast<std::byte*>(to);
  for_rows(cursor, count, strides,
           [&](int64_t rows, int64_t width, int64_t offset, int64_t step, int64_t inner) {
             const auto* source = static_cast<const std::byte*>(base) + offset;
             if (inner == size) {
               copy_rows(rows, width * size, target, width * size, source, step);
             } else if (inner == 0 && width * size <= kLongRow) {
               repeat_elements(rows, width, size, target, source, step);
             } else {
               for (int64_t r = 0; r < rows; ++r)
                 copy_strided(width, size, target + r * width * size, size, source + r * step,
                              inner);
             }
             target += rows * width * size;
           });
}

void scatter(const Cursor& cursor, int64_t count, int64_t size, void* base, const int64_t* strides,
             const void* from) {
  const auto* source = static_cast<const std::byte*>(from);
  for_rows(cursor, count, strides,
           [&](int64_t rows, int64_t width, int64_t offset, int64_t step, int64_t inner) {
             auto* target = static_cast<std::byte*>(base) + offset;
             if (inner == size) {
               copy_rows(rows, width * size, target, step, source, width * size);
             } else {
               for (int64_t r = 0; r < rows; ++r)
                 copy_strided(width, size, target + r * step, inner, source + r * width * size,
                              size);
             }
             source += rows * width * size;
           });
}

}  // namespace tsr::cpu
