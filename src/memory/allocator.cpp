// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which allocator serves which device, on which thread.
#include "memory/allocator.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "memory/caching_allocator.h"
#include "memory/cpu_allocator.h"
#include "memory/debug_flags.h"

namespace tsr {
namespace {

// Entries are set once or replaced, never destroyed: tensors keep pointing at them.
std::array<std::array<std::atomic<Allocator*>, kMaxDeviceIndex>, kMaxDeviceTypes> g_allocators{};
std::array<std::atomic<const DeviceInterface*>, kMaxDeviceTypes> g_interfaces{};

constinit thread_local AllocatorScope* t_scope = nullptr;

std::atomic<Allocator*>& entry(Device device) {
  const auto type = static_cast<size_t>(device.type);
  const auto index = static_cast<size_t>(device.index);
  TSR_CHECK(type < kMaxDeviceTypes && index < kMaxDeviceIndex, Code::kDevice, "device",
            "expected a device with a backend, got ", device);
  return g_allocators[type][index];
}

std::unique_ptr<Allocator> make_allocator(Device device) {
  return std::make_unique<CachingAllocator>(device, interface_of(device));
}

void install(std::atomic<Allocator*>& slot, Device device, Allocator* allocator) noexcept {
  slot.store(allocator, std::memory_order_release);
  if (device == Device{}) g_cpu_allocator.store(allocator, std::memory_order_release);
}

struct InstallMutex : GuardedMutex {};

// Made before the lock is taken, because an allocator has locks of its own. If two threads do this
// at once, one of the two allocators is dropped.
Allocator& make_entry(Device device) {
  std::atomic<Allocator*>& slot = entry(device);
  std::unique_ptr<Allocator> made = device == Device{} ? nullptr : make_allocator(device);
  Allocator* fresh = made == nullptr ? &CpuAllocator::get() : made.get();
  const std::lock_guard lock(immortal<InstallMutex>());
  if (Allocator* current = slot.load(std::memory_order_acquire)) return *current;
  install(slot, device, fresh);
  static_cast<void>(made.release());
  return *fresh;
}

}  // namespace

void Allocator::start_history(const HistoryOptions& options) {
  MemoryHistory* own = history();
  TSR_CHECK(own != nullptr, Code::kNotImplemented, "device", "the allocator of ", device_,
            " does not record its history");
  own->start(options);
}

void Allocator::stop_history() noexcept {
  if (MemoryHistory* own = history()) own->stop();
}

std::atomic<Allocator*> g_cpu_allocator{nullptr};

Allocator* find_override(Device device) noexcept {
  for (const AllocatorScope* scope = t_scope; scope != nullptr; scope = scope->outer_) {
    if (scope->device_ == device) return scope->allocator_;
  }
  return nullptr;
}

Allocator& find_allocator(Device device) {
  if ((debug_flags() & kOverridesUsed) != 0) [[unlikely]] {
    if (Allocator* allocator = find_override(device)) return *allocator;
  }
  Allocator* allocator = entry(device).load(std::memory_order_acquire);
  return allocator != nullptr ? *allocator : make_entry(device);
}

void set_allocator(Device device, Allocator& allocator) {
  make_entry(device);
  const std::lock_guard lock(immortal<InstallMutex>());
  install(entry(device), device, &allocator);
}

void install_memory(DeviceType type, const DeviceInterface& interface) {
  const auto index = static_cast<size_t>(type);
  TSR_CHECK(index < kMaxDeviceTypes, Code::kDevice, "device", "expected a device type below ",
            kMaxDeviceTypes, ", got ", index);
  g_interfaces[index].store(&interface, std::memory_order_release);
}

const DeviceInterface& interface_of(Device device) {
  static_cast<void>(entry(device));  // within the tables
  const DeviceInterface* interface =
      g_interfaces[static_cast<size_t>(device.type)].load(std::memory_order_acquire);
  TSR_CHECK(interface != nullptr, Code::kDevice, "device", "expected a device with a backend, got ",
            device);
  const int32_t count = interface->device_count();
  TSR_CHECK(device.index < count, Code::kDevice, "device", "expected an index below ", count,
            ", got ", device);
  return *interface;
}

namespace {

ForkMutex g_scope_mutex;
int64_t g_scopes = 0;  // of all threads; guarded by the mutex

// While no thread has a scope, allocating looks for none.
void count_scopes(int64_t change) noexcept {
  const std::lock_guard lock(g_scope_mutex);
  g_scopes += change;
  set_debug_flag(kOverridesUsed, g_scopes > 0);
}

}  // namespace

AllocatorScope::AllocatorScope(Device device, Allocator& allocator)
    : device_(device), allocator_(&allocator), outer_(t_scope) {
  t_scope = this;
  count_scopes(1);
}

AllocatorScope::~AllocatorScope() {
  t_scope = outer_;
  count_scopes(-1);
}

}  // namespace tsr
