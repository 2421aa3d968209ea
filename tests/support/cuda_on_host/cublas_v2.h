// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS that the CUDA backend uses, as the obvious loops over host memory, with
// cuBLAS's column-major reading of its arguments. See cuda_runtime.h beside it.
#pragma once

#include <complex>
#include <cstdint>

#include "base/half.h"
#include "cuda_runtime.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_16BF = 14
};
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
using cublasHandle_t = struct cublasContext*;

inline const char* cublasGetStatusString(cublasStatus_t) {
  return "an error of the host's stand-in for cuBLAS";
}
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(std::malloc(1));
  return *handle != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  std::free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}

namespace tsr::cuda::on_host {

template <class W, class T>
W widen_element(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<W>(static_cast<float>(value));
  else
    return W(value);
}
template <class W>
W conjugated(W value) {
  if constexpr (std::is_same_v<W, double>)
    return value;
  else
    return std::conj(value);
}

// Element (row, column) of op(matrix), which lies by columns.
template <class W, class T>
W element(const T* matrix, int64_t leading, cublasOperation_t op, int64_t row, int64_t column) {
  if (op == CUBLAS_OP_N) return widen_element<W>(matrix[column * leading + row]);
  const W value = widen_element<W>(matrix[row * leading + column]);
  return op == CUBLAS_OP_C ? conjugated(value) : value;
}

struct Gemm {
  cublasOperation_t op_a, op_b;
  int m, n, k;
  const void *alpha, *a, *b, *beta;
  int lda, ldb, ldc;
  long long stride_a, stride_b, stride_c;
  void* c;
  int batch;
};

// W computes, T is stored, P is the type of alpha and beta.
template <class W, class T, class P>
cublasStatus_t multiply(const Gemm& g) {
  // What cuBLAS refuses, the tests must meet here too.
  const int rows_a = g.op_a == CUBLAS_OP_N ? g.m : g.k;
  const int rows_b = g.op_b == CUBLAS_OP_N ? g.k : g.n;
  if (g.lda < rows_a || g.ldb < rows_b || g.ldc < g.m) return CUBLAS_STATUS_INVALID_VALUE;
  const W alpha(*static_cast<const P*>(g.alpha));
  const W beta(*static_cast<const P*>(g.beta));
  for (int64_t i = 0; i < g.batch; ++i) {
    const T* a = static_cast<const T*>(g.a) + i * g.stride_a;
    const T* b = static_cast<const T*>(g.b) + i * g.stride_b;
    T* c = static_cast<T*>(g.c) + i * g.stride_c;
    for (int64_t column = 0; column < g.n; ++column) {
      for (int64_t row = 0; row < g.m; ++row) {
        W sum(0);
        for (int64_t l = 0; l < g.k; ++l) {
          sum += element<W>(a, g.lda, g.op_a, row, l) * element<W>(b, g.ldb, g.op_b, l, column);
        }
        T& target = c[column * g.ldc + row];
        W value = alpha * sum;
        if (beta != W(0)) value += beta * widen_element<W>(target);
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
          target = T(static_cast<float>(value));
        else
          target = static_cast<T>(value);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace tsr::cuda::on_host

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType_t type_a, int lda, long long stride_a,
    const void* b, cudaDataType_t type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType_t type_c, int ldc, long long stride_c, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  using namespace tsr;
  using namespace tsr::cuda::on_host;
  if (handle == nullptr || type_a != type_b || type_a != type_c) return CUBLAS_STATUS_NOT_SUPPORTED;
  const Gemm g{op_a, op_b, m,   n,        k,        alpha,    a, b,    beta,
               lda,  ldb,  ldc, stride_a, stride_b, stride_c, c, batch};
  const bool wide = compute == CUBLAS_COMPUTE_64F;
  switch (type_a) {
    case CUDA_R_16F:
      return multiply<double, Half, float>(g);
    case CUDA_R_16BF:
      return multiply<double, BFloat16, float>(g);
    case CUDA_R_32F:
      return wide ? CUBLAS_STATUS_NOT_SUPPORTED : multiply<double, float, float>(g);
    case CUDA_R_64F:
      return wide ? multiply<double, double, double>(g) : CUBLAS_STATUS_NOT_SUPPORTED;
    case CUDA_C_32F:
      return multiply<std::complex<double>, std::complex<float>, std::complex<float>>(g);
    case CUDA_C_64F:
      return multiply<std::complex<double>, std::complex<double>, std::complex<double>>(g);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
