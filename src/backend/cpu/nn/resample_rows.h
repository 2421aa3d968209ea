// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of resampling and of weighted gathering; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// Outputs [first, last) of a map along one axis; `base` is the position of the first input given.
template <class T>
struct ResampleBand {
  int64_t first, last, base;
  int64_t taps, output;
  const int32_t* begin;
  const T* weights;  // null: one tap, of weight 1
};

template <class T>
struct ResampleRows {
  // One line of single numbers.
  void (*along)(const ResampleBand<T>& band, const T* in, T* out);
  // Rows of `inner` numbers, which share the weights.
  void (*across)(const ResampleBand<T>& band, int64_t inner, const T* in, T* out);
};

// The channels whose numbers at one place fill a cache line.
template <class T>
inline constexpr int64_t kLineChannels = 64 / static_cast<int64_t>(sizeof(T));

template <class T>
struct WeightedGatherRows {
  // out[p] = Σ_k weight[k stride + p] in[index[k stride + p]], p < count.
  void (*gather)(int64_t count, int64_t taps, int64_t stride, const int32_t* index, const T* weight,
                 const T* in, T* out);
  // The same of kLineChannels channels, whose numbers at one place are neighbours.
  void (*gather_lines)(int64_t count, int64_t taps, int64_t stride, const int32_t* index,
                       const T* weight, const T* in, T* out);
  // For one tap, products[p] += g[p] in[index[p]].
  void (*products)(int64_t count, const int32_t* index, const T* in, const T* g, T* products);
};

}  // namespace tsr::cpu
