// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of distances; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

template <class T>
struct DistanceRows {
  // The p-norms of the differences of one vector and `count` others, which follow each other.
  void (*distances)(int64_t count, int64_t components, double p, const T* one, const T* others,
                    T* out);
  // The same of others that are columns: component i of the j-th is turned[i * step + j].
  void (*across)(int64_t count, int64_t components, double p, const T* one, const T* turned,
                 int64_t step, T* out);
};

}  // namespace tsr::cpu
