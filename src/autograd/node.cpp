// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/node.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "autograd/anomaly.h"
#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/thread_exit.h"
#include "memory/quarantine.h"
#include "memory/stream.h"

namespace tsr {
namespace {

// Per-thread counts, so that making a node touches no shared cache line. Only the owning thread
// writes `live`; live_nodes() adds all of them up.
struct ThreadCounts {
  std::atomic<int64_t> live{0};
  uint64_t next_sequence = 0;
  Node* pending = nullptr;  // nodes that wait for the running destroy
  bool destroying = false;
  bool registered = false;
  bool watched = false;  // see watch_new_nodes
  bool plain = false;    // registered and not watched: nothing else to do for a node
};
constinit thread_local ThreadCounts t_counts;

struct Registry {
  GuardedMutex mutex;
  std::unordered_set<const ThreadCounts*> threads;
  std::atomic<int64_t> of_exited_threads{0};
};
Registry& registry() {
  return immortal<Registry>();
}

void leave_registry() noexcept {
  const std::lock_guard guard(registry().mutex);
  registry().threads.erase(&t_counts);
  registry().of_exited_threads += t_counts.live.exchange(0);
  t_counts.registered = false;
  t_counts.plain = false;
}

void count_here(int64_t change) noexcept {
  t_counts.live.store(t_counts.live.load(std::memory_order_relaxed) + change,
                      std::memory_order_relaxed);
}

// Adds this thread's counter to the registry. If there is no memory for that, counts this change in
// the counter that all threads share; the next change tries again.
void count_first(int64_t change) noexcept {
  if (!at_thread_exit(ThreadPart::kNodeCounts, leave_registry)) {
    registry().of_exited_threads += change;
    return;
  }
  const std::lock_guard guard(registry().mutex);
  try {
    registry().threads.insert(&t_counts);
  } catch (...) {
    registry().of_exited_threads += change;
    return;
  }
  t_counts.registered = true;
  t_counts.plain = !t_counts.watched;
  t_counts.live += change;
}

// `made` is the node that is being made, or null.
[[gnu::noinline, gnu::cold]] void count_slowly(int64_t change, Node* made) noexcept {
  if (t_counts.registered) {
    count_here(change);
  } else {
    count_first(change);
  }
  if (made != nullptr && t_counts.watched) note_origin(*made);
}

void count(int64_t change, Node* made) noexcept {
  if (!t_counts.plain) [[unlikely]]
    return count_slowly(change, made);
  count_here(change);
}

}  // namespace

int64_t live_nodes() noexcept {
  const std::lock_guard guard(registry().mutex);
  int64_t sum = registry().of_exited_threads.load();
  for (const ThreadCounts* counts : registry().threads) {
    sum += counts->live.load(std::memory_order_relaxed);
  }
  return sum;
}

void watch_new_nodes(bool on) noexcept {
  t_counts.watched = on;
  t_counts.plain = t_counts.registered && !on;
}

Node::Node(const char* name) noexcept
    : Object(ObjectTag::kNode), sequence_(t_counts.next_sequence++), name_(name) {
  count(+1, this);
}

Node::~Node() {
  delete hooks_.load(std::memory_order_relaxed);
  count(-1, nullptr);
  tag = ObjectTag::kDead;
}

void* Node::operator new(size_t size) {
  return small_allocate(size);
}
void Node::operator delete(void* block, size_t size) noexcept {
  free_object(block, size);
}

// Freeing a node releases the nodes it leads to. The ones whose last reference this was are queued
// here instead of being freed recursively inside the destructor.
void Node::destroy(Node* node) noexcept {
  ThreadCounts& mine = t_counts;
  if (mine.destroying) {
    node->scratch_ = mine.pending;
    mine.pending = node;
    return;
  }
  mine.destroying = true;
  while (node != nullptr) {
    // As in a backward: Note [Long chains].
    const Node* next = node->next_.empty() ? nullptr : node->next_.front().node.get();
    if (next != nullptr && !next->next_.empty()) {
      const auto* after = reinterpret_cast<const std::byte*>(next->next_.front().node.get());
      for (size_t at = 0; after != nullptr && at < sizeof(Node); at += 64) {
        __builtin_prefetch(after + at);
      }
    }
    delete node;
    node = mine.pending;
    if (node != nullptr) mine.pending = static_cast<Node*>(node->scratch_);
  }
  mine.destroying = false;
}

void Node::add_edge(Edge edge) {
  if (edge.node && edge.node->topological_ >= topological_) {
    topological_ = edge.node->topological_ + 1;
  }
  next_.emplace_back(std::move(edge));
}

void Node::add_output(const Tensor& output, bool differentiable) {
  if (!output.defined()) {
    outputs_.emplace_back();
    return;
  }
  outputs_.emplace_back(output, differentiable);
  if (!on_default_streams()) [[unlikely]]
    remember_streams(output.device());
}

// Streams are kept with the hooks, which few nodes have, so that other nodes do not grow.
void Node::remember_streams(Device output) {
  const auto on_device = [](const Edge& edge) {
    return edge.node && !edge.node->outputs()[edge.output].device.is_cpu();
  };
  if (is_accumulator()) return;  // runs on the streams of the backward's caller
  if (output.is_cpu() && std::none_of(next_.begin(), next_.end(), on_device)) return;
  NodeHooks& hooks = ensure_hooks();
  if (!hooks.streams.get()) hooks.streams = ForwardStreams(current_streams());
}

StreamSet* Node::streams() const noexcept {
  const NodeHooks* hooks = this->hooks();
  return hooks == nullptr ? nullptr : hooks->streams.get();
}

void Node::save(SavedTensor saved) {
  has_saved_ = true;
  saved_.emplace_back(std::move(saved));
}

// Needs the lock.
[[gnu::always_inline]] inline const SavedTensor& Node::saved_at(size_t index) const {
  check_not_released();
  TSR_CHECK(index < saved_.size(), Code::kIndex, nullptr, "expected the index of one of the ",
            saved_.size(), " tensors that ", name_, " saved, got ", index);
  return saved_[index];
}

Tensor Node::saved(size_t index) const {
  SavedTensor copy;
  {
    const std::lock_guard guard(lock_);
    copy = saved_at(index);
  }
  return copy.unpack(*this);
}

// The hooks run without the lock: they are code of the host.
void Node::pack_saved(size_t index, const std::shared_ptr<SavedTensorHooks>& hooks) {
  SavedTensor packed;
  {
    const std::lock_guard guard(lock_);
    packed = saved_at(index);
  }
  packed.pack_by(hooks, *this);
  const std::lock_guard guard(lock_);
  static_cast<void>(saved_at(index));
  std::swap(saved_[index], packed);
}

SavedTensor::Origin Node::saved_origin(size_t index) const {
  const std::lock_guard guard(lock_);
  return saved_at(index).origin();
}

// Needs the lock.
void Node::check_not_released() const {
  TSR_CHECK(!released_, Code::kAutograd, nullptr, "expected the tensors that ", name_,
            " saved, got a graph that a backward has used: they have already been freed; to go "
            "through the graph a second time, the first backward must retain it (retain_graph)");
}

size_t Node::saved_count() const {
  const std::lock_guard guard(lock_);
  check_not_released();
  return saved_.size();
}

void Node::record_saved_use() const {
  const std::lock_guard guard(lock_);
  for (const SavedTensor& saved : saved_) {
    if (saved.memory() != nullptr) record_current_stream(*saved.memory());
  }
}

void Node::release() noexcept {
  if (!has_saved_) return;
  SmallVector<SavedTensor, 2> old;  // freed after the lock is given up
  const std::lock_guard guard(lock_);
  released_ = true;
  old = std::move(saved_);
}

void Node::copy_output_tangents(uint32_t index, const Tensor& output) {
  for (SavedTensor& saved : saved_) saved.copy_output_tangents(index, output);
}

NodeHooks& Node::ensure_hooks() {
  NodeHooks* current = hooks();
  if (current != nullptr) return *current;
  auto fresh = std::make_unique<NodeHooks>();
  if (hooks_.compare_exchange_strong(current, fresh.get())) return *fresh.release();
  return *current;
}

Edge Node::output_edge(uint32_t index) const {
  return {NodePtr::share(const_cast<Node*>(this)), index};
}

Tensor Backward::saved(size_t i) const {
  if (use_ != nullptr && use_->saves != nullptr) [[unlikely]]
    return *use_->saves[i];
  return node_->saved(i);
}

bool Backward::create_graph() const noexcept {
  return recording_enabled();
}

Dims Backward::batched(DimsView sizes) const {
  Dims result;
  if (samples_ != kNoBatch) result.push_back(samples_);
  for (const int64_t size : sizes) result.push_back(size);
  return result;
}

bool Backward::needs_late(size_t i) const noexcept {
  if (use_ != nullptr) return use_->tangents[i].defined();
  return static_cast<bool>(node_->next_edge(i).node);
}

Tensor Backward::grad_or_zeros(size_t k) const {
  if (grads_[k].defined()) return grads_[k];
  TSR_ASSERT(node_ != nullptr, "an elementwise derivative has its gradient");
  const OutputMeta& meta = node_->outputs()[k];
  TSR_ASSERT(meta.exists, "output ", k, " of ", node_->name(), " was skipped");
  return gradient_ops().zeros(batched(meta.sizes), meta.dtype, meta.device);
}

}  // namespace tsr
