// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// verify_graph: the invariants of a graph, checked after each backward of a debug build.
#pragma once

#include <span>

#include "autograd/node.h"

namespace tsr {

// Walks all that `roots` lead to; throws kInternal naming the node and the invariant that is
// broken: nodes and what they refer to are alive, edges lead to outputs that exist and take part,
// and always to nodes of lower topological numbers, so that there is no cycle. Other threads may
// run backwards over the graph meanwhile.
void verify_graph(std::span<const Edge> roots);

}  // namespace tsr
