// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/hooks.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "autograd/accumulate_grad.h"
#include "autograd/gradient_ops.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "kernel/kept_launch.h"

namespace tsr {
namespace {

std::atomic<int64_t> g_next_hook_id{1};

TensorRecord& record_that_needs_grad(const Tensor& tensor) {
  TSR_CHECK(detail::one_needs_grad(tensor), Code::kAutograd, nullptr,
            "expected a tensor that requires grad to register a hook on, got one that does not");
  return *record_of(tensor);
}

template <class Fn>
std::shared_ptr<Hook<Fn>> append(HookList<Fn>& list, Fn callable, HostData host, SpinLock& lock) {
  auto hook = std::make_shared<Hook<Fn>>(std::move(callable), host);
  const std::lock_guard guard(lock);
  std::erase_if(list, [](const auto& old) { return old->removed(); });
  list.push_back(hook);
  return hook;
}

template <class Fn>
bool is_removed(const std::shared_ptr<Hook<Fn>>& hook) {
  return hook->removed();
}
bool is_removed(const NodeHooks::OnOutput& entry) {
  return entry.hook->removed();
}
bool is_removed(const NodeHooks::Retained& /*entry*/) {
  return false;
}

// What is to run now. Removed hooks leave the list, so that they cost nothing from then on.
template <class List>
List copy_of(List& list, SpinLock& lock) {
  const std::lock_guard guard(lock);
  std::erase_if(list, [](const auto& entry) { return is_removed(entry); });
  return list;
}

// A hook changes the value of a gradient and nothing else: a cast would hide its author's mistake.
void check_replacement(const Tensor& replacement, const Dims& sizes, DType dtype, Device device,
                       const char* who) {
  TSR_CHECK(replacement.sizes() == sizes, Code::kAutograd, nullptr, "expected ", who,
            " to return a gradient of shape ", sizes, ", got shape ", replacement.sizes());
  TSR_CHECK(replacement.dtype() == dtype, Code::kAutograd, nullptr, "expected ", who,
            " to return a gradient of dtype ", dtype, ", got ", replacement.dtype());
  TSR_CHECK(replacement.device() == device, Code::kAutograd, nullptr, "expected ", who,
            " to return a gradient on ", device, ", got one on ", replacement.device());
}

void apply_hook(Hook<TensorHook>& hook, Tensor& grad) {
  hook.run([&](const TensorHook& callable) {
    Tensor replacement = callable(grad);
    if (!replacement.defined()) return;
    check_replacement(replacement, grad.sizes(), grad.dtype(), grad.device(), "a tensor hook");
    grad = std::move(replacement);
  });
}

void apply_pre_hook(const Node& node, Hook<PreHook>& hook, std::span<Tensor> grads) {
  hook.run([&](const PreHook& callable) {
    const std::vector<Tensor> before(grads.begin(), grads.end());
    callable(grads);
    for (size_t k = 0; k < grads.size() && k < node.outputs().size(); ++k) {
      const OutputMeta& meta = node.outputs()[k];
      if (!grads[k].defined() || grads[k].is_same(before[k])) continue;
      check_replacement(grads[k], meta.sizes, meta.dtype, meta.device, "a pre hook");
    }
  });
}

// Undefined once the tensor is gone.
Tensor tensor_of(RetainedGrad& cell) {
  const std::lock_guard guard(cell.lock);
  if (cell.tensor == nullptr || !try_retain(cell.tensor)) return {};
  return Tensor::adopt(cell.tensor);
}

void store_retained(RetainedGrad& cell, const Tensor& grad) {
  const Tensor tensor = tensor_of(cell);
  if (!tensor.defined()) return;
  TensorRecord& record = *record_of(tensor);
  const GradientOps& ops = gradient_ops();
  const std::lock_guard adding(cell.adding);  // backwards of several threads add up
  const Tensor sum = grad_of(tensor);
  Tensor value = sum.defined() ? ops.add(sum, grad) : ops.clone(grad);
  const std::lock_guard guard(record.lock);
  std::swap(record.grad, value);
}

void run_leaf_hooks(const AccumulateGrad& node, Tensor& grad) {
  TensorRecord& record = *record_of(node.leaf());
  const bool wanted = grad.defined() && node.leaf().requires_grad();
  TensorHooks* hooks = wanted ? hooks_of(record) : nullptr;
  if (hooks == nullptr) return;
  for (const auto& hook : copy_of(hooks->on_grad, record.lock)) apply_hook(*hook, grad);
}

}  // namespace

bool HookBase::begin() noexcept {
  kernel::note_host_decision("a hook");
  if ((state_.fetch_add(kRunning) & kRemoved) == 0) return true;
  end();
  return false;
}

void HookBase::end() noexcept {
  const bool last = state_.fetch_sub(kRunning) == (kRunning | kRemoved);
  if (last && !dropped_.exchange(true)) drop_callable();
}

void HookBase::remove() noexcept {
  const uint32_t before = state_.fetch_or(kRemoved);
  if (before == 0 && !dropped_.exchange(true)) drop_callable();
}

HookHandle add_tensor_hook(const Tensor& tensor, TensorHook hook, HostData host) {
  TensorRecord& record = record_that_needs_grad(tensor);
  const Edge edge = gradient_edge(tensor);
  if (edge.node->is_accumulator()) {
    return HookHandle(append(ensure_hooks(record).on_grad, std::move(hook), host, record.lock));
  }
  auto entry = std::make_shared<Hook<TensorHook>>(std::move(hook), host);
  NodeHooks& hooks = edge.node->ensure_hooks();
  const std::lock_guard guard(edge.node->lock());
  std::erase_if(hooks.tensor_hooks, [](const auto& old) { return old.hook->removed(); });
  hooks.tensor_hooks.push_back({edge.output, entry});
  return HookHandle(entry);
}

HookHandle add_accumulate_hook(const Tensor& leaf, AccumulateHook hook, HostData host) {
  TensorRecord& record = record_that_needs_grad(leaf);
  TSR_CHECK(gradient_edge(leaf).node->is_accumulator(), Code::kAutograd, nullptr,
            "expected a leaf, because only leaves accumulate gradients, got the result of ",
            gradient_edge(leaf).node->name());
  return HookHandle(
      append(ensure_hooks(record).after_accumulate, std::move(hook), host, record.lock));
}

HookHandle add_pre_hook(Node& node, PreHook hook, HostData host) {
  return HookHandle(append(node.ensure_hooks().pre, std::move(hook), host, node.lock()));
}
HookHandle add_post_hook(Node& node, PostHook hook, HostData host) {
  return HookHandle(append(node.ensure_hooks().post, std::move(hook), host, node.lock()));
}

namespace {

int64_t next_hook_id() noexcept {
  return g_next_hook_id.fetch_add(1, std::memory_order_relaxed);
}

// Hooks by number. Those that went with their nodes are taken out when the table has doubled.
struct HookTable {
  GuardedMutex mutex;
  std::unordered_map<int64_t, HookHandle> hooks;
  size_t sweep_at = 64;
};
HookTable& hook_table() {
  return immortal<HookTable>();
}

}  // namespace

int64_t hook_id(const Tensor& tensor, HookHandle handle) {
  TensorRecord& record = ensure_record(tensor);
  const int64_t id = next_hook_id();
  TensorHooks& hooks = ensure_hooks(record);
  const std::lock_guard guard(record.lock);
  hooks.by_id.emplace_back(id, std::move(handle));
  return id;
}

bool remove_hook(const Tensor& tensor, int64_t id) {
  TensorRecord* record = record_of(tensor);
  TensorHooks* hooks = record == nullptr ? nullptr : hooks_of(*record);
  if (hooks == nullptr) return false;
  HookHandle handle;
  {
    const std::lock_guard guard(record->lock);
    auto& by_id = hooks->by_id;
    const auto found = std::find_if(by_id.begin(), by_id.end(),
                                    [&](const auto& entry) { return entry.first == id; });
    if (found == by_id.end()) return false;
    handle = found->second;
    by_id.erase(found);
  }
  handle.remove();
  return true;
}

int64_t hook_id(HookHandle handle) {
  const int64_t id = next_hook_id();
  HookTable& table = hook_table();
  const std::lock_guard guard(table.mutex);
  if (table.hooks.size() >= table.sweep_at) {
    std::erase_if(table.hooks, [](const auto& entry) { return entry.second.gone(); });
    table.sweep_at = std::max<size_t>(64, 2 * table.hooks.size());
  }
  table.hooks.emplace(id, std::move(handle));
  return id;
}

bool remove_hook(int64_t id) {
  HookHandle handle;
  {
    HookTable& table = hook_table();
    const std::lock_guard guard(table.mutex);
    const auto found = table.hooks.find(id);
    if (found != table.hooks.end()) {
      handle = found->second;
      table.hooks.erase(found);
    }
  }
  handle.remove();
  return id > 0 && id < g_next_hook_id.load(std::memory_order_relaxed);
}

void add_retained_grad(const Tensor& tensor, const Edge& edge) {
  auto cell = std::make_shared<RetainedGrad>();
  cell->tensor = tensor.impl();
  tensor.impl()->add_flags(kWeakFlag);
  TensorRecord& record = *record_of(tensor);
  TensorHooks& own = ensure_hooks(record);
  NodeHooks& hooks = edge.node->ensure_hooks();
  const std::lock_guard guard(record.lock);
  if (own.retained) return;
  const std::lock_guard node_guard(edge.node->lock());
  hooks.retained.push_back({edge.output, cell});
  own.retained = std::move(cell);
}

void move_retained_grad(TensorRecord& record, Node& to, uint32_t output) {
  if (!record.hooks || !record.hooks->retained) return;
  const std::shared_ptr<RetainedGrad>& cell = record.hooks->retained;
  to.ensure_hooks().retained.push_back({output, cell});  // first, because it may throw
  if (!record.grad_fn || record.grad_fn->hooks() == nullptr) return;
  const std::lock_guard guard(record.grad_fn->lock());
  std::erase_if(record.grad_fn->hooks()->retained,
                [&](const auto& entry) { return entry.cell == cell; });
}

// A pointer to the hooks needs no lock, what they hold does.
TensorHooks& ensure_hooks(TensorRecord& record) {
  auto fresh = std::make_unique<TensorHooks>();
  const std::lock_guard guard(record.lock);
  if (!record.hooks) record.hooks = std::move(fresh);
  return *record.hooks;
}

TensorHooks* hooks_of(TensorRecord& record) {
  const std::lock_guard guard(record.lock);
  return record.hooks.get();
}

void run_tensor_hooks(Node& node, std::span<Tensor> grads) {
  if (node.is_accumulator()) run_leaf_hooks(static_cast<AccumulateGrad&>(node), grads[0]);
  NodeHooks* hooks = node.hooks();
  if (hooks == nullptr) return;
  for (const auto& entry : copy_of(hooks->tensor_hooks, node.lock())) {
    if (grads[entry.output].defined()) apply_hook(*entry.hook, grads[entry.output]);
  }
  for (const auto& entry : copy_of(hooks->retained, node.lock())) {
    if (grads[entry.output].defined()) store_retained(*entry.cell, grads[entry.output]);
  }
}

bool has_tensor_hooks(const Node& node) {
  if (node.hooks() != nullptr) return true;
  if (!node.is_accumulator()) return false;
  return hooks_of(*record_of(static_cast<const AccumulateGrad&>(node).leaf())) != nullptr;
}

std::vector<Tensor> retained_grads(const Node& node) {
  std::vector<Tensor> found;
  NodeHooks* hooks = node.hooks();
  if (hooks == nullptr) return found;
  for (const auto& entry : copy_of(hooks->retained, node.lock())) {
    if (const Tensor tensor = tensor_of(*entry.cell); tensor.defined()) {
      found.push_back(grad_of(tensor));
    }
  }
  return found;
}

void run_pre_hooks(Node& node, std::span<Tensor> grads) {
  for (const auto& hook : copy_of(node.hooks()->pre, node.lock())) {
    apply_pre_hook(node, *hook, grads);
  }
}

bool has_post_hooks(const Node& node) {
  const std::lock_guard guard(node.lock());
  return !node.hooks()->post.empty();
}

void run_post_hooks(Node& node, std::span<Tensor> results, std::span<const Tensor> grads) {
  for (const auto& hook : copy_of(node.hooks()->post, node.lock())) {
    hook->run([&](const PostHook& callable) { callable(results, grads); });
  }
}

void run_accumulate_hooks(const Tensor& leaf) {
  TensorRecord& record = *record_of(leaf);
  TensorHooks* hooks = hooks_of(record);
  if (hooks == nullptr) return;
  for (const auto& hook : copy_of(hooks->after_accumulate, record.lock)) {
    hook->run([&](const AccumulateHook& callable) { callable(leaf); });
  }
}

}  // namespace tsr
