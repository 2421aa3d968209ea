// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products with a right matrix that is packed once and used many times: a tile of the result stays
// in registers while a panel of the packed matrix goes by.
#pragma once

#include <algorithm>
#include <utility>

#include "backend/common/math_any.h"
#include "backend/common/vec.h"
#include "backend/cpu/isa/transpose.h"
#include "backend/cpu/linalg/product_rows.h"

namespace tsr::cpu::TSR_ISA {

// A tile is kTileRows rows of two registers: with those of the panel's line and of the row's
// element they fit into 32 or 16 registers.
inline constexpr int kTileRows = kVecBytes == 64 ? 12 : 6;
template <class T>
inline constexpr int64_t kPanel = 2 * Vec<T>::kSize;

// out[r][j] (+)= Σ_i left[r][i] panel[i][j] for kRows rows and `columns` of a panel's columns. The
// rows of a packed left matrix are side by side.
template <int kRows, bool kLeftPacked, class T>
void packed_tile(const PackedProduct<T>& p, const T* left, const T* panel, int64_t columns,
                 T* out) {
  using V = Vec<T>;
  V sums[kRows][2];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = V(0);
  for (int64_t i = 0; i < p.inner; ++i) {
    const V first = V::load(panel + i * kPanel<T>);
    const V second = V::load(panel + i * kPanel<T> + V::kSize);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V factor(kLeftPacked ? left[i * kRows + r] : left[r * p.left_step + i]);
      sums[r][0] = fma(factor, first, sums[r][0]);
      sums[r][1] = fma(factor, second, sums[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    T* const to = out + r * p.out_step;
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const int64_t count = columns - half * V::kSize;
      T* const place = to + half * V::kSize;
      if (count >= V::kSize) {
        (p.adds ? V::load(place) + sums[r][half] : sums[r][half]).store(place);
      } else if (count > 0) {
        const V before = p.adds ? V::load_part(place, count, T{0}) : V(0);
        (before + sums[r][half]).store_part(place, count);
      }
    }
  }
}

template <class T>
using Tile = void (*)(const PackedProduct<T>& p, const T* left, const T* panel, int64_t columns,
                      T* out);
// packed_tile for every number of rows; entry kRows - 1.
template <bool kLeftPacked, class T, int... kRow>
struct TileList {
  static constexpr Tile<T> kEach[] = {packed_tile<kRow + 1, kLeftPacked, T>...};
};
template <bool kLeftPacked, class T, int... kRow>
TileList<kLeftPacked, T, kRow...> list_tiles(std::integer_sequence<int, kRow...> /*all*/);
template <bool kLeftPacked, class T>
using Tiles = decltype(list_tiles<kLeftPacked, T>(std::make_integer_sequence<int, kTileRows>()));

// Calls fn(first row, rows) for tiles of nearly equal heights: a tile of few rows waits for its
// sums.
template <class Fn>
[[gnu::always_inline]] inline void each_tile(int64_t rows, Fn fn) {
  const int64_t parts = (rows + kTileRows - 1) / kTileRows;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = rows * part / parts;
    fn(first, rows * (part + 1) / parts - first);
  }
}

// The panels [begin, end). All rows of a panel come one after the other, so that it is read from
// memory once.
template <class T>
void packed_multiply(const PackedProduct<T>& p, int64_t begin, int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t column = panel * kPanel<T>;
    const int64_t columns = std::min(kPanel<T>, p.columns - column);
    const T* const from = p.packed + panel * p.panel_step;
    each_tile(p.rows, [&](int64_t row, int64_t rows) {
      T* const to = p.out + row * p.out_step + column;
      if (p.left_step == 0)
        Tiles<true, T>::kEach[rows - 1](p, p.left + row * p.inner, from, columns, to);
      else
        Tiles<false, T>::kEach[rows - 1](p, p.left + row * p.left_step, from, columns, to);
    });
  }
}

// Rows that fit into a square of registers are turned there. A register holds one number of each
// row and garbage, over which the next one is written; the last ones are written in part.
template <class T>
void pack_left_rows(int64_t rows, int64_t inner, const T* left, int64_t left_step, T* packed) {
  using V = Vec<T>;
  each_tile(rows, [&](int64_t row, int64_t count) {
    const T* const from = left + row * left_step;
    T* const to = packed + row * inner;
    int64_t i = 0;
    for (; count <= V::kSize && i + V::kSize <= inner; i += V::kSize) {
      V square[V::kSize];
#pragma GCC unroll 16
      for (int r = 0; r < V::kSize; ++r)
        square[r] = r < count ? V::load(from + r * left_step + i) : V(0);
      transpose(square);
      T* const place = to + i * count;
      const T* const end = to + inner * count;
#pragma GCC unroll 16
      for (int k = 0; k < V::kSize; ++k) {
        if (place + k * count + V::kSize <= end)
          square[k].store(place + k * count);
        else
          square[k].store_part(place + k * count, count);
      }
    }
    for (; i < inner; ++i) {
      for (int64_t r = 0; r < count; ++r) to[i * count + r] = from[r * left_step + i];
    }
  });
}

inline constexpr int64_t kPackedRun = 16;

// `columns` of a panel whose matrix has contiguous columns: squares are transposed in registers,
// the rest is moved a few rows at a time, so that whole cache lines are read.
template <class T>
inline void pack_turned(const MatrixToPack<T>& m, const T* from, int64_t columns, T* to) {
  using V = Vec<T>;
  const int64_t squares = m.row_step == 1 ? columns / V::kSize * V::kSize : 0;
  const int64_t height = m.row_step == 1 ? m.rows / V::kSize * V::kSize : 0;
  for (int64_t j = 0; j < squares; j += V::kSize) {
    for (int64_t i = 0; i < height; i += V::kSize) {
      V square[V::kSize];
#pragma GCC unroll 16
      for (int k = 0; k < V::kSize; ++k) square[k] = V::load(from + (j + k) * m.column_step + i);
      transpose(square);
#pragma GCC unroll 16
      for (int k = 0; k < V::kSize; ++k) square[k].store(to + (i + k) * kPanel<T> + j);
    }
  }
  for (int64_t start = 0; start < m.rows; start += kPackedRun) {
    const int64_t stop = std::min(start + kPackedRun, m.rows);
    for (int64_t j = stop <= height ? squares : 0; j < columns; ++j) {
      for (int64_t i = start; i < stop; ++i)
        to[i * kPanel<T> + j] = from[i * m.row_step + j * m.column_step];
    }
  }
}

// A whole panel of contiguous rows.
template <class T>
inline void copy_panel(const MatrixToPack<T>& m, const T* from, T* to) {
  using V = Vec<T>;
  for (int64_t i = 0; i < m.rows; ++i) {
    const V first = V::load(from + i * m.row_step);
    const V second = V::load(from + i * m.row_step + V::kSize);
    first.store(to + i * kPanel<T>);
    second.store(to + i * kPanel<T> + V::kSize);
  }
}

// Panel by panel; a panel holds its columns of all rows of the matrix, row by row, with zeros
// behind the last column.
template <class T>
void pack_panels(const MatrixToPack<T>& m, int64_t begin, int64_t end, T* packed) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t column = panel * kPanel<T>;
    const int64_t columns = std::min(kPanel<T>, m.columns - column);
    T* const to = packed + column * m.rows;
    const T* const from = m.data + column * m.column_step;
    for (int64_t i = 0; i < m.rows; ++i)
      std::fill(to + i * kPanel<T> + columns, to + (i + 1) * kPanel<T>, T{0});
    if (m.column_step == 1) {
      if (columns == kPanel<T>) {
        copy_panel(m, from, to);
      } else {
        for (int64_t i = 0; i < m.rows; ++i)
          std::copy_n(from + i * m.row_step, columns, to + i * kPanel<T>);
      }
      continue;
    }
    pack_turned(m, from, columns, to);
  }
}

template <class T>
inline constexpr PackedRows<T> kPackedRows{
    .panel = kPanel<T>,
    .pack = pack_panels<T>,
    .pack_left = pack_left_rows<T>,
    .multiply = packed_multiply<T>,
};

}  // namespace tsr::cpu::TSR_ISA
