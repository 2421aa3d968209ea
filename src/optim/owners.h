// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Owners: counts the references to a tensor that optimizers hold. A tracing garbage collector
// subtracts them to find out whether a handle alone keeps a tensor alive: it reaches the same
// parameters through the optimizer object of its own language.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace tsr::optim {

// The number of optimizers that own the tensor. Safe from any thread.
uint32_t owners_of(const TensorImpl* tensor) noexcept;

// The tensors that one optimizer owns, each once.
class Owners {
 public:
  Owners() = default;
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;
  ~Owners();
  // Adds all tensors, or none if memory runs out.
  void add(std::span<const Tensor> tensors);
  void remove(const TensorImpl* tensor) noexcept;

 private:
  std::vector<const TensorImpl*> owned_;
};

}  // namespace tsr::optim
