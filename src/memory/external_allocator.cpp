// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/external_allocator.h"

#include <mutex>

#include "base/error.h"
#include "memory/debug_flags.h"
#include "memory/tell.h"

namespace tsr {
namespace {

constexpr int64_t kAlignment = 64;
constexpr uint64_t kMaxRequest = uint64_t{1} << 48;  // no machine has more
constexpr uint64_t kSmallPoolLimit = uint64_t{1} << 20;

PoolKind kind_of(uint64_t nbytes) noexcept {
  return nbytes <= kSmallPoolLimit ? PoolKind::kSmall : PoolKind::kLarge;
}

}  // namespace

ExternalAllocator::ExternalAllocator(Device device, const ExternalFunctions& functions)
    : Allocator(device), functions_(functions) {
  TSR_CHECK(functions.allocate != nullptr && functions.deallocate != nullptr, Code::kValue,
            "functions", "expected functions that allocate and deallocate, got null");
}

ExternalAllocator::~ExternalAllocator() {
  if (functions_.drop != nullptr && !dropped_) functions_.drop(functions_.user);
}

void ExternalAllocator::end_call() noexcept {
  {
    const std::lock_guard lock(mutex_);
    --calls_;
    if (!retired_ || dropped_ || calls_ > 0 || !lent_.empty()) return;
    dropped_ = true;
  }
  if (functions_.drop != nullptr) functions_.drop(functions_.user);
}

void ExternalAllocator::retire() noexcept {
  {
    const std::lock_guard lock(mutex_);
    retired_ = true;
    ++calls_;
  }
  end_call();
}

void* ExternalAllocator::allocate(uint64_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  admit(nbytes);
  struct Ended {
    ExternalAllocator& allocator;
    ~Ended() { allocator.end_call(); }
  } const ended{*this};
  void* block = nullptr;
  const int32_t status = ask_host(nbytes, stream, &block);
  if (status != 0 || block == nullptr) fail_allocation(status, nbytes);
  try {
    TSR_CHECK(reinterpret_cast<uintptr_t>(block) % kAlignment == 0, Code::kBackend, nullptr,
              "expected the allocator of ", device(), " to align blocks to ", kAlignment, " bytes");
    const std::lock_guard lock(mutex_);
    lent_.emplace(block, Lent{nbytes, stream});
    count(nbytes);
  } catch (...) {
    functions_.deallocate(functions_.user, device().index, block, static_cast<int64_t>(nbytes),
                          stream);
    throw;
  }
  tell_allocated(*this, history_, nbytes, block, stream);
  return block;
}

int32_t ExternalAllocator::ask_host(uint64_t nbytes, StreamHandle stream, void** block) {
  struct Settled {
    ExternalAllocator& allocator;
    uint64_t nbytes;
    ~Settled() {
      const std::lock_guard lock(allocator.mutex_);
      allocator.in_flight_ -= nbytes;
    }
  } const settled{*this, nbytes};
  return functions_.allocate(functions_.user, device().index, static_cast<int64_t>(nbytes),
                             kAlignment, stream, block);
}

// Claims the bytes before the host is asked, so that two threads cannot pass the limit together.
// end_call must follow.
void ExternalAllocator::admit(uint64_t nbytes) {
  const std::lock_guard lock(mutex_);
  TSR_CHECK(!retired_, Code::kBackend, nullptr, "the allocator of ", device(),
            " was replaced while this call asked it for memory");
  const uint64_t held = static_cast<uint64_t>(stats_.reserved_bytes.all.current) + in_flight_;
  const bool fits = nbytes <= kMaxRequest && held <= limit_ && nbytes <= limit_ - held;
  if (!fits) ++stats_.num_ooms;
  TSR_CHECK(fits, Code::kOutOfMemory, nullptr, "out of memory on ", device(), ": asked for ",
            nbytes, " bytes, held ", held, "; limit ", limit_);
  in_flight_ += nbytes;
  ++calls_;
}

void ExternalAllocator::fail_allocation(int32_t status, uint64_t nbytes) {
  const auto code = status == 0 ? Code::kOutOfMemory : static_cast<Code>(status);
  uint64_t held = 0;
  {
    const std::lock_guard lock(mutex_);
    held = static_cast<uint64_t>(stats_.reserved_bytes.all.current);
    if (code == Code::kOutOfMemory) ++stats_.num_ooms;
  }
  Error error(
      code, nullptr,
      concat("the allocator of ", device(), " failed: asked for ", nbytes, " bytes, held ", held),
      __FILE__, __LINE__);
  error.set_native_code(status);
  throw error;
}

void ExternalAllocator::deallocate(void* block, uint64_t nbytes) noexcept {
  if (block == nullptr) return;
  tell_freed(*this, history_, nbytes, block);
  Lent lent{};
  {
    const std::lock_guard lock(mutex_);
    const auto found = lent_.find(block);
    if (found == lent_.end()) return;
    lent = found->second;
    lent_.erase(found);
    uncount(lent.nbytes);
    ++calls_;
  }
  functions_.deallocate(functions_.user, device().index, block, static_cast<int64_t>(lent.nbytes),
                        lent.stream);
  end_call();
}

void ExternalAllocator::record_stream(void* block, StreamHandle stream) {
  if (functions_.record_stream == nullptr) return;
  const int32_t status = functions_.record_stream(functions_.user, device().index, block, stream);
  TSR_CHECK(status == 0, static_cast<Code>(status), nullptr, "the allocator of ", device(),
            " could not record a stream");
}

uint64_t ExternalAllocator::trim(uint64_t keep) {
  if (functions_.trim == nullptr) return 0;
  const auto bounded = static_cast<int64_t>(keep > INT64_MAX ? INT64_MAX : keep);
  {
    const std::lock_guard lock(mutex_);
    if (retired_) return 0;
    ++calls_;
  }
  const int64_t freed = functions_.trim(functions_.user, device().index, bounded);
  end_call();
  return freed > 0 ? static_cast<uint64_t>(freed) : 0;
}

void ExternalAllocator::set_limit(uint64_t nbytes) {
  const std::lock_guard lock(mutex_);
  limit_ = nbytes;
}

uint64_t ExternalAllocator::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

MemoryStats ExternalAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void ExternalAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.reset_peak();
}

std::string ExternalAllocator::snapshot() const {
  return concat("{\"version\": 2, \"device\": \"", device(), "\", \"stats\": ", stats().to_json(),
                ", \"segments\": [], ", history_.snapshot_members({}), "}");
}

void ExternalAllocator::verify() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [block, lent] : lent_) bytes += lent.nbytes;
  TSR_ASSERT(bytes == static_cast<uint64_t>(stats_.allocated_bytes.all.current),
             "bytes miscounted");
  TSR_ASSERT(lent_.size() == static_cast<uint64_t>(stats_.allocated.all.current),
             "blocks miscounted");
}

// The host rounds and caches as it likes; what was asked for is all that is known.
void ExternalAllocator::count(uint64_t nbytes) noexcept {
  const PoolKind kind = kind_of(nbytes);
  stats_.allocated.add(kind, 1);
  stats_.active.add(kind, 1);
  stats_.allocated_bytes.add(kind, nbytes);
  stats_.active_bytes.add(kind, nbytes);
  stats_.requested_bytes.add(kind, nbytes);
  stats_.reserved_bytes.add(kind, nbytes);
}

void ExternalAllocator::uncount(uint64_t nbytes) noexcept {
  const PoolKind kind = kind_of(nbytes);
  stats_.allocated.subtract(kind, 1);
  stats_.active.subtract(kind, 1);
  stats_.allocated_bytes.subtract(kind, nbytes);
  stats_.active_bytes.subtract(kind, nbytes);
  stats_.requested_bytes.subtract(kind, nbytes);
  stats_.reserved_bytes.subtract(kind, nbytes);
}

}  // namespace tsr
