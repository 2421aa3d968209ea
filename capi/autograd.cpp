// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Autograd on tensors: gradients, backward, modes, hooks.
#include "autograd/tensor_grad.h"

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/hooks.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

BackwardOptions options_of(int32_t flags) {
  BackwardOptions options;
  options.create_graph = (flags & TSR_BACKWARD_CREATE_GRAPH) != 0;
  TSR_CHECK((flags & TSR_BACKWARD_RETAIN_GRAPH) == 0 || (flags & TSR_BACKWARD_FREE_GRAPH) == 0,
            Code::kInvalidArgument, "flags", "expected RETAIN_GRAPH or FREE_GRAPH, got both");
  options.batched = (flags & TSR_BACKWARD_BATCHED) != 0;
  if ((flags & TSR_BACKWARD_RETAIN_GRAPH) != 0) options.retain_graph = true;
  if ((flags & TSR_BACKWARD_FREE_GRAPH) != 0) options.retain_graph = false;
  return options;
}

// An absent list of gradients is the same as an empty one.
std::span<const Tensor> grads_arg(const tsr_tensor* grads, int32_t count) {
  return sparse_tensors_arg(grads, count == -1 ? 0 : count, "grads");
}

Edges edges_arg(const tsr_node* nodes, int32_t n_nodes, const int64_t* numbers, int32_t n_numbers) {
  const auto handles = list_arg(nodes, n_nodes, "nodes");
  const auto outputs = list_arg(numbers, n_numbers, "numbers");
  TSR_CHECK(handles.size() == outputs.size(), Code::kValue, "numbers",
            "expected one number for each of the ", handles.size(), " nodes, got ", outputs.size());
  Edges edges;
  for (size_t i = 0; i < handles.size(); ++i) {
    auto* node = object_arg<Node>(handles[i], ObjectTag::kNode, "node", "nodes");
    TSR_CHECK(outputs[i] >= 0 && outputs[i] <= UINT32_MAX, Code::kIndex, "numbers",
              "expected the number of an output of ", node->name(), ", got ", outputs[i]);
    edges.push_back({NodePtr::share(node), static_cast<uint32_t>(outputs[i])});
  }
  return edges;
}

}  // namespace

extern "C" {

tsr_status tsr_tensor_requires_grad(tsr_tensor tensor, int32_t* value) {
  return guard(Call(kInfo_tensor_requires_grad, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(value, "value") = requires_grad(arg.get()) ? 1 : 0;
  });
}

tsr_status tsr_tensor_set_requires_grad(tsr_tensor tensor, int32_t value) {
  return guard(Call(kInfo_tensor_set_requires_grad, tensor, value), [&] {
    set_requires_grad(TensorArg(tensor, "tensor").get(), bool_arg(value, "value"));
  });
}

tsr_status tsr_tensor_is_leaf(tsr_tensor tensor, int32_t* value) {
  return guard(Call(kInfo_tensor_is_leaf, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(value, "value") = is_leaf(arg.get()) ? 1 : 0;
  });
}

tsr_status tsr_tensor_grad(tsr_tensor tensor, tsr_tensor* grad) {
  clear(grad);
  return guard(
      Call(kInfo_tensor_grad, tensor),
      [&] {
        const TensorArg arg(tensor, "tensor");
        out_arg(grad, "grad");
        give(grad_of(arg.get()), grad);
      },
      PlaceOf{grad});
}

tsr_status tsr_tensor_set_grad(tsr_tensor tensor, tsr_tensor grad) {
  return guard(Call(kInfo_tensor_set_grad, tensor, grad), [&] {
    set_grad(TensorArg(tensor, "tensor").get(), OptionalTensorArg(grad, "grad").get());
  });
}

tsr_status tsr_tensor_retain_grad(tsr_tensor tensor) {
  return guard(Call(kInfo_tensor_retain_grad, tensor),
               [&] { retain_grad(TensorArg(tensor, "tensor").get()); });
}

tsr_status tsr_tensor_retains_grad(tsr_tensor tensor, int32_t* value) {
  return guard(Call(kInfo_tensor_retains_grad, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(value, "value") = retains_grad(arg.get()) ? 1 : 0;
  });
}

tsr_status tsr_backward(const tsr_tensor* roots, int32_t n_roots, const tsr_tensor* grads,
                        int32_t n_grads, const tsr_tensor* inputs, int32_t n_inputs,
                        int32_t flags) {
  const Call call(kInfo_backward, ListOf{roots, n_roots}, ListOf{grads, n_grads},
                  ListOf{inputs, n_inputs}, flags);
  return guard(call, [&] {
    check_flags(flags,
                TSR_BACKWARD_RETAIN_GRAPH | TSR_BACKWARD_CREATE_GRAPH | TSR_BACKWARD_FREE_GRAPH,
                "flags");
    backward(tensors_arg(roots, n_roots, "roots"), grads_arg(grads, n_grads), options_of(flags),
             tensors_arg(inputs, n_inputs, "inputs"));
  });
}

tsr_status tsr_backward_edges(const tsr_tensor* roots, int32_t n_roots, const tsr_tensor* grads,
                              int32_t n_grads, const tsr_node* nodes, int32_t n_nodes,
                              const int64_t* numbers, int32_t n_numbers, int32_t flags) {
  const Call call(kInfo_backward_edges, ListOf{roots, n_roots}, ListOf{grads, n_grads}, nodes,
                  ListOf{numbers, n_numbers}, flags);
  return guard(call, [&] {
    check_flags(flags,
                TSR_BACKWARD_RETAIN_GRAPH | TSR_BACKWARD_CREATE_GRAPH | TSR_BACKWARD_FREE_GRAPH,
                "flags");
    const auto edges = edges_arg(nodes, n_nodes, numbers, n_numbers);
    backward_to_edges(tensors_arg(roots, n_roots, "roots"), grads_arg(grads, n_grads),
                      options_of(flags), {edges.data(), edges.size()});
  });
}

tsr_status tsr_grad(const tsr_tensor* outputs, int32_t n_outputs, const tsr_tensor* grads,
                    int32_t n_grads, const tsr_tensor* inputs, int32_t n_inputs, int32_t flags,
                    tsr_tensor* results) {
  const Call call(kInfo_grad, ListOf{outputs, n_outputs}, ListOf{grads, n_grads},
                  ListOf{inputs, n_inputs}, flags);
  const tsr_status status = guard(
      call,
      [&] {
        check_flags(flags,
                    TSR_BACKWARD_RETAIN_GRAPH | TSR_BACKWARD_CREATE_GRAPH |
                        TSR_BACKWARD_ALLOW_UNUSED | TSR_BACKWARD_FREE_GRAPH | TSR_BACKWARD_BATCHED,
                    "flags");
        const auto wanted = tensors_arg(inputs, n_inputs, "inputs");
        if (n_inputs > 0) out_arg(results, "results");
        std::vector<Tensor> found =
            tsr::grad(tensors_arg(outputs, n_outputs, "outputs"), wanted, grads_arg(grads, n_grads),
                      options_of(flags), (flags & TSR_BACKWARD_ALLOW_UNUSED) != 0);
        for (size_t i = 0; i < found.size(); ++i) give(std::move(found[i]), results + i);
      },
      ListOf<tsr_tensor>{results, n_inputs});
  if (status != TSR_OK) [[unlikely]]
    clear_list(results, n_inputs);
  return status;
}

tsr_status tsr_grad_edges(const tsr_tensor* outputs, int32_t n_outputs, const tsr_tensor* grads,
                          int32_t n_grads, const tsr_node* nodes, int32_t n_nodes,
                          const int64_t* numbers, int32_t n_numbers, int32_t flags,
                          tsr_tensor* results) {
  const Call call(kInfo_grad_edges, ListOf{outputs, n_outputs}, ListOf{grads, n_grads}, nodes,
                  ListOf{numbers, n_numbers}, flags);
  const tsr_status status = guard(call, [&] {
    check_flags(flags,
                TSR_BACKWARD_RETAIN_GRAPH | TSR_BACKWARD_CREATE_GRAPH | TSR_BACKWARD_ALLOW_UNUSED |
                    TSR_BACKWARD_FREE_GRAPH | TSR_BACKWARD_BATCHED,
                "flags");
    const auto edges = edges_arg(nodes, n_nodes, numbers, n_numbers);
    if (n_nodes > 0) out_arg(results, "results");
    std::vector<Tensor> found = grad_at_edges(
        tensors_arg(outputs, n_outputs, "outputs"), {edges.data(), edges.size()},
        grads_arg(grads, n_grads), options_of(flags), (flags & TSR_BACKWARD_ALLOW_UNUSED) != 0);
    for (size_t i = 0; i < found.size(); ++i) give(std::move(found[i]), results + i);
  });
  if (status != TSR_OK) [[unlikely]]
    clear_list(results, n_nodes);
  return status;
}

int32_t tsr_grad_mode(void) {
  return grad_enabled() ? 1 : 0;
}

tsr_status tsr_grad_mode_set(int32_t enabled, int32_t* previous) {
  return guard(Call(kInfo_grad_mode_set, enabled), [&] {
    const bool value = bool_arg(enabled, "enabled");
    *out_arg(previous, "previous") = t_grad_mode.record ? 1 : 0;
    GradMode mode = t_grad_mode;
    mode.record = value && !mode.inference;
    set_grad_mode(mode);
  });
}

int32_t tsr_inference_mode(void) {
  return inference_enabled() ? 1 : 0;
}

tsr_status tsr_inference_mode_set(int32_t enabled, int32_t* previous) {
  return guard(Call(kInfo_inference_mode_set, enabled), [&] {
    const bool value = bool_arg(enabled, "enabled");
    *out_arg(previous, "previous") = t_grad_mode.inference ? 1 : 0;
    GradMode mode = t_grad_mode;
    if (value == mode.inference) return;
    if (value) mode.record_outside = mode.record;
    mode.inference = value;
    mode.record = !value && mode.record_outside;
    set_grad_mode(mode);
  });
}

tsr_status tsr_tensor_hook_add(tsr_tensor tensor, tsr_hook_fn callback, void* user,
                               tsr_drop_fn drop, int64_t* id) {
  UserData data(user, drop);
  return guard(Call(kInfo_tensor_hook_add, tensor, callback), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(id, "id");
    callback_arg(callback);
    const auto owner = share(std::move(data));
    auto call = [callback, owner](const Tensor& grad) {
      const Lent lent(grad);
      Tensor replacement;
      Returned returned(1);
      call_host("hook", callback, owner->get(), lent.first(), returned.places());
      returned.consume({&replacement, 1}, "the hook's replacement");
      return replacement;
    };
    const HookHandle hook = add_tensor_hook(arg.get(), std::move(call), {user, drop});
    *id = hook_id(arg.get(), hook);
  });
}

tsr_status tsr_tensor_accumulate_hook_add(tsr_tensor tensor, tsr_accumulate_hook_fn callback,
                                          void* user, tsr_drop_fn drop, int64_t* id) {
  UserData data(user, drop);
  return guard(Call(kInfo_tensor_accumulate_hook_add, tensor, callback), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(id, "id");
    callback_arg(callback);
    const auto owner = share(std::move(data));
    auto call = [callback, owner](const Tensor& leaf) {
      const Lent lent(leaf);
      call_host("accumulate hook", callback, owner->get(), lent.first());
    };
    const HookHandle hook = add_accumulate_hook(arg.get(), std::move(call), {user, drop});
    *id = hook_id(arg.get(), hook);
  });
}

tsr_status tsr_tensor_hook_remove(tsr_tensor tensor, int64_t id) {
  return guard(Call(kInfo_tensor_hook_remove, tensor, id), [&] {
    TSR_CHECK(remove_hook(TensorArg(tensor, "tensor").get(), id), Code::kValue, "id",
              "expected the number of a hook of this tensor, got ", id);
  });
}

tsr_status tsr_backward_queue(tsr_final_fn callback, void* user, tsr_drop_fn drop) {
  UserData data(user, drop);
  return guard(Call(kInfo_backward_queue, callback), [&] {
    callback_arg(callback);
    queue_callback(
        [callback, owner = share(std::move(data))] { call_host("final", callback, owner->get()); });
  });
}

tsr_status tsr_backward_reaches_all(int32_t* value) {
  return guard(kInfo_backward_reaches_all, [&] {
    out_arg(value, "value");
    *value = backward_reaches_all_leaves() ? 1 : 0;
  });
}

}  // extern "C"
