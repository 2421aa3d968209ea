// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The pointwise entries of the kernel table.
#pragma once

#include "kernel/pointwise.h"

namespace tsr::cpu {

// Looks up every kernel of the running level, once, when the backend starts and before the entries
// are called.
void fill_pointwise_tables() noexcept;

kernel::Status fill(const kernel::ElementwisePlan& plan);
kernel::Status copy(const kernel::ElementwisePlan& plan);
kernel::Status unary(kernel::UnaryOp op, const kernel::ElementwisePlan& plan);
kernel::Status binary(kernel::BinaryOp op, const kernel::ElementwisePlan& plan);
kernel::Status ternary(kernel::TernaryOp op, const kernel::ElementwisePlan& plan);

}  // namespace tsr::cpu
