// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's run time for memory of other processes. The memory of a process is a file that
// the others open. The work before an event is done when its handle is made, because nobody in the
// other process could run it.
#pragma once

#include "cuda_runtime.h"

inline constexpr unsigned cudaEventInterprocess = 4;
inline constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};

#pragma GCC visibility push(default)
extern "C" {
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data);
cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* data);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle);
}
#pragma GCC visibility pop
