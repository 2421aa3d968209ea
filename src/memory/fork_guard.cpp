// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/fork_guard.h"

#include <pthread.h>

#include <cstddef>
#include <new>

namespace tsr {

struct ForkRegistry {
  std::mutex mutex;
  GuardedMutex* first = nullptr;

  // Never destroyed: a process may fork after its static destructors have begun.
  static ForkRegistry& get() noexcept {
    alignas(ForkRegistry) static std::byte storage[sizeof(ForkRegistry)];
    static ForkRegistry* const instance = [] {
      auto* registry = new (storage) ForkRegistry;
      pthread_atfork(before, after, after);
      return registry;
    }();
    return *instance;
  }

  static void before() {
    ForkRegistry& registry = get();
    registry.mutex.lock();
    for (GuardedMutex* m = registry.first; m != nullptr; m = m->next_) m->mutex_.lock();
  }
  static void after() {
    ForkRegistry& registry = get();
    for (GuardedMutex* m = registry.first; m != nullptr; m = m->next_) m->mutex_.unlock();
    registry.mutex.unlock();
  }
  static void add(GuardedMutex* m) {
    ForkRegistry& registry = get();
    const std::lock_guard lock(registry.mutex);
    m->next_ = registry.first;
    if (registry.first != nullptr) registry.first->prev_ = m;
    registry.first = m;
  }
  static void remove(GuardedMutex* m) {
    ForkRegistry& registry = get();
    const std::lock_guard lock(registry.mutex);
    (m->prev_ != nullptr ? m->prev_->next_ : registry.first) = m->next_;
    if (m->next_ != nullptr) m->next_->prev_ = m->prev_;
  }
};

GuardedMutex::GuardedMutex() {
  ForkRegistry::add(this);
}
GuardedMutex::~GuardedMutex() {
  ForkRegistry::remove(this);
}

}  // namespace tsr
