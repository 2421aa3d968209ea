// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Saved-tensor hooks: the host decides how the tensors that nodes save are stored.
#include "capi/saved_hooks.h"

#include <new>

#include "base/thread_exit.h"
#include "capi/callback.h"
#include "capi/checkpoint.h"
#include "capi/generated/infos.h"
#include "capi/json_args.h"
#include "capi/lend.h"
#include "capi/node_args.h"
#include "capi/structs.h"
#include "io/saved_files.h"
#include "ops/create/saved_copies.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// See Note [Thread-local state].
constinit thread_local ThreadValue<std::shared_ptr<const PushedHooks>> t_innermost;

// For a thread that ends with hooks still pushed. Host code must not run in such a thread.
void take_off_hooks() noexcept {
  set_drops_deferred(true);
  set_saved_tensor_hooks(nullptr);
  t_innermost.end();
}

// A pack callback runs without hooks. Hooks that it pushes and does not pop are removed.
class Packing {
 public:
  Packing() : before_(pushed_hooks()) { set_pushed_hooks(nullptr); }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  ~Packing() { set_pushed_hooks(std::move(before_)); }

 private:
  std::shared_ptr<const PushedHooks> before_;
};

class HostSavedHooks final : public SavedTensorHooks {
 public:
  HostSavedHooks(const tsr_saved_hooks_vtable& table, UserData data)
      : table_(table), data_(std::move(data)) {}

  // Takes over the payload only if the callback succeeds.
  std::shared_ptr<void> pack(const Tensor& tensor) override {
    const Lent lent(tensor);
    const Packing packing;
    void* payload = nullptr;
    tsr_drop_fn drop = nullptr;
    call_host("pack", table_.pack, data_.get(), lent.first(), &payload, &drop);
    return share(UserData(payload, drop));
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    tsr_tensor handle = nullptr;
    call_host("unpack", table_.unpack, data_.get(), payload_of(packed).get(), &handle);
    return consume_handle(handle, "a tensor from the unpack callback");
  }

  [[nodiscard]] HostData host_data() const noexcept override { return {data_.get(), table_.drop}; }
  [[nodiscard]] HostData host_data_of(const std::shared_ptr<void>& packed) const override {
    return {payload_of(packed).get(), payload_of(packed).drop_function()};
  }

 private:
  static const UserData& payload_of(const std::shared_ptr<void>& packed) noexcept {
    return *static_cast<const UserData*>(packed.get());
  }

  tsr_saved_hooks_vtable table_;
  UserData data_;
};

// Puts hooks over what this thread has pushed; null turns hooks off.
void push(std::shared_ptr<SavedTensorHooks> hooks) {
  std::shared_ptr<const PushedHooks> outer = pushed_hooks();
  if (outer != nullptr && outer->refusal != nullptr && hooks != nullptr) {
    fail(Code::kAutograd, nullptr, __FILE__, __LINE__, *outer->refusal);
  }
  std::shared_ptr<const std::string> refusal = outer != nullptr ? outer->refusal : nullptr;
  set_pushed_hooks(std::make_shared<const PushedHooks>(
      PushedHooks{std::move(hooks), std::move(outer), std::move(refusal)}));
}

// Null if the table has no callbacks.
std::shared_ptr<SavedTensorHooks> hooks_arg(const tsr_saved_hooks_vtable& table, UserData data) {
  TSR_CHECK(table.flags == 0, Code::kInvalidArgument, "vtable", "expected no flags, got ",
            table.flags);
  TSR_CHECK((table.pack == nullptr) == (table.unpack == nullptr), Code::kInvalidArgument, "vtable",
            "expected pack and unpack, or neither");
  if (table.pack == nullptr) return nullptr;
  return std::make_shared<HostSavedHooks>(table, std::move(data));
}

constexpr int32_t kCheckpointFlags =
    TSR_CHECKPOINT_FRESH_RANDOM | TSR_CHECKPOINT_RUN_TO_END | TSR_CHECKPOINT_UNCHECKED;

}  // namespace

namespace tsr::capi {

std::shared_ptr<const PushedHooks> pushed_hooks() {
  return t_innermost.get();
}

void set_pushed_hooks(std::shared_ptr<const PushedHooks> innermost) {
  if (innermost != nullptr && !at_thread_exit(ThreadPart::kSavedHooks, take_off_hooks)) {
    throw std::bad_alloc();
  }
  // The old hooks are released last: their drop may call the library.
  std::shared_ptr<const PushedHooks>& now = t_innermost.get();
  innermost.swap(now);
  set_saved_tensor_hooks(now != nullptr ? &now->hooks : nullptr);
}

// Not for reruns: a checkpoint's second run packs through hooks of its own.
AmbientPart saved_hooks_part() noexcept {
  return {[]() -> std::shared_ptr<const void> { return pushed_hooks(); },
          [](const std::shared_ptr<const void>& saved) {
            set_pushed_hooks(std::static_pointer_cast<const PushedHooks>(saved));
          },
          AmbientUse::kThread};
}

}  // namespace tsr::capi

extern "C" {

tsr_status tsr_saved_hooks_push(const tsr_saved_hooks_vtable* vtable, void* user) {
  UserData data(user, drop_of(vtable));
  return guard(Call(kInfo_saved_hooks_push, vtable, user),
               [&] { push(hooks_arg(read_struct(vtable, "vtable"), std::move(data))); });
}

tsr_status tsr_node_saved_hooks_set(tsr_node node, int64_t index,
                                    const tsr_saved_hooks_vtable* vtable, void* user) {
  UserData data(user, drop_of(vtable));
  return guard(Call(kInfo_node_saved_hooks_set, node, index, vtable, user), [&] {
    Node& of = node_arg(node);
    const auto hooks = hooks_arg(read_struct(vtable, "vtable"), std::move(data));
    TSR_CHECK(hooks != nullptr, Code::kInvalidArgument, "vtable",
              "expected pack and unpack, got neither");
    of.pack_saved(index_arg(index, of.saved_count()), hooks);
  });
}

tsr_status tsr_saved_hooks_push_device(tsr_device_type device_type, int32_t device_index,
                                       int32_t pinned, int32_t copy) {
  const Call call(kInfo_saved_hooks_push_device, DeviceOf{device_type, device_index}, pinned, copy);
  return guard(call, [&] {
    ops::SavedCopies where;
    where.device = optional_device_arg(device_type, device_index, "device");
    where.pinned = bool_arg(pinned, "pinned");
    where.always = bool_arg(copy, "copy");
    push(ops::save_copies(where));
  });
}

tsr_status tsr_saved_hooks_push_disk(const char* folder, int64_t folder_len, int64_t min_bytes) {
  return guard(Call(kInfo_saved_hooks_push_disk, TextOf{folder, folder_len}, min_bytes),
               [&] { push(io::save_in_files(path_arg(folder, folder_len), min_bytes)); });
}

tsr_status tsr_saved_hooks_disable(const char* message, int64_t message_len) {
  return guard(Call(kInfo_saved_hooks_disable, TextOf{message, message_len}), [&] {
    const std::string_view text = text_arg(message, message_len, "message");
    TSR_CHECK(!text.empty(), Code::kValue, "message", "expected the text of the error, got none");
    std::shared_ptr<const PushedHooks> outer = pushed_hooks();
    if (outer != nullptr && outer->hooks != nullptr) {
      fail(Code::kAutograd, nullptr, __FILE__, __LINE__, text);
    }
    set_pushed_hooks(std::make_shared<const PushedHooks>(
        PushedHooks{nullptr, std::move(outer), std::make_shared<const std::string>(text)}));
  });
}

tsr_status tsr_checkpoint_begin(const tsr_tensor* inputs, int32_t n_inputs,
                                tsr_checkpoint_run_fn callback, void* user, tsr_drop_fn drop,
                                int32_t flags) {
  UserData data(user, drop);
  const Call call(kInfo_checkpoint_begin, ListOf{inputs, n_inputs}, callback, flags);
  return guard(call, [&] {
    const std::span<const Tensor> tensors = tensors_arg(inputs, n_inputs, "inputs");
    callback_arg(callback);
    TSR_CHECK((flags & ~kCheckpointFlags) == 0, Code::kInvalidArgument, "flags",
              "expected known flags, got ", flags);
    CheckpointOptions options;
    options.restore_random = (flags & TSR_CHECKPOINT_FRESH_RANDOM) == 0;
    options.stop_early = (flags & TSR_CHECKPOINT_RUN_TO_END) == 0;
    options.check_metadata = (flags & TSR_CHECKPOINT_UNCHECKED) == 0;
    push(make_checkpoint(tensors, callback, std::move(data), options));
  });
}

tsr_status tsr_saved_hooks_pop(void) {
  return guard(kInfo_saved_hooks_pop, [] {
    const std::shared_ptr<const PushedHooks> innermost = pushed_hooks();
    TSR_CHECK(innermost != nullptr, Code::kAutograd, nullptr,
              "expected saved-tensor hooks pushed on this thread, got none");
    set_pushed_hooks(innermost->outer);
  });
}

}  // extern "C"
