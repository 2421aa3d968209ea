// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// 16-bit floats in op files. A plan's dtype is the storage dtype, and kernels compute in
// opmath(dtype) (kernel/contract.h). Only two kinds of op code need to know that: the fallback for
// a backend without a kernel for 16-bit floats, and derivatives written in ops.
#pragma once

#include <initializer_list>

#include "base/function_ref.h"
#include "kernel/registry.h"
#include "tensor/tensor.h"

namespace tsr::ops {

inline constexpr size_t kMaxKernelOperands = 8;

// A tensor that a plan reads or writes; it may be undefined.
struct KernelOperand {
  const Tensor* tensor;
  bool reads;
  bool writes;
};
inline KernelOperand reads(const Tensor& tensor) {
  return {&tensor, true, false};
}
inline KernelOperand writes(const Tensor& tensor) {
  return {&tensor, false, true};
}
inline KernelOperand updates(const Tensor& tensor) {
  return {&tensor, true, true};
}

using KernelOperands = std::initializer_list<KernelOperand>;
// Runs the kernel on float32 copies: the fallback of launch_or_widen.
void launch_widened(const char* family, KernelOperands operands,
                    FunctionRef<bool(const Tensor* const* operands)> launch);

// LAUNCH on the device of the first operand, which is defined. If the backend answers "not
// implemented", the 16-bit floats among the operands are replaced by float32 copies (with the same
// strides if those are dense, else row-major), the kernel runs on the copies, and its results are
// rounded once into the operands. plan_of makes the plan from the tensors, in the order of the
// list. Throws as launch does.
template <auto Entry, class PlanOf>
void launch_or_widen(kernel::Family<Entry> family, KernelOperands operands, const PlanOf& plan_of) {
  const Tensor* given[kMaxKernelOperands];
  for (size_t k = 0; k < operands.size(); ++k) given[k] = operands.begin()[k].tensor;
  const Device device = given[0]->device();
  const auto launch = [&](const Tensor* const* tensors) {
    return kernel::try_launch(family, device, plan_of(tensors));
  };
  if (!launch(given)) [[unlikely]]
    launch_widened(family.name, operands, launch);
}

// The tensor in opmath(dtype), differentiable; the tensor itself unless it has 16-bit floats. For
// derivatives that are written in ops, so that they round once and not at every step.
Tensor in_opmath(const Tensor& tensor);
// Null for an undefined tensor.
inline void* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data() : nullptr;
}

}  // namespace tsr::ops
