// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/log.h"

#include <atomic>
#include <memory>
#include <mutex>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"

namespace tsr::capi {
namespace {

struct LogTarget {
  tsr_log_fn callback;
  UserData data;
};
std::atomic<bool> g_log_set{false};

struct Log {
  GuardedMutex mutex;
  std::shared_ptr<LogTarget> target;
};
Log& log() {
  return immortal<Log>();
}

}  // namespace

void log_message(tsr_log_level level, const char* component, std::string_view message) noexcept {
  if (!g_log_set.load(std::memory_order_acquire)) return;
  std::shared_ptr<LogTarget> target;
  {
    const std::lock_guard lock(log().mutex);
    target = log().target;
  }
  if (!target) return;
  try {
    target->callback(target->data.get(), level, component, message.data(),
                     static_cast<int64_t>(message.size()));
  } catch (...) {  // an error of the log cannot be reported
  }
}

}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_log_set(tsr_log_fn callback, void* user, tsr_drop_fn drop) {
  UserData data(user, drop);
  return guard(Call(kInfo_log_set, callback), [&] {
    std::shared_ptr<LogTarget> target;
    if (callback != nullptr)
      target = std::make_shared<LogTarget>(LogTarget{callback, std::move(data)});
    // The old target is destroyed after the lock is released: its drop may call the library.
    const std::lock_guard lock(log().mutex);
    g_log_set.store(target != nullptr, std::memory_order_release);
    log().target.swap(target);
  });
}

}  // extern "C"
