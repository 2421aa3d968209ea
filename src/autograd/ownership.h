// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// owns_alone: whether a tensor's memory may be reused because nobody else can see it.
#pragma once

#include "autograd/tensor_record.h"

namespace tsr {

// True when this handle is the only way to the tensor's memory, which is of our allocator. A view
// counts when its base is held by the view alone.
inline bool owns_alone(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  const Storage& storage = *impl->storage;
  if (impl->refs.load(std::memory_order_acquire) != 1 || storage.foreign) return false;
  const uint32_t users = storage.refs.load(std::memory_order_acquire);
  if (users == 1) return true;
  if (users != 2 || !tensor.has(kViewFlag)) return false;
  return record_of(tensor)->base.impl()->refs.load(std::memory_order_acquire) == 1;
}

}  // namespace tsr
