// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_graphs.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "support/simulated_device.h"

namespace tsr::sim {
namespace {

struct Graph {
  std::vector<std::function<void()>> kernels;
  bool spoiled = false;
};
struct Captures {
  std::mutex mutex;
  std::map<std::pair<int32_t, StreamHandle>, std::unique_ptr<Graph>> running;
};
Captures& captures() {
  static Captures all;
  return all;
}

int32_t capture_begin(int32_t device, StreamHandle stream) {
  if (stream == nullptr) return kBrokenDevice;  // as CUDA's default stream
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  const auto [place, is_new] = all.running.try_emplace({device, stream}, nullptr);
  if (!is_new) return kBrokenDevice;
  place->second = std::make_unique<Graph>();
  return kDeviceOk;
}

int32_t capture_end(int32_t device, StreamHandle stream, void** out) {
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  const auto found = all.running.find({device, stream});
  if (found == all.running.end()) return kBrokenDevice;
  std::unique_ptr<Graph> graph = std::move(found->second);
  all.running.erase(found);
  *out = graph->spoiled ? nullptr : graph.release();
  return *out == nullptr ? kBrokenDevice : kDeviceOk;
}

int32_t launch_graph(int32_t device, void* graph, StreamHandle stream) {
  for (const auto& kernel : static_cast<const Graph*>(graph)->kernels)
    launch_kernel(stream, kernel, device, "graph");
  return kDeviceOk;
}

int32_t destroy(int32_t, void* graph) {
  delete static_cast<Graph*>(graph);
  return kDeviceOk;
}

}  // namespace

const GraphInterface& graph_interface() {
  static const GraphInterface interface {
    kGraphVersion, capture_begin, capture_end, launch_graph, destroy
  };
  return interface;
}

bool keep_in_graph(int32_t device, StreamHandle stream, std::function<void()> kernel) {
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  const auto found = all.running.find({device, stream});
  if (found == all.running.end()) return false;
  if (kernel == nullptr) {
    found->second->spoiled = true;
  } else {
    found->second->kernels.push_back(std::move(kernel));
  }
  return true;
}

}  // namespace tsr::sim
