// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {
namespace {

// Never destroyed: tensors keep pointing at them.
std::array<std::array<std::atomic<CachingAllocator*>, kMaxDeviceIndex>, kMaxDeviceTypes> g_pinned{};

std::atomic<CachingAllocator*>& entry(Device device) {
  return g_pinned[static_cast<size_t>(device.type)][static_cast<size_t>(device.index)];
}

// The device as an allocator of pages of the host sees it.
struct HostSide {
  explicit HostSide(const DeviceInterface& device) : calls(device) {
    calls.raw_allocate = device.host_allocate;
    calls.raw_free = device.host_free;
    calls.reserve = nullptr;
    calls.map = nullptr;
    calls.unmap = nullptr;
    calls.unreserve = nullptr;
  }
  DeviceInterface calls;
};

// The interface comes before the allocator that uses it to its end.
class PinnedAllocator final : private HostSide, public CachingAllocator {
 public:
  PinnedAllocator(Device device, const DeviceInterface& interface)
      : HostSide(interface), CachingAllocator(device, calls, kText) {}

 private:
  static constexpr OutOfMemoryText kText = {"the host has no more pages to pin for ",
                                            "free pinned tensors, or use ordinary memory"};
};

struct PinnedMutex : GuardedMutex {};

}  // namespace

CachingAllocator& pinned_allocator(Device device) {
  const DeviceInterface* interface = device.is_cpu() ? nullptr : &interface_of(device);
  TSR_CHECK(interface != nullptr && interface->host_allocate != nullptr, Code::kNotImplemented,
            "device", "expected a device that copies from pinned memory, got ", device);
  std::atomic<CachingAllocator*>& slot = entry(device);
  if (CachingAllocator* made = slot.load(std::memory_order_acquire)) return *made;
  auto fresh = std::make_unique<PinnedAllocator>(device, *interface);
  const std::lock_guard lock(immortal<PinnedMutex>());
  if (CachingAllocator* made = slot.load(std::memory_order_acquire)) return *made;
  slot.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

CachingAllocator* existing_pinned_allocator(Device device) noexcept {
  return entry(device).load(std::memory_order_acquire);
}

StreamHandle host_stream() noexcept {
  static char place;
  return &place;
}

}  // namespace tsr
