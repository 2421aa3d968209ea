// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS that the CUDA backend uses, as simple loops over host memory. Matrices are
// column-major, as in cuBLAS. See cuda_runtime.h in the same folder.
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>

#include "base/half.h"
#include "cuda_runtime.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
struct cuComplex {
  float x, y;
};
struct cuDoubleComplex {
  double x, y;
};
enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_16BF = 14
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
struct cublasContext {
  cudaStream_t stream = nullptr;
  int math = CUBLAS_DEFAULT_MATH;
  char* workspace = nullptr;
  size_t workspace_size = 0;
};
using cublasHandle_t = cublasContext*;

inline const char* cublasGetStatusString(cublasStatus_t) {
  return "an error of the host's stand-in for cuBLAS";
}
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  const auto status = static_cast<cublasStatus_t>(tsr::cuda::on_host::failure("cublasCreate"));
  if (status == CUBLAS_STATUS_SUCCESS) *handle = new cublasContext;
  return status;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
// As in cuBLAS, setting a stream resets the workspace.
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_size = 0;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* data, size_t nbytes) {
  if (reinterpret_cast<uintptr_t>(data) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = static_cast<char*>(data);
  handle->workspace_size = nbytes;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math = mode;
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
  if constexpr (std::is_floating_point_v<W>)
    return value;
  else
    return std::conj(value);
}

// Element (row, column) of op(matrix); the matrix is column-major.
template <class W, class T>
W element(const T* matrix, int64_t leading, cublasOperation_t op, int64_t row, int64_t column) {
  if (op == CUBLAS_OP_N) return widen_element<W>(matrix[column * leading + row]);
  const W value = widen_element<W>(matrix[row * leading + column]);
  return op == CUBLAS_OP_C ? conjugated(value) : value;
}

struct Gemm {
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  alignas(16) char alpha[16];
  alignas(16) char beta[16];
  const void *a, *b;
  int64_t lda, ldb, ldc;
  long long stride_a, stride_b, stride_c;
  void* c;
  int64_t batch;
  bool by_address;  // a, b and c are arrays of addresses of the matrices
  // Partial sums are rounded to 16 bits, as cuBLAS may do unless it is forbidden.
  bool short_sums;
  bool tf32;
  const void* bias = nullptr;  // a number for each row of C, or:
  void* sums_of_b = nullptr;   // gets the sum of each column of op(B)
};

// A float rounded to TF32: 10 bits of fraction.
inline double rounded(double value) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(static_cast<float>(value)) + 0x1000U) &
                              ~0x1FFFU);
}
inline std::complex<double> rounded(std::complex<double> value) {
  return {rounded(value.real()), rounded(value.imag())};
}

// W is the type of the computation, T of the elements, P of alpha and beta.
template <class W, class T, class P>
void multiply(const Gemm& g) {
  const W alpha(*reinterpret_cast<const P*>(g.alpha));
  const W beta(*reinterpret_cast<const P*>(g.beta));
  for (int64_t i = 0; i < g.batch; ++i) {
    const auto* a = static_cast<const T*>(g.a) + i * g.stride_a;
    const auto* b = static_cast<const T*>(g.b) + i * g.stride_b;
    auto* c = static_cast<T*>(g.c) + i * g.stride_c;
    if (g.by_address) {
      a = static_cast<const T* const*>(g.a)[i];
      b = static_cast<const T* const*>(g.b)[i];
      c = static_cast<T* const*>(g.c)[i];
    }
    for (int64_t column = 0; column < g.n; ++column) {
      for (int64_t row = 0; row < g.m; ++row) {
        W sum(0);
        for (int64_t l = 0; l < g.k; ++l) {
          W left = element<W>(a, g.lda, g.op_a, row, l);
          W right = element<W>(b, g.ldb, g.op_b, l, column);
          if (g.tf32) {
            left = rounded(left);
            right = rounded(right);
          }
          sum += left * right;
          if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
            if (g.short_sums) sum = static_cast<float>(T(static_cast<float>(sum)));
          }
        }
        T& target = c[column * g.ldc + row];
        W value = alpha * sum;
        if (g.bias != nullptr) value += widen_element<W>(static_cast<const T*>(g.bias)[row]);
        if (beta != W(0)) value += beta * widen_element<W>(target);
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
          target = T(static_cast<float>(value));
        else
          target = static_cast<T>(value);
      }
      if (g.sums_of_b == nullptr) continue;
      W sum(0);
      for (int64_t l = 0; l < g.k; ++l) sum += element<W>(b, g.ldb, g.op_b, l, column);
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        static_cast<T*>(g.sums_of_b)[column] = T(static_cast<float>(sum));
      else
        static_cast<T*>(g.sums_of_b)[column] = static_cast<T>(sum);
    }
  }
}

using Multiply = void (*)(const Gemm&);
// Null for types that cuBLAS does not support together.
inline Multiply multiply_of(cudaDataType_t type, cublasComputeType_t compute) {
  const bool wide = compute == CUBLAS_COMPUTE_64F;
  switch (type) {
    case CUDA_R_16F:
      return &multiply<double, Half, float>;
    case CUDA_R_16BF:
      return &multiply<double, BFloat16, float>;
    case CUDA_R_32F:
      return wide ? nullptr : &multiply<double, float, float>;
    case CUDA_R_64F:
      return wide ? &multiply<double, double, double> : nullptr;
    case CUDA_C_32F:
      return &multiply<std::complex<double>, std::complex<float>, std::complex<float>>;
    case CUDA_C_64F:
      return &multiply<std::complex<double>, std::complex<double>, std::complex<double>>;
  }
  return nullptr;
}

}  // namespace tsr::cuda::on_host

namespace tsr::cuda::on_host {

// What all products are called with; strides and batch are set by each.
inline cublasStatus_t enqueue_gemm(cublasHandle_t handle, Gemm g, const void* alpha,
                                   const void* beta, cudaDataType_t type_a, cudaDataType_t type_b,
                                   cudaDataType_t type_c, cublasComputeType_t compute) {
  const Multiply multiply = multiply_of(type_a, compute);
  if (multiply == nullptr || type_a != type_b || type_a != type_c)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // Calls that cuBLAS refuses, or that differ between its versions, fail here too, so that the
  // tests find them. Results are the same in every run only if the stream has its own workspace.
  const bool extents = g.lda >= (g.op_a == CUBLAS_OP_N ? g.m : g.k) &&
                       g.ldb >= (g.op_b == CUBLAS_OP_N ? g.k : g.n) && g.ldc >= g.m && g.k > 0;
  if (handle == nullptr || !extents || g.a == nullptr || g.b == nullptr ||
      handle->workspace == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool wide_scalars = type_a == CUDA_C_64F;
  const size_t size = wide_scalars ? 16 : type_a == CUDA_R_64F || type_a == CUDA_C_32F ? 8 : 4;
  std::memcpy(g.alpha, alpha, size);
  std::memcpy(g.beta, beta, size);
  g.tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  g.short_sums = (handle->math & CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) == 0;
  const auto spoil = [at = handle->workspace, nbytes = handle->workspace_size] {
    std::memset(at, 0xab, std::min<size_t>(nbytes, 64));
    std::memset(at + nbytes - std::min<size_t>(nbytes, 64), 0xab, std::min<size_t>(nbytes, 64));
  };
  const cudaError_t error = enqueue("launch", handle->stream, [=] {
    spoil();
    multiply(g);
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace tsr::cuda::on_host

inline cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType_t type_a, int64_t lda,
    long long stride_a, const void* b, cudaDataType_t type_b, int64_t ldb, long long stride_b,
    const void* beta, void* c, cudaDataType_t type_c, int64_t ldc, long long stride_c,
    int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const tsr::cuda::on_host::Gemm g{op_a,     op_b, m,     n,     k,     {},       {},
                                   a,        b,    lda,   ldb,   ldc,   stride_a, stride_b,
                                   stride_c, c,    batch, false, false, false};
  return enqueue_gemm(handle, g, alpha, beta, type_a, type_b, type_c, compute);
}
inline cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a,
                                      cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                      const void* alpha, const void* a, cudaDataType_t type_a,
                                      int64_t lda, const void* b, cudaDataType_t type_b,
                                      int64_t ldb, const void* beta, void* c, cudaDataType_t type_c,
                                      int64_t ldc, cublasComputeType_t compute,
                                      cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                       type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute,
                                       algorithm);
}
// The arrays of addresses are in device memory.
inline cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t handle, cublasOperation_t op_a,
                                             cublasOperation_t op_b, int64_t m, int64_t n,
                                             int64_t k, const void* alpha, const void* const a[],
                                             cudaDataType_t type_a, int64_t lda,
                                             const void* const b[], cudaDataType_t type_b,
                                             int64_t ldb, const void* beta, void* const c[],
                                             cudaDataType_t type_c, int64_t ldc, int64_t batch,
                                             cublasComputeType_t compute, cublasGemmAlgo_t) {
  const tsr::cuda::on_host::Gemm g{op_a,  op_b, m,     n,    k, {}, {}, a,
                                   b,     lda,  ldb,   ldc,  0, 0,  0,  const_cast<void**>(c),
                                   batch, true, false, false};
  return enqueue_gemm(handle, g, alpha, beta, type_a, type_b, type_c, compute);
}

// ---- A triangle on the right side ----

namespace tsr::cuda::on_host {

// B = alpha B op(A)⁻¹ for a triangular A of n x n; row by row of the m rows of B.
template <class W, class T>
cublasStatus_t solve_right(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                           cublasOperation_t op, cublasDiagType_t diag, int m, int n,
                           const T* alpha, const T* a, int lda, T* b, int ldb) {
  if (handle == nullptr || side != CUBLAS_SIDE_RIGHT || lda < n || ldb < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  const W scale = *reinterpret_cast<const W*>(alpha);
  // Column j of X needs the columns before it where op(A) is upper, else the ones after it.
  const bool forward = (fill == CUBLAS_FILL_MODE_UPPER) == (op == CUBLAS_OP_N);
  const auto* matrix = reinterpret_cast<const W*>(a);
  auto* sides = reinterpret_cast<W*>(b);
  const cudaError_t error = enqueue("launch", handle->stream, [=] {
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t step = 0; step < n; ++step) {
        const int64_t j = forward ? step : n - 1 - step;
        W x = scale * sides[j * ldb + row];
        for (int64_t done = 0; done < step; ++done) {
          const int64_t l = forward ? done : n - 1 - done;
          x -= sides[l * ldb + row] * element<W>(matrix, lda, op, l, j);
        }
        if (diag == CUBLAS_DIAG_NON_UNIT) x /= element<W>(matrix, lda, op, j, j);
        sides[j * ldb + row] = x;
      }
    }
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace tsr::cuda::on_host

#define TSR_TRSM(name, T, W)                                                                      \
  inline cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                             cublasOperation_t op, cublasDiagType_t diag, int m, int n,           \
                             const T* alpha, const T* a, int lda, T* b, int ldb) {                \
    return tsr::cuda::on_host::solve_right<W>(handle, side, fill, op, diag, m, n, alpha, a, lda,  \
                                              b, ldb);                                            \
  }
TSR_TRSM(cublasStrsm, float, float)
TSR_TRSM(cublasDtrsm, double, double)
TSR_TRSM(cublasCtrsm, cuComplex, std::complex<float>)
TSR_TRSM(cublasZtrsm, cuDoubleComplex, std::complex<double>)
#undef TSR_TRSM
