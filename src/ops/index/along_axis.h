// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One index for each element along an axis: what gathering and scattering share.
#pragma once

#include "ops/index/index_launch.h"

namespace tsr::ops {

// Which indices an op takes: NumPy's count from the end when they are negative, PyTorch's must not
// be, because there a negative one is a fault in the data.
enum class Indices : uint8_t { kNotNegative, kFromEnd };

// A 0-dim array counts as one of one element.
Tensor at_least_1d_memory(const Tensor& input);
// The same for a batch of arrays, differentiable; `shaped_like` gives the batch its shape back.
// Without a batch both return what they are given.
Tensor at_least_1d(const Backward& ctx, const Tensor& batch);
Tensor shaped_like(const Tensor& batch, const Tensor& other);
IndexWalk gather_walk(const Tensor& array, int64_t axis, const Tensor& index, Indices kind);
// Throws kShape unless the index has the input's rank (0 counts as 1) and is not longer on the
// other axes.
void check_gather(const Tensor& input, int64_t axis, const Tensor& index);

// The differentiable ops for either kind of indices; see index.h.
Tensor gather_at(const Tensor& input, int64_t axis, const Tensor& index, Indices kind,
                 const Out& out);
Tensor scatter_add_at(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                      Indices kind, const Out& out);

}  // namespace tsr::ops
