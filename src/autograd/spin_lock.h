// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SpinLock: one byte, for critical sections of a few instructions that call nothing foreign. See
// Note [Locks and fork].
#pragma once

#include <atomic>
#include <thread>

#include "base/fork_mutex.h"

namespace tsr {

class SpinLock {
 public:
  void lock() noexcept {
    const uint8_t mark = fork_mark();
    while (held_.exchange(mark, std::memory_order_acquire) == mark) {
      while (held_.load(std::memory_order_relaxed) == mark) std::this_thread::yield();
    }
  }
  void unlock() noexcept { held_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint8_t> held_{0};  // the mark of the process in which it was locked
};

}  // namespace tsr
