// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How a kernel reports a fault: see Note [Faults].
#pragma once

#include "backend/cuda/fault.h"

namespace tsr::cuda {

// `number` at the place `j` of several was out of range. An earlier fault stays.
__device__ inline void report(const Reporter& reporter, int j, int64_t number, int64_t size,
                              int64_t axis) {
  volatile Fault* const to = reporter.fault;
  if (to->state != 0) return;
  to->kind = reporter.kind;
  to->what = reporter.what;
  to->number[j] = number;
  to->size[j] = size;
  to->axis[j] = axis;
  to->found[j] = 1;
  __threadfence_system();
  to->state = 1;
}

}  // namespace tsr::cuda
