// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors on foreign memory: their layouts are checked before they are used.
#pragma once

#include "capi/callback.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace tsr::capi {

// As extent_of, for sizes without 0. Throws kShape when an offset overflows int64 in bytes.
Extent checked_extent(DimsView sizes, DimsView strides, int64_t itemsize);

// A tensor whose element with all indices 0 is at `first`. `owner` is dropped with the last tensor
// on the memory, or if this function throws: kShape for impossible layouts, kInvalidArgument for
// NULL with elements, kBuffer for memory that is not aligned to its elements.
Tensor wrap_memory(void* first, DimsView sizes, DimsView strides, DType dtype, Device device,
                   UserData owner, bool read_only);

// A copy of the elements in new memory, for memory of any alignment: all bytes from the first to
// the last element are copied on the device, on its current stream.
Tensor copy_of_bytes(const void* first, DimsView sizes, DimsView strides, DType dtype,
                     Device device);

}  // namespace tsr::capi
