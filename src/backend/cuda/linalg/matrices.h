// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Small kernels on dense matrices, for what cuSOLVER leaves to its caller. All matrices of a batch
// lie one after another; `dtype` is float32, float64, complex64 or complex128.
#pragma once

#include "backend/cuda/host.h"
#include "base/dtype.h"

namespace tsr::cuda {

// to = the transpose of `from`, which has `rows` rows of `columns` numbers; conjugated if asked.
kernel::Status turn(kernel::Place place, DType dtype, const void* from, void* to, int64_t rows,
                    int64_t columns, bool conjugate);
// Conjugates `count` numbers; nothing to do for real ones.
kernel::Status conjugate(kernel::Place place, DType dtype, void* numbers, int64_t count);
// n x n.
kernel::Status set_identity(kernel::Place place, DType dtype, void* to, int64_t n);
// Sets one triangle (the diagonal excluded) of `batch` n x n matrices of rows to zero; `upper`
// keeps the upper one. A factor with NaN on its diagonal gets the row, from 1, as its info.
kernel::Status finish_cholesky(kernel::Place place, DType dtype, void* a, int64_t batch, int64_t n,
                               bool upper, int32_t* info);

enum class Part { kWhole, kUpper, kLower };
// info[i] = kNotFinite where matrix i has NaN or infinity in this part (diagonal included), else 0.
kernel::Status find_not_finite(kernel::Place place, DType dtype, const void* a, int64_t batch,
                               int64_t rows, int64_t columns, Part part, int32_t* info);

}  // namespace tsr::cuda
