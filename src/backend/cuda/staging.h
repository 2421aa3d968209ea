// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Copies between the device and ordinary host memory, through pinned buffers of our own: CUDA's
// copies of such memory first wait for all work that is queued.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tsr::cuda {

// Returns once the host's memory may be changed; the copy itself may still wait for earlier work.
cudaError_t upload(int32_t device, void* dst, const void* src, uint64_t nbytes,
                   cudaStream_t stream) noexcept;
// Returns once all data is in the host's memory; waits for the stream.
cudaError_t download(int32_t device, void* dst, const void* src, uint64_t nbytes,
                     cudaStream_t stream) noexcept;

}  // namespace tsr::cuda
