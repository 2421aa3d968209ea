// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Allocator: where the memory of tensors comes from, one per device.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/device.h"
#include "base/device_interface.h"
#include "memory/debug_flags.h"
#include "memory/memory_stats.h"

namespace tsr {

class CachingAllocator;
class MemoryHistory;
struct HistoryOptions;

inline constexpr size_t kMaxDeviceTypes = 24;
inline constexpr size_t kMaxDeviceIndex = 64;

// What a pressure callback is told before the allocator gives up cached memory.
struct MemoryPressure {
  Device device;
  uint64_t requested;    // bytes the failing call asked for
  uint64_t cached_free;  // bytes held but not lent
  uint64_t live;         // bytes lent
};

// Called on the allocating thread with no lock held; may free tensors and may allocate (a failure
// in there does not call it again). Returns true when it may have freed something. Must not throw.
struct PressureCallback {
  bool (*function)(void* user, const MemoryPressure& pressure);
  void* user;
};

// Told of every out-of-memory error just before it is thrown; no lock is held. Must not throw.
struct OutOfMemoryObserver {
  void (*function)(void* user, const MemoryPressure& pressure, uint64_t limit);
  void* user;
};

// All functions may be called from any thread. Sizes are bytes.
class Allocator {
 public:
  explicit Allocator(Device device) noexcept : device_(device) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator() = default;

  [[nodiscard]] Device device() const noexcept { return device_; }

  // A block of at least `nbytes` for work on `stream` (null: the default stream), aligned to at
  // least 64 bytes, not initialised; null for 0 bytes. Throws Error kOutOfMemory.
  [[nodiscard]] virtual void* allocate(uint64_t nbytes, StreamHandle stream) = 0;

  // Gives a block back; `nbytes` is the size that was requested. Never waits for the device and
  // calls no callback, so that a finalizer may call it. Work on the streams that used the block may
  // still be running.
  virtual void deallocate(void* block, uint64_t nbytes) noexcept = 0;

  // Says that `stream` uses the block too. After deallocate, the block is not lent again until the
  // work that was queued on `stream` by then is done. Throws when no event can be made.
  virtual void record_stream(void* block, StreamHandle stream) = 0;

  // Gives cached memory back to the device until at most `keep` bytes are held, as far as that is
  // possible; 0 empties the cache. Returns the bytes given back.
  virtual uint64_t trim(uint64_t keep) = 0;

  // Limits the bytes held from the device; UINT64_MAX: no limit. Memory that is already lent stays.
  virtual void set_limit(uint64_t nbytes) = 0;
  [[nodiscard]] virtual uint64_t limit() const = 0;

  [[nodiscard]] virtual MemoryStats stats() const = 0;
  virtual void reset_peak() = 0;

  // Every segment and block, and the recorded history, as one JSON object.
  [[nodiscard]] virtual std::string snapshot() const = 0;

  // Records what happens from now on, and drops what was recorded (Note [Memory history]). Throws
  // bad_alloc; kNotImplemented when it cannot record.
  virtual void start_history(const HistoryOptions& options);
  virtual void stop_history() noexcept;
  // Null when it cannot record.
  [[nodiscard]] virtual MemoryHistory* history() noexcept { return nullptr; }

  // The caching allocator behind this one, for its settings and callbacks; null when there is none.
  [[nodiscard]] virtual CachingAllocator* caching() noexcept { return nullptr; }

  // Checks every invariant; throws Error kInternal naming the one that is broken.
  virtual void verify() const {}

 private:
  Device device_;
};

extern std::atomic<Allocator*> g_cpu_allocator;  // null until first asked for
Allocator& find_allocator(Device device);

// The allocator that serves `device` on the calling thread; throws Error kDevice when no backend
// does. The reference stays valid for the life of the process.
inline Allocator& allocator_for(Device device) {
  Allocator* cpu = g_cpu_allocator.load(std::memory_order_acquire);
  if (device == Device{} && cpu != nullptr && debug_flags() == 0) [[likely]]
    return *cpu;
  return find_allocator(device);
}

// Replaces the allocator of a device; it must outlive the process' last tensor. Blocks lent before
// go back to the allocator they came from. Throws as allocator_for does.
void set_allocator(Device device, Allocator& allocator);

// While this object lives, `allocator` serves `device` on this thread. Scopes nest: they end on the
// thread that began them, the innermost first.
class AllocatorScope {
 public:
  AllocatorScope(Device device, Allocator& allocator);
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;
  ~AllocatorScope();

 private:
  friend Allocator* find_override(Device device) noexcept;
  Device device_;
  Allocator* allocator_;
  AllocatorScope* outer_;
};

// Gives the device type a caching allocator per device; called when its backend is registered. The
// CPU has its own from the start. `interface` must live as long as the process.
void install_memory(DeviceType type, const DeviceInterface& interface);
// What was installed for the device. Throws Error kDevice when nothing was, or there is no such
// index.
const DeviceInterface& interface_of(Device device);

}  // namespace tsr
