// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of sums of complex numbers. Their parts are added up by turns, as they lie in memory,
// and taken apart at the end: twice as many columns, or lines whose even and odd lanes are not
// mixed.
#pragma once

#include "backend/cpu/isa/reduce_fold_complex.h"
#include "backend/cpu/isa/reduce_sum.h"

namespace tsr::cpu::TSR_ISA {

// Numbers of two T each. T is float: see GroupSum.
template <class T>
struct ComplexSums {
  using Plain = OneComplex<math::Sum, T>;

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    const VD sums = merge_to_pair<VD::kSize / 2>(of_line(count, static_cast<const T*>(in)));
    auto* totals = static_cast<double*>(state);
    for (int part = 0; part < 2; ++part) totals[part] += checked(sums.v[part], part, count, in);
  }
  static void along_rows(int64_t rows, int64_t count, const void* in, int64_t step, void* states,
                         int64_t width, const Parameter*) {
    const auto row = [=](int64_t r) {
      return reinterpret_cast<const T*>(static_cast<const char*>(in) + r * step);
    };
    auto* totals = static_cast<double*>(states);
    sum_lines_together<2>(
        rows, [&](int64_t r) __attribute__((always_inline)) { return of_line(count, row(r)); },
        [&](int64_t first, int64_t lines, const VD* pairs) {
          const auto again = [&](int part) {
            return [&, part](int64_t r, double sum) { return checked(sum, part, count, row(r)); };
          };
          add_sums(first, lines, every_second<0>(pairs[0], pairs[1]), totals, again(0));
          add_sums(first, lines, every_second<1>(pairs[0], pairs[1]), totals + width, again(1));
        });
  }
  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t width,
                     const Parameter*) {
    auto* real = static_cast<double*>(state);
    double* imaginary = real + width;
    const auto columns = [&](int64_t j) -> CD {
      const VDPair sums = of_columns(j, rows);
      return {every_second<0>(sums.low, sums.high), every_second<1>(sums.low, sums.high)};
    };
    int64_t j = 0;
    for (; j + VD::kSize <= count; j += VD::kSize) {
      const CD sums = columns(j);
      (VD::load(real + j) + sums.re).store(real + j);
      (VD::load(imaginary + j) + sums.im).store(imaginary + j);
    }
    for (; j < count; ++j) {
      for (int64_t r = 0; r < rows.count; ++r) {
        const T* number = row_at<T>(rows, r, 2 * j);
        real[j] += static_cast<double>(number[0]);
        imaginary[j] += static_cast<double>(number[1]);
      }
    }
  }

 private:
  static constexpr bool kGroups = std::is_same_v<T, float>;

  // The sums of the even and of the odd numbers, in even and odd lanes.
  [[gnu::always_inline]] static VD of_line(int64_t count, const T* source) {
    if constexpr (kGroups) {
      return GroupSum<T>::lanes(2 * count, source);
    } else {
      constexpr int kChains = 4;  // hide the latency of the additions
      VD chains[kChains] = {VD(0.0), VD(0.0), VD(0.0), VD(0.0)};
      int64_t i = 0;
      for (; i + kChains * VD::kSize <= 2 * count; i += kChains * VD::kSize) {
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c)
          chains[c] = chains[c] + VD::load(source + i + c * VD::kSize);
      }
      for (; i + VD::kSize <= 2 * count; i += VD::kSize)
        chains[0] = chains[0] + VD::load(source + i);
      if (i < 2 * count) chains[1] = chains[1] + VD::load_part(source + i, 2 * count - i, T{0});
      return (chains[0] + chains[2]) + (chains[1] + chains[3]);
    }
  }
  // The sums of 2 * VD::kSize columns of parts, from number j on.
  [[gnu::always_inline]] static VDPair of_columns(int64_t j, const AcrossRows& rows) {
    if constexpr (kGroups) {
      return GroupSum<T>::add_rows(GroupSum<T>::nothing(), rows.count, [&](int64_t r) {
        return GroupSum<T>::load(row_at<T>(rows, r, 2 * j));
      });
    } else {
      VDPair sums = {VD(0.0), VD(0.0)};
      for (int64_t r = 0; r < rows.count; ++r) {
        const T* row = row_at<T>(rows, r, 2 * j);
        sums = sums + VDPair{VD::load(row), VD::load(row + VD::kSize)};
      }
      return sums;
    }
  }
  template <int kHalf>
  [[gnu::always_inline]] static VD merge_to_pair(VD sums) {
    if constexpr (kHalf < 2)
      return sums;
    else
      return merge_to_pair<kHalf / 2>(sums + rotate_lanes<kHalf>(sums));
  }
  // The sum of one part of a line. Where float32 overflowed, the line is added up once more.
  [[gnu::always_inline]] static double checked(double sum, int part, int64_t count,
                                               const void* in) {
    return !kGroups || __builtin_expect(__builtin_isfinite(sum), 1) ? sum
                                                                    : wide_sum(part, count, in);
  }
  [[gnu::noinline]] static double wide_sum(int part, int64_t count, const void* in) {
    const Parameter none[1] = {};
    double sums[2] = {0, 0};
    Plain::along(count, in, 0, sums, none);
    return sums[part];
  }
};

// Sums and means.
template <class F, class T>
struct ComplexSumLoops : OneComplex<F, T>, ComplexSums<T> {
  static constexpr int64_t kShortRow = 1;
  using ComplexSums<T>::across;
  using ComplexSums<T>::along;
  using ComplexSums<T>::along_rows;
};

}  // namespace tsr::cpu::TSR_ISA
