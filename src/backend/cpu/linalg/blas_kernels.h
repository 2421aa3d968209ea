// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which of its kernels OpenBLAS uses.
#pragma once

namespace tsr::cpu {

// Has OpenBLAS choose its kernels by the instructions of the processor where it chose them by a
// number of the processor that it does not know. Only for a library that no other code in the
// process uses yet. Changes nothing if the user has chosen (OPENBLAS_CORETYPE), or for another
// library.
void choose_blas_kernels(void* handle) noexcept;

}  // namespace tsr::cpu
