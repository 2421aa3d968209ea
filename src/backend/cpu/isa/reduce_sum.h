// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of sums of float32 and of 16-bit floats. Eight registers are added up in float32, in
// three steps, and the sums of such groups in float64: a sum is off by at most 3 * 2**-24 of the
// sum of magnitudes, however many elements it has, and one conversion serves eight registers. Where
// a group overflows in float32, its elements are added up in float64 alone.
#pragma once

#include "backend/cpu/isa/reduce_sum_rows.h"

namespace tsr::cpu::TSR_ISA {

// The sum of the lanes, in float64.
[[gnu::always_inline]] inline double sum_lanes(VDPair a) {
  return merge_lanes<math::Sum>(a.low + a.high);
}

template <class T>
struct GroupSum {
  static constexpr int64_t kTerms = 8;
  static constexpr int64_t kGroup = kTerms * VF::kSize;

  [[gnu::always_inline]] static VF load(const Stored<T>* source) { return load_as<VF, T>(source); }
  [[gnu::always_inline]] static double number(const Stored<T>* source) {
    return static_cast<double>(first_lane(load_one<VF, T>(source)));
  }
  [[gnu::always_inline]] static VDPair nothing() { return {VD(0.0), VD(0.0)}; }

  // The sum of kCount terms at(first), at(first + 1), ..., a power of two.
  template <int64_t kCount, class At>
  [[gnu::always_inline]] static VF tree(const At& at, int64_t first) {
    if constexpr (kCount == 1)
      return at(first);
    else
      return tree<kCount / 2>(at, first) + tree<kCount / 2>(at, first + kCount / 2);
  }

  // Adds kCount registers of each line, from `source` on.
  template <int64_t kCount, int kLines>
  [[gnu::always_inline]] static void add_group(const Stored<T>* source, int64_t step,
                                               VDPair* totals) {
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
      const auto at = [&](int64_t k) { return load(source + l * step + k * VF::kSize); };
      totals[l] = totals[l] + widen(tree<kCount>(at, 0));
    }
  }
  // Adds the whole registers of kLines lines, `step` elements apart, and of float32 the last one
  // too, which is there in part. Returns the number of elements that are done.
  template <int kLines>
  [[gnu::always_inline]] static int64_t add_lines(int64_t count, const Stored<T>* source,
                                                  int64_t step, VDPair* totals) {
    int64_t i = 0;
    for (; i + kGroup <= count; i += kGroup) add_group<kTerms, kLines>(source + i, step, totals);
    if (i + kGroup / 2 <= count) {
      add_group<kTerms / 2, kLines>(source + i, step, totals);
      i += kGroup / 2;
    }
    // At most four registers are left, the last one in part.
    VF rests[kLines];
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) rests[l] = VF(0.0F);
    for (; i + VF::kSize <= count; i += VF::kSize) {
#pragma GCC unroll 4
      for (int l = 0; l < kLines; ++l) rests[l] = rests[l] + load(source + l * step + i);
    }
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
      if constexpr (!kIsShort<T>) {
        if (i < count) rests[l] = rests[l] + VF::load_part(source + l * step + i, count - i, T{0});
      }
      totals[l] = totals[l] + widen(rests[l]);
    }
    return kIsShort<T> ? i : count;
  }
  // The sums of kLines lines. A line has the same sum in any company.
  template <int kLines>
  [[gnu::always_inline]] static void sum_lines(int64_t count, const Stored<T>* source, int64_t step,
                                               double* sums) {
    VDPair totals[kLines];
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) totals[l] = nothing();
    const int64_t done = add_lines<kLines>(count, source, step, totals);
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
      sums[l] = sum_lanes(totals[l]);
      for (int64_t k = done; k < count; ++k) sums[l] += number(source + l * step + k);
    }
  }

  // A sum without float32. (Infinities give the same sum both times.)
  [[gnu::noinline]] static double wide_sum(int64_t count, const Stored<T>* source) {
    VDPair total = nothing();
    int64_t i = 0;
    for (; i + VF::kSize <= count; i += VF::kSize) total = total + widen(load(source + i));
    double sum = sum_lanes(total);
    for (; i < count; ++i) sum += number(source + i);
    return sum;
  }
  [[gnu::always_inline]] static double checked(double sum, int64_t count, const Stored<T>* source) {
    return __builtin_expect(__builtin_isfinite(sum), 1) ? sum : wide_sum(count, source);
  }

  // The processor fetches ahead within a page only, and of several pages at once. So memory is read
  // faster where lines a page apart are added up side by side.
  static constexpr int64_t kPage = 4096 / static_cast<int64_t>(sizeof(Stored<T>));
  static constexpr int64_t kRun = 4096;
  static constexpr int kPages = kRun / kPage;

  // The sums of the elements at the places of a register, without what add_lines leaves out; and
  // what overflowed.
  [[gnu::always_inline]] static VD lanes(int64_t count, const Stored<T>* source) {
    VDPair totals[kPages];
    VDPair sum = nothing();
    int64_t i = 0;
    for (; i + kRun <= count; i += kRun) {
      for (VDPair& each : totals) each = nothing();
      add_lines<kPages>(kPage, source + i, kPage, totals);
      for (const VDPair& each : totals) sum = sum + each;
    }
    add_lines<1>(count - i, source + i, 0, &sum);
    return sum.low + sum.high;
  }
  static double sum(int64_t count, const Stored<T>* source) {
    double total = 0;
    int64_t i = 0;
    for (; i + kRun <= count; i += kRun) {
      double sums[kPages];
      sum_lines<kPages>(kPage, source + i, kPage, sums);
      for (const double each : sums) total += each;
    }
    double rest;
    sum_lines<1>(count - i, source + i, 0, &rest);
    return checked(total + rest, count, source);
  }
  // Of two lines, `step` elements apart: side by side where they are too short for pages.
  static void pair(int64_t count, const Stored<T>* source, int64_t step, double* sums) {
    if (count >= kRun) {
      sums[0] = sum(count, source);
      sums[1] = sum(count, source + step);
      return;
    }
    sum_lines<2>(count, source, step, sums);
    for (int l = 0; l < 2; ++l) sums[l] = checked(0.0 + sums[l], count, source + l * step);
  }

  // `total` and the sum of the rows, at(0), at(1), ...
  template <class At>
  [[gnu::always_inline]] static VDPair add_rows(VDPair total, int64_t rows, const At& at) {
    int64_t r = 0;
    for (; r < rows; r += kTerms) {
      const int64_t terms = rows - r < kTerms ? rows - r : kTerms;
      VF sum = terms == kTerms ? tree<kTerms>(at, r) : at(r);
      for (int64_t k = 1; k < terms && terms != kTerms; ++k) sum = sum + at(r + k);
      if (__builtin_expect(all_finite(sum), 1)) {
        total = total + widen(sum);
      } else {
        for (int64_t k = 0; k < terms; ++k) total = total + widen(at(r + k));
      }
    }
    return total;
  }
  static void across(int64_t count, const AcrossRows& rows, double* totals) {
    const auto at_column = [&](int64_t j) {
      return [&rows, j](int64_t r) { return load(row_at<T>(rows, r, j)); };
    };
    int64_t j = 0;
    for (; j + VF::kSize <= count; j += VF::kSize) {
      store_words(add_rows(load_words(totals + j, VF()), rows.count, at_column(j)), totals + j);
    }
    if (j == count) return;
    if (count >= VF::kSize) {
      // The last register begins before j: its first columns have been added already.
      double sums[VF::kSize];
      const int64_t begin = count - VF::kSize;
      store_words(add_rows(nothing(), rows.count, at_column(begin)), sums);
      for (; j < count; ++j) totals[j] += sums[j - begin];
      return;
    }
    for (int64_t r = 0; r < rows.count; ++r) {
      for (int64_t k = 0; k < count; ++k) totals[k] += number(row_at<T>(rows, r, k));
    }
  }
};

// The sum of `count` elements of a float type.
template <class T>
[[gnu::always_inline]] inline double sum_of(int64_t count, const void* in) {
  const auto* source = static_cast<const Stored<T>*>(in);
  if constexpr (std::is_same_v<T, double>) {
    double total = 0;
    const Parameter none[1] = {};
    fold_along<math::Sum, double, VD>(count, in, 0, &total, none);
    return total;
  } else {
    return GroupSum<T>::sum(count, source);
  }
}

// Sums and means.
template <class F, class T>
struct SumLoops : OneNumber<F, float, VD> {
  static constexpr bool kPairs = true;
  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter*) {
    *static_cast<double*>(state) += sum_of<T>(count, in);
  }
  static void along_pair(int64_t count, const void* in, int64_t step, void* states,
                         const Parameter*) {
    double sums[2];
    GroupSum<T>::pair(count, static_cast<const Stored<T>*>(in),
                      step / static_cast<int64_t>(sizeof(Stored<T>)), sums);
    auto* totals = static_cast<double*>(states);
    totals[0] += sums[0];
    totals[1] += sums[1];
  }
  static void across(int64_t count, AcrossRows rows, int64_t, void* state, int64_t,
                     const Parameter*) {
    GroupSum<T>::across(count, rows, static_cast<double*>(state));
  }
};

// Those of float32.
template <class F>
struct FloatSumLoops : SumLoops<F, float> {
  static constexpr int64_t kShortRow = 1;

  static void along_rows(int64_t rows, int64_t count, const void* in, int64_t step, void* states,
                         int64_t, const Parameter*) {
    using Group = GroupSum<float>;
    auto* totals = static_cast<double*>(states);
    const auto row = [=](int64_t r) {
      return reinterpret_cast<const float*>(static_cast<const char*>(in) + r * step);
    };
    if (count >= Group::kRun) {
      for (int64_t r = 0; r < rows; ++r) totals[r] += Group::sum(count, row(r));
      return;
    }
    sum_lines_together<1>(
        rows, [&](int64_t r) __attribute__((always_inline)) { return Group::lanes(count, row(r)); },
        [&](int64_t first, int64_t part, const VD* sums) {
          add_sums(first, part, *sums, totals,
                   [&](int64_t r, double sum) { return Group::checked(sum, count, row(r)); });
        });
  }
};

// Sums without NaNs. They are rare: a run is added up as it is, and once more without its NaNs if
// the sum is one. (Infinities of both signs give NaN both times.)
template <class T>
struct NansumLoops : OneNumber<math::Nansum, T, VD> {
  using Plain = OneNumber<math::Nansum, T, VD>;

  static void along(int64_t count, const void* in, int64_t before, void* state,
                    const Parameter* params) {
    constexpr int64_t kPiece = 4096;
    const T* source = static_cast<const T*>(in);
    auto* total = static_cast<double*>(state);
    bool clean = true;
    for (int64_t i = 0; i < count; i += kPiece) {
      const int64_t part = count - i < kPiece ? count - i : kPiece;
      const double sum = clean ? sum_of<T>(part, source + i) : 0.0;
      clean = clean && sum == sum;
      if (clean)
        *total += sum;
      else
        Plain::along(part, source + i, before, total, params);
    }
  }
  static constexpr bool kPairs = std::is_same_v<T, float>;
  static void along_pair(int64_t count, const void* in, int64_t step, void* states,
                         const Parameter* params) {
    double sums[2] = {0, 0};
    SumLoops<math::Sum, T>::along_pair(count, in, step, sums, params);
    auto* totals = static_cast<double*>(states);
    for (int l = 0; l < 2; ++l) {
      if (sums[l] == sums[l])
        totals[l] += sums[l];
      else
        along(count, static_cast<const char*>(in) + l * step, 0, totals + l, params);
    }
  }
};

}  // namespace tsr::cpu::TSR_ISA
