// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_limits.h"

#include <cstdio>
#include <iterator>

#include "base/error.h"

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

bool MemoryLimits::call_callbacks(CachingLock& lock, uint64_t requested) {
  if (callbacks_.empty() || t_in_pressure_callback) return false;
  const auto callbacks = callbacks_;
  const MemoryPressure event = pressure(requested);
  bool freed = false;
  lock.unlock();
  {
    const InPressureCallback inside;
    for (const PressureCallback& callback : callbacks) {
      freed = callback.function(callback.user, event) || freed;
    }
  }
  lock.lock();
  return freed;
}

void MemoryLimits::fail_out_of_memory(CachingLock& lock, uint64_t requested) {
  ++state_.stats.num_ooms;
  state_.history.add(HistoryAction::kOutOfMemory, nullptr, requested, nullptr);
  const MemoryPressure event = pressure(requested);
  const uint64_t held = state_.reserved();
  const uint64_t limit = limit_;
  const auto observers = observers_;
  lock.unlock();
  for (const OutOfMemoryObserver& observer : observers) {
    observer.function(observer.user, event, limit);
  }
  fail(Code::kOutOfMemory, nullptr, __FILE__, __LINE__, text_.what, state_.device, ": asked for ",
       in_bytes(requested), ", held ", in_bytes(held), " of which ", in_bytes(event.live),
       " in use and ", in_bytes(event.cached_free), " cached; ", way_out(), "; limit ",
       limit == UINT64_MAX ? "none" : in_bytes(limit));
}

std::string MemoryLimits::way_out() const {
  if (text_.advice != nullptr) return text_.advice;
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  const bool known =
      state_.interface.memory_info(state_.device.index, &free_bytes, &total_bytes) == kDeviceOk;
  return known ? concat("free ", in_bytes(free_bytes), " of ", in_bytes(total_bytes))
               : "free unknown";
}

void MemoryLimits::verify() const {
  TSR_ASSERT(claimed_ > 0 || state_.reserved() <= limit_ || state_.stats.segment.all.current > 0,
             "limit exceeded");
}

}  // namespace tsr
