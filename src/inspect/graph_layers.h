// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// LayeredGraph: the vertices of a graph in rows, so that every link leads to a lower row, with few
// crossings. The work is linear in the size of the graph, up to a sort of each row.
#pragma once

#include <vector>

#include "base/small_vector.h"
#include "inspect/graph_view.h"

namespace tsr::inspect {

// A vertex, or a bend where a link passes through a row.
struct Item {
  static constexpr uint32_t kBend = UINT32_MAX;
  uint32_t vertex = kBend;
  uint32_t row = 0;
  uint32_t place = 0;  // in its row, from the left
  SmallVector<uint32_t, 4> above;
  SmallVector<uint32_t, 4> below;
};

struct LayeredGraph {
  GraphView view;                             // far links lead to references instead
  std::vector<Item> items;                    // the vertices, in the view's order, then the bends
  std::vector<std::vector<uint32_t>> rows;    // from the bottom to the top
  std::vector<SmallVector<uint32_t, 4>> way;  // the items that each link passes, `from` first
};

LayeredGraph layer(GraphView view);

}  // namespace tsr::inspect
