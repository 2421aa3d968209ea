// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// owns_alone: whether a tensor's memory may be reused because nobody else can see it.
#pragma once

#include "autograd/tensor_record.h"

namespace tsr {

// True if nothing else refers to the tensor's memory and the memory came from our allocator. Also
// true for a view if the view is the only owner of its base, the other user of the memory. (The
// base may have got other memory; then somebody else is the other user.)
inline bool owns_alone(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  const Storage& storage = *impl->storage;
  if (impl->refs.load(std::memory_order_acquire) != 1 || storage.foreign) return false;
  const uint32_t users = storage.refs.load(std::memory_order_acquire);
  if (users == 1) return true;
  if (users != 2 || !tensor.has(kViewFlag)) return false;
  const TensorRecord& record = *record_of(tensor);
  return looks_into_base(tensor, record) &&
         record.base.impl()->refs.load(std::memory_order_acquire) == 1;
}

}  // namespace tsr
