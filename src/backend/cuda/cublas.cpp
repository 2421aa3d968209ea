// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cublas.h"

#include <mutex>
#include <utility>
#include <vector>

namespace tsr::cuda {
namespace {

struct Pool {
  std::mutex mutex;
  std::vector<std::pair<int32_t, cublasHandle_t>> idle;  // device and handle
};
// Never destroyed: threads may still work while the process ends.
Pool& pool() {
  static Pool& one = *new Pool;
  return one;
}

cublasHandle_t take_idle(int32_t device) {
  const std::lock_guard lock(pool().mutex);
  auto& idle = pool().idle;
  for (size_t i = 0; i < idle.size(); ++i) {
    if (idle[i].first != device) continue;
    const cublasHandle_t handle = idle[i].second;
    idle[i] = idle.back();
    idle.pop_back();
    return handle;
  }
  return nullptr;
}

}  // namespace

BlasHandle::BlasHandle(kernel::Place place) : device_(place.device), handle_(take_idle(device_)) {
  if (handle_ == nullptr) status_ = cublasCreate(&handle_);
  if (status_ == CUBLAS_STATUS_SUCCESS)
    status_ = cublasSetStream(handle_, static_cast<cudaStream_t>(place.stream));
}

BlasHandle::~BlasHandle() {
  if (handle_ == nullptr) return;
  try {
    const std::lock_guard lock(pool().mutex);
    pool().idle.emplace_back(device_, handle_);
  } catch (...) {
    static_cast<void>(cublasDestroy(handle_));
  }
}

kernel::Status blas_failure(cublasStatus_t status) noexcept {
  const Code code = status == CUBLAS_STATUS_ALLOC_FAILED ? Code::kOutOfMemory : Code::kBackend;
  return failure(code, cublasGetStatusString(status), static_cast<int64_t>(status));
}

}  // namespace tsr::cuda
