// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A graph as a picture: SVG that needs nothing else.
#pragma once

#include "inspect/graph_view.h"

namespace tsr::inspect {

std::string svg_of(GraphView view);

}  // namespace tsr::inspect
