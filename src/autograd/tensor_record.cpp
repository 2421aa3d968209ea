// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/tensor_record.h"

#include <mutex>
#include <utility>

#include "autograd/accumulate_grad.h"
#include "autograd/anomaly.h"
#include "autograd/copy_slices.h"
#include "autograd/forward.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "memory/small_alloc.h"

namespace tsr {

TensorRecord::TensorRecord() noexcept = default;

TensorRecord::~TensorRecord() = default;

TensorRecord* TensorRecord::make() {
  return ::new (small_allocate(sizeof(TensorRecord))) TensorRecord;
}

namespace {

struct DyingRecords {
  TensorRecord* first = nullptr;  // those that wait for the running loop
  bool running = false;
};
constinit thread_local DyingRecords t_dying;

void free_record(TensorRecord* record) noexcept {
  record->~TensorRecord();
  small_free(record, sizeof(TensorRecord));
}
// As free_record, for one that may have had cells.
void free_wide(TensorRecord* record) noexcept {
  const bool wide = record->wide;
  record->~TensorRecord();
  free_block(record, wide);
}

// Of a record that may hold the last reference to another one.
[[gnu::noinline]] void free_queued(TensorRecord* record) noexcept {
  DyingRecords& mine = t_dying;
  if (mine.running) {
    record->next_dying = std::exchange(mine.first, record);
    return;
  }
  mine.running = true;
  while (record != nullptr) {
    free_wide(record);
    record = mine.first;
    if (record != nullptr) mine.first = record->next_dying;
  }
  mine.running = false;
}

// The tensor itself does not wait, so its node must forget it before.
[[gnu::noinline, gnu::cold]] void free_with_hooks(TensorRecord* record) noexcept {
  if (RetainedGrad* cell = record->hooks->retained.get()) {
    const std::lock_guard guard(cell->lock);
    cell->tensor = nullptr;
  }
  if (record->cells.load(std::memory_order_acquire) != nullptr) drop_cells(*record);
  free_queued(record);
}

}  // namespace

// A record may hold the last reference to another record (a gradient of a gradient, or a hook that
// owns another tensor). Such records are queued instead of being freed recursively inside the
// destructor.
void TensorRecord::operator delete(TensorRecord* record, std::destroying_delete_t) noexcept {
  if (record->hooks) [[unlikely]]
    return free_with_hooks(record);
  if (record->cells.load(std::memory_order_acquire) != nullptr) [[unlikely]] {
    drop_cells(*record);
    if (record->grad.defined() || record->base.defined()) return free_queued(record);
    return free_wide(record);
  }
  if (!record->grad.defined() && !record->base.defined()) return free_record(record);
  free_queued(record);
}

TensorRecord& ensure_record(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl->autograd == nullptr) impl->autograd = TensorRecord::make();
  return *static_cast<TensorRecord*>(impl->autograd);
}

namespace {

// As set_history for a tensor that others may be reading. The old node goes after the lock.
void replace_history(const Tensor& tensor, TensorRecord& record, NodePtr node, uint32_t output) {
  const std::lock_guard guard(record.lock);
  move_retained_grad(record, *node, output);
  std::swap(record.grad_fn, node);
  record.output = output;
  record.generation.fetch_add(1, std::memory_order_relaxed);
  tensor.impl()->add_flags(kRequiresGradFlag);
}

}  // namespace

Edge history_of(const TensorRecord& record) {
  if (!record.grad_fn) return {};
  const std::lock_guard guard(record.lock);
  return {record.grad_fn, record.output};
}

void set_history(const Tensor& tensor, NodePtr node, uint32_t output) {
  TensorRecord& record = ensure_record(tensor);
  if (record.grad_fn) {
    const std::lock_guard guard(record.lock);
    std::swap(record.grad_fn, node);
    record.output = output;
  } else {
    record.output = output;
    record.grad_fn = std::move(node);
  }
  if (record.cells.load(std::memory_order_acquire) == nullptr) [[likely]]
    tensor.impl()->add_flags_alone(kRequiresGradFlag);
  else
    tensor.impl()->add_flags(kRequiresGradFlag);
}

void rebase_history(const Tensor& tensor, NodePtr node, uint32_t output, size_t input) {
  TensorRecord& record = ensure_record(tensor);
  if (!looks_into_base(tensor, record)) {
    replace_history(tensor, record, std::move(node), output);
    return;
  }
  const Tensor base = record.base;
  const Edge base_edge = gradient_edge(base);
  NodePtr slices =
      NodePtr::adopt(new CopySlices(base, base_edge, tensor, std::move(node), output, input));
  replace_history(base, ensure_record(base), std::move(slices), 0);
  // Its own grad_fn is stale now and made anew when somebody asks.
  tensor.impl()->add_flags(kRequiresGradFlag);
}

void refresh_view(const Tensor& view, TensorRecord& record) {
  if (!looks_into_base(view, record) || !view_is_stale(record)) return;
  NodePtr node;  // at the end the old one, which goes after the lock
  const std::lock_guard guard(record.lock);
  if (!view_is_stale(record)) return;
  const uint32_t generation = record_of(record.base)->generation.load(std::memory_order_relaxed);
  if (!record.base.requires_grad()) {
    record.generation.store(generation, std::memory_order_release);
    return;
  }
  check_view_kind(record, "its base or another view of its base was written in place");
  const NoOrigins under_lock;
  node = make_strided_node(gradient_edge(record.base), Geometry(record.base), view);
  move_retained_grad(record, *node, 0);
  std::swap(record.grad_fn, node);
  record.output = 0;
  // Last: another thread that reads the same view tests it without the lock.
  record.generation.store(generation, std::memory_order_release);
}

Edge gradient_edge(const Tensor& tensor) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return {};
  if (record->base.defined()) refresh_view(tensor, *record);
  if (Edge edge = history_of(*record); edge.node) return edge;
  if (!tensor.requires_grad()) return {};
  return {accumulator_of(tensor, *record), 0};
}

}  // namespace tsr
