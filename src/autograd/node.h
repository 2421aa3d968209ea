// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Node: one differentiated operation of the graph; Edge: where a gradient goes; Backward: what a
// node sees while it runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "autograd/saved_tensor.h"
#include "autograd/spin_lock.h"
#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace tsr {

class Backward;
class GraphTask;
class Node;
class StreamSet;
struct NodeHooks;

using NodePtr = IntrusivePtr<Node>;

// The gradient of one output of `node`, numbered as the forward's outputs.
struct Edge {
  NodePtr node;
  uint32_t output = 0;
};
using Edges = SmallVector<Edge, 2>;

// What the gradient of one forward output must look like.
struct OutputMeta {
  OutputMeta() noexcept {}  // `= default` would write zeros first
  OutputMeta(const Tensor& output, bool takes_part)
      : sizes(output.sizes()),
        device(output.device()),
        dtype(output.dtype()),
        exists(true),
        differentiable(takes_part) {}

  Dims sizes;
  Device device;
  DType dtype = DType::kBool;
  bool exists = false;          // false: the caller skipped this output
  bool differentiable = false;  // takes part in the graph
};

// What a derivative reads instead of a node's saved tensors and edges while forward mode uses it.
struct ForwardUse {
  const Tensor* const* saves;  // null: the node has saved them itself
  const Tensor* tangents;      // one per input
};

// Numbers that tests compare: nodes alive in the process.
int64_t live_nodes() noexcept;

// While it is on, note_origin (anomaly.h) gets every node that this thread makes. Costs nothing
// while it is off: the constructor tests it together with the count of nodes.
void watch_new_nodes(bool on) noexcept;

// An output tensor owns its node, a node owns the nodes of its inputs, and nothing owns outputs.
// The graph never changes: edges are set once, before the node is published. Two threads may run a
// backward through one node at the same time; the lock guards the state that a run releases.
//
// Note [Long chains]
// Each node of a graph that no cache holds costs a few accesses to memory, one after the other: the
// address of the next node is in this one. So while a node runs or is freed, the node after the
// next one is being fetched; while it runs, also what the next one saved.
class Node : public Object {
 public:
  // AccumulateGrad runs before everything else that is ready.
  static constexpr uint64_t kFirst = UINT64_MAX;

  // `name` must live as long as the node: a literal, or text the derived node owns.
  explicit Node(const char* name) noexcept;
  virtual ~Node();
  static void* operator new(size_t size);
  static void operator delete(void* block, size_t size) noexcept;
  // Frees chains of any length in constant stack.
  static void destroy(Node* node) noexcept;

  // Reads ctx.grad(k), writes ctx.set(i, gradient) for every input i with ctx.needs(i).
  virtual void apply(Backward& ctx) = 0;
  // Frees what was saved, after the node has run, unless the graph is retained.
  virtual void release() noexcept;
  // Tells the allocator that the current streams use what was saved.
  virtual void record_saved_use() const;
  // Whether apply runs although every gradient is undefined (zero).
  [[nodiscard]] virtual bool runs_on_undefined() const noexcept { return false; }
  // Whether apply takes gradients with an axis of samples in front: Note [Batched backward].
  [[nodiscard]] virtual bool takes_batches() const noexcept { return false; }
  // The host-language objects that the derivative owns.
  [[nodiscard]] virtual HostData host_data() const noexcept { return {}; }
  // A node that this one runs as a part of itself; null if there is none.
  [[nodiscard]] virtual const Node* part() const noexcept { return nullptr; }

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] bool is_accumulator() const noexcept { return sequence_ == kFirst; }
  // Its leaf has a weak pointer to an accumulator; other nodes have none (see drop).
  [[nodiscard]] bool may_be_weak() const noexcept { return is_accumulator(); }
  // Later nodes of one thread have larger numbers; ready nodes with the largest number run first.
  [[nodiscard]] uint64_t sequence() const noexcept { return sequence_; }
  // Larger than that of every node this one leads to.
  [[nodiscard]] uint32_t topological() const noexcept { return topological_; }
  [[nodiscard]] const Edges& next_edges() const noexcept { return next_; }
  [[nodiscard]] const Edge& next_edge(size_t input) const noexcept { return next_[input]; }
  [[nodiscard]] const SmallVector<OutputMeta, 1>& outputs() const noexcept { return outputs_; }

  // Building: one call per input and output, in order, before the node is published.
  void add_edge(Edge edge);
  void add_output(const Tensor& output, bool differentiable);
  void save(SavedTensor saved);

  // Throws kAutograd when released by an earlier backward or written in place since.
  [[nodiscard]] Tensor saved(size_t index) const;
  // Throws as saved does when released by an earlier backward.
  [[nodiscard]] size_t saved_count() const;
  // What was saved, without its value. Throws as saved does when released or out of range.
  [[nodiscard]] SavedTensor::Origin saved_origin(size_t index) const;

  // Gives one saved tensor to hooks of its own, which pack it at once. Throws as saved and
  // SavedTensor::pack_by do. No other thread may use the node meanwhile.
  void pack_saved(size_t index, const std::shared_ptr<SavedTensorHooks>& hooks);

  // What is saved now, for visit_host_data; guarded by the lock.
  [[nodiscard]] const SmallVector<SavedTensor, 2>& saved_list() const noexcept { return saved_; }

  // Whether anything was ever saved.
  [[nodiscard]] bool has_saved() const noexcept { return has_saved_; }

  // Starts to fetch memory behind this node, which is about to run: Note [Long chains].
  void prefetch_behind() const noexcept;

  [[nodiscard]] SpinLock& lock() const noexcept { return lock_; }
  // Null until the first hook; guarded by the lock.
  [[nodiscard]] NodeHooks* hooks() const noexcept { return hooks_.load(std::memory_order_acquire); }
  NodeHooks& ensure_hooks();
  // The current streams of the thread that made this node; null where they were default streams, or
  // where the node uses no device but the CPU.
  [[nodiscard]] StreamSet* streams() const noexcept;

  // After the outputs have got their tangents.
  void copy_output_tangents(uint32_t index, const Tensor& output);

 protected:
  void set_sequence(uint64_t value) noexcept { sequence_ = value; }
  void set_name(const char* name) noexcept { name_ = name; }
  // The history of output `index`, for a saved output that takes part in a recorded backward.
  [[nodiscard]] virtual Edge output_edge(uint32_t index) const;
  // The node that owns this one and runs it as a part of itself.
  void set_outer(Node* outer) noexcept { outer_ = outer; }

 private:
  void check_not_released() const;
  [[nodiscard]] const SavedTensor& saved_at(size_t index) const;
  void remember_streams(Device output);

  friend class Backward;
  friend class CopySlices;
  friend class SavedTensor;
  friend class SlotTable;  // claims nodes for a backward
  friend class Reaper;

  // The walk that begins a backward reads these alone, in the first two cache lines.
  uint64_t sequence_;
  uint32_t topological_ = 0;
  mutable SpinLock lock_;
  bool released_ = false;   // guarded by the lock
  bool has_saved_ = false;  // set while building
  // The backward that walks this node now, and its place in that backward's table; scratch_ also
  // links nodes that wait to be freed.
  std::atomic<const void*> owner_{nullptr};
  void* scratch_ = nullptr;
  Edges next_;

  std::atomic<NodeHooks*> hooks_{nullptr};
  const char* name_;
  SmallVector<SavedTensor, 2> saved_;
  SmallVector<OutputMeta, 1> outputs_;
  Node* outer_ = nullptr;
};

// Inlined always: the compiler drops calls of a function that has no other effect.
[[gnu::always_inline]] inline void Node::prefetch_behind() const noexcept {
  const Node* next = next_.empty() ? nullptr : next_.back().node.get();
  if (next_.size() > 1 && next_.front().node) next = next_.front().node.get();
  if (next == nullptr) return;
  if (next->has_saved_) {
    const std::lock_guard guard(next->lock_);
    for (const SavedTensor& saved : next->saved_) saved.prefetch();
  }
  if (next->next_.empty()) return;
  const auto* after = reinterpret_cast<const std::byte*>(next->next_.front().node.get());
  if (after == nullptr) return;
  for (size_t at = 0; at < sizeof(Node); at += 64) __builtin_prefetch(after + at);
}

// The arguments of Node::apply: gradients in (one per forward output), gradients out (one per
// forward input). Undefined means zero everywhere.
//
// Note [Batched backward]
// A batched backward computes the gradients of several samples in one walk: each gradient has one
// axis more than the forward's tensor, in front, with one place for each sample. A derivative that
// takes batches gets them as they are and sets gradients that have that axis too. Elementwise
// derivatives need nothing for that, because broadcasting leaves a further axis in front alone;
// others ask lead() and batched(). What does not take batches runs once for each sample.
class Backward {
 public:
  Backward(Node& node, std::span<Tensor> grads, std::span<Tensor> results, uint64_t needs,
           int64_t samples = kNoBatch) noexcept
      : node_(&node), grads_(grads), results_(results), needs_(needs), samples_(samples) {}
  // For forward mode. `node` may be null if `use` has what the derivative saves.
  Backward(Node* node, const ForwardUse& use, std::span<Tensor> grads, std::span<Tensor> results,
           uint64_t needs) noexcept
      : node_(node), use_(&use), grads_(grads), results_(results), needs_(needs) {}
  Backward(const Backward&) = delete;
  Backward& operator=(const Backward&) = delete;

  // Defined in nodes with one output; undefined in others when that output was not used.
  [[nodiscard]] const Tensor& grad(size_t k = 0) const noexcept { return grads_[k]; }
  // As grad, but zeros in place of undefined.
  [[nodiscard]] Tensor grad_or_zeros(size_t k) const;
  // Moves the gradient out, so that the receiver can be the only owner of its memory.
  [[nodiscard]] Tensor take_grad(size_t k = 0) noexcept { return std::move(grads_[k]); }
  // Whether the gradient of input i is needed.
  [[nodiscard]] bool needs(size_t i) const noexcept {
    return i < 64 ? ((needs_ >> i) & 1U) != 0 : needs_late(i);
  }
  // The engine sums a gradient of the broadcast shape to the input's shape and casts another dtype.
  // Setting a gradient that is not needed does nothing.
  void set(size_t i, Tensor grad) noexcept { results_[i] = std::move(grad); }
  // Item i of the list of saves; checked against in-place writes.
  [[nodiscard]] Tensor saved(size_t i) const;
  // False when the backward is not itself recorded, for a backward or for forward mode: a fused
  // kernel may stand in.
  [[nodiscard]] bool create_graph() const noexcept;

  // The number of samples of a batched backward.
  static constexpr int64_t kNoBatch = -1;
  [[nodiscard]] int64_t samples() const noexcept { return samples_; }
  // How many axes gradients have before those of the forward: 0, or 1 in a batched backward.
  [[nodiscard]] int64_t lead() const noexcept { return samples_ == kNoBatch ? 0 : 1; }
  // The sizes of a gradient for a tensor of the forward.
  [[nodiscard]] Dims batched(DimsView sizes) const;

  [[nodiscard]] size_t grad_count() const noexcept { return grads_.size(); }
  [[nodiscard]] size_t result_count() const noexcept { return results_.size(); }
  [[nodiscard]] uint64_t needs_mask() const noexcept { return needs_; }
  // Not where forward mode uses the derivative of an op that makes no node.
  [[nodiscard]] Node& node() const noexcept { return *node_; }
  [[nodiscard]] std::span<Tensor> grads() const noexcept { return grads_; }
  [[nodiscard]] std::span<Tensor> results() const noexcept { return results_; }

 private:
  [[nodiscard]] bool needs_late(size_t i) const noexcept;

  Node* node_;
  const ForwardUse* use_ = nullptr;
  std::span<Tensor> grads_;
  std::span<Tensor> results_;
  uint64_t needs_;
  int64_t samples_ = kNoBatch;
};

// A derivative that takes batches: record(..., TakesBatches{[](Backward& ctx) {...}}).
template <class F>
struct TakesBatches {
  F derivative;
  void operator()(Backward& ctx) const { derivative(ctx); }
};
template <class F>
TakesBatches(F) -> TakesBatches<F>;

template <class F>
inline constexpr bool kTakesBatches = false;
template <class F>
inline constexpr bool kTakesBatches<TakesBatches<F>> = true;

// The node of an op: the derivative is a callable `void(Backward&)` that holds its attributes by
// value.
template <class F>
class LambdaNode final : public Node {
 public:
  LambdaNode(const char* name, F derivative) : Node(name), derivative_(std::move(derivative)) {}
  void apply(Backward& ctx) override { derivative_(ctx); }
  [[nodiscard]] bool takes_batches() const noexcept override { return kTakesBatches<F>; }

 private:
  F derivative_;
};

}  // namespace tsr
