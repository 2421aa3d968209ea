// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/verify_graph.h"

#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace tsr {
namespace {

void verify_edge(const Edge& edge, const char* from) {
  const Node& to = *edge.node;
  TSR_ASSERT(to.tag == ObjectTag::kNode && to.refs.load() > 0, "an edge of ", from,
             " leads to a node that is gone");
  TSR_ASSERT(edge.output < to.outputs().size(), "an edge of ", from, " leads to output ",
             edge.output, " of ", to.name(), ", which has ", to.outputs().size());
  TSR_ASSERT(to.outputs()[edge.output].exists && to.outputs()[edge.output].differentiable,
             "an edge of ", from, " leads to output ", edge.output, " of ", to.name(),
             ", which takes no part");
}

void verify_node(const Node& node) {
  TSR_ASSERT(!node.is_accumulator() || node.next_edges().empty(), node.name(), " has edges");
  TSR_ASSERT(!node.is_accumulator() || !node.has_saved(), node.name(), " saved tensors");
  for (const Edge& edge : node.next_edges()) {
    if (!edge.node) continue;
    verify_edge(edge, node.name());
    TSR_ASSERT(edge.node->topological() < node.topological(), node.name(), " at level ",
               node.topological(), " leads to ", edge.node->name(), " at level ",
               edge.node->topological());
  }
}

}  // namespace

void verify_graph(std::span<const Edge> roots) {
  std::vector<const Node*> waiting;
  std::unordered_set<const Node*> seen;
  const auto meet = [&](const Edge& edge) {
    if (edge.node && seen.insert(edge.node.get()).second) waiting.push_back(edge.node.get());
  };
  for (const Edge& root : roots) {
    if (root.node) verify_edge(root, "a root");
    meet(root);
  }
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    verify_node(node);
    for (const Edge& edge : node.next_edges()) meet(edge);
  }
}

}  // namespace tsr
