// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GuardedMutex: a mutex that a fork never leaves locked in the child.
#pragma once

#include <mutex>

namespace tsr {

// Which locks may be waited for while one is held: an inner one while an outer one is held, and no
// other pair. Under an inner one nothing may be made that has a GuardedMutex in it.
enum class LockLevel { kInner, kOuter };

// While a process forks, every GuardedMutex is held by the forking thread, so that the child finds
// what it protects whole.
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
