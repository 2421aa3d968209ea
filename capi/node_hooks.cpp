// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Gradient edges, hooks on nodes, and hooks on several tensors.
#include "autograd/multi_hook.h"
#include "autograd/tensor_record.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"
#include "capi/node_args.h"
#include "capi/structs.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// Host code writes replacements for all of `values` or for none.
template <class Call>
void replace_by(std::span<Tensor> values, const char* what, const Call& call) {
  Returned returned(values.size());
  int32_t replaced = 0;
  call(returned.places(), &replaced);
  if (replaced == 0) return;
  std::vector<Tensor> made(values.size());
  returned.consume(made, what);
  std::move(made.begin(), made.end(), values.begin());
}

// One owner for all tensors; or, if the host can count references, one for each of them.
std::vector<MultiHookOwner> owners_of(const tsr_multi_hook_vtable& table, UserData data,
                                      size_t count) {
  void* user = data.get();
  if (table.retain == nullptr || table.drop == nullptr) {
    return std::vector<MultiHookOwner>(count, {share(std::move(data)), {}});
  }
  std::vector<MultiHookOwner> owners;
  owners.push_back({share(std::move(data)), {user, table.drop}});
  while (owners.size() < count) {
    table.retain(user);
    owners.push_back({share(UserData(user, table.drop)), {user, table.drop}});
  }
  return owners;
}

}  // namespace

extern "C" {

tsr_status tsr_tensor_gradient_edge(tsr_tensor tensor, tsr_node* node, int64_t* output) {
  clear(node);
  return guard(Call(kInfo_tensor_gradient_edge, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(node, "node");
    out_arg(output, "output");
    Edge edge = gradient_edge(arg.get());
    TSR_CHECK(edge.node, Code::kAutograd, "tensor",
              "expected a tensor that requires grad, got one that does not");
    *output = edge.output;
    give_object(edge.node.detach(), node);
  });
}

tsr_status tsr_node_prehook_add(tsr_node node, tsr_node_prehook_fn callback, void* user,
                                tsr_drop_fn drop, int64_t* id) {
  UserData data(user, drop);
  return guard(Call(kInfo_node_prehook_add, node, callback), [&] {
    Node& on = node_arg(node);
    out_arg(id, "id");
    callback_arg(callback);
    auto call = [callback, owner = share(std::move(data))](std::span<Tensor> grads) {
      replace_by(grads, "a replacement of the pre hook",
                 [&](tsr_tensor* places, int32_t* replaced) {
                   const Lent lent(grads);
                   call_host("node prehook", callback, owner->get(), lent.handles(), lent.count(),
                             places, replaced);
                 });
    };
    *id = hook_id(add_pre_hook(on, std::move(call), {user, drop}));
  });
}

tsr_status tsr_node_posthook_add(tsr_node node, tsr_node_posthook_fn callback, void* user,
                                 tsr_drop_fn drop, int64_t* id) {
  UserData data(user, drop);
  return guard(Call(kInfo_node_posthook_add, node, callback), [&] {
    Node& on = node_arg(node);
    out_arg(id, "id");
    callback_arg(callback);
    auto call = [callback, owner = share(std::move(data))](std::span<Tensor> results,
                                                           std::span<const Tensor> grads) {
      replace_by(results, "a replacement of the post hook",
                 [&](tsr_tensor* places, int32_t* replaced) {
                   const Lent lent(results), lent_grads(grads);
                   call_host("node posthook", callback, owner->get(), lent.handles(), lent.count(),
                             lent_grads.handles(), lent_grads.count(), places, replaced);
                 });
    };
    *id = hook_id(add_post_hook(on, std::move(call), {user, drop}));
  });
}

tsr_status tsr_hook_remove(int64_t id) {
  return guard(Call(kInfo_hook_remove, id), [&] {
    TSR_CHECK(remove_hook(id), Code::kValue, "id", "expected the number of a hook, got ", id);
  });
}

tsr_status tsr_multi_hook_add(const tsr_tensor* tensors, int32_t n_tensors,
                              const tsr_multi_hook_vtable* vtable, void* user, int64_t* id) {
  UserData data(user, drop_of(vtable));
  return guard(Call(kInfo_multi_hook_add, ListOf{tensors, n_tensors}, vtable, user), [&] {
    const tsr_multi_hook_vtable table = read_struct(vtable, "vtable");
    TSR_CHECK(table.run != nullptr, Code::kInvalidArgument, "vtable", "expected a run callback");
    const auto mode =
        enum_arg<MultiHookMode>(table.mode, {TSR_MULTI_HOOK_ALL, TSR_MULTI_HOOK_ANY}, "vtable");
    const auto on = tensors_arg(tensors, n_tensors, "tensors");
    out_arg(id, "id");
    const auto owners = owners_of(table, std::move(data), on.size());
    auto call = [run = table.run, user](std::span<const Tensor> grads) {
      const Lent lent(grads);
      call_host("multi hook", run, user, lent.handles(), lent.count());
    };
    *id = hook_id(add_multi_hook(on, mode, std::move(call), owners));
  });
}

}  // extern "C"
