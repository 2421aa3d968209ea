// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// cuBLAS handles.
#pragma once

#include <cublas_v2.h>

#include "backend/cuda/host.h"

namespace tsr::cuda {

// A handle for the plan's device and stream during one call; it is then kept for a later call. The
// device must be current. Each call passes a workspace of its stream, always of the same size: with
// its own workspace cuBLAS promises the same bits only while a single stream is used.
class BlasHandle {
 public:
  explicit BlasHandle(kernel::Place place);
  ~BlasHandle();
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;

  [[nodiscard]] cublasStatus_t status() const { return status_; }
  [[nodiscard]] cublasHandle_t get() const { return handle_; }
  [[nodiscard]] void* workspace() const { return workspace_.data<void>(); }
  [[nodiscard]] size_t workspace_bytes() const;

 private:
  int32_t device_;
  Workspace workspace_;
  cublasHandle_t handle_ = nullptr;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

kernel::Status blas_failure(cublasStatus_t status) noexcept;

}  // namespace tsr::cuda
