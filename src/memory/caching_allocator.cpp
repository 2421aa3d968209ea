// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The order in which a request tries its parts: cached blocks, fresh memory, and what may free
// some.
#include "memory/caching_allocator.h"

#include <bit>

#include "base/error.h"
#include "memory/debug_flags.h"
#include "memory/poison.h"
#include "memory/tell.h"

namespace tsr {
namespace {

constexpr uint64_t kMinMaxSplit = kLargeSegment;     // segments that are shared must be splittable
constexpr uint64_t kMaxRequest = uint64_t{1} << 48;  // no device has more; sums cannot overflow
constexpr int kReliefSteps = 5;

}  // namespace

void CachingState::fail_device(int32_t code, const char* what) const {
  Error error(Code::kBackend, nullptr,
              concat(device, " could not ", what, ": ", interface.error_text(code)), __FILE__,
              __LINE__);
  error.set_native_code(code);
  throw error;
}

CachingAllocator::CachingAllocator(Device device, const DeviceInterface& interface,
                                   OutOfMemoryText text)
    : Allocator(device),
      state_(device, interface),
      limits_(state_, text),
      blocks_(state_),
      deferred_(state_, blocks_),
      segments_(state_, blocks_, limits_) {}

// ---- When no cached block fits ----

// Tries again after each step that may have freed memory; throws when none helped.
template <class Attempt>
auto CachingAllocator::persist(CachingLock& lock, const SegmentRequest& request,
                               const Attempt& attempt) {
  auto* result = attempt();
  if (result != nullptr) return result;
  ++state_.stats.num_alloc_retries;
  for (int step = 0; step < kReliefSteps; ++step) {
    if (!relieve(lock, request, step)) continue;
    result = attempt();
    if (result != nullptr) return result;
  }
  limits_.fail_out_of_memory(lock, request.requested, free_and_lent());
}

// A block of at least `size`, in no pool: found after others were freed, or in fresh memory.
Block* CachingAllocator::grow(CachingLock& lock, BlockPool& pool, uint64_t size,
                              uint64_t requested) {
  const SegmentRequest request{pool.kind, SegmentStore::size_for(pool.kind, size), requested};
  collect_garbage(lock, request.size);
  warn_of_growth(lock, request);
  return persist(lock, request, [&]() -> Block* {
    blocks_.reserve();
    if (Block* block = blocks_.take_fitting(pool, size)) return block;
    return segments_.take(lock, pool, size, request);
  });
}

bool CachingAllocator::relieve(CachingLock& lock, const SegmentRequest& request, int step) {
  switch (step) {
    case 0:
      return call_pressure(lock, request);
    case 1:
      return segments_.free_fitting(lock, request.size) > 0;
    case 3:
      return deferred_.wait(lock);
    default:
      return segments_.free_down_to(lock, 0) > 0;
  }
}

bool CachingAllocator::call_pressure(CachingLock& lock, const SegmentRequest& request) {
  const bool freed = limits_.call_callbacks(lock, request.requested);
  deferred_.finish_events();
  return freed;
}

// Before the first attempt, which then finds what the host has freed.
void CachingAllocator::warn_of_growth(CachingLock& lock, const SegmentRequest& request) {
  if (limits_.would_pass_threshold(request.size)) call_pressure(lock, request);
}

void CachingAllocator::collect_garbage(CachingLock& lock, uint64_t segment_size) {
  const double fraction = state_.settings.garbage_collection_threshold;
  if (fraction <= 0.0 || limits_.limit() == UINT64_MAX) return;
  const auto threshold = static_cast<uint64_t>(fraction * static_cast<double>(limits_.limit()));
  if (state_.reserved() + segment_size <= threshold) return;
  segments_.free_down_to(lock, threshold > segment_size ? threshold - segment_size : 0);
}

// ---- Lending ----

void* CachingAllocator::allocate(uint64_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  if (debug_flags() != 0) [[unlikely]]
    check_injected_failure(nbytes);
  CachingLock lock(state_.mutex);
  if (nbytes > kMaxRequest) limits_.fail_out_of_memory(lock, nbytes, free_and_lent());
  const uint64_t size = blocks_.round_size(nbytes);
  deferred_.finish_events();
  blocks_.reserve();
  BlockPool& pool = blocks_.pool_for(stream, size);
  Block* block = blocks_.take_fitting(pool, size);
  if (block == nullptr) block = grow(lock, pool, size, nbytes);
  const int64_t peak = state_.stats.allocated_bytes.all.peak;
  blocks_.lend(block, size, nbytes);
  if (state_.stats.allocated_bytes.all.peak > peak) {
    new_peak_.store(true, std::memory_order_relaxed);
  }
  void* data = block->data;
  lock.unlock();
  unpoison(device(), data, nbytes);
  tell_allocated(*this, state_.blocks, nbytes, data, stream);
  return data;
}

void CachingAllocator::deallocate(void* data, uint64_t nbytes) noexcept {
  if (data == nullptr) return;
  tell_freed(*this, state_.blocks, nbytes, data);
  const CachingLock lock(state_.mutex);
  Block* block = blocks_.find_lent(data);
  if (block == nullptr) return;  // not ours, or given back twice: touching it would make it worse
  poison(device(), data, block->size);
  blocks_.take_back(block);
  if (block->uses != nullptr)
    deferred_.defer(block);
  else
    blocks_.become_free(block);
}

void CachingAllocator::record_stream(void* data, StreamHandle stream) {
  if (state_.interface.event_create == nullptr) return;  // work is done before a call returns
  const CachingLock lock(state_.mutex);
  Block* block = blocks_.find_lent(data);
  TSR_CHECK(block != nullptr, Code::kValue, nullptr,
            "expected memory that this allocator has lent, got another address");
  deferred_.add_use(block, stream);
}

void* CachingAllocator::take_segment(uint64_t nbytes) {
  CachingLock lock(state_.mutex);
  const SegmentRequest request{PoolKind::kSmall, nbytes, nbytes};
  warn_of_growth(lock, request);
  void* data = persist(lock, request, [&] { return segments_.take_raw(lock, request); });
  ++state_.lent_segments;
  state_.lent_segment_bytes += nbytes;
  return data;
}

void CachingAllocator::give_back_segment(void* data, uint64_t nbytes) noexcept {
  CachingLock lock(state_.mutex);
  segments_.give_back_raw(lock, PoolKind::kSmall, data, nbytes);
  --state_.lent_segments;
  state_.lent_segment_bytes -= nbytes;
}

uint64_t CachingAllocator::trim(uint64_t keep) {
  CachingLock lock(state_.mutex);
  deferred_.finish_events();
  return segments_.free_down_to(lock, keep);
}

// ---- Settings, limits, callbacks ----

void CachingAllocator::configure(const CachingSettings& settings) {
  TSR_CHECK(settings.max_split_size > kMinMaxSplit, Code::kValue, "max_split_size",
            "expected more than ", kMinMaxSplit, " bytes, got ", settings.max_split_size);
  TSR_CHECK(
      settings.garbage_collection_threshold >= 0.0 && settings.garbage_collection_threshold < 1.0,
      Code::kValue, "garbage_collection_threshold", "expected a fraction below 1, got ",
      settings.garbage_collection_threshold);
  const uint32_t divisions = settings.roundup_power2_divisions;
  TSR_CHECK(divisions == 0 || std::has_single_bit(divisions), Code::kValue,
            "roundup_power2_divisions", "expected 0 or a power of two, got ", divisions);
  TSR_CHECK(!settings.expandable_segments ||
                (state_.interface.reserve != nullptr && settings.max_split_size == UINT64_MAX),
            Code::kValue, "expandable_segments",
            "expected a device that maps memory, and no max_split_size");
  const CachingLock lock(state_.mutex);
  TSR_CHECK(blocks_.lent_count() == 0 || settings.max_split_size == state_.settings.max_split_size,
            Code::kValue, "max_split_size", "expected no memory in use when it changes, got ",
            blocks_.lent_count(), " blocks");
  state_.settings = settings;
  const bool split_all = settings.max_split_size > static_cast<uint64_t>(INT64_MAX);
  state_.stats.max_split_size = split_all ? -1 : static_cast<int64_t>(settings.max_split_size);
}

CachingSettings CachingAllocator::settings() const {
  const CachingLock lock(state_.mutex);
  return state_.settings;
}

void CachingAllocator::set_limit(uint64_t nbytes) {
  CachingLock lock(state_.mutex);
  limits_.set_limit(nbytes);
  if (state_.reserved() > nbytes) segments_.free_down_to(lock, nbytes);
}

uint64_t CachingAllocator::limit() const {
  const CachingLock lock(state_.mutex);
  return limits_.limit();
}

void CachingAllocator::set_limit_fraction(double fraction) {
  TSR_CHECK(fraction >= 0.0 && fraction <= 1.0, Code::kValue, "fraction",
            "expected a fraction between 0 and 1, got ", fraction);
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  const int32_t code = state_.interface.memory_info(device().index, &free_bytes, &total_bytes);
  if (code != kDeviceOk) state_.fail_device(code, "ask for its memory");
  set_limit(static_cast<uint64_t>(fraction * static_cast<double>(total_bytes)));
}

void CachingAllocator::add_pressure_callback(PressureCallback callback) {
  const CachingLock lock(state_.mutex);
  limits_.add(callback);
}

void CachingAllocator::remove_pressure_callback(PressureCallback callback) noexcept {
  const CachingLock lock(state_.mutex);
  limits_.remove(callback);
}

void CachingAllocator::set_pressure_threshold(uint64_t nbytes) {
  const CachingLock lock(state_.mutex);
  limits_.set_threshold(nbytes);
}

uint64_t CachingAllocator::pressure_threshold() const {
  const CachingLock lock(state_.mutex);
  return limits_.threshold();
}

void CachingAllocator::add_out_of_memory_observer(OutOfMemoryObserver observer) {
  const CachingLock lock(state_.mutex);
  limits_.add(observer);
}

void CachingAllocator::remove_out_of_memory_observer(OutOfMemoryObserver observer) noexcept {
  const CachingLock lock(state_.mutex);
  limits_.remove(observer);
}

}  // namespace tsr
