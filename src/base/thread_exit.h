// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Code that runs when a thread ends, and thread-local values without destructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tsr {

// Note [Thread-local state]
// No thread-local variable of the library has a constructor or a destructor: they are constinit and
// trivially destructible. A C++ destructor of a thread-local is registered at its first use; glibc
// allocates memory for that and ends the process if there is none. Such a destructor also runs
// before the atexit handlers and static destructors, and calls from those must still work.
// State that must be released when a thread ends is registered here instead, in a pthread key.
// Registering may fail without harm (with glibc only if a process has more than 32 keys and no
// memory). The key's destructor runs after all thread-local destructors of the host. exit() does
// not run it: the thread that ends the process keeps its state to the last instruction. Code that
// can report a failed registration fails (scopes, saved-tensor hooks). The error path itself (error
// records) cannot; it tries again with the next error, and a thread that ends before that leaks the
// text of its last error.

// In the order in which they run. If a part uses the state of an earlier part, that part runs
// again.
enum class ThreadPart : uint8_t {
  kProgram,
  kAnomaly,
  kAutocast,
  kForwardLevels,
  kSavedHooks,
  kScopes,
  kError,
  kKernelError,
  kGenerator,
  kStreams,
  kTracedRanges,
  kProfile,
  kNodeCounts,
  kHandleCounts,
};

// `run` is called once when this thread ends, unless the thread ends the process. Returns false if
// the system has no memory for that. Each part must always pass the same function.
bool at_thread_exit(ThreadPart part, void (*run)() noexcept) noexcept;

// A thread-local value that is made at its first use and destroyed by an explicit call.
template <class T>
class ThreadValue {
 public:
  [[nodiscard]] T& get() noexcept {
    if (!alive_) {
      new (storage_) T();
      alive_ = true;
    }
    return *std::launder(reinterpret_cast<T*>(storage_));
  }
  void end() noexcept {
    if (!alive_) return;
    alive_ = false;
    std::destroy_at(std::launder(reinterpret_cast<T*>(storage_)));
  }

 private:
  alignas(T) std::byte storage_[sizeof(T)] = {};
  bool alive_ = false;
};

}  // namespace tsr
