// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DeviceGraph: kernels that a device keeps as one object.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/graph_interface.h"
#include "memory/kept_memory.h"
#include "memory/stream.h"

namespace tsr::kernel {

void install_graphs(DeviceType type, const GraphInterface& interface);
// Null if the device has none.
const GraphInterface* find_graphs(DeviceType type) noexcept;

class DeviceGraph {
 public:
  // What `body` queues, which does not run. Null, with the reason, if it cannot be kept: the device
  // has no graphs, a kernel is of a family whose arguments may lie in the host's memory or draws
  // random numbers, the host decided from elements, or a call failed. Memory that `body` takes and
  // returns, such as a kernel's workspace, stays the graph's.
  static std::unique_ptr<DeviceGraph> capture(Device device, const std::function<void()>& body,
                                              std::string& reason);
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;
  ~DeviceGraph();

  // On the thread's current stream. Throws kAsync.
  void launch() const;

 private:
  DeviceGraph(Device device, const GraphInterface& interface, void* graph,
              KeptMemory::Ptr memory) noexcept
      : device_(device), interface_(interface), graph_(graph), memory_(std::move(memory)) {}

  Device device_;
  const GraphInterface& interface_;
  void* graph_;
  KeptMemory::Ptr memory_;
};

}  // namespace tsr::kernel
