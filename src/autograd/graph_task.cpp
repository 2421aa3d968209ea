// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/graph_task.h"

#include <algorithm>

#include "autograd/batch.h"
#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/hooks.h"
#include "autograd/ownership.h"
#include "autograd/validate.h"
#include "base/error.h"
#include "base/trace.h"

namespace tsr {
namespace {

bool may_add_into(const Tensor& tensor) {
  return owns_alone(tensor) &&
         (tensor.is_contiguous() || !may_overlap_itself(tensor.sizes(), tensor.strides()));
}

// Adds in place when the sum so far, or what is added, belongs to this backward alone, as
// `writable` says.
template <class Writable>
void add_to(Tensor& sum, Tensor grad, const Writable& writable) {
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  if (!recording_enabled()) {
    if (!writable(sum)) std::swap(sum, grad);
    if (writable(sum)) {
      gradient_ops().add_inplace(sum, grad);
      return;
    }
    std::swap(sum, grad);
  }
  sum = gradient_ops().add(sum, grad);
}

// Tells the profiler when a node runs, also when it throws.
class TracedNode {
 public:
  explicit TracedNode(const Node& node) : traced_(is_traced(TraceKind::kNode)) {
    if (traced_) [[unlikely]]
      begin(node);
  }
  TracedNode(const TracedNode&) = delete;
  TracedNode& operator=(const TracedNode&) = delete;
  ~TracedNode() {
    if (traced_) [[unlikely]]
      end_span(span_, 0);
  }

 private:
  [[gnu::cold]] void begin(const Node& node) noexcept {
    TraceEvent event{};
    event.kind = TraceKind::kNode;
    event.name = lasting_name(node.name());  // a custom function's goes with the node
    event.value = static_cast<int64_t>(node.sequence());
    event.object = &node;
    begin_span(span_, event);
  }

  bool traced_;
  TraceSpan span_;
};

bool any_defined(std::span<const Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.defined(); });
}

}  // namespace

Slot& GraphTask::target(const Edge& edge) {
  has_targets_ = true;
  targets_.push_back(edge);
  lowest_target_ = std::min(lowest_target_, edge.node->topological());
  bool fresh;
  return table_.claim(*edge.node, fresh);
}

void GraphTask::capture(const Edge& edge, size_t index) {
  if (captured_.size() <= index) captured_.resize(index + 1);
  Slot& slot = target(edge);
  slot.wanted = true;
  captures_.push_back({edge.output, slot.first_capture, index});
  slot.first_capture = static_cast<int32_t>(captures_.size() - 1);
}

void GraphTask::deliver(const Edge& edge) {
  Slot& slot = target(edge);
  slot.wanted = true;
  slot.needed = slot.needed || edge.node->is_accumulator();
}

void GraphTask::count_dependencies() {
  std::vector<Node*> pending;
  for (const Edge& edge : root_.edges) {
    bool fresh;
    Slot& slot = table_.claim(*edge.node, fresh);
    slot.needed = true;
    if (fresh) pending.push_back(edge.node.get());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.node) continue;
      bool fresh;
      Slot& slot = table_.claim(*edge.node, fresh);
      ++slot.dependencies;
      slot.needed = true;
      if (fresh) pending.push_back(edge.node.get());
    }
  }
}

// Depth first; a node is needed when one it leads to is wanted or needed. Nodes too near the leaves
// to lead to any target are not entered.
void GraphTask::walk_to_targets(Slot& start) {
  struct Frame {
    Slot* slot;
    size_t next;
  };
  std::vector<Frame> path{{&start, 0}};
  while (!path.empty()) {
    Frame& frame = path.back();
    Slot& slot = *frame.slot;
    const Edges& edges = slot.node->next_edges();
    if (frame.next == edges.size()) {
      path.pop_back();
      if (!path.empty()) path.back().slot->needed |= slot.needed || slot.wanted;
      continue;
    }
    const Edge& edge = edges[frame.next++];
    if (!edge.node || edge.node->topological() < lowest_target_) continue;
    bool fresh;
    Slot& child = table_.claim(*edge.node, fresh);
    ++child.dependencies;
    if (child.visited) {
      slot.needed |= child.needed || child.wanted;
    } else {
      child.visited = true;
      path.push_back({&child, 0});
    }
  }
}

template <bool kOnStreams>
void GraphTask::seed() {
  for (size_t i = 0; i < root_.edges.size(); ++i) {
    const Edge& edge = root_.edges[i];
    Slot& slot = *table_.find(*edge.node);
    if constexpr (kOnStreams) {
      deliver_on_streams(slot, edge.output, root_.grads[i], true);
    } else {
      add_to(slot.gradient(edge.output), root_.grads[i], may_add_into);
    }
  }
  for (const Edge& edge : root_.edges) {
    Slot& slot = *table_.find(*edge.node);
    if (slot.dependencies != 0 || slot.queued) continue;
    slot.queued = true;
    ready_.push(edge.node->sequence(), &slot);
  }
}

template <bool kOnStreams>
void GraphTask::run_nodes() {
  seed<kOnStreams>();
  while (!ready_.empty()) {
    Slot& slot = *ready_.pop();
    if constexpr (kOnStreams) {
      run_slot_on_streams(slot);
    } else {
      run_slot<false>(slot);
    }
  }
}

void GraphTask::run_on_streams() {
  BackwardStreams streams;
  streams_ = &streams;
  try {
    run_nodes<true>();
  } catch (...) {
    // The caller may use what has been stored until now.
    streams.finish_after_error();
    throw;
  }
  streams.finish();
  streams_ = nullptr;
}

void GraphTask::run() {
  if (has_targets_) {
    for (const Edge& edge : root_.edges) {
      bool fresh;
      Slot& slot = table_.claim(*edge.node, fresh);
      if (slot.visited) continue;
      slot.visited = true;
      walk_to_targets(slot);
    }
  } else {
    count_dependencies();
  }
  if (BackwardStreams::needed()) {
    run_on_streams();
  } else {
    run_nodes<false>();
  }
  // A callback may queue more.
  for (size_t i = 0; i < callbacks_.size(); ++i) std::exchange(callbacks_[i], nullptr)();
}

void GraphTask::queue_callback(std::function<void()> callback) {
  callbacks_.push_back(std::move(callback));
}

// The node under the streams of its forward.
void GraphTask::run_slot_on_streams(Slot& slot) {
  const Node& node = *slot.node;
  const CurrentStreams there(streams_->of(node));
  streams_->start(node);
  const size_t count = std::max<size_t>(node.outputs().size(), 1);
  for (uint32_t k = 0; k < count; ++k) streams_->receive(slot.gradient(k));
  run_slot<true>(slot);
}

template <bool kOnStreams>
void GraphTask::run_slot(Slot& slot) {
  Node& node = *slot.node;
  node.prefetch_behind();
  Gradients grads;
  const size_t count = std::max<size_t>(node.outputs().size(), 1);
  grads.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    grads.emplace_back(std::move(slot.gradient(static_cast<uint32_t>(k))));
  }
  const std::span<Tensor> given{grads.data(), grads.size()};
  if (node.hooks() != nullptr || node.is_accumulator()) run_tensor_hooks_on(node, given);
  if constexpr (kOnStreams) {
    for (const Tensor& grad : retained_grads(node)) streams_->keep_for_caller(grad);
  }
  for (int32_t c = slot.first_capture; c >= 0; c = captures_[static_cast<size_t>(c)].next) {
    const Capture& capture = captures_[static_cast<size_t>(c)];
    captured_[capture.index] = grads[capture.output];
    if constexpr (kOnStreams) streams_->keep_for_caller(grads[capture.output]);
  }
  if (!slot.needed) return table_.let_go(slot);
  Children children;
  const uint64_t needs = find_children(node, children);
  table_.let_go(slot);
  Results results(node.next_edges().size());
  if (node.runs_on_undefined() || any_defined(given)) {
    const std::span<Tensor> wanted{results.data(), results.size()};
    if (samples_ == Backward::kNoBatch) [[likely]] {
      run_node(node, given, wanted, needs);
    } else {
      run_batch(node, given, wanted, needs);
    }
  }
  if (!retain_graph_) node.release();
  grads.clear();
  pass_on<kOnStreams>(node, results, children);
}

// Hooks see the gradients of one sample, as in an ordinary backward.
void GraphTask::run_tensor_hooks_on(Node& node, std::span<Tensor> grads) {
  if (samples_ == Backward::kNoBatch) [[likely]]
    return run_tensor_hooks(node, grads);
  if (!has_tensor_hooks(node)) return;
  sample_ = 0;
  run_samples(node, grads, {}, samples_, [&](std::span<Tensor> sample, std::span<Tensor>) {
    run_tensor_hooks(node, sample);
    ++sample_;
  });
}

// What does not take batches runs once for each sample.
[[gnu::cold]] void GraphTask::run_batch(Node& node, std::span<Tensor> grads,
                                        std::span<Tensor> results, uint64_t needs) {
  if (node.takes_batches() && node.hooks() == nullptr) {
    return run_node(node, grads, results, needs, samples_);
  }
  run_samples(node, grads, results, samples_,
              [&](std::span<Tensor> sample, std::span<Tensor> found) {
                run_node(node, sample, found, needs);
              });
}

void GraphTask::run_node(Node& node, std::span<Tensor> given, std::span<Tensor> wanted,
                         uint64_t needs, int64_t samples) {
  const TracedNode traced(node);
  if (node.hooks() != nullptr) {
    run_pre_hooks(node, given);
    // A pre hook may have left none.
    if (!node.runs_on_undefined() && !any_defined(given)) return;
  }
  // Post hooks see the gradients as the node got them.
  const bool post = node.hooks() != nullptr && has_post_hooks(node);
  const Gradients before = post ? Gradients(std::span<const Tensor>(given)) : Gradients();
  Backward ctx(node, given, wanted, needs, samples);
  try {
    if (watched_) [[unlikely]]
      apply_watched(node, ctx);
    else
      node.apply(ctx);
  } catch (Error& error) {
    // Where backwards nest, the innermost node is the one to name.
    if (error.code() != Code::kCallback && !error.message().starts_with("in ")) {
      error.prepend(concat("in ", node.name(), ": "));
    }
    throw;
  }
  if (post) run_post_hooks(node, wanted, before);
}

// The slots of the nodes behind the edges, null where nothing is to be delivered.
uint64_t GraphTask::find_children(const Node& node, Children& children) {
  uint64_t needs = 0;
  const Edges& edges = node.next_edges();
  children.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    Slot* child = edges[i].node ? table_.find(*edges[i].node) : nullptr;
    if (child != nullptr && !child->needed && !child->wanted) child = nullptr;
    if (child != nullptr && i < 64) needs |= uint64_t{1} << i;
    children.emplace_back(child);
  }
  return needs;
}

template <bool kOnStreams>
void GraphTask::pass_on(const Node& node, Results& results, const Children& children) {
  const Edges& edges = node.next_edges();
  for (size_t i = 0; i < edges.size(); ++i) {
    Slot* child = children[i];
    if (child == nullptr) continue;
    if (results[i].defined()) {
      const OutputMeta& meta = edges[i].node->outputs()[edges[i].output];
      if (samples_ == Backward::kNoBatch) [[likely]] {
        fit_gradient(results[i], meta, node, i);
      } else {
        fit_batch(results[i], meta, node, i, samples_);
      }
      if constexpr (kOnStreams) {
        deliver_on_streams(*child, edges[i].output, std::move(results[i]), false);
      } else {
        add_to(child->gradient(edges[i].output), std::move(results[i]), may_add_into);
      }
    }
    if (--child->dependencies == 0) ready_.push(edges[i].node->sequence(), child);
  }
}

// While the streams that made the gradient are current.
void GraphTask::deliver_on_streams(Slot& slot, uint32_t output, Tensor grad, bool from_caller) {
  Tensor& place = slot.gradient(output);
  const Node& consumer = *slot.node;
  if (!place.defined()) {
    place = std::move(grad);
    streams_->send(place, consumer, from_caller);
    return;
  }
  const IntrusivePtr<Event> ready = streams_->ready(grad, consumer);
  const CurrentStreams there(streams_->of(consumer));
  streams_->start(consumer);
  streams_->receive(place);
  streams_->wait(ready, grad);
  // Nobody else has a tensor that went to several streams, but their work may still read it.
  add_to(place, std::move(grad), [this](const Tensor& tensor) {
    return may_add_into(tensor) && !streams_->crossed(tensor);
  });
}

}  // namespace tsr
