// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// run_node: the derivative of one node, called by itself.
#pragma once

#include <span>
#include <vector>

#include "autograd/node.h"

namespace tsr {

// The gradients of the node's inputs for given gradients of its outputs; undefined means zero, and
// among the results also "not needed". An AccumulateGrad node has no results: it adds to its leaf.
// Runs no hooks but those of accumulation, and frees nothing that the node saved. Recorded in grad
// mode. Runs on the current streams.
// Throws kValue for another number of gradients than the node has outputs, kShape, kDevice and
// kDType for one that does not fit, kAutograd if what the node saved has been freed or written.
std::vector<Tensor> run_node(Node& node, std::span<const Tensor> grads);

}  // namespace tsr
