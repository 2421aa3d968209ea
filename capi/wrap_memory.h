// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors on memory of somebody else: layouts are checked before anything believes them.
#pragma once

#include "capi/callback.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace tsr::capi {

// As extent_of, for sizes without 0. Throws kShape when an offset overflows int64 in bytes.
Extent checked_extent(DimsView sizes, DimsView strides, int64_t itemsize);

// Whether kernels of the device may touch elements of the dtype there. A CPU takes any place, and
// other devices move an element whole: both parts of a complex number at once.
bool is_aligned_for(Device device, DType dtype, const void* first) noexcept;

// A tensor whose element with all indices 0 is at `first`. `owner` goes when the last tensor on the
// memory does, or when this throws: kShape for impossible layouts, kInvalidArgument for NULL with
// elements, kBuffer for memory of a device that is not aligned to its elements.
Tensor wrap_memory(void* first, DimsView sizes, DimsView strides, DType dtype, Device device,
                   UserData owner, bool read_only);

// The same elements in memory of our own, whatever the alignment of theirs: all bytes between the
// first and the last one are copied on the device, in the order of its current stream.
Tensor copy_of_bytes(const void* first, DimsView sizes, DimsView strides, DType dtype,
                     Device device);

}  // namespace tsr::capi
