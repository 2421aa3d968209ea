// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of cuSOLVER that the CUDA backend uses, on the host: LAPACK under cuSOLVER's names. Like
// cuSOLVER it is a separate library, with a version number that no cuSOLVER has. See cuda_runtime.h
// in the same folder.
#pragma once

#include "cublas_v2.h"

#define CUSOLVER_VER_MAJOR 900

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6
};
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
using cusolverDnHandle_t = struct cusolverDnContext*;
using gesvdjInfo_t = struct gesvdjInfo*;

#pragma GCC visibility push(default)
extern "C" {
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
}
#pragma GCC visibility pop
