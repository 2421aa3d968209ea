// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GuardedMutex: a mutex that a fork never leaves locked in the child.
#pragma once

#include <mutex>

namespace tsr {

// The order of locks: a thread that holds an outer lock may take an inner one; no other nesting is
// allowed. While an inner lock is held, no object with a GuardedMutex may be made.
enum class LockLevel { kInner, kOuter };

// While a process forks, the forking thread holds every GuardedMutex, so that the data that they
// protect is consistent in the child.
class GuardedMutex {
 public:
  explicit GuardedMutex(LockLevel level = LockLevel::kInner);
  GuardedMutex(const GuardedMutex&) = delete;
  GuardedMutex& operator=(const GuardedMutex&) = delete;
  ~GuardedMutex();

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
  const LockLevel level_;
  GuardedMutex* prev_ = nullptr;
  GuardedMutex* next_ = nullptr;
  friend struct ForkRegistry;
};

}  // namespace tsr
