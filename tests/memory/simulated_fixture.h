// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A caching allocator on a fresh simulated device, checked after every step.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"
#include "memory/caching_allocator.h"
#include "support/simulated_device.h"

namespace tsr::test {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;

class SimulatedMemory : public testing::Test {
 protected:
  SimulatedMemory() { restart(sim::kDefaultCapacity); }
  ~SimulatedMemory() override { sim::reset(); }

  void restart(uint64_t capacity) {
    allocator_.reset();
    sim::reset(0, capacity);
    allocator_.emplace(sim::device(), sim::device_interface());
  }
  void* take(uint64_t nbytes, StreamHandle stream = nullptr) {
    void* block = allocator_->allocate(nbytes, stream);
    allocator_->verify();
    return block;
  }
  void give(void* block, uint64_t nbytes) {
    allocator_->deallocate(block, nbytes);
    allocator_->verify();
  }
  // The error of a request that must fail; the allocator must stay consistent.
  Error failure_of(uint64_t nbytes, StreamHandle stream = nullptr) {
    try {
      allocator_->deallocate(allocator_->allocate(nbytes, stream), nbytes);
    } catch (const Error& error) {
      allocator_->verify();
      return error;
    }
    ADD_FAILURE() << "allocating " << nbytes << " bytes did not fail";
    return Error(Code::kOk, nullptr, "");
  }
  [[nodiscard]] MemoryStats stats() const { return allocator_->stats(); }

  std::optional<CachingAllocator> allocator_;
};

}  // namespace tsr::test
