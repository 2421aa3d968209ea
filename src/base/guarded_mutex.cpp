// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/guarded_mutex.h"

#include <pthread.h>

#include "base/fork_mutex.h"
#include "base/immortal.h"

namespace tsr {

std::atomic<uint8_t> g_fork_mark{1};

struct ForkRegistry {
  // The registry's own lock of a level. An inner GuardedMutex may be made while an outer one is
  // held.
  struct Members {
    std::mutex mutex;
    GuardedMutex* first = nullptr;

    void hold() {
      mutex.lock();
      for (GuardedMutex* m = first; m != nullptr; m = m->next_) m->mutex_.lock();
    }
    void let_go() {
      for (GuardedMutex* m = first; m != nullptr; m = m->next_) m->mutex_.unlock();
      mutex.unlock();
    }
  };
  Members outer;
  Members inner;

  ForkRegistry() { pthread_atfork(before, after, in_child); }

  static void before() {
    immortal<ForkRegistry>().outer.hold();
    immortal<ForkRegistry>().inner.hold();
  }
  static void after() {
    immortal<ForkRegistry>().inner.let_go();
    immortal<ForkRegistry>().outer.let_go();
  }

  static void in_child() {
    const uint8_t mark = fork_mark();
    g_fork_mark.store(mark == UINT8_MAX ? 1 : static_cast<uint8_t>(mark + 1),
                      std::memory_order_relaxed);
    after();
  }

  static Members& members_of(LockLevel level) {
    ForkRegistry& registry = immortal<ForkRegistry>();
    return level == LockLevel::kOuter ? registry.outer : registry.inner;
  }
  static void add(GuardedMutex* m) {
    Members& members = members_of(m->level_);
    const std::lock_guard lock(members.mutex);
    m->next_ = members.first;
    if (members.first != nullptr) members.first->prev_ = m;
    members.first = m;
  }
  static void remove(GuardedMutex* m) {
    Members& members = members_of(m->level_);
    const std::lock_guard lock(members.mutex);
    (m->prev_ != nullptr ? m->prev_->next_ : members.first) = m->next_;
    if (m->next_ != nullptr) m->next_->prev_ = m->prev_;
  }
};

GuardedMutex::GuardedMutex(LockLevel level) : level_(level) {
  ForkRegistry::add(this);
}
GuardedMutex::~GuardedMutex() {
  ForkRegistry::remove(this);
}

}  // namespace tsr
