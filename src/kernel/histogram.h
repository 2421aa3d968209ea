// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Counting family: how many elements fall into each bin, or how much they weigh.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// output[b] = the number of the contiguous elements in bin b. Without edges the elements (int64)
// are numbers of bins, all in [0, bins). With them, bins + 1 that do not fall, bin b is [edges[b],
// edges[b + 1]), the last one with its end; what lies outside, and NaN, counts nowhere. Numbers of
// bins may have weights, whose sums the output then holds: added up in double precision in an order
// that the number of threads does not change. A backend that cannot answers kNotImplemented.
struct HistogramPlan {
  int64_t count;
  int64_t bins;
  int32_t equal_widths;  // the edges are about equally far apart
  Place place;
  DType dtype;  // of elements and edges: int64 without edges, else float32 or float64
  const void* input;
  const void* edges;
  const void* weights;  // contiguous; null: 1 each
  DType weights_dtype;  // float32 or float64
  void* output;         // int64, or of the dtype of the weights
};

}  // namespace tsr::kernel
