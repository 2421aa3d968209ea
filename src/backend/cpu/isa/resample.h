// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resampling along one axis, and weighted sums of gathered numbers. Every sum begins with 0 and
// takes its taps in order, so that both forms of a map give the same numbers.
#pragma once

#include <algorithm>

#include "backend/cpu/nn/resample_rows.h"

namespace tsr::cpu::TSR_ISA {

inline constexpr int64_t kSampleTile = 256;
inline constexpr int kTerms = 4;  // rows that are added up in one pass over the result

template <class T>
void resample_along(const ResampleBand<T>& band, const T* in, T* out) {
  const T* source = in - band.base;
  const int32_t* begin = band.begin;
  if (band.weights == nullptr) {
    for (int64_t o = band.first; o < band.last; ++o) out[o - band.first] = source[begin[o]];
    return;
  }
  for (int64_t tile = band.first; tile < band.last; tile += kSampleTile) {
    const int64_t count = std::min(kSampleTile, band.last - tile);
    T sums[kSampleTile];
    std::fill_n(sums, count, T{0});
    for (int64_t k = 0; k < band.taps; ++k) {
      const T* weights = band.weights + k * band.output + tile;
      const int32_t* from = begin + tile;
      const T* tap = source + k;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        const T product = weights[i] * tap[from[i]];
        sums[i] += weights[i] != 0 ? product : T{0};
      }
    }
    std::copy_n(sums, count, out + (tile - band.first));
  }
}

template <class T>
struct WeightedRow {
  T weight;
  const T* row;
};

// out (+)= Σ_t weight row. kStart: the sum begins with 0.
template <int kCount, bool kStart, class T>
inline void add_rows(int64_t inner, const WeightedRow<T>* terms, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < inner; ++i) {
    T sum = kStart ? T{0} : out[i];
    for (int t = 0; t < kCount; ++t) sum += terms[t].weight * terms[t].row[i];
    out[i] = sum;
  }
}
template <bool kStart, class T>
inline void add_some_rows(int count, int64_t inner, const WeightedRow<T>* terms, T* out) {
  switch (count) {
    case 1:
      return add_rows<1, kStart>(inner, terms, out);
    case 2:
      return add_rows<2, kStart>(inner, terms, out);
    case 3:
      return add_rows<3, kStart>(inner, terms, out);
    default:
      return add_rows<kTerms, kStart>(inner, terms, out);
  }
}

template <class T>
void resample_across(const ResampleBand<T>& band, int64_t inner, const T* in, T* out) {
  for (int64_t o = band.first; o < band.last; ++o, out += inner) {
    const T* rows = in + (band.begin[o] - band.base) * inner;
    if (band.weights == nullptr) {
      std::copy_n(rows, inner, out);
      continue;
    }
    WeightedRow<T> terms[kTerms];
    int count = 0;
    bool started = false;
    for (int64_t k = 0; k < band.taps; ++k) {
      const T weight = band.weights[k * band.output + o];
      if (weight != 0) terms[count++] = {weight, rows + k * inner};
      if (count == 0 || (count < kTerms && k + 1 < band.taps)) continue;
      if (started)
        add_some_rows<false>(count, inner, terms, out);
      else
        add_some_rows<true>(count, inner, terms, out);
      started = true;
      count = 0;
    }
    if (!started) std::fill_n(out, inner, T{0});
  }
}

template <class T>
inline constexpr ResampleRows<T> kResampleRows{
    .along = resample_along<T>,
    .across = resample_across<T>,
};

// ---- weighted gathering ----

template <class T>
void weighted_gather(int64_t count, int64_t taps, int64_t stride, const int32_t* index,
                     const T* weight, const T* in, T* out) {
  for (int64_t tile = 0; tile < count; tile += kSampleTile) {
    const int64_t size = std::min(kSampleTile, count - tile);
    T sums[kSampleTile];
    std::fill_n(sums, size, T{0});
    for (int64_t k = 0; k < taps; ++k) {
      const int32_t* at = index + k * stride + tile;
      const T* share = weight + k * stride + tile;
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) {
        // Number 0 stands in for a tap that is left out.
        const T product = share[i] * in[std::max(at[i], 0)];
        sums[i] += at[i] >= 0 ? product : T{0};
      }
    }
    std::copy_n(sums, size, out + tile);
  }
}

template <class T>
void weighted_gather_lines(int64_t count, int64_t taps, int64_t stride, const int32_t* index,
                           const T* weight, const T* in, T* out) {
  constexpr int64_t kLine = kLineChannels<T>;
  for (int64_t p = 0; p < count; ++p) {
    T sums[kLine] = {};
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t at = index[k * stride + p];
      if (at < 0) continue;
      const T share = weight[k * stride + p];
#pragma omp simd
      for (int64_t c = 0; c < kLine; ++c) sums[c] += share * in[at * kLine + c];
    }
    std::copy_n(sums, kLine, out + p * kLine);
  }
}

template <class T>
void weighted_products(int64_t count, const int32_t* index, const T* in, const T* g, T* products) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T product = g[i] * in[std::max(index[i], 0)];
    products[i] += index[i] >= 0 ? product : T{0};
  }
}

template <class T>
inline constexpr WeightedGatherRows<T> kWeightedGatherRows{
    .gather = weighted_gather<T>,
    .gather_lines = weighted_gather_lines<T>,
    .products = weighted_products<T>,
};

}  // namespace tsr::cpu::TSR_ISA
