// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/host_data.h"

#include <memory>
#include <mutex>

#include "autograd/hooks.h"
#include "autograd/metadata.h"
#include "autograd/tensor_record.h"

namespace tsr {
namespace {

bool is_owned_alone(const Object& object) noexcept {
  return object.refs.load(std::memory_order_acquire) == 1;
}

// One visit of a graph.
class Visit {
 public:
  explicit Visit(const HostVisitor& visitor) : visitor_(visitor) {}

  void visit(const HostData& data) {
    if (data.user != nullptr && data.drop != nullptr) {
      visitor_.visit(visitor_.arg, data.user, data.drop);
    }
  }

  template <class List>
  void visit_hooks(const List& hooks) {
    for (const auto& hook : hooks) {
      if (!hook->removed()) visit(hook->host_data());
    }
  }

  // Every node that the walk reaches has exactly one owner, and the walk came from it. So the walk
  // sees a tree and need not mark nodes.
  void visit_graph(const Node& root) {
    SmallVector<const Node*, 16> waiting;
    waiting.push_back(&root);
    while (!waiting.empty()) {
      const Node& node = *waiting.back();
      waiting.pop_back();
      visit_node(node);
      const Node* part = node.part();
      if (part != nullptr && is_owned_alone(*part)) waiting.push_back(part);
      for (const Edge& edge : node.next_edges()) {
        if (edge.node && is_owned_alone(*edge.node)) waiting.push_back(edge.node.get());
      }
    }
    visit_saved_hooks();
  }

 private:
  void visit_node(const Node& node) {
    visit(node.host_data());
    const NodeHooks* hooks = node.hooks();
    if (hooks == nullptr && !node.has_saved()) return;
    const std::lock_guard guard(node.lock());
    for (const SavedTensor& saved : node.saved_list()) visit_saved(saved);
    if (hooks == nullptr) return;
    for (const auto& entry : hooks->tensor_hooks) {
      if (!entry.hook->removed()) visit(entry.hook->host_data());
    }
    visit_hooks(hooks->pre);
    visit_hooks(hooks->post);
    if (hooks->metadata == nullptr) return;
    for (const auto& [key, value] : hooks->metadata->entries) visit(value.host);
  }

  void visit_saved(const SavedTensor& saved) {
    const std::shared_ptr<SavedTensorHooks>* hooks = saved.hooks();
    if (hooks == nullptr) return;
    visit(saved.packed_data());
    const void* key = hooks->get();
    for (Seen& seen : seen_) {
      if (seen.key == key) {
        ++seen.count;
        return;
      }
    }
    seen_.push_back({key, *hooks, (*hooks)->host_data(), 1});
  }

  // Saved-tensor hooks belong to all that they packed; the graph owns them alone if it has all of
  // that.
  void visit_saved_hooks() {
    for (const Seen& seen : seen_) {
      if (seen.hooks.use_count() == seen.count) visit(seen.data);
    }
  }

  struct Seen {
    const void* key;
    std::weak_ptr<SavedTensorHooks> hooks;
    HostData data;
    long count;
  };

  const HostVisitor& visitor_;
  SmallVector<Seen, 2> seen_;
};

}  // namespace

void visit_host_data(const Node& node, HostVisitor visitor) {
  if (is_owned_alone(node)) Visit(visitor).visit_graph(node);
}

void visit_host_data(const Tensor& tensor, HostVisitor visitor, uint32_t owners) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr || tensor.impl()->refs.load(std::memory_order_acquire) != owners) return;
  Visit visit(visitor);
  NodePtr node;  // given back after the lock
  {
    const std::lock_guard guard(record->lock);
    if (record->hooks) {
      visit.visit_hooks(record->hooks->on_grad);
      visit.visit_hooks(record->hooks->after_accumulate);
    }
    // One reference is the record's, one is held here.
    if (record->grad_fn && is_owned_alone(*record->grad_fn)) node = record->grad_fn;
  }
  if (node) visit.visit_graph(*node);
}

}  // namespace tsr
