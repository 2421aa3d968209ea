// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Distances of pairs of vectors.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// output[n, i, j] = (Σ_k |x1[n, i, k] - x2[n, j, k]|^p)^(1/p), row-major; p = 0 counts the
// components that differ, p = inf takes the largest difference. `condensed`: x2 is x1, and only the
// pairs i < j are written, one after the other. NaN gives NaN, but for p = 0, where it differs from
// everything. float32 and float64 only.
struct DistancePlan {
  int32_t condensed;
  int64_t batch, rows1, rows2, components;
  double p;
  Place place;
  DType dtype;
  const void* x1;
  const void* x2;
  void* output;
};

}  // namespace tsr::kernel
