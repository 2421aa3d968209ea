// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What kernels leave of indices that are out of range, for the host to read.
#pragma once

#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

// All zero at first; of several indices one is as good as another.
struct Outside {
  int64_t found;
  int64_t index;

  __device__ void report(int64_t outside) {
    index = outside;
    found = 1;
  }
};

}  // namespace tsr::cuda
