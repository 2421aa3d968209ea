// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on what nodes save for their backward: to compress it, to move it, to compute it again.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

// While it lives, what functions on this thread save goes through these hooks; the innermost hold.
// pack(tensor) gives any value that stands for the tensor from then on, unpack(value) the tensor
// again, of the same shape, dtype and device. Guards end in the reverse order of their beginnings.
//
//   SavedTensorHooks half([](const Tensor& x) { return x.to(kFloat16); },
//                         [](const Tensor& x) { return x.to(kFloat32); });
template <class Pack, class Unpack>
class SavedTensorHooks {
 public:
  SavedTensorHooks(Pack pack, Unpack unpack) {
    auto hooks = std::make_unique<Hooks>(Hooks{std::move(pack), std::move(unpack)});
    tsr_saved_hooks_vtable table{};
    table.struct_size = sizeof table;
    table.pack = &run_pack;
    table.unpack = &run_unpack;
    table.drop = [](void* user) { delete static_cast<Hooks*>(user); };
    // Also a failure drops the hooks, so they are let go first.
    check(tsr_saved_hooks_push(&table, hooks.release()));
  }
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;
  ~SavedTensorHooks() { detail::ignore(tsr_saved_hooks_pop()); }

 private:
  struct Hooks {
    Pack pack;
    Unpack unpack;
  };
  using Packed = std::decay_t<std::invoke_result_t<Pack&, const Tensor&>>;

  static tsr_status run_pack(void* user, tsr_tensor tensor, void** payload,
                             tsr_drop_fn* drop) noexcept {
    const detail::ScopePause outside_scopes;
    try {
      auto packed =
          std::make_unique<Packed>(static_cast<Hooks*>(user)->pack(Tensor::borrow(tensor)));
      *payload = packed.release();
      *drop = [](void* value) { delete static_cast<Packed*>(value); };
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  }

  static tsr_status run_unpack(void* user, void* payload, tsr_tensor* tensor) noexcept {
    const detail::ScopePause outside_scopes;
    try {
      Tensor made = static_cast<Hooks*>(user)->unpack(*static_cast<const Packed*>(payload));
      *tensor = made.release();
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  }
};

}  // namespace tessera
