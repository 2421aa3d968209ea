// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DLPack in both directions. The structs are only declared here: include any dlpack.h for their
// fields.
#pragma once

#include <cstdint>

#include "tessera/cpp/tensor.hpp"
#include "tessera/interop.h"

namespace tessera {

// A tensor on the memory of a DLPack tensor, which is deleted when that memory is unused. If this
// function throws, the caller still owns the DLPack tensor. copy: the tensor gets its own memory.
inline Tensor from_dlpack(DLManagedTensor* managed, bool copy = false) {
  tsr_tensor out = nullptr;
  check(tsr_from_dlpack(managed, copy ? TSR_DLPACK_COPY : 0, &out));
  return Tensor::take(out);
}
inline Tensor from_dlpack(DLManagedTensorVersioned* managed, bool copy = false) {
  tsr_tensor out = nullptr;
  check(tsr_from_dlpack_versioned(managed, copy ? TSR_DLPACK_COPY : 0, &out));
  return Tensor::take(out);
}

// A DLPack tensor on the memory of this tensor; the consumer calls its deleter.
inline DLManagedTensor* to_dlpack(const Tensor& tensor, bool copy = false) {
  DLManagedTensor* managed = nullptr;
  check(tsr_to_dlpack(tensor.handle(), copy ? TSR_DLPACK_COPY : 0, &managed));
  return managed;
}

// flags: bits of tsr_dlpack_flag. stream: the consumer's native stream, null for the default one.
inline DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, int32_t flags = 0,
                                                     int32_t max_major = 1,
                                                     void* stream = nullptr) {
  DLManagedTensorVersioned* managed = nullptr;
  check(tsr_to_dlpack_versioned(tensor.handle(), max_major, flags, stream, &managed));
  return managed;
}

}  // namespace tessera
