// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// KeptMemory: the memory that kept device work takes for itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/guarded_mutex.h"
#include "memory/allocator.h"

namespace tsr {

// Lends blocks of another allocator and keeps what is returned, for later requests of the same
// stream: work that is kept as a graph writes to these addresses in every run. Serves a thread
// through an AllocatorScope while the work is queued.
class KeptMemory final : public Allocator {
 public:
  // Ends lending from the store: returned blocks go back to the allocator behind. The object lives
  // until the last block is back.
  struct Retire {
    void operator()(KeptMemory* memory) const noexcept { memory->retire(); }
  };
  using Ptr = std::unique_ptr<KeptMemory, Retire>;
  // `behind` must outlive the object.
  static Ptr make(Allocator& behind) { return Ptr(new KeptMemory(behind)); }

  [[nodiscard]] void* allocate(uint64_t nbytes, StreamHandle stream) override;
  void deallocate(void* block, uint64_t nbytes) noexcept override;
  void record_stream(void* block, StreamHandle stream) override {
    behind_.record_stream(block, stream);
  }
  uint64_t trim(uint64_t keep) override { return behind_.trim(keep); }
  void set_limit(uint64_t nbytes) override { behind_.set_limit(nbytes); }
  [[nodiscard]] uint64_t limit() const override { return behind_.limit(); }
  [[nodiscard]] MemoryStats stats() const override { return behind_.stats(); }
  void reset_peak() override { behind_.reset_peak(); }
  [[nodiscard]] std::string snapshot() const override { return behind_.snapshot(); }
  [[nodiscard]] CachingAllocator* caching() noexcept override { return behind_.caching(); }
  void verify() const override { behind_.verify(); }

  // Blocks that somebody has now.
  [[nodiscard]] size_t lent() const;

 private:
  struct Block {
    void* data;
    uint64_t nbytes;
    StreamHandle stream;
    bool is_lent;
  };
  explicit KeptMemory(Allocator& behind) noexcept : Allocator(behind.device()), behind_(behind) {}
  ~KeptMemory() override = default;
  void retire() noexcept;
  [[nodiscard]] bool is_over() const noexcept { return is_retired_ && blocks_.empty(); }

  Allocator& behind_;
  mutable GuardedMutex mutex_;
  std::vector<Block> blocks_;
  bool is_retired_ = false;
};

}  // namespace tsr
