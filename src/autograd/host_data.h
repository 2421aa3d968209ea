// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// visit_host_data: what of the host language is kept alive through a tensor or a node alone, so
// that a tracing collector can find cycles that go through the graph.
#pragma once

#include "autograd/node.h"

namespace tsr {

// Called under a lock: it must not call the library.
struct HostVisitor {
  void (*visit)(void* arg, void* user, void (*drop)(void*));
  void* arg;
};

// For a tensor or node whose only reference is the caller's: the callables of its hooks and of the
// custom functions in its graph, as far as this reference alone keeps them alive. For others
// nothing: whoever else holds them must be able to rely on them. A tensor may have `owners`
// references that count as the caller's own.
void visit_host_data(const Tensor& tensor, HostVisitor visitor, uint32_t owners = 1);
void visit_host_data(const Node& node, HostVisitor visitor);

}  // namespace tsr
