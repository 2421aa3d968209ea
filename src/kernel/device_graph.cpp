// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/device_graph.h"

#include <array>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "kernel/registry.h"
#include "memory/allocator.h"

namespace tsr::kernel {
namespace {

std::array<std::atomic<const GraphInterface*>, kMaxDeviceType> g_graphs{};

// Sees the launches of a capture. It must be offered them: the caller watches launches.
class Witness final : public LaunchKeeper {
 public:
  explicit Witness(std::string& reason) noexcept : reason_(reason), before_(t_launch_keeper) {
    t_launch_keeper = this;
  }
  ~Witness() override { t_launch_keeper = before_; }
  void take(std::unique_ptr<KeptLaunch> launch) override {
    if (launch == nullptr) refuse("a kernel may read host memory when it runs");
    if (launch != nullptr && launch->draw().seed != nullptr)
      refuse("a kernel draws random numbers, which would be the same in every run");
    ++launches_;
  }
  void take_decision(const char* what) noexcept override {
    try {
      refuse(concat("the host decides: ", what));
    } catch (...) {
      reason_ = "out of memory";
    }
  }
  [[nodiscard]] bool saw_any() const noexcept { return launches_ > 0; }

 private:
  void refuse(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
  }
  std::string& reason_;
  LaunchKeeper* before_;
  int64_t launches_ = 0;
};

}  // namespace

void install_graphs(DeviceType type, const GraphInterface& interface) {
  if (interface.version != kGraphVersion) return;  // of another library: the same as none
  g_graphs[static_cast<size_t>(type)].store(&interface, std::memory_order_release);
}

const GraphInterface* find_graphs(DeviceType type) noexcept {
  const auto index = static_cast<int32_t>(type);
  if (index < 0 || index >= kMaxDeviceType) return nullptr;
  return g_graphs[static_cast<size_t>(index)].load(std::memory_order_acquire);
}

std::unique_ptr<DeviceGraph> DeviceGraph::capture(Device device, const std::function<void()>& body,
                                                  std::string& reason) {
  const GraphInterface* graphs = find_graphs(device.type);
  if (graphs == nullptr) {
    reason = concat(device, " keeps no graphs");
    return nullptr;
  }
  // A default stream cannot be captured.
  const auto stream = Stream::create(device, interface_of(device));
  const StreamHandle native = stream->native();
  const CurrentStreams there(StreamSet::with(nullptr, stream));
  // The graph runs on other streams, and uses blocks that the stream's former user has returned.
  const DeviceInterface& interface = interface_of(device);
  if (interface.stream_synchronize != nullptr)
    check_work(interface.stream_synchronize(device.index, native), device, interface);
  KeptMemory::Ptr memory = KeptMemory::make(allocator_for(device));
  if (graphs->capture_begin(device.index, native) != kDeviceOk) {
    reason = "the device does not begin a capture";
    return nullptr;
  }
  bool saw_any = false;
  try {
    Witness witness(reason);
    const AllocatorScope own(device, *memory);
    body();
    saw_any = witness.saw_any();
  } catch (const Error& error) {
    if (reason.empty()) reason = error.message();
    forget_kernel_error();
  } catch (...) {
    void* broken = nullptr;
    static_cast<void>(graphs->capture_end(device.index, native, &broken));
    if (broken != nullptr) static_cast<void>(graphs->destroy(device.index, broken));
    throw;
  }
  void* graph = nullptr;
  const int32_t code = graphs->capture_end(device.index, native, &graph);
  if (reason.empty() && (code != kDeviceOk || graph == nullptr))
    reason = "the device cannot keep what was queued";
  if (reason.empty() && !saw_any) reason = "there is nothing to keep";
  if (reason.empty() && memory->lent() != 0) reason = "a call gives memory that it has allocated";
  if (reason.empty()) {
    return std::unique_ptr<DeviceGraph>(new DeviceGraph(device, *graphs, graph, std::move(memory)));
  }
  if (graph != nullptr) static_cast<void>(graphs->destroy(device.index, graph));
  return nullptr;
}

// Before the memory goes back, which the work uses.
DeviceGraph::~DeviceGraph() {
  static_cast<void>(interface_.destroy(device_.index, graph_));
}

void DeviceGraph::launch() const {
  check_work(interface_.launch(device_.index, graph_, current_stream(device_)), device_,
             interface_of(device_));
}

}  // namespace tsr::kernel
