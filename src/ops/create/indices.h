// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors of positions: the indices of triangles, one-hot codes.
#pragma once

#include <optional>

#include "ops/result.h"

namespace tsr::ops {

// The rows and the columns, as a (2, count) tensor, of the elements of a matrix on and below
// (tril), or on and above (triu), a diagonal, in row-major order; columns default to rows. Dtype
// defaults to int64. Throws kValue for negative sizes, kDType for a dtype that is not integral.
Tensor tril_indices(int64_t rows, std::optional<int64_t> columns = {}, int64_t offset = 0,
                    std::optional<DType> dtype = {}, std::optional<Device> device = {});
Tensor triu_indices(int64_t rows, std::optional<int64_t> columns = {}, int64_t offset = 0,
                    std::optional<DType> dtype = {}, std::optional<Device> device = {});
// int64 zeros with a 1 at the position along a new last axis that each element of the input names;
// `num_classes` of -1 is one more than the largest (kValue when there is none). kIndex outside.
Tensor one_hot(const Tensor& input, int64_t num_classes = -1);

}  // namespace tsr::ops
