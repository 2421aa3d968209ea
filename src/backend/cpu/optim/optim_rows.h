// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the optimizers' steps; T is float or double.
#pragma once

#include <cstdint>

#include "backend/common/optim_step.h"

namespace tsr::cpu {

using math::AdamStep;
using math::SgdStep;

template <class T>
struct OptimRows {
  void (*adam)(int64_t count, const AdamStep<T>& step, T* p, const T* g, T* m, T* v, T* v_max);
  void (*sgd)(int64_t count, const SgdStep<T>& step, T* p, const T* g, T* buffer);
  double (*sum_of_squares)(int64_t count, const T* g);
  void (*scale)(int64_t count, T factor, T* p);
};

}  // namespace tsr::cpu
