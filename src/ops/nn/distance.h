// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Lengths and angles of vectors along an axis; floating dtypes.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along the axis; shapes broadcast.
Tensor cosine_similarity(const Tensor& input1, const Tensor& input2, int64_t axis = 1,
                         double eps = 1e-8);
// The p-norm of input1 - input2 + eps along the last axis; shapes broadcast.
Tensor pairwise_distance(const Tensor& input1, const Tensor& input2, double p = 2,
                         double eps = 1e-6, bool keepdims = false);
// input / max(|input|_p, eps) along the axis.
Tensor normalize(const Tensor& input, double p = 2, int64_t axis = 1, double eps = 1e-12,
                 Out out = {});

}  // namespace tsr::ops
