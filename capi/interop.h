// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Shared by all DLPack functions: conversion of dtypes, devices and tensors.
#pragma once

#include "capi/dlpack.h"
#include "capi/handle.h"

namespace tsr::capi {

// Both throw kBuffer, naming `arg`, for a dtype or device that the library does not support.
DType imported_dtype(DLDataType bits, const char* arg);
Device imported_device(const DLDevice& device, const char* arg);

// Throws kBuffer for a tensor that requires grad.
void check_exportable(const Tensor& tensor);

// Keeps the tensor's memory, not the tensor, alive until its deleter runs. `flags` are DLPack's.
DLManagedTensorVersioned* export_versioned(const Tensor& tensor, uint64_t flags);

// Implements tsr_from_dlpack_versioned; other imports call it too.
tsr_status import_versioned(DLManagedTensorVersioned* managed, int32_t flags, tsr_tensor* out);

}  // namespace tsr::capi
