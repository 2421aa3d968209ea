// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Owners: which references to a tensor are those of optimizers. A tracing collector leaves them out
// when it asks whether a handle alone keeps a tensor alive, because its optimizer reaches the same
// parameters in its own language.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace tsr::optim {

// How many optimizers own the tensor. Safe from any thread.
uint32_t owners_of(const TensorImpl* tensor) noexcept;

// What one optimizer owns; each tensor once.
class Owners {
 public:
  Owners() = default;
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;
  ~Owners();
  // Adds all or, when memory runs out, none.
  void add(std::span<const Tensor> tensors);
  void remove(const TensorImpl* tensor) noexcept;

 private:
  std::vector<const TensorImpl*> owned_;
};

}  // namespace tsr::optim
