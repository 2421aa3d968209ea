// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/tensor_grad.h"

#include <mutex>

#include "autograd/forward.h"
#include "autograd/hooks.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr {
namespace {

bool fits(const Tensor& value, const Tensor& other) {
  return value.dtype() == other.dtype() && value.device() == other.device() &&
         value.sizes() == other.sizes();
}

void check_new_data(const Tensor& tensor, const Tensor& data) {
  // With its own memory in another layout a view remains what it was: its history is made of its
  // layout when it is needed.
  const bool same_memory = data.storage() == tensor.storage() && data.dtype() == tensor.dtype();
  TSR_CHECK(
      !tensor.has(kViewFlag) || same_memory, Code::kAutograd, "tensor",
      "expected a tensor that is no view, or data on the memory of the tensor, because a view "
      "has the memory of its base, got a view");
  TSR_CHECK(is_leaf(tensor), Code::kAutograd, "tensor",
            "expected a leaf, because the history of a result speaks of its memory, got the result "
            "of ",
            grad_fn(tensor)->name());
  TSR_CHECK(!tensor.requires_grad() || is_differentiable(data.dtype()), Code::kDType, "data",
            "expected a floating or complex dtype for a tensor that requires grad, got ",
            data.dtype());
  TSR_CHECK(tensor.has(kInferenceFlag) == data.has(kInferenceFlag), Code::kAutograd, "data",
            "expected two tensors made in inference mode, or none, got one");
  const Tensor grad = grad_of(tensor);
  TSR_CHECK(!grad.defined() || fits(grad, data), Code::kAutograd, "data",
            "expected data that the gradient of the tensor fits, ", grad.dtype(), " ", grad.sizes(),
            " on ", grad.device(), ", got ", data.dtype(), " ", data.sizes(), " on ", data.device(),
            "; clear the gradient first");
}

// A graph made from now on needs an accumulator that knows what the leaf is now.
void forget_accumulator(const Tensor& tensor) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return;
  const std::lock_guard guard(record->lock);
  record->accumulator.store(nullptr, std::memory_order_relaxed);
}

}  // namespace

void set_requires_grad(const Tensor& tensor, bool value) {
  if (!value) {
    TSR_CHECK(is_leaf(tensor), Code::kAutograd, nullptr,
              "expected a leaf, because only leaves can stop requiring grad, got the result of ",
              grad_fn(tensor)->name(), "; detach gives a tensor without history");
    tensor.impl()->drop_flags(kRequiresGradFlag);
    return;
  }
  TSR_CHECK(is_differentiable(tensor.dtype()), Code::kDType, nullptr,
            "expected a floating or complex dtype, because only those can require gradients, got ",
            tensor.dtype());
  TSR_CHECK(!tensor.has(kInferenceFlag) || inference_enabled(), Code::kAutograd, nullptr,
            "expected a tensor that can require grad, got one made in inference mode");
  ensure_record(tensor);
  tensor.impl()->add_flags(kRequiresGradFlag);
}

namespace {

// Without the history of its own that the first use of the view will give it.
bool takes_part_through_base(const Tensor& tensor, const TensorRecord& record) noexcept {
  return looks_into_base(tensor, record) && view_is_stale(record) && record.base.requires_grad();
}

}  // namespace

bool requires_grad(const Tensor& tensor) noexcept {
  if (!tensor.defined() || tensor.requires_grad()) return tensor.defined();
  if (!tensor.has(kViewFlag)) return false;
  const TensorRecord& record = *record_of(tensor);
  return takes_part_through_base(tensor, record) || record.grad_fn;
}

bool is_leaf(const Tensor& tensor) noexcept {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return true;
  if (takes_part_through_base(tensor, *record)) return false;
  return !history_of(*record).node;
}

Tensor grad_of(const Tensor& tensor) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return {};
  const std::lock_guard guard(record->lock);
  return record->grad;
}

void set_grad(const Tensor& tensor, const Tensor& value) {
  if (value.defined()) {
    TSR_CHECK(!value.is_same(tensor), Code::kAutograd, "grad",
              "expected another tensor, got the tensor itself as its own gradient");
    TSR_CHECK(value.dtype() == tensor.dtype(), Code::kDType, "grad",
              "expected a gradient of the tensor's type ", tensor.dtype(), ", got ", value.dtype());
    TSR_CHECK(value.device() == tensor.device(), Code::kDevice, "grad",
              "expected a gradient on the tensor's device ", tensor.device(), ", got one on ",
              value.device());
    TSR_CHECK(value.sizes() == tensor.sizes(), Code::kShape, "grad",
              "expected a gradient of the tensor's size ", tensor.sizes(), ", got ", value.sizes());
  } else if (record_of(tensor) == nullptr) {
    return;
  }
  TensorRecord& record = ensure_record(tensor);
  Tensor old = value;  // freed after the lock is given up
  const std::lock_guard guard(record.lock);
  std::swap(record.grad, old);
}

void set_data(const Tensor& tensor, const Tensor& data) {
  check_new_data(tensor, data);
  if (tensor.is_same(data)) return;
  TSR_CHECK(!has_tangent(tensor), Code::kAutograd, "tensor",
            "expected a tensor without tangent, because a tangent speaks of the data before, got a "
            "dual tensor");
  if (!fits(tensor, data)) forget_accumulator(tensor);
  const uint32_t before = tensor.version();
  TensorImpl& impl = *tensor.impl();
  impl.set_layout(data.sizes(), data.strides(), data.offset());
  impl.dtype = data.dtype();
  impl.device = data.device();
  impl.storage = data.storage();
  // Above both counts: what was saved of either memory is no longer what it was.
  std::atomic<uint32_t>& version = impl.storage->version;
  if (version.load(std::memory_order_relaxed) <= before) {
    version.store(before, std::memory_order_relaxed);
  }
  version.fetch_add(1, std::memory_order_relaxed);
}

NodePtr grad_fn(const Tensor& tensor) {
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return {};
  if (record->base.defined()) refresh_view(tensor, *record);
  return history_of(*record).node;
}

uint32_t output_number(const Tensor& tensor) {
  return grad_fn(tensor) ? record_of(tensor)->output : 0;
}

Tensor detach(const Tensor& tensor) {
  return detached_dual(tensor);
}

void detach_inplace(const Tensor& tensor) {
  TSR_CHECK(!tensor.has(kViewFlag), Code::kAutograd, nullptr,
            "expected a tensor that is no view, because the base of a view would still lead to its "
            "history, got a view; detach gives a tensor without history");
  tensor.impl()->drop_flags(kRequiresGradFlag);
  TensorRecord* record = record_of(tensor);
  if (record == nullptr) return;
  NodePtr old;  // freed after the lock is given up
  const std::lock_guard guard(record->lock);
  std::swap(record->grad_fn, old);
  record->output = 0;
}

void retain_grad(const Tensor& tensor) {
  TSR_CHECK(requires_grad(tensor), Code::kAutograd, nullptr,
            "expected a tensor that requires grad, got one that does not");
  if (is_leaf(tensor) || retains_grad(tensor)) return;
  add_retained_grad(tensor, gradient_edge(tensor));
}

bool retains_grad(const Tensor& tensor) {
  const TensorRecord* record = record_of(tensor);
  if (record == nullptr) return false;
  const std::lock_guard guard(record->lock);
  return record->hooks && record->hooks->retained;
}

}  // namespace tsr
