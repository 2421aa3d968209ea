// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Saved-tensor hooks: the host's way of keeping what nodes save.
#include "autograd/saved_tensor.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"
#include "capi/structs.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// What this thread has pushed, the innermost last.
struct Stack {
  Stack() = default;
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  // A thread that ends with hooks still pushed takes them off; host code must not run in it.
  ~Stack() {
    set_drops_deferred(true);
    while (!scopes.empty()) pop();
  }
  // What the hooks hold goes last: its destructor may push and pop.
  void pop() {
    const std::unique_ptr<SavedTensorHooksScope> last = std::move(scopes.back());
    scopes.pop_back();
  }
  std::vector<std::unique_ptr<SavedTensorHooksScope>> scopes;
  size_t fixed = 0;  // so many of them stay
};
thread_local Stack t_stack;

// While pack runs, the library's own stack has what was pushed before: it stays, and what the
// callback leaves pushed goes.
class Callback {
 public:
  Callback() : fixed_(std::exchange(t_stack.fixed, t_stack.scopes.size())) {}
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() {
    while (t_stack.scopes.size() > t_stack.fixed) t_stack.pop();
    t_stack.fixed = fixed_;
  }

 private:
  size_t fixed_;
};

class HostSavedHooks final : public SavedTensorHooks {
 public:
  HostSavedHooks(const tsr_saved_hooks_vtable& table, UserData data)
      : table_(table), data_(std::move(data)) {}

  // The payload becomes ours only when the callback has succeeded.
  std::shared_ptr<void> pack(const Tensor& tensor) override {
    const Lent lent(tensor);
    const Callback callback;
    void* payload = nullptr;
    tsr_drop_fn drop = nullptr;
    call_host("pack", table_.pack, data_.get(), lent.first(), &payload, &drop);
    return payload_owner(UserData(payload, drop));
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    tsr_tensor handle = nullptr;
    call_host("unpack", table_.unpack, data_.get(), packed.get(), &handle);
    return consume_handle(handle, "a tensor from the unpack callback");
  }

 private:
  tsr_saved_hooks_vtable table_;
  UserData data_;
};

// The table's drop also serves a table that is refused, if it can be read.
tsr_drop_fn drop_of(const tsr_saved_hooks_vtable* table) {
  return table != nullptr && table->struct_size >= sizeof(*table) ? table->drop : nullptr;
}

}  // namespace

extern "C" {

tsr_status tsr_saved_hooks_push(const tsr_saved_hooks_vtable* vtable, void* user) {
  UserData data(user, drop_of(vtable));
  return guard(kInfo_saved_hooks_push, [&] {
    const tsr_saved_hooks_vtable table = read_struct(vtable, "vtable");
    TSR_CHECK(table.flags == 0, Code::kInvalidArgument, "vtable", "expected no flags, got ",
              table.flags);
    TSR_CHECK((table.pack == nullptr) == (table.unpack == nullptr), Code::kInvalidArgument,
              "vtable", "expected pack and unpack, or neither");
    std::shared_ptr<SavedTensorHooks> hooks;
    if (table.pack != nullptr) hooks = std::make_shared<HostSavedHooks>(table, std::move(data));
    t_stack.scopes.reserve(t_stack.scopes.size() + 1);
    t_stack.scopes.push_back(std::make_unique<SavedTensorHooksScope>(std::move(hooks)));
  });
}

tsr_status tsr_saved_hooks_pop(void) {
  return guard(kInfo_saved_hooks_pop, [] {
    TSR_CHECK(!t_stack.scopes.empty(), Code::kAutograd, nullptr,
              "expected saved-tensor hooks pushed on this thread, got none");
    TSR_CHECK(t_stack.scopes.size() > t_stack.fixed, Code::kAutograd, nullptr,
              "expected hooks pushed inside the pack callback, got those it runs for");
    t_stack.pop();
  });
}

}  // extern "C"
