// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A dense layer with a bias, for devices whose product adds or sums the bias on its way.
#pragma once

#include "kernel/contract.h"
#include "kernel/precision.h"

namespace tsr::kernel {

enum class LinearPass : int32_t { kForward, kBackwardWeight, kCount };

// All tensors are row-major without gaps, of one floating dtype, and have elements: input is rows x
// inner, weight columns x inner, output rows x columns, bias has `columns` numbers.
// Forward: output = input weightᵀ + bias, rounded once. BackwardWeight: reads the gradient in
// `output` and writes weight = outputᵀ input and bias = the sum of output over its rows.
struct LinearPlan {
  LinearPass pass;
  DType dtype;
  Precision precision;  // as in GemmPlan
  int64_t rows, inner, columns;
  Place place;
  const void* input;
  void* weight;
  void* bias;
  void* output;
};
inline const char* name_of(const LinearPlan& plan) noexcept {
  return name_in({"linear", "linear_backward_weight"}, plan.pass);
}

}  // namespace tsr::kernel
