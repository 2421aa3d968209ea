// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on the tensors that nodes save for their backward, to compress, move or recompute them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

namespace detail {

// Two callables as C's hooks on saved tensors.
template <class Pack, class Unpack>
struct SavedHooks {
  Pack pack;
  Unpack unpack;

  using Packed = std::decay_t<std::invoke_result_t<Pack&, const Tensor&>>;

  static tsr_saved_hooks_vtable table() noexcept {
    tsr_saved_hooks_vtable table{};
    table.struct_size = sizeof table;
    table.pack = &run_pack;
    table.unpack = &run_unpack;
    table.drop = [](void* user) { delete static_cast<SavedHooks*>(user); };
    return table;
  }

 private:
  static tsr_status run_pack(void* user, tsr_tensor tensor, void** payload,
                             tsr_drop_fn* drop) noexcept {
    const ScopePause outside_scopes;
    try {
      auto packed =
          std::make_unique<Packed>(static_cast<SavedHooks*>(user)->pack(Tensor::borrow(tensor)));
      *payload = packed.release();
      *drop = [](void* value) { delete static_cast<Packed*>(value); };
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }

  static tsr_status run_unpack(void* user, void* payload, tsr_tensor* tensor) noexcept {
    const ScopePause outside_scopes;
    try {
      Tensor made = static_cast<SavedHooks*>(user)->unpack(*static_cast<const Packed*>(payload));
      *tensor = made.release();
      return TSR_OK;
    } catch (...) {
      return report_exception();
    }
  }
};

}  // namespace detail

// While this object lives, tensors that functions on this thread save go through its hooks; only
// the innermost hooks are used. pack(tensor) returns any value that replaces the tensor;
// unpack(value) returns a tensor of the same shape, dtype and device. Guards must be destroyed in
// reverse order.
//
//   SavedTensorHooks half([](const Tensor& x) { return x.to(kFloat16); },
//                         [](const Tensor& x) { return x.to(kFloat32); });
template <class Pack, class Unpack>
class SavedTensorHooks {
 public:
  [[nodiscard]] SavedTensorHooks(Pack pack, Unpack unpack) {
    auto hooks = std::make_unique<Hooks>(Hooks{std::move(pack), std::move(unpack)});
    const tsr_saved_hooks_vtable table = Hooks::table();
    // A failure drops the hooks too, so release them first.
    check(tsr_saved_hooks_push(&table, hooks.release()));
  }
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;
  ~SavedTensorHooks() { detail::ignore(tsr_saved_hooks_pop()); }

 private:
  using Hooks = detail::SavedHooks<Pack, Unpack>;
};

template <class Pack, class Unpack>
void Node::set_saved_hooks(size_t index, Pack pack, Unpack unpack) const {
  using Hooks = detail::SavedHooks<Pack, Unpack>;
  auto hooks = std::make_unique<Hooks>(Hooks{std::move(pack), std::move(unpack)});
  const tsr_saved_hooks_vtable table = Hooks::table();
  check(tsr_node_saved_hooks_set(handle_, static_cast<int64_t>(index), &table, hooks.release()));
}

// ---- Hooks of the library ----

namespace detail {

// Hooks that some call has pushed, until the guard is destroyed.
class PushedHooks {
 public:
  PushedHooks(const PushedHooks&) = delete;
  PushedHooks& operator=(const PushedHooks&) = delete;
  ~PushedHooks() { ignore(tsr_saved_hooks_pop()); }

 protected:
  explicit PushedHooks(tsr_status pushed) { check(pushed); }
};

}  // namespace detail

// While this object lives, saved tensors are kept on a device, and come back to their own when the
// backward needs them. What is there already, and leaves that require grad, are saved as they are.
// With `pinned`, copies in host memory are pinned for the device that they come from.
class SaveOnDevice : public detail::PushedHooks {
 public:
  [[nodiscard]] explicit SaveOnDevice(Device device = {}, bool pinned = false)
      : PushedHooks(tsr_saved_hooks_push_device(device.type, device.index, pinned, 0)) {}
};

// While this object lives, saved tensors of at least `min_bytes` are files in a folder, each until
// no node needs it any more.
class SaveToDisk : public detail::PushedHooks {
 public:
  [[nodiscard]] explicit SaveToDisk(std::string_view folder, int64_t min_bytes = 1 << 16)
      : PushedHooks(tsr_saved_hooks_push_disk(folder.data(), static_cast<int64_t>(folder.size()),
                                              min_bytes)) {}
};

// While this object lives, functions save copies, and a program may write to what they have saved.
class SaveCopies : public detail::PushedHooks {
 public:
  [[nodiscard]] SaveCopies() : PushedHooks(tsr_saved_hooks_push_device(-1, -1, 0, 1)) {}
};

// While this object lives, pushing hooks on this thread fails with this message; so do checkpoints.
class NoSavedTensorHooks : public detail::PushedHooks {
 public:
  [[nodiscard]] explicit NoSavedTensorHooks(std::string_view message)
      : PushedHooks(tsr_saved_hooks_disable(message.data(), static_cast<int64_t>(message.size()))) {
  }
};

}  // namespace tessera
