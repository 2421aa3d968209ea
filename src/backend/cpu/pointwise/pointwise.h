// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The tables behind the pointwise entries of the CPU.
#pragma once

#include "backend/cpu/pointwise/pointwise_rows.h"

namespace tsr::cpu {

// Looks up every kernel of the running level, once, when the backend starts and before the entries
// are called.
void fill_pointwise_tables() noexcept;

// The kernel of the running level over contiguous elements of `dtype`; null if there is none.
const PointwiseKernel* find_kernel(kernel::UnaryOp op, DType dtype) noexcept;
const PointwiseKernel* find_kernel(kernel::BinaryOp op, DType dtype) noexcept;

}  // namespace tsr::cpu
