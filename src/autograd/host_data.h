// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// visit_host_data: the objects of the host language that only this tensor or node keeps alive, so
// that a tracing garbage collector can find cycles that pass through the graph.
#pragma once

#include "autograd/node.h"

namespace tsr {

// Called under a lock: it must not call the library.
struct HostVisitor {
  void (*visit)(void* arg, void* user, void (*drop)(void*));
  void* arg;
};

// Visits the callables of the hooks and of the custom functions in the graph of a tensor or node
// whose only reference is the caller's. Visits nothing if there are other references, because
// their owners still need the callables. `owners` references of a tensor count as the caller's own.
void visit_host_data(const Tensor& tensor, HostVisitor visitor, uint32_t owners = 1);
void visit_host_data(const Node& node, HostVisitor visitor);

}  // namespace tsr
