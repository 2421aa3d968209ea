// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What every door of DLPack shares: its dtypes and devices in our terms, our tensors in its terms.
#pragma once

#include "capi/dlpack.h"
#include "capi/handle.h"

namespace tsr::capi {

// Both throw kBuffer, naming `arg`, for what we cannot hold.
DType imported_dtype(DLDataType bits, const char* arg);
Device imported_device(const DLDevice& device, const char* arg);

// Throws kBuffer for a tensor that requires grad.
void check_exportable(const Tensor& tensor);

// Holds the tensor's memory, not the tensor, until its deleter runs. `flags` are DLPack's.
DLManagedTensorVersioned* export_versioned(const Tensor& tensor, uint64_t flags);

// What tsr_from_dlpack_versioned does, for our own calls.
tsr_status import_versioned(DLManagedTensorVersioned* managed, int32_t flags, tsr_tensor* out);

}  // namespace tsr::capi
