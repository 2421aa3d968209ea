// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of bags; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

template <class T>
struct BagRows {
  // to = Σ_i factors[i] table[index[i]], i < count, without the indices that are `skipped`; null
  // factors are ones.
  void (*sum)(int64_t features, int64_t count, const int64_t* index, int64_t skipped,
              const T* factors, const T* table, T* to);
  // to += factor from
  void (*add)(int64_t features, T factor, const T* from, T* to);
  T (*dot)(int64_t features, const T* a, const T* b);
  // Where an element of `from` is larger than that of `best`, or the first NaN: it replaces it, and
  // `row` its number in `chosen`.
  void (*raise)(int64_t features, int64_t row, const T* from, T* best, int64_t* chosen);
};

}  // namespace tsr::cpu
