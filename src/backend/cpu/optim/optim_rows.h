// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the optimizers' steps; T is float or double.
#pragma once

#include <cstdint>

#include "backend/common/optim_step.h"

namespace tsr::cpu {

// One optimizer step over contiguous elements; `step` points to the member of math::AllSteps with
// the index of this row.
template <class T>
using StepRow = void (*)(int64_t count, const void* step, T* p, const T* g, T* a, T* b, T* c);
template <class T>
struct StepRows {
  StepRow<T> rows[math::AllSteps<T>::kCount];
};

template <class T>
struct OptimRows {
  StepRows<T> steps;
  double (*sum_of_squares)(int64_t count, const T* g);
  void (*scale)(int64_t count, T factor, T* p);
  bool (*unscale)(int64_t count, T factor, T* p);  // whether all elements were finite
};

}  // namespace tsr::cpu
