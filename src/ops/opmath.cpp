// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/opmath.h"

#include <array>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"

namespace tsr::ops {
namespace {

bool is_short(const Tensor& tensor) {
  return tensor.defined() && kernel::opmath(tensor.dtype()) != tensor.dtype();
}

Tensor widened(const KernelOperand& operand) {
  const Tensor& narrow = *operand.tensor;
  const DType dtype = kernel::opmath(narrow.dtype());
  const bool keeps = narrow.numel() != 0 && is_dense(narrow.sizes(), narrow.strides());
  Tensor wide = keeps ? empty_strided(narrow.sizes(), narrow.strides(), dtype, narrow.device())
                      : empty(narrow.sizes(), dtype, narrow.device());
  if (operand.reads) copy_memory(wide, narrow);
  return wide;
}

}  // namespace

void launch_widened(const char* family, KernelOperands operands,
                    FunctionRef<bool(const Tensor* const* operands)> launch) {
  std::array<Tensor, kMaxKernelOperands> wide;
  std::array<const Tensor*, kMaxKernelOperands> now{};
  bool any_short = false;
  const Device device = operands.begin()->tensor->device();
  for (size_t k = 0; k < operands.size(); ++k) {
    now[k] = operands.begin()[k].tensor;
    any_short |= is_short(*now[k]);
  }
  constexpr auto kNo = static_cast<kernel::Status>(Code::kNotImplemented);
  if (!any_short) kernel::throw_kernel_error(device, family, kNo);
  kernel::forget_kernel_error();
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!is_short(*now[k])) continue;
    wide[k] = widened(operands.begin()[k]);
    now[k] = &wide[k];
  }
  if (!launch(now.data())) kernel::throw_kernel_error(device, family, kNo);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (wide[k].defined() && operands.begin()[k].writes)
      copy_memory(*operands.begin()[k].tensor, wide[k]);
  }
}

Tensor in_opmath(const Tensor& tensor) {
  return is_short(tensor) ? astype(tensor, kernel::opmath(tensor.dtype())) : tensor;
}

}  // namespace tsr::ops
