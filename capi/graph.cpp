// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The graph for the host: nodes, their names, edges and saved tensors.
#include "autograd/accumulate_grad.h"
#include "autograd/host_data.h"
#include "autograd/run_node.h"
#include "autograd/tensor_grad.h"
#include "autograd/view.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/node_args.h"
#include "optim/owners.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_tensor_grad_fn(tsr_tensor tensor, tsr_node* node) {
  clear(node);
  return guard(Call(kInfo_tensor_grad_fn, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(node, "node");
    give_object(grad_fn(arg.get()).detach(), node);
  });
}

tsr_status tsr_tensor_output_number(tsr_tensor tensor, int64_t* number) {
  return guard(Call(kInfo_tensor_output_number, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(number, "number") = output_number(arg.get());
  });
}

tsr_status tsr_tensor_base(tsr_tensor tensor, tsr_tensor* base) {
  clear(base);
  return guard(Call(kInfo_tensor_base, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(base, "base");
    give(view_base(arg.get()), base);
  });
}

void tsr_node_retain(tsr_node node) {
  retain_handle(node, ObjectTag::kNode);
}

void tsr_node_release(tsr_node node) {
  release_handle<Node>(node, ObjectTag::kNode);
}

tsr_status tsr_node_name(tsr_node node, const char** name, int64_t* name_len) {
  return guard(Call(kInfo_node_name, node), [&] {
    const char* text = node_arg(node).name();
    *out_arg(name, "name") = text;
    *out_arg(name_len, "name") = static_cast<int64_t>(std::string_view(text).size());
  });
}

tsr_status tsr_node_sequence(tsr_node node, uint64_t* number) {
  return guard(Call(kInfo_node_sequence, node),
               [&] { *out_arg(number, "number") = node_arg(node).sequence(); });
}

tsr_status tsr_node_next_count(tsr_node node, int64_t* count) {
  return guard(Call(kInfo_node_next_count, node), [&] {
    *out_arg(count, "count") = static_cast<int64_t>(node_arg(node).next_edges().size());
  });
}

tsr_status tsr_node_next(tsr_node node, int64_t index, tsr_node* next, int64_t* output) {
  clear(next);
  return guard(Call(kInfo_node_next, node, index), [&] {
    const Node& from = node_arg(node);
    out_arg(next, "next");
    out_arg(output, "output");
    const Edge& edge = from.next_edge(index_arg(index, from.next_edges().size()));
    *output = edge.output;
    give_object(NodePtr(edge.node).detach(), next);
  });
}

tsr_status tsr_node_variable(tsr_node node, tsr_tensor* leaf) {
  clear(leaf);
  return guard(Call(kInfo_node_variable, node), [&] {
    out_arg(leaf, "leaf");
    const auto* accumulate = dynamic_cast<const AccumulateGrad*>(&node_arg(node));
    if (accumulate != nullptr) give(Tensor(accumulate->leaf()), leaf);
  });
}

tsr_status tsr_node_run(tsr_node node, const tsr_tensor* grads, int32_t n_grads, int32_t n_results,
                        tsr_tensor* results) {
  const Call call(kInfo_node_run, node, ListOf{grads, n_grads}, n_results);
  const tsr_status status = guard(call, [&] {
    Node& of = node_arg(node);
    const std::span<const Tensor> given = sparse_tensors_arg(grads, n_grads, "grads");
    TSR_CHECK(n_results >= 0 && static_cast<size_t>(n_results) == of.next_edges().size(),
              Code::kValue, "n_results", "expected the number of inputs of ", of.name(), ", ",
              of.next_edges().size(), ", got ", n_results);
    if (n_results > 0) out_arg(results, "results");
    std::vector<Tensor> found = run_node(of, given);
    for (size_t i = 0; i < found.size(); ++i) give(std::move(found[i]), results + i);
  });
  if (status != TSR_OK) [[unlikely]]
    clear_list(results, n_results);
  return status;
}

tsr_status tsr_node_saved(tsr_node node, int64_t index, tsr_tensor* tensor) {
  clear(tensor);
  return guard(Call(kInfo_node_saved, node, index), [&] {
    const Node& from = node_arg(node);
    out_arg(tensor, "tensor");
    give(from.saved(index_arg(index, from.saved_count())), tensor);
  });
}

tsr_status tsr_node_saved_count(tsr_node node, int64_t* count) {
  return guard(Call(kInfo_node_saved_count, node), [&] {
    *out_arg(count, "count") = static_cast<int64_t>(node_arg(node).saved_count());
  });
}

tsr_status tsr_tensor_traverse(tsr_tensor tensor, tsr_visit_fn visit, void* arg) {
  return guard(Call(kInfo_tensor_traverse, tensor, visit, arg), [&] {
    const TensorArg of(tensor, "tensor");
    const TensorImpl* impl = of.get().impl();
    const bool shared = impl->refs.load(std::memory_order_acquire) != 1;
    visit_host_data(of.get(), {out_arg(visit, "visit"), arg},
                    1 + (shared ? optim::owners_of(impl) : 0));
  });
}

tsr_status tsr_node_traverse(tsr_node node, tsr_visit_fn visit, void* arg) {
  return guard(Call(kInfo_node_traverse, node, visit, arg), [&] {
    visit_host_data(node_arg(node), {out_arg(visit, "visit"), arg});
  });
}

int64_t tsr_live_nodes(void) {
  return live_nodes();
}

}  // extern "C"
