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

// A tensor whose element with all indices 0 is at `first`. `owner` goes when the last tensor on the
// memory does, or when this throws: kShape for impossible layouts, kInvalidArgument for NULL with
// elements.
Tensor wrap_memory(void* first, DimsView sizes, DimsView strides, DType dtype, Device device,
                   UserData owner, bool read_only);

}  // namespace tsr::capi
