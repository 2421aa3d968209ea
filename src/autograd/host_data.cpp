// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/host_data.h"

#include <mutex>

#include "autograd/hooks.h"
#include "autograd/metadata.h"
#include "autograd/tensor_record.h"

namespace tsr {
namespace {

bool is_owned_alone(const Object& object) noexcept {
  return object.refs.load(std::memory_order_acquire) == 1;
}

void visit(const HostData& data, const HostVisitor& visitor) {
  if (data.user != nullptr && data.drop != nullptr) {
    visitor.visit(visitor.arg, data.user, data.drop);
  }
}

template <class List>
void visit_hooks(const List& hooks, const HostVisitor& visitor) {
  for (const auto& hook : hooks) {
    if (!hook->removed()) visit(hook->host_data(), visitor);
  }
}

void visit_own_data(const Node& node, const HostVisitor& visitor) {
  visit(node.host_data(), visitor);
  const NodeHooks* hooks = node.hooks();
  if (hooks == nullptr) return;
  const std::lock_guard guard(node.lock());
  for (const auto& entry : hooks->tensor_hooks) {
    if (!entry.hook->removed()) visit(entry.hook->host_data(), visitor);
  }
  visit_hooks(hooks->pre, visitor);
  visit_hooks(hooks->post, visitor);
  if (hooks->metadata != nullptr) {
    for (const auto& [key, value] : hooks->metadata->entries) visit(value.host, visitor);
  }
}

// Every node that the walk reaches has exactly one owner, and the walk came from it. So the walk
// sees a tree and need not mark nodes.
void visit_graph(const Node& root, const HostVisitor& visitor) {
  SmallVector<const Node*, 16> waiting;
  waiting.push_back(&root);
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    visit_own_data(node, visitor);
    for (const Edge& edge : node.next_edges()) {
      if (edge.node && is_owned_alone(*edge.node)) waiting.push_back(edge.node.get());
    }
  }
}

}  // namespace

void visit_host_data(const Node& node, HostVisitor visitor) {
  if (is_owned_alone(node)) visit_graph(node, visitor);
}

void visit_host_data(const Tensor& tensor, HostVisitor visitor, uint32_t owners) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr || tensor.impl()->refs.load(std::memory_order_acquire) != owners) return;
  NodePtr node;  // given back after the lock
  {
    const std::lock_guard guard(record->lock);
    if (record->hooks) {
      visit_hooks(record->hooks->on_grad, visitor);
      visit_hooks(record->hooks->after_accumulate, visitor);
    }
    // One reference is the record's, one is held here.
    if (record->grad_fn && is_owned_alone(*record->grad_fn)) node = record->grad_fn;
  }
  if (node) visit_graph(*node, visitor);
}

}  // namespace tsr
