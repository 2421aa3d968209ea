// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/accumulate_grad.h"

#include "autograd/backward_streams.h"
#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/hooks.h"
#include "autograd/ownership.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr {
namespace {

// A gradient has its leaf's strides when those are dense, and is row-major otherwise.
bool has_layout_for(const Tensor& grad, const Tensor& leaf) {
  if (grad.is_contiguous() && leaf.is_contiguous()) return true;
  if (!is_dense(leaf.sizes(), leaf.strides())) return grad.is_contiguous();
  return grad.strides() == leaf.strides();
}

// Whether .grad may be this tensor itself: nobody else owns it, it fills its storage, and it has no
// history and no tangent.
bool may_take(const Tensor& grad, const Tensor& leaf) {
  return !requires_grad(grad) && !needs_grad(grad) && owns_alone(grad) &&
         static_cast<uint64_t>(grad.nbytes()) == grad.storage()->nbytes &&
         has_layout_for(grad, leaf);
}

Tensor copy_for(const Tensor& grad, const Tensor& leaf) {
  if (leaf.is_contiguous() || !is_dense(leaf.sizes(), leaf.strides())) {
    return gradient_ops().clone(grad);
  }
  const Dims strides = dense_strides_like(leaf.sizes(), leaf.strides());
  Tensor copy = empty_strided(leaf.sizes(), strides, leaf.dtype(), leaf.device());
  gradient_ops().copy_into(copy, grad);
  return copy;
}

// A graph made before set_data may bring a gradient of another dtype, or one that does not fit.
Tensor fit_to(Tensor grad, const Tensor& leaf) {
  if (grad.sizes() == leaf.sizes() && grad.device() == leaf.device()) {
    if (grad.dtype() == leaf.dtype()) return grad;
    return gradient_ops().cast(grad, leaf.dtype());
  }
  fail(Code::kAutograd, nullptr, __FILE__, __LINE__, "expected a gradient of shape ", leaf.sizes(),
       " on ", leaf.device(), ", got one of shape ", grad.sizes(), " on ", grad.device(),
       ": the leaf was given other data after the forward");
}

void store(TensorRecord& record, Tensor value) {
  const std::lock_guard guard(record.lock);
  std::swap(record.grad, value);
}

// Backwards of several threads may accumulate on streams of their own: the second waits for the
// first.
void follow_last_accumulation(TensorRecord& record, const Tensor& leaf) {
  const Device device = leaf.device();
  TensorHooks* hooks = hooks_of(record);
  IntrusivePtr<Stream> now = current_stream_object(device);
  const IntrusivePtr<Stream> last = hooks == nullptr ? nullptr : hooks->accumulated_on;
  const auto native = [](const IntrusivePtr<Stream>& stream) {
    return stream ? stream->native() : nullptr;
  };
  if (native(now) == native(last)) return;
  if (const Tensor sum = grad_of(leaf); sum.defined()) {
    wait_for(now, last, device);
    record_current_stream(*sum.storage());
  }
  if (hooks == nullptr) hooks = &ensure_hooks(record);
  hooks->accumulated_on = std::move(now);
}

}  // namespace

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node("AccumulateGrad"), leaf_(leaf) {
  set_sequence(kFirst);
  add_output(leaf, true);
}

AccumulateGrad::~AccumulateGrad() {
  TensorRecord& record = *record_of(leaf_);
  const std::lock_guard guard(record.lock);
  if (record.accumulator.load(std::memory_order_relaxed) == this) {
    record.accumulator.store(nullptr, std::memory_order_relaxed);
  }
}

void AccumulateGrad::apply(Backward& ctx) {
  Tensor grad = ctx.take_grad();
  if (!grad.defined() || !leaf_.requires_grad()) return;
  grad = fit_to(std::move(grad), leaf_);
  TensorRecord& record = *record_of(leaf_);
  {
    const std::lock_guard guard(mutex_);
    if (!leaf_.device().is_cpu()) [[unlikely]]
      follow_last_accumulation(record, leaf_);
    accumulate(record, std::move(grad));
  }
  run_accumulate_hooks(leaf_);
}

void AccumulateGrad::accumulate(TensorRecord& record, Tensor grad) {
  // A reference of its own: another thread may clear or replace .grad meanwhile.
  const Tensor sum = grad_of(leaf_);
  if (!sum.defined()) {
    if (may_take(grad, leaf_)) {
      store(record, grad.has(kViewFlag) ? grad.detached() : std::move(grad));
    } else {
      store(record, copy_for(grad, leaf_));
    }
  } else if (recording_enabled()) {
    store(record, gradient_ops().add(sum, grad));
  } else {
    gradient_ops().add_inplace(sum, grad);
  }
}

namespace {

// Needs the lock.
NodePtr retained_accumulator(TensorRecord& record) noexcept {
  AccumulateGrad* found = record.accumulator.load(std::memory_order_relaxed);
  return found != nullptr && try_retain(found) ? NodePtr::adopt(found) : NodePtr();
}

}  // namespace

NodePtr existing_accumulator(TensorRecord& record) noexcept {
  // Null is the usual answer at the first op of a step, and needs no lock.
  if (record.accumulator.load(std::memory_order_relaxed) == nullptr) return {};
  const std::lock_guard guard(record.lock);
  return retained_accumulator(record);
}

NodePtr accumulator_of(const Tensor& leaf, TensorRecord& record) {
  if (NodePtr existing = existing_accumulator(record)) return existing;
  auto fresh = IntrusivePtr<AccumulateGrad>::adopt(new AccumulateGrad(leaf));
  const std::lock_guard guard(record.lock);
  // Another thread may have made it meanwhile.
  if (NodePtr existing = retained_accumulator(record)) return existing;
  record.accumulator.store(fresh.get(), std::memory_order_relaxed);
  return fresh;
}

}  // namespace tsr
