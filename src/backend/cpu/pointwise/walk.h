// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// walk_rows: runs a row over an ElementwisePlan: strides, broadcasts, casts, threads and cache use.
#pragma once

#include "backend/cpu/pointwise/pointwise_rows.h"

namespace tsr::cpu {

// The dtypes that a row takes and returns. Inputs of another dtype are cast before the row, the
// result after it.
struct RowTypes {
  DType output;
  DType inputs[3];
};

// Every element is computed by the same instructions whatever the layout, the position or the
// number of threads. Fails with kValue when the row meets operands that it refuses.
kernel::Status walk_rows(const kernel::ElementwisePlan& plan, const PointwiseKernel& kernel,
                         const RowTypes& types);

// Whether the output is written with non-temporal stores, past the caches. That pays where output
// and inputs together fill most of the last cache: an ordinary store first reads its line from
// memory, and leaves no room for anything else. Where little is read, a number or a row, an output
// has the last cache to itself and is written there faster, unless it is twice as large.
bool past_caches(const kernel::ElementwisePlan& plan);
// The same for the bytes that are written and read.
bool past_caches(int64_t written, int64_t read);

// The grain, in elements.
inline constexpr int64_t kGrain = 32768;

}  // namespace tsr::cpu
