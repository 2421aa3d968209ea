// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Custom differentiable functions: a CustomFunction that calls the host's table.
#include "autograd/custom_function.h"

#include "autograd/forward.h"
#include "capi/callback.h"
#include "capi/custom_node.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"
#include "capi/structs.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

tsr_node borrowed(CustomNode& node) {
  return reinterpret_cast<tsr_node>(static_cast<Object*>(&node));
}

// A handle of a node that a callback may use until it returns.
class LentNode {
 public:
  explicit LentNode(CustomNode& node) : handle_(borrowed(node)) { hand_out(handle_); }
  LentNode(const LentNode&) = delete;
  LentNode& operator=(const LentNode&) = delete;
  ~LentNode() { static_cast<void>(take_back(handle_)); }
  [[nodiscard]] tsr_node get() const noexcept { return handle_; }

 private:
  tsr_node handle_;
};

class HostFunction final : public CustomFunction {
 public:
  HostFunction(const tsr_node_vtable& table, UserData data)
      : table_(table), data_(std::move(data)) {}

  void backward(CustomNode& node, std::span<const Tensor> grads,
                std::span<Tensor> results) override {
    const Lent lent(grads);
    const LentNode self(node);
    Returned returned(results.size());
    call_host("backward", table_.backward, data_.get(), self.get(), lent.handles(), lent.count(),
              returned.places(), returned.count());
    returned.consume(results, "a gradient from the backward callback");
  }

  [[nodiscard]] bool has_jvp() const noexcept override { return table_.jvp != nullptr; }
  void jvp(CustomNode& node, std::span<const Tensor> tangents, std::span<Tensor> results) override {
    run(table_.jvp, "jvp", node, tangents, results);
  }

  [[nodiscard]] HostData host_data() const noexcept override { return {data_.get(), table_.drop}; }

  void forward(CustomNode& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
    run(table_.forward, "forward", node, inputs, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      TSR_CHECK(outputs[i].defined(), Code::kAutograd, nullptr,
                "expected a tensor from the forward callback as output ", i, ", got NULL");
    }
  }

 private:
  void run(tsr_node_forward_fn callback, const char* name, CustomNode& node,
           std::span<const Tensor> inputs, std::span<Tensor> outputs) {
    const Lent lent(inputs);
    const LentNode self(node);
    Returned returned(outputs.size());
    call_host(name, callback, data_.get(), self.get(), lent.handles(), lent.count(),
              returned.places(), returned.count());
    returned.consume(outputs, "an output of the callback");
  }

  tsr_node_vtable table_;
  UserData data_;
};

struct Made {
  IntrusivePtr<CustomNode> node;
  HostFunction* function;
};

Made make_node(const char* name, int64_t name_len, const tsr_node_vtable& table, UserData data,
               std::span<const Tensor> inputs) {
  constexpr uint32_t kKnown = TSR_NODE_ONCE_DIFFERENTIABLE | TSR_NODE_UNDEFINED_GRADS;
  TSR_CHECK((table.flags & ~kKnown) == 0, Code::kInvalidArgument, "vtable",
            "expected known flags, got ", table.flags);
  TSR_CHECK(table.backward != nullptr, Code::kInvalidArgument, "vtable",
            "expected a backward callback");
  auto function = std::make_unique<HostFunction>(table, std::move(data));
  HostFunction* raw = function.get();
  auto node = CustomNode::create(std::string(text_arg(name, name_len, "name")), inputs,
                                 std::move(function));
  node->set_once_differentiable((table.flags & TSR_NODE_ONCE_DIFFERENTIABLE) != 0);
  node->set_materialize_grads((table.flags & TSR_NODE_UNDEFINED_GRADS) == 0);
  return {std::move(node), raw};
}

}  // namespace

extern "C" {

tsr_status tsr_node_create(const char* name, int64_t name_len, const tsr_node_vtable* vtable,
                           void* user, const tsr_tensor* inputs, int32_t n_inputs, tsr_node* node) {
  clear(node);
  UserData data(user, drop_of(vtable));
  const Call call(kInfo_node_create, TextOf{name, name_len}, vtable, user,
                  ListOf{inputs, n_inputs});
  return guard(call, [&] {
    const tsr_node_vtable table = read_struct(vtable, "vtable");
    out_arg(node, "node");
    Made made =
        make_node(name, name_len, table, std::move(data), tensors_arg(inputs, n_inputs, "inputs"));
    give_object(made.node.detach(), node);
  });
}

tsr_status tsr_node_save(tsr_node node, const tsr_tensor* tensors, int32_t n_tensors) {
  return guard(Call(kInfo_node_save, node, ListOf{tensors, n_tensors}),
               [&] { custom_arg(node).save(sparse_tensors_arg(tensors, n_tensors, "tensors")); });
}

tsr_status tsr_node_mark_dirty(tsr_node node, const tsr_tensor* tensors, int32_t n_tensors) {
  return guard(Call(kInfo_node_mark_dirty, node, ListOf{tensors, n_tensors}),
               [&] { custom_arg(node).mark_dirty(tensors_arg(tensors, n_tensors, "tensors")); });
}

tsr_status tsr_node_mark_non_differentiable(tsr_node node, const tsr_tensor* tensors,
                                            int32_t n_tensors) {
  return guard(Call(kInfo_node_mark_non_differentiable, node, ListOf{tensors, n_tensors}), [&] {
    custom_arg(node).mark_non_differentiable(tensors_arg(tensors, n_tensors, "tensors"));
  });
}

tsr_status tsr_node_needs_input_grad(tsr_node node, int64_t index, int32_t* value) {
  return guard(Call(kInfo_node_needs_input_grad, node, index), [&] {
    const CustomNode& custom = custom_arg(node);
    TSR_CHECK(index >= 0, Code::kIndex, "index", "expected an index from 0, got ", index);
    *out_arg(value, "value") = custom.needs_input_grad(static_cast<size_t>(index)) ? 1 : 0;
  });
}

tsr_status tsr_node_attach(tsr_node node, const tsr_tensor* outputs, int32_t n_outputs) {
  return guard(Call(kInfo_node_attach, node, ListOf{outputs, n_outputs}),
               [&] { custom_arg(node).attach(tensors_arg(outputs, n_outputs, "outputs")); });
}

tsr_status tsr_function_apply(const char* name, int64_t name_len, const tsr_node_vtable* vtable,
                              void* user, const tsr_tensor* inputs, int32_t n_inputs,
                              int32_t n_results, tsr_tensor* results) {
  UserData data(user, drop_of(vtable));
  const Call call(kInfo_function_apply, TextOf{name, name_len}, vtable, user,
                  ListOf{inputs, n_inputs}, n_results);
  const tsr_status status = guard(call, [&] {
    const tsr_node_vtable table = read_struct(vtable, "vtable");
    TSR_CHECK(table.forward != nullptr, Code::kInvalidArgument, "vtable",
              "expected a forward callback");
    list_arg(results, n_results, "results");
    const auto given = tensors_arg(inputs, n_inputs, "inputs");
    Made made = make_node(name, name_len, table, std::move(data), given);
    std::vector<Tensor> outputs(static_cast<size_t>(n_results));
    {
      const NoGrad guard;
      const ForwardOff off;
      made.function->forward(*made.node, given, outputs);
    }
    made.node->attach(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) give(std::move(outputs[i]), results + i);
  });
  if (status != TSR_OK) [[unlikely]]
    clear_list(results, n_results);
  return status;
}

}  // extern "C"
