// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting family: stable sort with positions along one axis, whole or the first k.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// Sorts every row of a contiguous (rows, columns) block; NaN counts as the largest value. Writes
// the first `keep` values and positions of each row; either output may be null. Stable.
struct SortPlan {
  int64_t rows;
  int64_t columns;
  int64_t keep;
  int32_t descending;
  Place place;
  DType dtype;
  const void* input;
  void* values;
  int64_t* positions;
};

}  // namespace tsr::kernel
