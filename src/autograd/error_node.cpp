// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/error_node.h"

#include "autograd/grad_mode.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr {

ErrorNode::ErrorNode(std::string message) : Node("Error"), message_(std::move(message)) {}

void ErrorNode::apply(Backward&) {
  fail(Code::kAutograd, nullptr, __FILE__, __LINE__, message_);
}

Tensor delay_error(const Tensor& tensor, std::span<const Tensor> inputs, std::string message) {
  if (!tensor.defined() || !needs_history(inputs)) return tensor;
  const NodePtr node = NodePtr::adopt(new ErrorNode(std::move(message)));
  for (const Tensor& input : inputs) {
    node->add_edge(input.defined() ? gradient_edge(input) : Edge{});
  }
  Tensor alias = tensor.detached();
  node->add_output(alias, true);
  set_history(alias, node, 0);
  return alias;
}

}  // namespace tsr
