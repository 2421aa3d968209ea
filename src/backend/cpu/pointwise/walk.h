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

// The grain, in elements.
inline constexpr int64_t kGrain = 32768;

}  // namespace tsr::cpu
