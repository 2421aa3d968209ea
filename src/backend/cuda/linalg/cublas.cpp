// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/linalg/cublas.h"

#include "backend/cuda/handle_pool.h"

namespace tsr::cuda {
namespace {

HandlePool<cublasHandle_t>& pool() {
  static auto& one = *new HandlePool<cublasHandle_t>;
  return one;
}

// The sizes that cuBLAS's documentation recommends: 32 MiB on Hopper and later, 4 MiB before.
int64_t workspace_size(int32_t device) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
    static_cast<void>(cudaGetLastError());
  return (major >= 9 ? 32 : 4) * kMiB;
}

// Sums of 16-bit products stay in 32 bits to the end, also if a sum is split among blocks.
cublasStatus_t make(cublasHandle_t* handle) {
  const cublasStatus_t status = cublasCreate(handle);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasSetMathMode(*handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
}

bool lacks_memory(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace

BlasHandle::BlasHandle(kernel::Place place)
    : device_(place.device),
      workspace_(place, workspace_size(device_)),
      handle_(pool().take(device_)) {
  if (workspace_.missing()) status_ = CUBLAS_STATUS_ALLOC_FAILED;
  if (status_ == CUBLAS_STATUS_SUCCESS && handle_ == nullptr)
    status_ = make_with_room(
        place, [&] { return make(&handle_); }, lacks_memory);
  if (status_ == CUBLAS_STATUS_SUCCESS)
    status_ = cublasSetStream(handle_, static_cast<cudaStream_t>(place.stream));
  if (status_ == CUBLAS_STATUS_SUCCESS)
    status_ = cublasSetWorkspace(handle_, workspace_.data<void>(),
                                 static_cast<size_t>(workspace_size(device_)));
}

size_t BlasHandle::workspace_bytes() const {
  return static_cast<size_t>(workspace_size(device_));
}

BlasHandle::~BlasHandle() {
  if (handle_ != nullptr && !pool().give(device_, handle_))
    static_cast<void>(cublasDestroy(handle_));
}

kernel::Status blas_failure(cublasStatus_t status) noexcept {
  const Code code = status == CUBLAS_STATUS_ALLOC_FAILED ? Code::kOutOfMemory : Code::kBackend;
  return failure(code, cublasGetStatusString(status), static_cast<int64_t>(status));
}

}  // namespace tsr::cuda
