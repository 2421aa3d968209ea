// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of attention: what happens to a row of scores between the two products; T is float or
// double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

template <class T>
struct AttentionRows {
  // scores += mask
  void (*add)(int64_t count, const T* mask, T* scores);
  // scores = -infinity where `taken` is 0
  void (*hide)(int64_t count, const uint8_t* taken, T* scores);
  // The largest score, -infinity if there is none; NaNs are skipped.
  T (*largest)(int64_t count, const T* scores);
  // scores = exp(scores - shift); returns their sum.
  T (*exponentials)(int64_t count, T shift, T* scores);
  void (*scale)(int64_t count, T factor, T* row);
  void (*multiply)(int64_t count, const T* factors, T* row);
  T (*dot)(int64_t count, const T* a, const T* b);
  // slopes *= probabilities; returns their sum.
  T (*weigh)(int64_t count, const T* probabilities, T* slopes);
  // tangent = tangent scale - value total
  void (*finish_tangent)(int64_t count, T scale, T total, const T* value, T* tangent);
  // slopes = probabilities (slopes - total)
  void (*slopes)(int64_t count, const T* probabilities, T total, T* slopes);
};

}  // namespace tsr::cpu
