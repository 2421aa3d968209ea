// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// 16-bit floats in op files. A plan's dtype is the storage dtype, and kernels compute in
// opmath(dtype) (kernel/contract.h); this file is for the two places where ops have to know: a
// backend that has no kernel for such a plan, and derivatives that are written in ops.
#pragma once

#include <initializer_list>

#include "base/function_ref.h"
#include "kernel/registry.h"
#include "tensor/tensor.h"

namespace tsr::ops {

inline constexpr size_t kMaxKernelOperands = 8;

// A tensor of a plan; it may be undefined.
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
// The fallback of launch_or_widen.
void launch_widened(const char* family, KernelOperands operands,
                    FunctionRef<bool(const Tensor* const* operands)> launch);

// LAUNCH with the operands as they are, on the device of the first one, which is defined. Where the
// backend answers "not implemented", the 16-bit floats among the operands become float32 copies (of
// the same strides where those are dense, else row-major), the kernel runs on those, and what it
// has written is rounded once into the operands. plan_of gives the plan of the tensors, which come
// in the order of the list. Throws as launch does.
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

// The tensor in opmath(dtype), differentiable: itself unless it has 16-bit floats. For derivatives
// that are written in ops, so that they round once and not at every step.
Tensor in_opmath(const Tensor& tensor);
// An undefined tensor has no address.
inline void* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data() : nullptr;
}

}  // namespace tsr::ops
