// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS handles.
#pragma once

#include <cublas_v2.h>

#include "backend/cuda/host.h"

namespace tsr::cuda {

// A handle of the plan's device and stream for the length of a call; handles are kept for the next
// one. The device must be current. Each call brings a workspace of its stream, always of one size:
// with one of its own cuBLAS promises the same bits only while a single stream works.
class BlasHandle {
 public:
  explicit BlasHandle(kernel::Place place);
  ~BlasHandle();
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;

  [[nodiscard]] cublasStatus_t status() const { return status_; }
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  int32_t device_;
  Workspace workspace_;
  cublasHandle_t handle_ = nullptr;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

kernel::Status blas_failure(cublasStatus_t status) noexcept;

}  // namespace tsr::cuda
