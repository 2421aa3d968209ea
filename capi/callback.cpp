// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/callback.h"

#include <mutex>
#include <vector>

namespace tsr::capi {
namespace {

struct Drop {
  tsr_drop_fn drop;
  void* user;
};
struct Queue {
  std::mutex mutex;
  std::vector<Drop> drops;
};

// Never destroyed: the last references may go while the process exits.
Queue& queue() {
  static Queue* const kQueue = new Queue;
  return *kQueue;
}

constinit thread_local bool t_defer = false;

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
  } catch (...) {
    drop(user);  // no memory to wait in: now rather than never
  }
}

void run_drop(tsr_drop_fn drop, void* user) noexcept {
  if (drop == nullptr) return;
  if (t_defer) {
    queue_drop(drop, user);
  } else {
    drop(user);
  }
}

int64_t run_queued_drops() {
  std::vector<Drop> ready;
  {
    const std::lock_guard lock(queue().mutex);
    ready.swap(queue().drops);
  }
  for (const Drop& entry : ready) entry.drop(entry.user);
  return static_cast<int64_t>(ready.size());
}

std::shared_ptr<void> payload_owner(UserData data) {
  std::shared_ptr<UserData> owner = std::make_shared<UserData>(std::move(data));
  void* user = owner->get();
  return {std::move(owner), user};
}

}  // namespace tsr::capi
