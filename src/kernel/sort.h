// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting family: stable sort with positions along one axis, whole, the first k or chosen ranks;
// and binary search in what is sorted.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// Sorts every row of a contiguous (rows, columns) block; NaN counts as the largest value. Writes
// the first `keep` values and positions of each row, or with `ranks` those of the `keep` ranks of
// the row; either output may be null. Stable.
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
  const int64_t* ranks;  // (rows, keep) numbers in [0, columns); null: 0, 1, ... keep - 1
};

// Where each of the contiguous `values` would stand in its row of the contiguous `sorted`, which is
// in the order of a sort: before its equals, behind them when `right`. One row serves all values
// when `rows` is 1; else each row has count / rows of them. `sorter`, when not null, has the
// positions that sort a row.
struct SearchPlan {
  int64_t rows;
  int64_t columns;
  int64_t count;
  int32_t right;
  Place place;
  DType dtype;  // of both
  const void* sorted;
  const int64_t* sorter;
  const void* values;
  int64_t* output;
};

}  // namespace tsr::kernel
