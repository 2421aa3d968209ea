// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Coordinates for the items of a layered graph: chains straight, nothing overlapping.
#pragma once

#include "inspect/graph_layers.h"

namespace tsr::inspect {

struct Box {
  double x = 0;  // centre
  double width = 0;
  double height = 0;
};

// Sets x of every box, one for each item, whose widths are given. The smallest left edge is 0.
void place(const LayeredGraph& graph, std::vector<Box>& boxes);

// The places nearest to `wished`, in the sense of least squares with these weights, that keep
// `gaps[i]` between entry i and the next one. Pools neighbours that get in each other's way.
std::vector<double> spread(const std::vector<double>& wished, const std::vector<double>& weights,
                           const std::vector<double>& gaps);

}  // namespace tsr::inspect
