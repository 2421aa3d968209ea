// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Failing calls while a thread and while the process end: in destructors of thread-locals, in
// atexit handlers, in static destructors. Exits with 1 if one of them behaved wrongly.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tessera/tessera.h"

namespace {

bool g_bad = false;

void expect(bool fine, const char* where, const char* what) {
  if (fine) return;
  g_bad = true;
  std::fprintf(stderr, "%s: %s\n", where, what);
}

bool message_has(const char* text) {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  return tsr_error_last(&view) == TSR_OK && std::strstr(view.message, text) != nullptr;
}

void ignore(void*) {}

// Failing calls with a short text, a long text and a payload, and successful calls.
void use(const char* where) {
  const std::string path = "/nonexistent/" + std::string(300, 'x') + ".so";
  tsr_tensor out = nullptr;
  expect(tsr_abs(nullptr, &out) == TSR_INVALID_ARGUMENT, where, "abs of NULL");
  expect(message_has("expected a tensor, got NULL"), where, "text of abs");
  expect(tsr_plugin_load(path.c_str(), -1) == TSR_IO, where, "plugin_load");
  expect(message_has(path.c_str()), where, "text of plugin_load");
  static int payload = 0;
  expect(tsr_error_set(TSR_CANCELLED, "stop", -1, &payload, ignore) == TSR_OK, where, "error_set");
  expect(message_has("stop"), where, "text of error_set");
  tsr_error taken = nullptr;
  expect(tsr_error_take(&taken) == TSR_OK && taken != nullptr, where, "error_take");
  tsr_error_release(taken);
  const int64_t four = 4;
  expect(tsr_ones(&four, 1, -1, -1, -1, &out) == TSR_OK, where, "ones");
  tsr_tensor_release(out);
  expect(tsr_add(nullptr, nullptr, &out) == TSR_INVALID_ARGUMENT, where, "add of NULL");
}

tsr_status pack(void*, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
  tsr_tensor_retain(tensor);
  *payload = tensor;
  *drop = [](void* kept) { tsr_tensor_release(static_cast<tsr_tensor>(kept)); };
  return TSR_OK;
}
tsr_status unpack(void*, void* payload, tsr_tensor* tensor) {
  *tensor = static_cast<tsr_tensor>(payload);
  tsr_tensor_retain(*tensor);
  return TSR_OK;
}

// Leaves hooks pushed, a generator set and a scope open, with a node that was made under them.
void leave_state(const char* where) {
  tsr_saved_hooks_vtable hooks = {};
  hooks.struct_size = sizeof(hooks);
  hooks.pack = pack;
  hooks.unpack = unpack;
  hooks.drop = ignore;
  expect(tsr_saved_hooks_push(&hooks, nullptr) == TSR_OK, where, "saved_hooks_push");
  tsr_generator mine = nullptr, before = nullptr;
  expect(tsr_generator_new(3, &mine) == TSR_OK, where, "generator_new");
  expect(tsr_generator_set_current(mine, &before) == TSR_OK, where, "generator_set_current");
  tsr_generator_release(mine);
  tsr_generator_release(before);
  tsr_scope scope = nullptr;
  expect(tsr_scope_begin(&scope) == TSR_OK, where, "scope_begin");
  const int64_t two = 2;
  tsr_tensor x = nullptr, y = nullptr;
  expect(tsr_rand(&two, 1, TSR_FLOAT32, -1, -1, nullptr, &x) == TSR_OK, where, "rand");
  expect(tsr_tensor_set_requires_grad(x, 1) == TSR_OK, where, "set_requires_grad");
  expect(tsr_exp(x, &y) == TSR_OK, where, "exp");
}

struct AtEnd {
  explicit AtEnd(const char* name) : where(name) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    use(where);
    leave_state(where);
    use(where);
  }
  const char* where;
};

// Made before main, so destroyed last: prints the result, because it is too late for the exit
// status.
struct Last {
  ~Last() {
    use("a static destructor");
    if (g_bad) _exit(1);
  }
} g_last;

void thread_body() {
  use("a thread");
  static thread_local AtEnd early("a thread-local destructor made after the first failure");
  use(early.where);
  leave_state("a thread");
}

void thread_with_local_first() {
  static thread_local AtEnd early("a thread-local destructor made before the first failure");
  use(early.where);
}

}  // namespace

int main() {
  const int64_t before = tsr_live_handles();
  std::thread(thread_body).join();
  std::thread(thread_with_local_first).join();
  int64_t dropped = 0;  // payloads that their hooks have packed
  expect(tsr_poll(&dropped) == TSR_OK && dropped > 0, "main", "poll");
  expect(tsr_live_handles() == before, "main", "a thread left handles behind");
  std::atexit([] { use("the first atexit handler"); });
  use("main");
  leave_state("main");
  std::atexit([] {
    use("the second atexit handler");
    leave_state("the second atexit handler");
  });
  return 0;
}
