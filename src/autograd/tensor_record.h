// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TensorRecord: the autograd state of one tensor, made when the tensor first needs it.
#pragma once

#include <atomic>
#include <memory>
#include <new>

#include "autograd/node.h"
#include "autograd/view.h"

namespace tsr {

class AccumulateGrad;
struct DualCell;
struct TensorHooks;

struct TensorRecord final : AutogradMeta {
  TensorRecord() noexcept;
  ~TensorRecord() override;
  static TensorRecord* make();  // to be deleted
  // Frees chains of any length (a gradient of a gradient of ..., hooks that own tensors that have
  // hooks ...) in constant stack.
  static void operator delete(TensorRecord* record, std::destroying_delete_t) noexcept;

  NodePtr grad_fn;  // null in leaves; it and output change under the lock, once they are there
  Tensor grad;      // guarded by the lock
  Tensor base;      // defined in views: the tensor at the root, never itself a view
  union {
    // Weak: it clears this when it dies. Changes, and is followed, under the lock.
    std::atomic<AccumulateGrad*> accumulator{nullptr};
    TensorRecord* next_dying;  // of records that wait to be freed, which have none
  };
  std::unique_ptr<TensorHooks> hooks;  // guarded by the lock
  uint32_t output = 0;                 // which output of grad_fn
  // In a tensor that is no view: the number of changes of its history. In a view: the number of its
  // base for which grad_fn was made; if they differ, grad_fn is stale and is made again.
  std::atomic<uint32_t> generation{0};
  // The tangents of forward mode (forward.cpp); null in views that look into their base. Whoever
  // ends the tensor reads it with acquire: null says that no end of a level still uses the tensor.
  std::atomic<DualCell*> cells{nullptr};
  mutable SpinLock lock;
  ViewKind view_kind = ViewKind::kNormal;
  bool wide = false;  // a cell stands behind it in the same block, in `cells` for good
};

inline TensorRecord* record_of(const Tensor& tensor) noexcept {
  return static_cast<TensorRecord*>(tensor.impl()->autograd);
}
// Needs exclusive access to the tensor, as any change of its autograd state does.
TensorRecord& ensure_record(const Tensor& tensor);

// Node and output number, read together; a null node in leaves. Memory-safe even while another
// thread writes the tensor in place: wrappers of safe languages rely on it.
Edge history_of(const TensorRecord& record);
// Makes `tensor` output `output` of `node`.
void set_history(const Tensor& tensor, NodePtr node, uint32_t output);
// As set_history, for a tensor that was written in place: its retain_grad moves to the new node.
void rebase_history(const Tensor& tensor, NodePtr node, uint32_t output, size_t input);
// Whether the tensor is a view and its base still uses the memory that the view shows. An out= form
// may have given the base other memory; the view is then an ordinary tensor.
inline bool looks_into_base(const Tensor& tensor, const TensorRecord& record) noexcept {
  return record.base.defined() && record.base.storage() == tensor.storage();
}
// Whether the grad_fn of a view is older than the last write to its base. If not, the caller sees
// the grad_fn that refresh_view has set, maybe on another thread.
inline bool view_is_stale(const TensorRecord& view) noexcept {
  const TensorRecord* base = record_of(view.base);
  return base != nullptr && base->generation.load(std::memory_order_relaxed) !=
                                view.generation.load(std::memory_order_acquire);
}
// Brings the grad_fn of a view up to date with its base. Throws kAutograd for an ambiguous view.
// The first of several threads that read the view does it, so it leaves the view's flags alone,
// which the others read without a lock: a view has a history also if kRequiresGradFlag is not set.
void refresh_view(const Tensor& view, TensorRecord& record);
// Whether the view requires grad, after refresh_view.
inline bool refreshed_view_needs_grad(const Tensor& view, const TensorRecord& record) noexcept {
  return view.requires_grad() || record.grad_fn;
}

// Throws kAutograd unless the view is of kind kNormal; `event` says what happened to it.
void check_view_kind(const TensorRecord& record, const char* event);

// Where the gradient of `tensor` goes; a null node if it needs none. Makes the accumulator of a
// leaf.
Edge gradient_edge(const Tensor& tensor);

}  // namespace tsr
