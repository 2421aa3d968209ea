// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A graph in the language of Graphviz, for its programs and for other readers of DOT.
#pragma once

#include "inspect/graph_view.h"

namespace tsr::inspect {

std::string dot_of(const GraphView& view);

}  // namespace tsr::inspect
