// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GuardedMutex: a mutex that a fork never leaves locked in the child.
#pragma once

#include <mutex>

namespace tsr {

// While a process forks, every GuardedMutex is held by the forking thread, so that the child finds
// what it protects whole. No thread may wait for one GuardedMutex while it holds another.
class GuardedMutex {
 public:
  GuardedMutex();
  GuardedMutex(const GuardedMutex&) = delete;
  GuardedMutex& operator=(const GuardedMutex&) = delete;
  ~GuardedMutex();

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
  GuardedMutex* prev_ = nullptr;
  GuardedMutex* next_ = nullptr;
  friend struct ForkRegistry;
};

}  // namespace tsr
