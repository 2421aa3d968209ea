// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/allocator.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/error.h"
#include "memory/small_alloc.h"

namespace tsr {
namespace {

class SystemAllocator final : public Allocator {
 public:
  void* allocate(uint64_t nbytes, StreamHandle) override { return small_allocate(nbytes); }
  void deallocate(void* block, uint64_t nbytes) noexcept override { small_free(block, nbytes); }
  void record_stream(void*, StreamHandle) override {}
};

}  // namespace

void* small_allocate(size_t nbytes) {
  void* block = std::aligned_alloc(64, (nbytes + 63) / 64 * 64);
  TSR_CHECK(block != nullptr, Code::kOutOfMemory, nullptr, "expected ", nbytes,
            " bytes of memory, got none");
  return block;
}
void small_free(void* block, size_t) noexcept {
  std::free(block);
}

Allocator& allocator_for(Device) {
  static auto* allocator = new SystemAllocator;
  return *allocator;
}

}  // namespace tsr
