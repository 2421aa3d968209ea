// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A graph as a table for people: one row for each operator of the forward, with the layer whose
// parameters it uses, the shape of its output, and its multiply-adds; then the totals and the
// memory.
#pragma once

#include "inspect/graph_view.h"

namespace tsr::inspect {

// The named leaves are the parameters; what stands before the last point of a name is the layer.
// Throws kAutograd for a root that does not require grad.
std::string table_of(std::span<const Tensor> roots, const GraphNames& names);

// The multiplications with an addition that an operator made: of products of matrices,
// convolutions, attention and recurrences. Other operators count as none.
int64_t multiply_adds_of(const Node& node);

}  // namespace tsr::inspect
