// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CpuAllocator: per-thread lists for tensors of up to 64 KiB in front of the caching allocator.
#pragma once

#include <atomic>
#include <mutex>

#include "base/immortal.h"
#include "memory/allocator.h"
#include "memory/caching_allocator.h"
#include "memory/small_alloc.h"

namespace tsr {

// One per process, as the small lists are. Never destroyed, so that tensors may outlive main.
//
// Counts are exact whenever no other thread is inside a call. Peaks are exact while one thread
// works. With several threads a peak may miss allocations since it was last updated; it is updated
// when a thread starts a new span, when the pools reach a new peak, and when statistics are read.
class CpuAllocator final : public Allocator {
 public:
  static CpuAllocator& get();

  [[nodiscard]] void* allocate(uint64_t nbytes, StreamHandle stream) override;
  void deallocate(void* block, uint64_t nbytes) noexcept override;
  void record_stream(void*, StreamHandle) override {}
  uint64_t trim(uint64_t keep) override;
  void set_limit(uint64_t nbytes) override { core_.set_limit(nbytes); }
  [[nodiscard]] uint64_t limit() const override { return core_.limit(); }
  [[nodiscard]] MemoryStats stats() const override;
  void reset_peak() override;
  [[nodiscard]] std::string snapshot() const override;
  void start_history(const HistoryOptions& options) override { core_.start_history(options); }
  void stop_history() noexcept override { core_.stop_history(); }
  [[nodiscard]] MemoryHistory* history() noexcept override { return core_.history(); }
  [[nodiscard]] CachingAllocator* caching() noexcept override { return &core_; }
  void verify() const override;

  // Called when the lists may be about to reach a new peak.
  void take_peak() const noexcept;

 private:
  CpuAllocator();
  friend CpuAllocator& detail::make_immortal<CpuAllocator>() noexcept;

  CachingAllocator core_;
  mutable GuardedMutex mutex_;
  mutable MemoryStats peaks_;  // only the figures that the lists have a part in; under mutex_
};

}  // namespace tsr
