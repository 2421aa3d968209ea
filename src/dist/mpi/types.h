// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// MPI's names of dtypes and reductions.
#pragma once

#include <mpi.h>

#include "dist/contract.h"

namespace tsr::dist::mpi {

[[nodiscard]] MPI_Datatype datatype_of(DType dtype) noexcept;

// MPI's own operation, or one of ours: bool, 16-bit floats (computed in float32), and minima and
// maxima in which a NaN wins. An average is a sum. Ours are made at the first use. Call it with the
// lock of the engine.
[[nodiscard]] MPI_Op operation_of(ReduceOp op, DType dtype);

// Whether operation_of is one of ours, which reads memory of the host.
[[nodiscard]] bool has_own_function(ReduceOp op, DType dtype) noexcept;

}  // namespace tsr::dist::mpi
