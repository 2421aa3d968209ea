// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What recurrent networks and cells require of their arguments.
#pragma once

#include "ops/nn/recurrence.h"

namespace tsr::ops {

// Throws kValue unless the numbers of a packed batch are at least 1 and never rise; kShape unless
// the input has as many rows as their sum.
void check_batch_sizes(const std::vector<int64_t>& sizes, const Tensor& input);
// Throws kShape unless the parameters have the shapes that these numbers give.
void check_weights(kernel::GatesOp op, const RecurrenceInputs& part, const char* arg,
                   int64_t features, int64_t hidden, int64_t outputs);
// The parameters in opmath.
RecurrenceInputs in_opmath(const RecurrenceInputs& part);

}  // namespace tsr::ops
