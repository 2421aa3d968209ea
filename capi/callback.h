// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Host callbacks: user data that is dropped exactly once, and calls that turn a failure into an
// exception.
#pragma once

#include <memory>
#include <utility>

#include "capi/guard.h"

namespace tsr::capi {

// Calls drop(user), or queues it for tsr_poll if drops are deferred on this thread. A null drop
// does nothing.
void run_drop(tsr_drop_fn drop, void* user) noexcept;
// Queues it for tsr_poll always.
void queue_drop(tsr_drop_fn drop, void* user) noexcept;
int64_t run_queued_drops();

bool drops_deferred() noexcept;
void set_drops_deferred(bool value) noexcept;

// Owns a callback's user pointer. A function makes it in its first line, so that drop runs even if
// the function fails.
class UserData {
 public:
  UserData(void* user, tsr_drop_fn drop) noexcept : user_(user), drop_(drop) {}
  UserData(UserData&& other) noexcept
      : user_(other.user_), drop_(std::exchange(other.drop_, nullptr)) {}
  UserData(const UserData&) = delete;
  UserData& operator=(const UserData&) = delete;
  UserData& operator=(UserData&&) = delete;
  ~UserData() { run_drop(drop_, user_); }

  [[nodiscard]] void* get() const noexcept { return user_; }
  [[nodiscard]] tsr_drop_fn drop_function() const noexcept { return drop_; }
  // Releases ownership: drop() will no longer be called.
  void forget() noexcept { drop_ = nullptr; }

 private:
  void* user_;
  tsr_drop_fn drop_;
};

// A shared owner, for callables that may be copied. Drops the data if it fails.
inline std::shared_ptr<UserData> share(UserData data) {
  return std::make_shared<UserData>(std::move(data));
}

// The same, as a pointer to the user's own data; for error payloads.
std::shared_ptr<void> payload_owner(UserData data);

namespace program {
// Throws if this thread records a program that cannot contain code of the host.
[[gnu::cold]] void before_host_code(const char* callback);
}  // namespace program

// Calls a host function that returns a status, and throws its error if the status is not TSR_OK.
template <class Fn, class... Args>
void call_host(const char* callback, Fn fn, Args... args) {
  if (is_traced(TraceKind::kCall)) [[unlikely]]
    program::before_host_code(callback);
  const uint64_t before = failures_recorded();
  const tsr_status status = fn(args...);
  if (status != TSR_OK) [[unlikely]]
    throw_host_failure(status, before, callback);
}

}  // namespace tsr::capi
