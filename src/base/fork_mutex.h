// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ForkMutex: a lock of one byte for single objects. If another thread holds it during a fork, it is
// free in the child.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr {

// Note [Locks and fork]
// A child has only the thread that forked. A plain mutex that another thread held at that moment
// stays locked in the child for ever. Three kinds of locks avoid that.
// - GuardedMutex: while a process forks, the forking thread holds all of them, so the data that
// they protect is consistent in the child. For tables of the process, which are immortal().
// - ForkMutex and SpinLock (autograd/spin_lock.h): locks of single objects, too many to take at a
// fork. They store the process in which they were locked; a lock that was held in the parent is
// free in the child. An object that another thread was changing at that moment may be half changed
// in the child, but nothing waits for ever.
// tests/tools/check_layers.py refuses std::mutex elsewhere.

// Counts the forks of this process and its parents, as a mark from 1 to 255 that wraps around.
extern std::atomic<uint8_t> g_fork_mark;
inline uint8_t fork_mark() noexcept {
  return g_fork_mark.load(std::memory_order_relaxed);
}

// For critical sections that may last long.
class ForkMutex {
 public:
  void lock() noexcept {
    const uint8_t mark = fork_mark();
    while (held_.exchange(mark, std::memory_order_acquire) == mark) {
      held_.wait(mark, std::memory_order_relaxed);
    }
  }
  void unlock() noexcept {
    held_.store(0, std::memory_order_release);
    held_.notify_one();
  }

 private:
  std::atomic<uint8_t> held_{0};  // the mark of the process in which it was locked
};

}  // namespace tsr
