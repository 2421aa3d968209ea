// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GraphView: the graph behind some tensors as plain data, in the direction of the forward, for
// drawings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "autograd/node.h"

namespace tsr::inspect {

enum class VertexKind : uint8_t {
  kOperation,
  kLeaf,       // a leaf together with the node that accumulates its gradient
  kOutput,     // one of the tensors that the caller asked about
  kReference,  // stands for another vertex that is far away
};

struct Vertex {
  VertexKind kind;
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::string hint;                // what a reader sees when asking for more
};

// A tensor that goes from one vertex to another.
struct Link {
  uint32_t from;
  uint32_t to;
  uint32_t output;    // number of the output of `from`
  std::string label;  // its shape; empty where the vertex `from` shows it
};

struct GraphView {
  std::vector<Vertex> vertices;
  std::vector<Link> links;  // in the order in which a depth-first walk from the roots meets them
};

struct GraphNames {
  std::span<const Tensor> tensors;
  std::span<const std::string> names;  // one for each tensor
};

// Throws kAutograd for a root that does not require grad. `names` label leaves and roots.
// `show_saved` lists what each node saved.
GraphView view_of(std::span<const Tensor> roots, const GraphNames& names, bool show_saved);

}  // namespace tsr::inspect
