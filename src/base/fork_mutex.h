// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ForkMutex: a lock of one byte, for single objects, that counts as free in a child of the process
// in which it was held.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr {

// Note [Locks and fork]
// A child has only the thread that forked; a plain mutex that another thread held at that moment
// stays locked in it for ever. Three kinds of locks avoid that.
// - GuardedMutex: while a process forks the forking thread holds every one of them, so that the
//   child also finds what they protect whole. For tables of the process, which are immortal().
// - ForkMutex and SpinLock (autograd/spin_lock.h): locks of single objects, too many to take at a
//   fork. They note in which process they were locked; in a child a lock that was held in the
//   parent counts as free. An object that another thread was changing at that moment may be half
//   changed in the child; nothing waits.
// tests/tools/check_layers.py refuses std::mutex elsewhere.

// How often this process and its parents have forked, as a mark from 1 to 255.
extern std::atomic<uint8_t> g_fork_mark;
inline uint8_t fork_mark() noexcept {
  return g_fork_mark.load(std::memory_order_relaxed);
}

// For sections that may last.
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
