// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the library does when a thread ends, and values that threads keep without destructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tsr {

// Note [Thread-local state]
// No thread-local variable of the library has a constructor or a destructor: they are constinit and
// trivially destructible. A C++ destructor of a thread-local is registered at its first use, for
// which glibc allocates and ends the process when it cannot; and it runs before the atexit handlers
// and static destructors, in which calls must still work and may fail.
// What must go back when a thread ends is registered here instead, in a pthread key. Registering
// can fail without harm (with glibc only when a process has more than 32 keys and no memory), the
// key's destructor runs after all thread-local destructors of the host, and exit() does not run it:
// the thread that ends the process keeps its state to the last instruction. Code that could not
// register at a point where it can report that (scopes, saved-tensor hooks) fails. On the failing
// path itself (error records) it tries again with the next failure; a thread that ends before
// leaves the text of its last error behind.

// In the order in which they run; what one of them needs again runs once more.
enum class ThreadPart : uint8_t {
  kSavedHooks,
  kScopes,
  kError,
  kKernelError,
  kGenerator,
  kStreams,
  kNodeCounts,
  kHandleCounts,
};

// `run` is called once when this thread ends, unless it ends the process. False when the system has
// no memory to note that. Each part always comes with the same function.
bool at_thread_exit(ThreadPart part, void (*run)() noexcept) noexcept;

// A value in thread-local storage that is made at its first use and ended by an explicit call.
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
