// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of a large matrix with a few rows. The matrix is read once, in place: packing it into
// blocks first, as for square products, would take longer than the product.
#pragma once

#include <algorithm>
#include <iterator>

#include "backend/common/vec.h"
#include "backend/common/vec_arch.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/half_vec.h"
#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/isa/row_loop.h"
#include "backend/cpu/linalg/product_rows.h"

namespace tsr::cpu::TSR_ISA {

// The number of lines added, or of rows multiplied, at once.
inline constexpr int kSkinnyGroup = 8;
// The bytes of a line processed before the next row: this stretch of a group of lines stays in the
// cache.
inline constexpr int64_t kSkinnyStretch = 2048;

// The number of lines processed together, so that the rows are read once for all of them; limited
// by the registers for their sums.
inline constexpr int kSkinnyLines = kVecBytes == 64 ? 2 : 1;

// The dot products of kLines lines of the matrix with kFew rows.
template <int kFew, int kLines, class T>
void dots_of_lines(const SkinnyProduct<T>& p, const T* lines, const T* rows, T* out) {
  using V = Vec<T>;
  V sums[kLines][kFew];
  for (auto& of_line : sums) {
    for (V& sum : of_line) sum = V(0);
  }
  const auto add = [&](auto load, int64_t i) __attribute__((always_inline)) {
    V x[kLines];
#pragma GCC unroll 2
    for (int l = 0; l < kLines; ++l) x[l] = load(lines + l * p.line_step + i);
#pragma GCC unroll 8
    for (int r = 0; r < kFew; ++r) {
      const V y = load(rows + r * p.row_step + i);
#pragma GCC unroll 2
      for (int l = 0; l < kLines; ++l) sums[l][r] = fma(x[l], y, sums[l][r]);
    }
  };
  const int64_t rest = p.inner % V::kSize;
  const auto whole = [](const T* data) __attribute__((always_inline)) {
    return V::load(data);
  };
  const auto part = [&](const T* data) __attribute__((always_inline)) {
    return V::load_part(data, rest, T{0});
  };
  int64_t i = 0;
  for (; i + V::kSize <= p.inner; i += V::kSize) add(whole, i);
  if (rest > 0) add(part, i);
#pragma GCC unroll 2
  for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 8
    for (int r = 0; r < kFew; ++r) {
      T& target = out[r * p.out_row_step + l];
      const T sum = p.alpha * sum_of_lanes(sums[l][r]);
      target = p.beta == T{0} ? sum : sum + p.beta * target;
    }
  }
}

// One dot product: four chains of additions, whose totals of a block are added up in double.
template <class T>
[[gnu::always_inline]] inline T dot_of_line(int64_t count, const T* a, const T* b) {
  using V = Vec<T>;
  constexpr int64_t kBlock = 8192;
  constexpr int kChains = 4;
  double total = 0;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t stop = std::min(count, start + kBlock);
    V sums[kChains] = {V(0), V(0), V(0), V(0)};
    int64_t i = start;
    for (; i + kChains * V::kSize <= stop; i += kChains * V::kSize) {
      for (int c = 0; c < kChains; ++c)
        sums[c] = fma(V::load(a + i + c * V::kSize), V::load(b + i + c * V::kSize), sums[c]);
    }
    for (; i < stop; i += V::kSize) {
      const int64_t rest = stop - i;
      const bool whole = rest >= V::kSize;
      sums[0] = fma(whole ? V::load(a + i) : V::load_part(a + i, rest, T{0}),
                    whole ? V::load(b + i) : V::load_part(b + i, rest, T{0}), sums[0]);
    }
    total += static_cast<double>(sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3])));
  }
  return static_cast<T>(total);
}

// The same of the parts of complex numbers: two chains for each of the four sums.
template <class T>
PartProducts complex_dot(int64_t count, const T* a, const T* b) {
  using V = Vec<T>;
  using C = math::Complex<V>;
  constexpr int64_t kBlock = 4096;
  constexpr int kChains = 2;
  PartProducts total{};
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t stop = std::min(count, start + kBlock);
    V sums[4][kChains] = {};
    const auto add = [&](int c, C x, C y) __attribute__((always_inline)) {
      sums[0][c] = fma(x.re, y.re, sums[0][c]);
      sums[1][c] = fma(x.re, y.im, sums[1][c]);
      sums[2][c] = fma(x.im, y.re, sums[2][c]);
      sums[3][c] = fma(x.im, y.im, sums[3][c]);
    };
    int64_t i = start;
    for (; i + kChains * V::kSize <= stop; i += kChains * V::kSize) {
#pragma GCC unroll 2
      for (int c = 0; c < kChains; ++c)
        add(c, load_pairs(a + 2 * (i + c * V::kSize)), load_pairs(b + 2 * (i + c * V::kSize)));
    }
    for (; i < stop; i += V::kSize) {
      const int64_t rest = std::min<int64_t>(V::kSize, stop - i);
      add(0, Access<C>::load_part(a, i, rest), Access<C>::load_part(b, i, rest));
    }
    const auto sum = [&](int k) {
      return static_cast<double>(sum_of_lanes(sums[k][0] + sums[k][1]));
    };
    total.real_real += sum(0);
    total.real_imag += sum(1);
    total.imag_real += sum(2);
    total.imag_imag += sum(3);
  }
  return total;
}

// dots_of_lines for every number of rows: entry kFew - 1.
template <class T>
using Dots = void (*)(const SkinnyProduct<T>& p, const T* lines, const T* rows, T* out);
template <int kLines, class T>
inline constexpr Dots<T> kDots[] = {dots_of_lines<1, kLines, T>, dots_of_lines<2, kLines, T>,
                                    dots_of_lines<3, kLines, T>, dots_of_lines<4, kLines, T>,
                                    dots_of_lines<5, kLines, T>, dots_of_lines<6, kLines, T>,
                                    dots_of_lines<7, kLines, T>, dots_of_lines<8, kLines, T>};

// out[r][j] = alpha Σ_i rows[r][i] matrix[j][i] + beta out[r][j] for the lines [begin, end).
template <class T>
void skinny_dots(const SkinnyProduct<T>& p, int64_t begin, int64_t end) {
  static_assert(std::size(kDots<1, T>) == kSkinnyGroup);
  const auto run = [&](const Dots<T>* dots, int64_t j) {
    for (int64_t r = 0; r < p.few; r += kSkinnyGroup) {
      dots[std::min<int64_t>(p.few - r, kSkinnyGroup) - 1](
          p, p.matrix + j * p.line_step, p.rows + r * p.row_step, p.out + r * p.out_row_step + j);
    }
  };
  if (p.few == 1 && p.columns == 1) {
    const T sum = p.alpha * dot_of_line(p.inner, p.matrix, p.rows);
    *p.out = p.beta == T{0} ? sum : sum + p.beta * *p.out;
    return;
  }
  int64_t j = begin;
  for (; j + kSkinnyLines <= end; j += kSkinnyLines) run(kDots<kSkinnyLines, T>, j);
  for (; j < end; ++j) run(kDots<1, T>, j);
}

// sums[l] += Σ_i lines[l][i] row[i] for kLines lines of 16-bit floats. Several lines at a time,
// since the processor fetches each from memory ahead of its use. The totals of a block are added up
// in double.
template <int kLines, class Short>
void short_dots_of_lines(int64_t count, const uint16_t* lines, int64_t step, const float* row,
                         float* sums) {
  constexpr int64_t kBlock = 8192;
  constexpr int kChains = 8 / kLines;
  double totals[kLines] = {};
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t stop = std::min(count, start + kBlock);
    VF chains[kLines][kChains];
#pragma GCC unroll 8
    for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 8
      for (int c = 0; c < kChains; ++c) chains[l][c] = VF(0.0F);
    }
    int64_t i = start;
    for (; i + kChains * VF::kSize <= stop; i += kChains * VF::kSize) {
#pragma GCC unroll 8
      for (int c = 0; c < kChains; ++c) {
        const int64_t at = i + c * VF::kSize;
        const VF factor = VF::load(row + at);
#pragma GCC unroll 8
        for (int l = 0; l < kLines; ++l)
          chains[l][c] = fma(Short::load(lines + l * step + at), factor, chains[l][c]);
      }
    }
    // Lanes behind the end meet zeros of the row.
    for (; i < stop; i += VF::kSize) {
      const int64_t rest = std::min<int64_t>(VF::kSize, stop - i);
      const VF factor = VF::load_part(row + i, rest, 0.0F);
      for (int l = 0; l < kLines; ++l) {
        const VF part = load_short_part<Short>(lines + l * step + i, rest);
        chains[l][0] = fma(part, factor, chains[l][0]);
      }
    }
    for (int l = 0; l < kLines; ++l) {
      VF sum = chains[l][0];
      for (int c = 1; c < kChains; ++c) sum = sum + chains[l][c];
      totals[l] += static_cast<double>(sum_of_lanes(sum));
    }
  }
  for (int l = 0; l < kLines; ++l) sums[l] += static_cast<float>(totals[l]);
}

template <class Short>
void short_dots(int64_t count, int64_t lines, const uint16_t* first, int64_t step, const float* row,
                float* sums) {
  constexpr int kLines = 4;
  int64_t l = 0;
  for (; l + kLines <= lines; l += kLines)
    short_dots_of_lines<kLines, Short>(count, first + l * step, step, row, sums + l);
  for (; l < lines; ++l)
    short_dots_of_lines<1, Short>(count, first + l * step, step, row, sums + l);
}

// to[j] = start[j] + Σ_l weights[l] lines[l][j] for kCount lines.
template <int kCount, class T>
inline void add_lines(int64_t count, const T* weights, const T* lines, int64_t step, T* to) {
  using V = Vec<T>;
  V factors[kCount];
#pragma GCC unroll 8
  for (int l = 0; l < kCount; ++l) factors[l] = V(weights[l]);
  int64_t j = 0;
  for (; j + V::kSize <= count; j += V::kSize) {
    V sum = V::load(to + j);
#pragma GCC unroll 8
    for (int l = 0; l < kCount; ++l) sum = fma(factors[l], V::load(lines + l * step + j), sum);
    sum.store(to + j);
  }
  if (j == count) return;
  V sum = V::load_part(to + j, count - j, T{0});
#pragma GCC unroll 8
  for (int l = 0; l < kCount; ++l)
    sum = fma(factors[l], V::load_part(lines + l * step + j, count - j, T{0}), sum);
  sum.store_part(to + j, count - j);
}

// to[0, count) += alpha Σ_l row[l] matrix[l][j...] for the group of lines from i on.
template <class T>
inline void add_group(const SkinnyProduct<T>& p, const T* row, int64_t i, int64_t j, int64_t count,
                      T* to) {
  const int64_t lines = std::min<int64_t>(kSkinnyGroup, p.inner - i);
  const T* first = p.matrix + i * p.line_step + j;
  T weights[kSkinnyGroup];
  for (int64_t l = 0; l < lines; ++l) weights[l] = p.alpha * row[(i + l) * p.inner_step];
  if (lines == kSkinnyGroup) {
    add_lines<kSkinnyGroup>(count, weights, first, p.line_step, to);
    return;
  }
  for (int64_t l = 0; l < lines; ++l)
    add_lines<1>(count, weights + l, first + l * p.line_step, p.line_step, to);
}

// out[r][j] = alpha Σ_i rows[r][i] matrix[i][j] + beta out[r][j] for the columns [begin, end). A
// row adds a group of lines at once; a stretch of the group stays in the first-level cache for the
// next row.
template <class T>
void skinny_sums(const SkinnyProduct<T>& p, int64_t begin, int64_t end) {
  constexpr int64_t kStretch = kSkinnyStretch / static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < p.few; ++r) {
    T* out = p.out + r * p.out_row_step;
    for (int64_t j = begin; j < end; ++j) out[j] = p.beta == T{0} ? T{0} : p.beta * out[j];
  }
  for (int64_t i = 0; i < p.inner; i += kSkinnyGroup) {
    for (int64_t j = begin; j < end; j += kStretch) {
      const int64_t count = std::min(kStretch, end - j);
      for (int64_t r = 0; r < p.few; ++r)
        add_group(p, p.rows + r * p.row_step, i, j, count, p.out + r * p.out_row_step + j);
    }
  }
}

// Lines [begin, end) of a large result: to[j] = alpha Σ_i rows(line, i) matrix[i][j] with few i. A
// stretch of the matrix stays in the first-level cache for the next line.
template <class T>
void skinny_outer(const SkinnyProduct<T>& p, int64_t begin, int64_t end) {
  constexpr int64_t kStretch = kSkinnyStretch / static_cast<int64_t>(sizeof(T));
  alignas(64) T buffer[kStretch];
  for (int64_t j = 0; j < p.columns; j += kStretch) {
    const int64_t count = std::min(kStretch, p.columns - j);
    const int64_t nbytes = count * static_cast<int64_t>(sizeof(T));
    for (int64_t line = begin; line < end; ++line) {
      T* to = p.out + line * p.out_row_step + j;
      const bool stream =
          p.streams && nbytes % 64 == 0 && reinterpret_cast<uintptr_t>(to) % 64 == 0;
      T* target = stream ? buffer : to;
      std::fill_n(target, count, T{0});
      for (int64_t i = 0; i < p.inner; i += kSkinnyGroup)
        add_group(p, p.rows + line * p.row_step, i, j, count, target);
      if (stream) stream_copy(to, buffer, nbytes);
    }
  }
  _mm_sfence();
}

inline constexpr ShortProductRows kShortProductRows{
    .dots =
        [](DType dtype) {
          return dtype == DType::kFloat16 ? &short_dots<Float16> : &short_dots<Brain16>;
        },
};

template <class T>
inline constexpr SkinnyRows<T> kSkinnyRows{
    .dots = skinny_dots<T>,
    .sums = skinny_sums<T>,
    .outer = skinny_outer<T>,
    .complex_dot = complex_dot<T>,
};

}  // namespace tsr::cpu::TSR_ISA
