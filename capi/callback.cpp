// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/callback.h"

#include <mutex>
#include <new>
#include <vector>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "capi/log.h"

namespace tsr::capi {
namespace {

struct Drop {
  tsr_drop_fn drop;
  void* user;
};
struct Queue {
  GuardedMutex mutex;
  std::vector<Drop> drops;
};

Queue& queue() {
  return immortal<Queue>();
}

constinit thread_local bool t_defer = false;

// A drop may release an object that has a drop of its own, and so on. Up to this depth drops nest
// on the host's stack; deeper ones are queued until the outermost has returned.
constexpr int kDeepest = 64;

struct Waiting {
  Drop entry;
  Waiting* next;
};
constinit thread_local int t_depth = 0;
constinit thread_local Waiting* t_waiting = nullptr;

// A drop must not throw, but if it does, no exception may leave a release.
bool call(tsr_drop_fn drop, void* user) noexcept {
  try {
    drop(user);
    return true;
  } catch (...) {
    log_message(TSR_LOG_ERROR, "callback", "a drop function threw an exception, which is lost");
    return false;
  }
}

bool call_nested(tsr_drop_fn drop, void* user) noexcept {
  ++t_depth;
  const bool fine = call(drop, user);
  --t_depth;
  if (t_depth != 0) return fine;
  while (t_waiting != nullptr) {
    Waiting* first = t_waiting;
    t_waiting = first->next;
    const Drop entry = first->entry;
    delete first;
    ++t_depth;
    call(entry.drop, entry.user);
    --t_depth;
  }
  return fine;
}

// False if there is no memory for the queue.
bool wait_for_outermost(tsr_drop_fn drop, void* user) noexcept {
  auto* waiting = new (std::nothrow) Waiting{{drop, user}, t_waiting};
  if (waiting == nullptr) return false;
  t_waiting = waiting;
  return true;
}

}  // namespace

bool drops_deferred() noexcept {
  return t_defer;
}
void set_drops_deferred(bool value) noexcept {
  t_defer = value;
}

void queue_drop(tsr_drop_fn drop, void* user) noexcept {
  try {
    const std::lock_guard lock(queue().mutex);
    queue().drops.push_back({drop, user});
    return;
  } catch (...) {
  }
  call_nested(drop, user);  // no memory for the queue: call it now, so that it is not lost
}

void run_drop(tsr_drop_fn drop, void* user) noexcept {
  if (drop == nullptr) return;
  if (t_defer) return queue_drop(drop, user);
  if (t_depth >= kDeepest && wait_for_outermost(drop, user)) return;
  call_nested(drop, user);
}

int64_t run_queued_drops() {
  std::vector<Drop> ready;
  {
    const std::lock_guard lock(queue().mutex);
    ready.swap(queue().drops);
  }
  int64_t thrown = 0;
  for (const Drop& entry : ready) thrown += call_nested(entry.drop, entry.user) ? 0 : 1;
  TSR_CHECK(thrown == 0, Code::kCallback, nullptr, thrown, " of ", ready.size(),
            " drop functions threw an exception; the others have run");
  return static_cast<int64_t>(ready.size());
}

std::shared_ptr<void> payload_owner(UserData data) {
  std::shared_ptr<UserData> owner = std::make_shared<UserData>(std::move(data));
  void* user = owner->get();
  return {std::move(owner), user};
}

}  // namespace tsr::capi
