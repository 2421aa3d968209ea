// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the kinds of scans on the CPU share: how lines are dealt to threads.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"
#include "kernel/reduce.h"

namespace tsr::cpu {

inline constexpr int64_t kScanBlock = 512;  // elements in flight

inline Cursor other_dims(const kernel::ScanPlan& plan, int64_t linear) {
  Cursor cursor;
  cursor.ndim = plan.ndim;
  cursor.sizes = plan.sizes;
  cursor.seek(linear);
  return cursor;
}

// Which way through the lines is the faster one.
struct ScanWays {
  int64_t few_neighbours;  // fewer lines are scanned one after the other
  int64_t few_elements;    // shorter lines are taken together, if there are many
};

// along(begin, end) scans lines one after the other, each from end to end; across(first, width)
// takes up to kScanBlock neighbouring lines position by position, which is faster where the
// elements of a line lie apart, or are few.
template <class Along, class Across>
void deal_lines(const kernel::ScanPlan& plan, ScanWays ways, Along along, Across across) {
  const bool contiguous = std::abs(plan.axis_input_stride) == itemsize(plan.dtype);  // or reversed
  const bool short_lines = plan.axis_size < ways.few_elements && plan.numel >= kScanBlock / 8;
  if ((contiguous && !short_lines) || plan.numel < ways.few_neighbours) {
    const int64_t grain = std::max<int64_t>(1, kGrain / plan.axis_size);
    parallel_for(plan.numel, grain, along);
    return;
  }
  const int64_t blocks = (plan.numel + kScanBlock - 1) / kScanBlock;
  const int64_t grain = std::max<int64_t>(1, kGrain / (plan.axis_size * kScanBlock));
  parallel_for(blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kScanBlock;
      across(first, std::min(kScanBlock, plan.numel - first));
    }
  });
}

// Sums and products of matrices with few columns; false where the plan is none of these.
bool scan_short(const kernel::ScanPlan& plan);
// Sums and products of complex numbers.
void scan_complex(const kernel::ScanPlan& plan);
kernel::Status scan_extrema(const kernel::ScanPlan& plan);
kernel::Status scan_log_sum_exp(const kernel::ScanPlan& plan);

}  // namespace tsr::cpu
