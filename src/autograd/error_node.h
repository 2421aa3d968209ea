// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ErrorNode: a node that throws when a backward runs through it.
#pragma once

#include <string>

#include "autograd/node.h"

namespace tsr {

class ErrorNode final : public Node {
 public:
  explicit ErrorNode(std::string message);
  // Throws kAutograd.
  [[noreturn]] void apply(Backward& ctx) override;
  [[nodiscard]] bool runs_on_undefined() const noexcept override { return true; }

 private:
  std::string message_;
};

// An alias of `tensor` that cannot be differentiated: a backward through it throws `message`.
// `inputs` are the tensors it was computed from. If grad mode is off or no input needs grad, the
// result is the tensor itself.
Tensor delay_error(const Tensor& tensor, std::span<const Tensor> inputs, std::string message);

}  // namespace tsr
