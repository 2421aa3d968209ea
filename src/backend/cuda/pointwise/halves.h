// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The second halves of the unary and binary kernels. They are compiled apart, because each family
// as a whole takes longer than any other file.
#pragma once

#include "kernel/pointwise.h"

namespace tsr::cuda {

// For bools, integers and complex numbers.
kernel::Status unary_of_others(kernel::UnaryOp op, const kernel::ElementwisePlan& plan);
// For bools and integers.
kernel::Status binary_of_integers(kernel::BinaryOp op, const kernel::ElementwisePlan& plan);

}  // namespace tsr::cuda
