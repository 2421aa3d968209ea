// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The policy of segments: taking memory from the device, giving it back, and running out of it.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "memory/caching_allocator.h"
#include "memory/poison.h"

namespace tsr {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSmallSegment = 2 * kMiB;
constexpr uint64_t kLargeSegment = 20 * kMiB;
constexpr uint64_t kMinOwnSegment = 10 * kMiB;  // requests from here on get their own segment
constexpr int kReliefSteps = 5;

// A pressure callback that allocates must not be called for its own allocation.
constinit thread_local bool t_in_pressure_callback = false;

// Ends with the call, also when the host's callback throws.
struct InPressureCallback {
  InPressureCallback() noexcept { t_in_pressure_callback = true; }
  InPressureCallback(const InPressureCallback&) = delete;
  InPressureCallback& operator=(const InPressureCallback&) = delete;
  ~InPressureCallback() { t_in_pressure_callback = false; }
};

uint64_t segment_size_for(PoolKind kind, uint64_t size) noexcept {
  if (kind == PoolKind::kSmall) return kSmallSegment;
  if (size < kMinOwnSegment) return kLargeSegment;
  return (size + kSmallSegment - 1) / kSmallSegment * kSmallSegment;
}

std::string in_bytes(uint64_t nbytes) {
  if (nbytes < 1024) return concat(nbytes, " bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(nbytes) / 1024.0;
  size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1024.0;
  char text[48];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

}  // namespace

CachingAllocator::CachingAllocator(Device device, const DeviceInterface& interface)
    : Allocator(device), interface_(interface) {}

CachingAllocator::~CachingAllocator() {
  for (Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    unpoison(device(), segment->data, segment->size);
    if (segment->reserved > 0) {
      unmap(*segment, 0, segment->size, segment->first->pool->kind);
      interface_.unreserve(device().index, segment->data, segment->reserved);
    } else {
      interface_.raw_free(device().index, segment->data, segment->size);
    }
  }
  for (const auto& use : use_storage_) interface_.event_destroy(device().index, use->event);
}

// ---- Taking ----

// Tries again after each step that may have freed memory; throws when none helped.
template <class Attempt>
auto CachingAllocator::persist(Lock& lock, const Request& request, const Attempt& attempt) {
  auto* result = attempt();
  if (result != nullptr) return result;
  ++stats_.num_alloc_retries;
  for (int step = 0; step < kReliefSteps; ++step) {
    if (!relieve(lock, request, step)) continue;
    result = attempt();
    if (result != nullptr) return result;
  }
  fail_out_of_memory(lock, request.requested);
}

bool CachingAllocator::relieve(Lock& lock, const Request& request, int step) {
  switch (step) {
    case 0:
      return call_pressure(lock, request);
    case 1:
      return free_fitting(lock, request.segment_size) > 0;
    case 3:
      return wait_for_events(lock);
    default:
      return free_down_to(lock, 0) > 0;
  }
}

// A block of at least `size`, in no pool: found, after others were freed, or in fresh memory.
Block* CachingAllocator::grow(Lock& lock, BlockPool& pool, uint64_t size, uint64_t requested) {
  const Request request{pool.kind, segment_size_for(pool.kind, size), requested};
  collect_garbage(lock, request.segment_size);
  warn_of_growth(lock, request);
  return persist(lock, request, [&]() -> Block* {
    reserve_blocks();
    if (Block* block = take_fitting(pool, size)) return block;
    if (settings_.expandable_segments) return extend(lock, pool, size);
    return fresh_segment(lock, pool, request);
  });
}

// The whole of a new segment, in no pool; null when the limit or the device says no.
Block* CachingAllocator::fresh_segment(Lock& lock, BlockPool& pool, const Request& request) {
  // Taken before the lock is dropped: others may use up the spare ones meanwhile.
  Segment* segment = new_segment();
  Block* block = new_block();
  void* data = nullptr;
  const int32_t code = raw_segment(lock, request, &data);
  if (code != kDeviceOk) {
    push_front(spare_segments_, segment);
    recycle(block);
    if (code != kDeviceOutOfMemory) fail_device(code, "allocate memory");
    return nullptr;
  }
  adopt_segment(pool, segment, block, data, request.segment_size);
  reserve_blocks();  // for the caller's split; should that fail, the segment is in order
  leave_pool(block);
  return block;
}

// Sets the bytes aside under the limit while the device is asked for them.
bool CachingAllocator::claim(uint64_t nbytes) noexcept {
  const uint64_t held = reserved() + in_flight_;
  if (held > limit_ || nbytes > limit_ - held) return false;
  in_flight_ += nbytes;
  return true;
}

// After the device's answer; true when it gave the bytes.
bool CachingAllocator::settle(int32_t code, PoolKind kind, const void* data,
                              uint64_t nbytes) noexcept {
  in_flight_ -= nbytes;
  if (code != kDeviceOk) return false;
  ++stats_.num_device_alloc;
  stats_.reserved_bytes.add(kind, nbytes);
  history_.add(HistoryAction::kSegmentAllocate, data, nbytes, nullptr);
  return true;
}

int32_t CachingAllocator::raw_segment(Lock& lock, const Request& request, void** out) {
  const uint64_t size = request.segment_size;
  if (!claim(size)) return kDeviceOutOfMemory;
  lock.unlock();
  const int32_t code = interface_.raw_allocate(device().index, size, out);
  lock.lock();
  if (!settle(code, request.kind, *out, size)) return code;
  stats_.segment.add(request.kind, 1);
  if (size >= settings_.max_split_size) stats_.oversize_segments.add(1);
  return kDeviceOk;
}

// The segment's one block, free and in its pool.
Block* CachingAllocator::adopt_segment(BlockPool& pool, Segment* segment, Block* block, void* data,
                                       uint64_t size) noexcept {
  segment->data = static_cast<std::byte*>(data);
  segment->size = size;
  segment->reserved = 0;
  segment->first = segment->last = block;
  push_front(segments_, segment);
  block->data = segment->data;
  block->size = size;
  block->pool = &pool;
  block->segment = segment;
  block->prev = nullptr;
  block->freed_at = clock_;
  poison(device(), data, size);
  enter_pool(block);
  return block;
}

void* CachingAllocator::take_segment(uint64_t nbytes) {
  Lock lock(mutex_);
  const Request request{PoolKind::kSmall, nbytes, nbytes};
  warn_of_growth(lock, request);
  void* data = persist(lock, request, [&] {
    void* fresh = nullptr;
    const int32_t code = raw_segment(lock, request, &fresh);
    if (code != kDeviceOk && code != kDeviceOutOfMemory) fail_device(code, "allocate memory");
    return fresh;
  });
  ++lent_segments_;
  lent_segment_bytes_ += nbytes;
  return data;
}

void CachingAllocator::give_back_segment(void* data, uint64_t nbytes) noexcept {
  Lock lock(mutex_);
  give_back_raw(lock, PoolKind::kSmall, data, nbytes);
  --lent_segments_;
  lent_segment_bytes_ -= nbytes;
}

// ---- Giving back ----

uint64_t CachingAllocator::reserved() const noexcept {
  return static_cast<uint64_t>(stats_.reserved_bytes.all.current);
}

// Segments without a block in use, the one unused for longest first.
std::vector<Segment*> CachingAllocator::idle_segments() const {
  std::vector<Segment*> idle;
  for (Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    if (!segment->busy && segment->first->is_free() && !segment->first->is_split())
      idle.push_back(segment);
  }
  std::stable_sort(idle.begin(), idle.end(), [](const Segment* a, const Segment* b) {
    return a->first->freed_at < b->first->freed_at;
  });
  return idle;
}

// Out of every list, so that nobody finds it while the lock is dropped.
void CachingAllocator::detach(Segment* segment, Segment*& doomed) noexcept {
  leave_pool(segment->first);
  unlink(segments_, segment);
  detached_bytes_ += segment->size;
  push_front(doomed, segment);
}

uint64_t CachingAllocator::free_segments(Lock& lock, Segment* doomed) noexcept {
  uint64_t freed = 0;
  while (doomed != nullptr) {
    Segment* segment = doomed;
    doomed = segment->next;
    unpoison(device(), segment->data, segment->size);
    const PoolKind kind = segment->first->pool->kind;
    if (segment->reserved > 0) {
      lock.unlock();
      unmap(*segment, 0, segment->size, kind);
      interface_.unreserve(device().index, segment->data, segment->reserved);
      lock.lock();
      count_given_back(kind, segment->data, segment->size);
    } else {
      give_back_raw(lock, kind, segment->data, segment->size);
    }
    detached_bytes_ -= segment->size;
    freed += segment->size;
    recycle(segment->first);
    push_front(spare_segments_, segment);
  }
  return freed;
}

// A device that fails to take memory back is broken beyond our help; the error shows at its next
// use.
void CachingAllocator::give_back_raw(Lock& lock, PoolKind kind, void* data,
                                     uint64_t nbytes) noexcept {
  lock.unlock();
  interface_.raw_free(device().index, data, nbytes);
  lock.lock();
  count_given_back(kind, data, nbytes);
}

void CachingAllocator::count_given_back(PoolKind kind, const void* data, uint64_t nbytes) noexcept {
  ++stats_.num_device_free;
  stats_.segment.subtract(kind, 1);
  stats_.reserved_bytes.subtract(kind, nbytes);
  if (nbytes >= settings_.max_split_size) stats_.oversize_segments.subtract(1);
  history_.add(HistoryAction::kSegmentFree, data, nbytes, nullptr);
}

// The smallest idle segment whose memory alone would do; 0 when there is none.
uint64_t CachingAllocator::free_fitting(Lock& lock, uint64_t segment_size) {
  Segment* best = nullptr;
  for (Segment* segment : idle_segments()) {
    if (segment->size >= segment_size && (best == nullptr || segment->size < best->size)) {
      best = segment;
    }
  }
  if (best == nullptr) return 0;
  Segment* doomed = nullptr;
  detach(best, doomed);
  return free_segments(lock, doomed);
}

uint64_t CachingAllocator::free_down_to(Lock& lock, uint64_t keep) {
  uint64_t held = reserved() - detached_bytes_;
  Segment* doomed = nullptr;
  for (Segment* segment : idle_segments()) {
    if (held <= keep) break;
    held -= segment->size;
    detach(segment, doomed);
  }
  const uint64_t freed = free_segments(lock, doomed);
  return freed + shrink_all(lock, keep);
}

void CachingAllocator::collect_garbage(Lock& lock, uint64_t segment_size) {
  if (settings_.garbage_collection_threshold <= 0.0 || limit_ == UINT64_MAX) return;
  const auto threshold =
      static_cast<uint64_t>(settings_.garbage_collection_threshold * static_cast<double>(limit_));
  if (reserved() + segment_size <= threshold) return;
  free_down_to(lock, threshold > segment_size ? threshold - segment_size : 0);
}

uint64_t CachingAllocator::trim(uint64_t keep) {
  Lock lock(mutex_);
  finish_events();
  return free_down_to(lock, keep);
}

// ---- Waiting ----

// Waits for every deferred free; false when there was none. The uses are taken out of their queues
// first, so that other threads may go on while this one waits without the lock.
bool CachingAllocator::wait_for_events(Lock& lock) {
  StreamUse* waiting = nullptr;
  for (const auto& pools : pools_) {
    *pools->last_pending = waiting;
    waiting = pools->first_pending;
    pools->first_pending = nullptr;
    pools->last_pending = &pools->first_pending;
  }
  if (waiting == nullptr) return false;
  ++stats_.num_sync_all_streams;
  lock.unlock();
  for (StreamUse* use = waiting; use != nullptr; use = use->next) {
    const int32_t code = use->recorded ? interface_.event_synchronize(device().index, use->event)
                                       : interface_.stream_synchronize(device().index, use->stream);
    use->recorded = code == kDeviceOk;
  }
  lock.lock();
  while (waiting != nullptr) {
    StreamUse* use = waiting;
    waiting = use->next;
    if (use->recorded) {
      finish_use(use);
    } else {
      StreamPools& pools = pools_of(use->stream);
      use->next = nullptr;
      *pools.last_pending = use;
      pools.last_pending = &use->next;
    }
  }
  return true;
}

// ---- Limits, callbacks, failure ----

void CachingAllocator::set_limit(uint64_t nbytes) {
  Lock lock(mutex_);
  limit_ = nbytes;
  if (reserved() > limit_) free_down_to(lock, limit_);
}

uint64_t CachingAllocator::limit() const {
  const Lock lock(mutex_);
  return limit_;
}

void CachingAllocator::set_limit_fraction(double fraction) {
  TSR_CHECK(fraction >= 0.0 && fraction <= 1.0, Code::kValue, "fraction",
            "expected a fraction between 0 and 1, got ", fraction);
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  const int32_t code = interface_.memory_info(device().index, &free_bytes, &total_bytes);
  if (code != kDeviceOk) fail_device(code, "ask for its memory");
  set_limit(static_cast<uint64_t>(fraction * static_cast<double>(total_bytes)));
}

MemoryPressure CachingAllocator::pressure(uint64_t requested) const noexcept {
  const auto active = static_cast<uint64_t>(stats_.active_bytes.all.current);
  const auto live = static_cast<uint64_t>(stats_.allocated_bytes.all.current);
  return {device(), requested, reserved() - lent_segment_bytes_ - active, live};
}

bool CachingAllocator::call_pressure(Lock& lock, const Request& request) {
  if (pressure_callbacks_.empty() || t_in_pressure_callback) return false;
  const auto callbacks = pressure_callbacks_;
  const MemoryPressure event = pressure(request.requested);
  bool freed = false;
  lock.unlock();
  {
    const InPressureCallback inside;
    for (const PressureCallback& callback : callbacks) {
      freed = callback.function(callback.user, event) || freed;
    }
  }
  lock.lock();
  finish_events();
  return freed;
}

// Before the first attempt, which then finds what the host has freed.
void CachingAllocator::warn_of_growth(Lock& lock, const Request& request) {
  const uint64_t held = reserved() + in_flight_;
  const uint64_t threshold = pressure_threshold_;
  if (held > threshold || request.segment_size > threshold - held) call_pressure(lock, request);
}

void CachingAllocator::set_pressure_threshold(uint64_t nbytes) {
  const Lock lock(mutex_);
  pressure_threshold_ = nbytes;
}

uint64_t CachingAllocator::pressure_threshold() const {
  const Lock lock(mutex_);
  return pressure_threshold_;
}

void CachingAllocator::fail_out_of_memory(Lock& lock, uint64_t requested) {
  ++stats_.num_ooms;
  history_.add(HistoryAction::kOutOfMemory, nullptr, requested, nullptr);
  const MemoryPressure event = pressure(requested);
  const uint64_t held = reserved();
  const uint64_t limit = limit_;
  const auto observers = observers_;
  lock.unlock();
  for (const OutOfMemoryObserver& observer : observers) {
    observer.function(observer.user, event, limit);
  }
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  const bool known = interface_.memory_info(device().index, &free_bytes, &total_bytes) == kDeviceOk;
  fail(Code::kOutOfMemory, nullptr, __FILE__, __LINE__, "out of memory on ", device(),
       ": asked for ", in_bytes(requested), ", held ", in_bytes(held), " of which ",
       in_bytes(event.live), " in use and ", in_bytes(event.cached_free), " cached; free ",
       known ? in_bytes(free_bytes) + " of " + in_bytes(total_bytes) : "unknown", "; limit ",
       limit == UINT64_MAX ? "none" : in_bytes(limit));
}

void CachingAllocator::fail_device(int32_t code, const char* what) const {
  Error error(Code::kBackend, nullptr,
              concat(device(), " could not ", what, ": ", interface_.error_text(code)), __FILE__,
              __LINE__);
  error.set_native_code(code);
  throw error;
}

}  // namespace tsr
