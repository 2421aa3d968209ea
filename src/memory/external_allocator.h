// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ExternalAllocator: an allocator made of the host's functions.
#pragma once

#include <unordered_map>

#include "base/guarded_mutex.h"
#include "memory/allocator.h"
#include "memory/history.h"

namespace tsr {

// Called from any thread with no lock held. `device` is the index within its type. allocate and
// record_stream may throw in place of returning a status; the others must not throw.
struct ExternalFunctions {
  void* user = nullptr;
  // Status codes of the ABI; *out is set only on success and is a multiple of `alignment`.
  int32_t (*allocate)(void* user, int32_t device, int64_t nbytes, int64_t alignment, void* stream,
                      void** out) = nullptr;
  // Gets the size and stream of allocate. May run in a finalizer: it must not wait for the device.
  void (*deallocate)(void* user, int32_t device, void* block, int64_t nbytes,
                     void* stream) = nullptr;
  int32_t (*record_stream)(void* user, int32_t device, void* block, void* stream) = nullptr;
  // Returns the bytes given back; optional, as the two around it.
  int64_t (*trim)(void* user, int32_t device, int64_t keep) = nullptr;
  // Once: when the allocator was retired and its last block is back, or is destroyed.
  void (*drop)(void* user) = nullptr;
};

// Tracks what the host's functions need not track: streams, sizes, statistics, the limit.
class ExternalAllocator final : public Allocator {
 public:
  // Throws Error kValue when allocate or deallocate is missing; then drop is not called.
  ExternalAllocator(Device device, const ExternalFunctions& functions);
  ~ExternalAllocator() override;

  [[nodiscard]] void* allocate(uint64_t nbytes, StreamHandle stream) override;
  void deallocate(void* block, uint64_t nbytes) noexcept override;
  void record_stream(void* block, StreamHandle stream) override;
  uint64_t trim(uint64_t keep) override;
  void set_limit(uint64_t nbytes) override;
  [[nodiscard]] uint64_t limit() const override;
  [[nodiscard]] MemoryStats stats() const override;
  void reset_peak() override;
  [[nodiscard]] std::string snapshot() const override;
  [[nodiscard]] MemoryHistory* history() noexcept override { return &history_; }
  void verify() const override;

  // Stops lending: allocations fail with kBackend from now on. Blocks that are still lent go back
  // to the host's functions. The user pointer is dropped after the last of them, or by this call
  // when there is none.
  void retire() noexcept;

 private:
  struct Lent {
    uint64_t nbytes;
    StreamHandle stream;
  };
  void admit(uint64_t nbytes);
  int32_t ask_host(uint64_t nbytes, StreamHandle stream, void** block);
  void end_call() noexcept;
  void count(uint64_t nbytes) noexcept;
  void uncount(uint64_t nbytes) noexcept;
  [[noreturn]] void fail_allocation(int32_t status, uint64_t nbytes);

  const ExternalFunctions functions_;
  mutable GuardedMutex mutex_;
  uint64_t limit_ = UINT64_MAX;
  uint64_t in_flight_ = 0;  // bytes being asked of the host just now
  uint32_t calls_ = 0;      // of the host's functions running now
  bool retired_ = false;
  bool dropped_ = false;
  std::unordered_map<void*, Lent> lent_;
  MemoryStats stats_;
  MemoryHistory history_;
};

}  // namespace tsr
