// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ErrorNode: a place in the graph that raises when, and only when, a backward runs through it.
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

// An alias of `tensor` through which no second derivative goes: differentiating it raises
// `message`. `inputs` are what it was computed from; without grad mode, or when none of them needs
// grad, the result is the tensor itself.
Tensor delay_error(const Tensor& tensor, std::span<const Tensor> inputs, std::string message);

}  // namespace tsr
