// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks: callables that run when a gradient or a node is ready. They run in order of registration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "autograd/node.h"
#include "base/fork_mutex.h"
#include "memory/stream.h"

namespace tsr {

struct TensorRecord;

// Gets the finished gradient; a defined result takes its place.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
// Runs after a leaf's .grad was brought up to date.
using AccumulateHook = std::function<void(const Tensor& leaf)>;
// Before the node: may replace its gradients.
using PreHook = std::function<void(std::span<Tensor> grads)>;
// After the node: may replace the gradients of its inputs.
using PostHook = std::function<void(std::span<Tensor> results, std::span<const Tensor> grads)>;

// One registration. Removing it takes effect at once, also from inside a running hook; the callable
// is destroyed then, or when its last run ends.
class HookBase {
 public:
  explicit HookBase(HostData host) noexcept : host_(host) {}
  HookBase(const HookBase&) = delete;
  HookBase& operator=(const HookBase&) = delete;
  virtual ~HookBase() = default;
  void remove() noexcept;
  [[nodiscard]] bool removed() const noexcept { return (state_.load() & kRemoved) != 0; }
  // Valid until it is removed.
  [[nodiscard]] HostData host_data() const noexcept { return host_; }

 protected:
  static constexpr uint32_t kRemoved = 1;
  static constexpr uint32_t kRunning = 2;  // one unit of running calls
  virtual void drop_callable() noexcept = 0;
  // False when removed; otherwise end() must follow.
  bool begin() noexcept;
  void end() noexcept;

 private:
  std::atomic<uint32_t> state_{0};
  std::atomic<bool> dropped_{false};
  HostData host_;
};

template <class Fn>
class Hook final : public HookBase {
 public:
  Hook(Fn callable, HostData host) : HookBase(host), callable_(std::move(callable)) {}

  // Calls use(callable) unless the hook was removed.
  template <class Use>
  void run(Use&& use) {
    if (!begin()) return;
    const Running guard{*this};
    use(callable_);
  }

 private:
  struct Running {
    Hook& hook;
    ~Running() { hook.end(); }
  };
  void drop_callable() noexcept override { callable_ = nullptr; }
  Fn callable_;
};

template <class Fn>
using HookList = std::vector<std::shared_ptr<Hook<Fn>>>;

// Refers to a registration without keeping it alive.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::weak_ptr<HookBase> hook) noexcept : hook_(std::move(hook)) {}
  // Does nothing the second time, or when tensor and graph are gone.
  void remove() const noexcept {
    if (const std::shared_ptr<HookBase> hook = hook_.lock()) hook->remove();
  }
  // Whether the hook was destroyed, for example with its tensor or node.
  [[nodiscard]] bool gone() const noexcept { return hook_.expired(); }

 private:
  std::weak_ptr<HookBase> hook_;
};

// The tensor's gradient as it stands in the graph now: hooks of a non-leaf belong to its grad_fn
// and stay there when the tensor is written in place. Throws kAutograd when it does not require
// grad. The result of the hook has the gradient's shape, dtype and device; else the backward throws
// kAutograd. `host` is what the callable owns of the host language.
HookHandle add_tensor_hook(const Tensor& tensor, TensorHook hook, HostData host = {});
// Leaves only; throws kAutograd otherwise.
HookHandle add_accumulate_hook(const Tensor& leaf, AccumulateHook hook, HostData host = {});
// A node's hooks run in a backward that runs the node. What a pre hook writes must fit the node's
// outputs, else the backward throws kAutograd; where it leaves no gradient, the node does not run,
// and its inputs get none. What a post hook writes is treated as the node's own result.
HookHandle add_pre_hook(Node& node, PreHook hook, HostData host = {});
HookHandle add_post_hook(Node& node, PostHook hook, HostData host = {});

// The same by number, for languages without handles: ids are unique in the process and never
// reused. A hook of a tensor is removed through the tensor.
int64_t hook_id(const Tensor& tensor, HookHandle handle);
// False when `tensor` knows no such hook.
bool remove_hook(const Tensor& tensor, int64_t id);
// Any other hook, by its number alone. Removing does nothing when the hook is gone; false for a
// number that was never given out.
int64_t hook_id(HookHandle handle);
bool remove_hook(int64_t id);

// ---- What nodes and tensors keep; for the engine ----

// Where retain_grad stores: the tensor while it lives. Shared by the tensor and its node, so that
// neither owns the other.
struct RetainedGrad {
  SpinLock lock;
  TensorImpl* tensor = nullptr;  // null once the tensor is gone
  ForkMutex adding;              // held from reading .grad to storing the sum
};

struct NodeMetadata;
// The streams on which a node runs; see Note [Backward on streams].
class ForwardStreams {
 public:
  ForwardStreams() noexcept = default;
  explicit ForwardStreams(StreamSetPtr streams) noexcept;
  ForwardStreams(ForwardStreams&& other) noexcept = default;
  ForwardStreams& operator=(ForwardStreams&& other) noexcept {
    std::swap(streams_, other.streams_);
    return *this;
  }
  ~ForwardStreams();
  [[nodiscard]] StreamSet* get() const noexcept { return streams_.get(); }

 private:
  StreamSetPtr streams_;
};
// Whether any node in the process has streams of its own.
[[nodiscard]] bool nodes_on_streams() noexcept;
// Tells the allocator that the thread's current stream uses the memory.
void record_current_stream(const Storage& storage);

struct NodeHooks {
  struct OnOutput {
    uint32_t output;
    std::shared_ptr<Hook<TensorHook>> hook;
  };
  struct Retained {
    uint32_t output;
    std::shared_ptr<RetainedGrad> cell;
  };
  std::vector<OnOutput> tensor_hooks;
  std::vector<Retained> retained;
  HookList<PreHook> pre;
  HookList<PostHook> post;
  std::shared_ptr<NodeMetadata> metadata;  // null until the first entry, see metadata.h
  ForwardStreams streams;                  // set while building
};

struct TensorHooks {
  HookList<TensorHook> on_grad;  // leaves
  HookList<AccumulateHook> after_accumulate;
  std::shared_ptr<RetainedGrad> retained;
  std::vector<std::pair<int64_t, HookHandle>> by_id;
  // Where .grad was last accumulated; null: on the default stream. Guarded by the accumulator.
  IntrusivePtr<Stream> accumulated_on;
};
// The record's hooks, made if there are none. Once there, they stay as long as the record.
TensorHooks& ensure_hooks(TensorRecord& record);
// Null if there are none.
TensorHooks* hooks_of(TensorRecord& record);

// Stores the gradient of `tensor`, output `edge` of its node, in its .grad from now on. Does
// nothing the second time.
void add_retained_grad(const Tensor& tensor, const Edge& edge);
// The hook of retain_grad follows a tensor to its new node; nothing happens without one. Needs the
// record's lock.
void move_retained_grad(TensorRecord& record, Node& to, uint32_t output);

// Runs what is registered on the gradients that `node` is about to receive: tensor hooks, then
// retained gradients.
void run_tensor_hooks(Node& node, std::span<Tensor> grads);
// Whether that can do anything.
[[nodiscard]] bool has_tensor_hooks(const Node& node);
// The .grad of each tensor whose gradient the node retains.
[[nodiscard]] std::vector<Tensor> retained_grads(const Node& node);
void run_accumulate_hooks(const Tensor& leaf);
// Only for nodes with hooks().
void run_pre_hooks(Node& node, std::span<Tensor> grads);
[[nodiscard]] bool has_post_hooks(const Node& node);
void run_post_hooks(Node& node, std::span<Tensor> results, std::span<const Tensor> grads);

}  // namespace tsr
