// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loss of alignments: connectionist temporal classification.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace tsr::ops {

// -log of the probability of all paths that give the labels. log_probs: (time, batch, classes) or
// (time, classes), real floating; targets: (batch, longest) or all labels concatenated;
// lengths: (batch). Integers may have any integer dtype and be on any device. Throws kValue for a
// length that does not fit or a bad `reduction`, kIndex for a class out of range, kShape, kDType.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank = 0,
                std::string_view reduction = "mean", bool zero_infinity = false);

}  // namespace tsr::ops
