// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/quarantine.h"

#include <deque>
#include <mutex>

#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {

void (*g_quarantine)(void* block, size_t nbytes) noexcept = nullptr;

namespace {

struct Freed {
  void* block;
  size_t nbytes;
};
struct Queue {
  GuardedMutex mutex;
  std::deque<Freed> freed;  // oldest first
  size_t most = 0;
};
Queue& queue() {
  return immortal<Queue>();
}

void wait_in_queue(void* block, size_t nbytes) noexcept {
  Freed next{block, nbytes};
  try {
    const std::lock_guard lock(queue().mutex);
    queue().freed.push_back(next);
    if (queue().freed.size() <= queue().most) return;
    next = queue().freed.front();
    queue().freed.pop_front();
  } catch (...) {  // no memory to wait in: it goes at once
  }
  small_free(next.block, next.nbytes);
}

}  // namespace

void start_quarantine(size_t most) {
  queue().most = most;
  g_quarantine = wait_in_queue;
}

}  // namespace tsr
