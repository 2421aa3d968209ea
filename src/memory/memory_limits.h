// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// MemoryLimits: how much a caching allocator may hold, and who is told when that is not enough.
#pragma once

#include <cstdint>
#include <string>

#include "base/small_vector.h"
#include "memory/allocator.h"
#include "memory/caching_state.h"

namespace tsr {

// What the error says when memory runs out.
struct OutOfMemoryText {
  const char* what = "out of memory on ";  // before the device
  // In place of what the device has free, where that is not what ran out.
  const char* advice = nullptr;
};

// The blocks at the moment when memory runs out.
struct FreeAndLent {
  uint64_t largest_free = 0;
  std::string largest_lent;  // for the message when nothing is recorded; may be empty
};

// Every function runs under the allocator's lock.
class MemoryLimits {
 public:
  MemoryLimits(CachingState& state, OutOfMemoryText text) noexcept : state_(state), text_(text) {}

  // ---- The limit on the bytes held ----
  [[nodiscard]] uint64_t limit() const noexcept { return limit_; }
  void set_limit(uint64_t nbytes) noexcept { limit_ = nbytes; }
  // Sets bytes aside under the limit while the device is asked for them; false: the limit is
  // reached.
  [[nodiscard]] bool claim(uint64_t nbytes) noexcept;
  // The device has answered: the bytes are counted as held, or not at all.
  void end_claim(uint64_t nbytes) noexcept { claimed_ -= nbytes; }

  // ---- Pressure ----
  [[nodiscard]] uint64_t threshold() const noexcept { return threshold_; }
  void set_threshold(uint64_t nbytes) noexcept { threshold_ = nbytes; }
  // Whether `nbytes` more would bring what is held above the threshold.
  [[nodiscard]] bool would_pass_threshold(uint64_t nbytes) const noexcept;
  void add(PressureCallback callback) { callbacks_.push_back(callback); }
  void remove(PressureCallback callback) noexcept;
  // Calls the callbacks without the lock. True when one may have freed something.
  bool call_callbacks(CachingLock& lock, uint64_t requested);

  // Tells how many bytes an allocator in front of this one has lent out of its segments, which the
  // pools do not know. Called without the lock.
  void set_lent_in_front(uint64_t (*lent)() noexcept) noexcept { lent_in_front_ = lent; }

  // ---- Out of memory ----
  void add(OutOfMemoryObserver observer) { observers_.push_back(observer); }
  void remove(OutOfMemoryObserver observer) noexcept;
  // Tells the observers and throws Error kOutOfMemory that says what was asked, held and free, and
  // who holds the most.
  [[noreturn]] void fail_out_of_memory(CachingLock& lock, uint64_t requested,
                                       const FreeAndLent& now);

  void verify() const;

 private:
  [[nodiscard]] MemoryPressure pressure(uint64_t requested) const noexcept;
  void add_lent_in_front(MemoryPressure& event) const noexcept;

  CachingState& state_;
  const OutOfMemoryText text_;
  uint64_t limit_ = UINT64_MAX;
  uint64_t threshold_ = UINT64_MAX;
  uint64_t claimed_ = 0;  // bytes being asked of the device just now
  uint64_t (*lent_in_front_)() noexcept = nullptr;
  SmallVector<PressureCallback, 2> callbacks_;
  SmallVector<OutOfMemoryObserver, 2> observers_;
};

}  // namespace tsr
