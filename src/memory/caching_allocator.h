// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CachingAllocator: keeps returned memory for later requests; one policy for every device.
#pragma once

#include <atomic>
#include <string>

#include "memory/allocator.h"
#include "memory/block_cache.h"
#include "memory/caching_state.h"
#include "memory/deferred_frees.h"
#include "memory/memory_limits.h"
#include "memory/segment_store.h"

namespace tsr {

// Note [Caching policy]
// Sizes are rounded to the device's granularity. Requests of at most 1 MiB come from segments of
// 2 MiB, those below 10 MiB from segments of 20 MiB, larger ones get a segment of their own,
// rounded to 2 MiB. Each stream has its own two pools. The best fitting free block is taken and its
// rest is split off; neighbours that are free are merged. A block used by other streams is free
// only when their events are done. When the device refuses, the pressure callbacks run, then the
// smallest idle segment of enough size goes back, then all idle segments, then the deferred blocks
// are waited for.
//
// The parts: BlockCache has the blocks, DeferredFrees those that streams still use, SegmentStore
// the memory held from the device, MemoryLimits the limit and the callbacks. This class decides
// their order. One mutex guards them all; it is never held while the device allocates, frees or is
// waited for, nor during any callback. Deallocate records and queries events only.
class CachingAllocator : public Allocator {
 public:
  // `interface` must outlive the allocator.
  CachingAllocator(Device device, const DeviceInterface& interface, OutOfMemoryText text = {});
  // Gives everything back to the device, also what is still lent.
  ~CachingAllocator() override = default;

  [[nodiscard]] void* allocate(uint64_t nbytes, StreamHandle stream) override;
  void deallocate(void* block, uint64_t nbytes) noexcept override;
  void record_stream(void* block, StreamHandle stream) override;
  uint64_t trim(uint64_t keep) override;
  void set_limit(uint64_t nbytes) override;
  [[nodiscard]] uint64_t limit() const override;
  // The limit as a part (0 to 1) of the device's total memory.
  void set_limit_fraction(double fraction);
  [[nodiscard]] MemoryStats stats() const override;
  void reset_peak() override;
  [[nodiscard]] std::string snapshot() const override;
  [[nodiscard]] CachingAllocator* caching() noexcept override { return this; }
  void verify() const override;

  // The two halves of a snapshot: a JSON array, and the members of an object.
  [[nodiscard]] std::string segments_json() const;
  [[nodiscard]] std::string history_members() const;

  // Throws Error kValue for settings that contradict each other.
  void configure(const CachingSettings& settings);
  [[nodiscard]] CachingSettings settings() const;

  // The start of the memory that the device gave in one piece and that holds the block; null when
  // there is none, or when it grows in place.
  [[nodiscard]] void* segment_of(const void* block) const;

  // Callbacks run in the order they were added. Removal does not wait for one that is running.
  void add_pressure_callback(PressureCallback callback);
  void remove_pressure_callback(PressureCallback callback) noexcept;
  // They also run before the device is asked for memory that would bring what is held above this
  // many bytes; UINT64_MAX: only when memory runs out. A callback may move the threshold.
  void set_pressure_threshold(uint64_t nbytes);
  [[nodiscard]] uint64_t pressure_threshold() const;
  void add_out_of_memory_observer(OutOfMemoryObserver observer);
  void remove_out_of_memory_observer(OutOfMemoryObserver observer) noexcept;

  void start_history(const HistoryOptions& options) override;
  void stop_history() noexcept override;
  [[nodiscard]] MemoryHistory* history() noexcept override { return &state_.blocks; }

  // True once after each allocation that raised the peak of the bytes lent.
  [[nodiscard]] bool take_new_peak() noexcept {
    return new_peak_.load(std::memory_order_relaxed) &&
           new_peak_.exchange(false, std::memory_order_relaxed);
  }

  // Memory for an allocator that stands before this one: counted as held and bounded by the limit,
  // but not cached. Throws as allocate does. `nbytes` is a multiple of 2 MiB.
  [[nodiscard]] void* take_segment(uint64_t nbytes);
  void give_back_segment(void* data, uint64_t nbytes) noexcept;
  // See MemoryLimits. Before the first take_segment.
  void set_lent_in_front(uint64_t (*lent)() noexcept) noexcept { limits_.set_lent_in_front(lent); }

 private:
  // Under the lock; those that take it release it while they call the device or a callback.
  Block* grow(CachingLock& lock, BlockPool& pool, uint64_t size, uint64_t requested);
  template <class Attempt>
  auto persist(CachingLock& lock, const SegmentRequest& request, const Attempt& attempt);
  bool relieve(CachingLock& lock, const SegmentRequest& request, int step);
  bool call_pressure(CachingLock& lock, const SegmentRequest& request);
  void warn_of_growth(CachingLock& lock, const SegmentRequest& request);
  void collect_garbage(CachingLock& lock, uint64_t segment_size);
  [[nodiscard]] FreeAndLent free_and_lent() const noexcept;

  // In the order of their dependence; the destructors run in the reverse order.
  CachingState state_;
  MemoryLimits limits_;
  BlockCache blocks_;
  DeferredFrees deferred_;
  SegmentStore segments_;
  std::atomic<bool> new_peak_{false};
};

}  // namespace tsr
