// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The graphs of the simulated device: kernels that are kept instead of queued.
#pragma once

#include <functional>

#include "base/graph_interface.h"

namespace tsr::sim {

const GraphInterface& graph_interface();
// True if the stream is captured; the kernel is then kept. A null kernel spoils the capture: it
// stands for what a graph cannot hold.
bool keep_in_graph(int32_t device, StreamHandle stream, std::function<void()> kernel);

}  // namespace tsr::sim
