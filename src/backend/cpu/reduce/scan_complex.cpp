// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums and products of complex numbers. Totals are pairs of float64 in one register, and
// elements are converted on their way from and to memory, wherever a line's elements lie.
#include <immintrin.h>

#include <algorithm>
#include <type_traits>

#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {

using kernel::ScanOp;
using kernel::ScanPlan;

namespace {

// Lines scanned at the same time: a total waits only for the one before it in its own line.
constexpr int64_t kLines = 4;
constexpr int64_t kShortLine = 24;

using Pair = __m128d;

// (GCC 12 converts vectors of two float32 one by one.)
template <class T>
Pair load(const std::byte* source) {
  if constexpr (std::is_same_v<T, double>)
    return _mm_loadu_pd(reinterpret_cast<const double*>(source));
  else
    return _mm_cvtps_pd(
        _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(source))));
}
template <class T>
void store(Pair total, std::byte* target) {
  if constexpr (std::is_same_v<T, double>)
    _mm_storeu_pd(reinterpret_cast<double*>(target), total);
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm_castps_si128(_mm_cvtpd_ps(total)));
}

template <bool kSums>
Pair with_next(Pair a, Pair b) {
  if constexpr (kSums) {
    return a + b;
  } else {
    const Pair re{a[0], a[0]};
    const Pair im{-a[1], a[1]};
    const Pair turned{b[1], b[0]};
    return re * b + im * turned;
  }
}

// Neighbouring lines: the first one, and the bytes from one to the next.
struct Lines {
  const std::byte* from;
  std::byte* to;
  int64_t from_step;
  int64_t to_step;
};

template <bool kSums, int64_t kTogether, class T>
void along_lines(const ScanPlan& plan, const Lines& lines) {
  const std::byte* from = lines.from;
  std::byte* to = lines.to;
  Pair totals[kTogether];
  // The first element as it is: 1 times an infinite one has a NaN, of 0 times infinity.
  for (int64_t k = 0; k < kTogether; ++k) {
    totals[k] = load<T>(from + k * lines.from_step);
    store<T>(totals[k], to + k * lines.to_step);
  }
  for (int64_t i = 1; i < plan.axis_size; ++i) {
    from += plan.axis_input_stride;
    to += plan.axis_output_stride;
#pragma GCC unroll 4
    for (int64_t k = 0; k < kTogether; ++k) {
      totals[k] = with_next<kSums>(totals[k], load<T>(from + k * lines.from_step));
      store<T>(totals[k], to + k * lines.to_step);
    }
  }
}

template <bool kSums, class T>
void along(const ScanPlan& plan, int64_t count, Lines lines) {
  // The processor itself overlaps short lines.
  const int64_t together = plan.axis_size <= kShortLine ? 1 : kLines;
  for (; count >= together; count -= together) {
    if (together == 1)
      along_lines<kSums, 1, T>(plan, lines);
    else
      along_lines<kSums, kLines, T>(plan, lines);
    lines.from += together * lines.from_step;
    lines.to += together * lines.to_step;
  }
  if (count == 3) along_lines<kSums, 3, T>(plan, lines);
  if (count == 2) along_lines<kSums, 2, T>(plan, lines);
  if (count == 1) along_lines<kSums, 1, T>(plan, lines);
}

// Many lines position by position: those of one position lie together.
template <bool kSums, class T>
void across(const ScanPlan& plan, int64_t count, Lines lines) {
  Pair totals[kScanBlock];
  for (int64_t i = 0; i < plan.axis_size; ++i) {
    const std::byte* from = lines.from + i * plan.axis_input_stride;
    std::byte* to = lines.to + i * plan.axis_output_stride;
    for (int64_t k = 0; k < count; ++k) {
      const Pair value = load<T>(from + k * lines.from_step);
      totals[k] = i == 0 ? value : with_next<kSums>(totals[k], value);
      store<T>(totals[k], to + k * lines.to_step);
    }
  }
}

// Calls scan(count, lines) with runs of lines that are equally far apart.
template <class Scan>
void for_runs(const ScanPlan& plan, int64_t first, int64_t count, const Scan& scan) {
  Cursor cursor = other_dims(plan, first);
  const int32_t inner = plan.ndim - 1;
  while (count > 0) {
    const int64_t part = std::min(count, cursor.left_in_row());
    scan(part, Lines{static_cast<const std::byte*>(plan.input) + cursor.offset(plan.input_strides),
                     static_cast<std::byte*>(plan.output) + cursor.offset(plan.output_strides),
                     plan.input_strides[inner], plan.output_strides[inner]});
    cursor.advance_in_row(part);
    count -= part;
  }
}

template <bool kSums, class T>
void run(const ScanPlan& plan) {
  deal_lines(
      plan, {.few_neighbours = 16, .few_elements = 0},
      [&](int64_t begin, int64_t end) {
        for_runs(plan, begin, end - begin,
                 [&](int64_t count, const Lines& lines) { along<kSums, T>(plan, count, lines); });
      },
      [&](int64_t first, int64_t width) {
        for_runs(plan, first, width,
                 [&](int64_t count, const Lines& lines) { across<kSums, T>(plan, count, lines); });
      });
}

}  // namespace

void scan_complex(const ScanPlan& plan) {
  const bool sums = plan.op == ScanOp::kSum;
  if (plan.dtype == DType::kComplex64)
    sums ? run<true, float>(plan) : run<false, float>(plan);
  else
    sums ? run<true, double>(plan) : run<false, double>(plan);
}

}  // namespace tsr::cpu
