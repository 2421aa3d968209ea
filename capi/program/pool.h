// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pool: memory of one program's run, which the next run finds at the same addresses.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "base/fork_mutex.h"
#include "memory/allocator.h"

namespace tsr::capi::program {

// An allocator whose blocks come from chunks that nobody else uses. It lives until its owner has
// dropped it and the last block has come back. For devices that finish work before they return.
class Pool final : public Allocator {
 public:
  static Pool* make(Device device) { return new Pool(device); }
  void drop() noexcept;

  [[nodiscard]] void* allocate(uint64_t nbytes, StreamHandle stream) override;
  void deallocate(void* block, uint64_t nbytes) noexcept override;
  void record_stream(void*, StreamHandle) override {}
  uint64_t trim(uint64_t) override { return 0; }
  void set_limit(uint64_t) override {}
  [[nodiscard]] uint64_t limit() const override { return UINT64_MAX; }
  [[nodiscard]] MemoryStats stats() const override { return {}; }
  void reset_peak() override {}
  [[nodiscard]] std::string snapshot() const override { return "{}"; }

  [[nodiscard]] size_t live_blocks() const;
  [[nodiscard]] uint64_t held_bytes() const;
  [[nodiscard]] bool holds(const void* address) const;
  // Overwrites everything, so that what a run does not write is seen.
  void poison() noexcept;

 private:
  struct Chunk {
    std::byte* data;
    uint64_t nbytes, used;
  };

  explicit Pool(Device device);
  ~Pool() override;
  std::byte* take(uint64_t nbytes);

  Allocator& base_;
  mutable ForkMutex mutex_;
  std::vector<Chunk> chunks_;
  std::multimap<uint64_t, std::byte*> free_;
  std::unordered_map<const void*, uint64_t> live_;
  bool owned_ = true;
};

}  // namespace tsr::capi::program
