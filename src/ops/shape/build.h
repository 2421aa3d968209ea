// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors built of others: stacks by name, grids, block matrices, diagonals, products,
// combinations.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/result.h"

namespace tsr::ops {

// ---- stacks; dtypes promote together, an empty list throws kValue ----

// Side by side: along axis 1, vectors along their only one.
Tensor hstack(std::span<const Tensor> tensors, Out out = {});
// One above the other: along axis 0, vectors as rows.
Tensor vstack(std::span<const Tensor> tensors, Out out = {});
// Concatenates along axis 2, after atleast_3d.
Tensor dstack(std::span<const Tensor> tensors, Out out = {});
// As hstack, vectors as columns.
Tensor column_stack(std::span<const Tensor> tensors, Out out = {});
// Matrices (vectors are rows) along the diagonal of one matrix that is zero elsewhere.
Tensor block_diag(std::span<const Tensor> tensors, Out out = {});

// ---- grids ----

// Views of one shape, the broadcast one.
std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors);
// Views of vectors (kShape for others) along an axis each of one grid. `indexing` is "xy": the
// first vector runs along axis 1, the second along axis 0; or "ij": in order. kValue for others.
std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, std::string_view indexing = "xy");
// All choices of one element of each vector, as rows, the last varying fastest; of one vector the
// vector itself.
Tensor cartesian_prod(std::span<const Tensor> tensors);
// All choices of r elements of a vector as rows, in lexicographic order of their positions;
// `with_replacement`: one may be chosen again.
Tensor combinations(const Tensor& input, int64_t r = 2, bool with_replacement = false);

// ---- diagonals; `offset` counts them upwards from the main one ----

// A matrix with the vector on a diagonal; of a matrix a copy of the diagonal. kShape for others.
Tensor diag(const Tensor& input, int64_t offset = 0, Out out = {});
// The last axis on a diagonal of two new axes, at axis1 and axis2 of the result, zero elsewhere.
Tensor diag_embed(const Tensor& input, int64_t offset = 0, int64_t axis1 = -2, int64_t axis2 = -1,
                  Out out = {});
// The flattened input on a diagonal of a matrix.
Tensor diagflat(const Tensor& input, int64_t offset = 0, Out out = {});

}  // namespace tsr::ops
