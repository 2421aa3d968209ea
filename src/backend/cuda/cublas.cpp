// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cublas.h"

#include "backend/cuda/handle_pool.h"

namespace tsr::cuda {
namespace {

HandlePool<cublasHandle_t>& pool() {
  static auto& one = *new HandlePool<cublasHandle_t>;
  return one;
}

}  // namespace

BlasHandle::BlasHandle(kernel::Place place) : device_(place.device), handle_(pool().take(device_)) {
  if (handle_ == nullptr) status_ = cublasCreate(&handle_);
  if (status_ == CUBLAS_STATUS_SUCCESS)
    status_ = cublasSetStream(handle_, static_cast<cudaStream_t>(place.stream));
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
