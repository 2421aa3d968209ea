// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/tensor_grad.h"

#include <mutex>

#include "autograd/hooks.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr {

void set_requires_grad(const Tensor& tensor, bool value) {
  if (!value) {
    TSR_CHECK(is_leaf(tensor), Code::kAutograd, nullptr,
              "expected a leaf, because only leaves can stop requiring grad, got the result of ",
              grad_fn(tensor)->name(), "; use detach() for a tensor without history");
    tensor.impl()->flags &= ~uint32_t{kRequiresGradFlag};
    return;
  }
  TSR_CHECK(is_differentiable(tensor.dtype()), Code::kDType, nullptr,
            "expected a floating or complex dtype, because only those can require gradients, got ",
            tensor.dtype());
  TSR_CHECK(!tensor.has(kInferenceFlag) || inference_enabled(), Code::kAutograd, nullptr,
            "expected a tensor that can require grad, got one made in inference mode");
  ensure_record(tensor);
  tensor.impl()->flags |= kRequiresGradFlag;
}

bool requires_grad(const Tensor& tensor) {
  return detail::one_needs_grad(tensor);
}

bool is_leaf(const Tensor& tensor) {
  return !grad_fn(tensor);
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
  return tensor.detached();
}

void detach_inplace(const Tensor& tensor) {
  TSR_CHECK(!tensor.has(kViewFlag), Code::kAutograd, nullptr,
            "expected a tensor that is no view, because the base of a view would still lead to its "
            "history, got a view; use detach()");
  tensor.impl()->flags &= ~uint32_t{kRequiresGradFlag};
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
  return record != nullptr && record->hooks && record->hooks->retained;
}

}  // namespace tsr
