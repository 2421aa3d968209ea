// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CachingAllocator: keeps returned memory for later requests; one policy for every device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/guarded_mutex.h"
#include "base/small_vector.h"
#include "memory/allocator.h"
#include "memory/block.h"
#include "memory/history.h"

namespace tsr {

struct CachingSettings {
  // Blocks of at least this size are never split, nor lent to smaller requests.
  uint64_t max_split_size = UINT64_MAX;
  // An unsplit block may exceed such a request by this much.
  uint64_t max_non_split_rounding = uint64_t{20} << 20;
  // Above this fraction of the limit the blocks unused for longest go back first; 0: never.
  double garbage_collection_threshold = 0.0;
  // Rounds sizes up to this many steps per power of two, so that varying sizes share blocks; 0:
  // not.
  uint32_t roundup_power2_divisions = 0;
  // Segments that grow in place, so that blocks of all sizes share one range of addresses; needs a
  // device that can reserve, map and unmap, and excludes max_split_size.
  bool expandable_segments = false;
};

// Note [Caching policy]
// Sizes are rounded to the device's granularity. Requests of at most 1 MiB come from segments of
// 2 MiB, those below 10 MiB from segments of 20 MiB, larger ones get a segment of their own,
// rounded to 2 MiB. Each stream has its own two pools. The best fitting free block is taken and its
// rest is split off; neighbours that are free are merged. A block used by other streams is free
// only when their events are done. When the device refuses, the pressure callbacks run, then cached
// segments of enough size go back, then all of them, then the deferred blocks are waited for.
//
// One mutex guards everything; it is never held while the device allocates, frees or is waited for,
// nor during any callback. Deallocate records and queries events only.
class CachingAllocator : public Allocator {
 public:
  // `interface` must outlive the allocator.
  CachingAllocator(Device device, const DeviceInterface& interface);
  // Gives everything back to the device, also what is still lent.
  ~CachingAllocator() override;

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

  // The two halves of a snapshot, as JSON arrays.
  [[nodiscard]] std::string segments_json() const;
  [[nodiscard]] std::string history_json() const;

  // Throws Error kValue for settings that contradict each other.
  void configure(const CachingSettings& settings);
  [[nodiscard]] CachingSettings settings() const;

  // Callbacks run in the order they were added. Removal does not wait for one that is running.
  void add_pressure_callback(PressureCallback callback);
  void remove_pressure_callback(PressureCallback callback) noexcept;
  // They also run before the device is asked for memory that would bring what is held above this
  // many bytes; UINT64_MAX: only when memory runs out. A callback may move the threshold.
  void set_pressure_threshold(uint64_t nbytes);
  [[nodiscard]] uint64_t pressure_threshold() const;
  void add_out_of_memory_observer(OutOfMemoryObserver observer);
  void remove_out_of_memory_observer(OutOfMemoryObserver observer) noexcept;

  // Keeps the last `entries` events for the snapshot; 0 stops recording and drops them.
  void record_history(size_t entries);

  // True once after each allocation that raised the peak of the bytes lent.
  [[nodiscard]] bool take_new_peak() noexcept {
    return new_peak_.load(std::memory_order_relaxed) &&
           new_peak_.exchange(false, std::memory_order_relaxed);
  }

  // Memory for an allocator that stands before this one: counted as held and bounded by the limit,
  // but not cached. Throws as allocate does. `nbytes` is a multiple of 2 MiB.
  [[nodiscard]] void* take_segment(uint64_t nbytes);
  void give_back_segment(void* data, uint64_t nbytes) noexcept;

 private:
  using Lock = std::unique_lock<GuardedMutex>;

  struct StreamPools {
    explicit StreamPools(StreamHandle stream)
        : small{PoolKind::kSmall, stream, {}}, large{PoolKind::kLarge, stream, {}} {}
    BlockPool small;
    BlockPool large;
    // Uses of this stream by returned blocks, in the order of their events.
    StreamUse* first_pending = nullptr;
    StreamUse** last_pending = &first_pending;
  };

  struct Request {
    PoolKind kind;
    uint64_t segment_size;
    uint64_t requested;
  };

  // ---- caching_allocator.cpp: blocks; under the lock ----
  [[nodiscard]] uint64_t round_size(uint64_t nbytes) const noexcept;
  StreamPools& pools_of(StreamHandle stream);
  void reserve_blocks();
  Block* new_block() noexcept;
  Segment* new_segment() noexcept;
  void recycle(Block* block) noexcept;
  void enter_pool(Block* block) noexcept;
  void leave_pool(Block* block) noexcept;
  Block* take_fitting(BlockPool& pool, uint64_t size) noexcept;
  [[nodiscard]] bool should_split(const Block& block, uint64_t size) const noexcept;
  void split(Block* block, uint64_t size) noexcept;
  void lend(Block* block, uint64_t requested) noexcept;
  void become_free(Block* block) noexcept;
  Block* merge_with_next(Block* block) noexcept;
  void defer(Block* block) noexcept;
  void finish_events() noexcept;
  void finish_use(StreamUse* use) noexcept;
  StreamUse* new_use();

  // ---- caching_segments.cpp: the device; these drop the lock while they call it ----
  Block* grow(Lock& lock, BlockPool& pool, uint64_t size, uint64_t requested);
  template <class Attempt>
  auto persist(Lock& lock, const Request& request, const Attempt& attempt);
  bool relieve(Lock& lock, const Request& request, int step);
  [[nodiscard]] bool claim(uint64_t nbytes) noexcept;
  [[nodiscard]] bool settle(int32_t code, PoolKind kind, const void* data,
                            uint64_t nbytes) noexcept;
  int32_t raw_segment(Lock& lock, const Request& request, void** out);
  Block* fresh_segment(Lock& lock, BlockPool& pool, const Request& request);
  Block* adopt_segment(BlockPool& pool, Segment* segment, Block* block, void* data,
                       uint64_t size) noexcept;
  bool call_pressure(Lock& lock, const Request& request);
  void warn_of_growth(Lock& lock, const Request& request);
  uint64_t free_fitting(Lock& lock, uint64_t segment_size);
  uint64_t free_down_to(Lock& lock, uint64_t keep);
  void collect_garbage(Lock& lock, uint64_t segment_size);
  bool wait_for_events(Lock& lock);
  void detach(Segment* segment, Segment*& doomed) noexcept;
  uint64_t free_segments(Lock& lock, Segment* doomed) noexcept;
  void give_back_raw(Lock& lock, PoolKind kind, void* data, uint64_t nbytes) noexcept;
  void count_given_back(PoolKind kind, const void* data, uint64_t nbytes) noexcept;
  [[nodiscard]] std::vector<Segment*> idle_segments() const;
  [[nodiscard]] uint64_t reserved() const noexcept;
  [[nodiscard]] MemoryPressure pressure(uint64_t requested) const noexcept;
  [[noreturn]] void fail_out_of_memory(Lock& lock, uint64_t requested);
  [[noreturn]] void fail_device(int32_t code, const char* what) const;

  // ---- caching_expandable.cpp: segments that grow; these drop the lock as well ----
  Block* extend(Lock& lock, BlockPool& pool, uint64_t size);
  Segment* growable(const BlockPool& pool, uint64_t size) noexcept;
  Segment* reserve_range(Lock& lock, BlockPool& pool, uint64_t size);
  bool map_granule(Lock& lock, BlockPool& pool, Segment* segment);
  void append(Segment* segment, Block* block, uint64_t nbytes) noexcept;
  uint64_t shrink(Lock& lock, Segment* segment) noexcept;
  uint64_t shrink_all(Lock& lock, uint64_t keep) noexcept;
  void unmap(const Segment& segment, uint64_t from, uint64_t to, PoolKind kind) noexcept;

  // ---- caching_report.cpp ----
  void verify_segment(const Segment& segment, MemoryStats& sums, uint64_t& free_blocks) const;
  void verify_pools(uint64_t free_blocks) const;
  void verify_spares() const;

  const DeviceInterface& interface_;
  mutable GuardedMutex mutex_;
  CachingSettings settings_;
  uint64_t limit_ = UINT64_MAX;
  uint64_t pressure_threshold_ = UINT64_MAX;
  uint64_t in_flight_ = 0;       // bytes being asked of the device just now
  uint64_t detached_bytes_ = 0;  // held, on their way back to the device
  uint64_t lent_segments_ = 0;   // of take_segment
  uint64_t lent_segment_bytes_ = 0;
  uint64_t clock_ = 0;
  uint64_t pending_uses_ = 0;
  std::vector<std::unique_ptr<StreamPools>> pools_;
  LentBlocks lent_;
  Segment* segments_ = nullptr;
  // Objects kept for the next split, segment and event.
  std::vector<std::unique_ptr<Block>> block_storage_;
  Block* spare_blocks_ = nullptr;
  size_t spare_block_count_ = 0;
  std::vector<std::unique_ptr<Segment>> segment_storage_;
  Segment* spare_segments_ = nullptr;
  std::vector<std::unique_ptr<StreamUse>> use_storage_;
  StreamUse* spare_uses_ = nullptr;
  MemoryStats stats_;
  SmallVector<PressureCallback, 2> pressure_callbacks_;
  SmallVector<OutOfMemoryObserver, 2> observers_;
  History history_;
  std::atomic<bool> new_peak_{false};
};

}  // namespace tsr
