// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_limits.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "memory/sizes.h"

namespace tsr {
namespace {

// A pressure callback that allocates must not be called for its own allocation.
constinit thread_local bool t_in_pressure_callback = false;

// Ends with the call, also when the host's callback throws.
struct InPressureCallback {
  InPressureCallback() noexcept { t_in_pressure_callback = true; }
  InPressureCallback(const InPressureCallback&) = delete;
  InPressureCallback& operator=(const InPressureCallback&) = delete;
  ~InPressureCallback() { t_in_pressure_callback = false; }
};

constexpr size_t kNamedHolders = 10;

// When the memory that is there would do, and only lies in the wrong pieces.
std::string fragmentation_hint(uint64_t requested, uint64_t cached, uint64_t obtainable,
                               uint64_t largest_free) {
  const bool in_pieces = cached > 0 && largest_free < requested && obtainable < requested &&
                         requested - obtainable <= cached;
  if (!in_pieces) return {};
  return concat("; the cached memory is fragmented: its largest free piece has ",
                in_bytes(largest_free),
                ". Expandable segments or a max_split_size keep free memory in larger pieces");
}

template <class List, class Callback>
void remove_callback(List& list, const Callback& callback) noexcept {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].function == callback.function && list[i].user == callback.user) {
      list.erase(i);
      return;
    }
  }
}

}  // namespace

bool MemoryLimits::claim(uint64_t nbytes) noexcept {
  const uint64_t held = state_.reserved() + claimed_;
  if (held > limit_ || nbytes > limit_ - held) return false;
  claimed_ += nbytes;
  return true;
}

bool MemoryLimits::would_pass_threshold(uint64_t nbytes) const noexcept {
  const uint64_t held = state_.reserved() + claimed_;
  return held > threshold_ || nbytes > threshold_ - held;
}

void MemoryLimits::remove(PressureCallback callback) noexcept {
  remove_callback(callbacks_, callback);
}

void MemoryLimits::remove(OutOfMemoryObserver observer) noexcept {
  remove_callback(observers_, observer);
}

MemoryPressure MemoryLimits::pressure(uint64_t requested) const noexcept {
  const auto active = static_cast<uint64_t>(state_.stats.active_bytes.all.current);
  const auto live = static_cast<uint64_t>(state_.stats.allocated_bytes.all.current);
  const uint64_t cached_free = state_.reserved() - state_.lent_segment_bytes - active;
  return {state_.device, requested, cached_free, live};
}

void MemoryLimits::add_lent_in_front(MemoryPressure& event) const noexcept {
  if (lent_in_front_ != nullptr) event.live += lent_in_front_();
}

bool MemoryLimits::call_callbacks(CachingLock& lock, uint64_t requested) {
  // A host's callback runs on a thread of the host, never on one of the pool.
  if (callbacks_.empty() || t_in_pressure_callback || in_pool_part()) return false;
  const auto callbacks = callbacks_;
  MemoryPressure event = pressure(requested);
  bool freed = false;
  lock.unlock();
  add_lent_in_front(event);
  {
    const InPressureCallback inside;
    for (const PressureCallback& callback : callbacks) {
      freed = callback.function(callback.user, event) || freed;
    }
  }
  lock.lock();
  return freed;
}

void MemoryLimits::fail_out_of_memory(CachingLock& lock, uint64_t requested,
                                      const FreeAndLent& now) {
  ++state_.stats.num_ooms;
  MemoryPressure event = pressure(requested);
  const uint64_t held = state_.reserved();
  const uint64_t limit = limit_;
  const auto observers = observers_;
  lock.unlock();
  add_lent_in_front(event);
  state_.blocks.out_of_memory(requested);
  for (const OutOfMemoryObserver& observer : observers) {
    observer.function(observer.user, event, limit);
  }
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  const bool known =
      text_.advice == nullptr &&
      state_.interface.memory_info(state_.device.index, &free_bytes, &total_bytes) == kDeviceOk;
  std::string way_out = "free unknown";
  if (text_.advice != nullptr) way_out = text_.advice;
  if (known) way_out = concat("free ", in_bytes(free_bytes), " of ", in_bytes(total_bytes));
  const uint64_t below_limit = limit - std::min(limit, held);
  const uint64_t obtainable = known ? std::min(free_bytes, below_limit) : 0;
  const std::string holders = state_.blocks.holders_text(kNamedHolders);
  fail(Code::kOutOfMemory, nullptr, __FILE__, __LINE__, text_.what, state_.device, ": asked for ",
       in_bytes(requested), ", held ", in_bytes(held), " of which ", in_bytes(event.live),
       " in use and ", in_bytes(event.cached_free), " cached; ", way_out, "; limit ",
       limit == UINT64_MAX ? "none" : in_bytes(limit),
       fragmentation_hint(requested, event.cached_free, obtainable, now.largest_free),
       holders.empty() ? now.largest_lent : "\nThe largest holders:", holders);
}

void MemoryLimits::verify() const {
  TSR_ASSERT(claimed_ > 0 || state_.reserved() <= limit_ || state_.stats.segment.all.current > 0,
             "limit exceeded");
}

}  // namespace tsr
