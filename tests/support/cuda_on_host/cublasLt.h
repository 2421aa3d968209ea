// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of cuBLASLt that the CUDA backend uses, on the host. Attributes have the sizes that
// cuBLASLt checks. There is no algorithm for a bias whose address is not a multiple of 16, and none
// that may split a sum in another type than the computation's is left out if the caller allows it:
// it then rounds its sums. See cublas_v2.h.
#pragma once

#include "cublas_v2.h"

enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_BGRADB = 512 };
enum cublasLtReductionScheme_t { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2 };
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};
struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};
using cublasLtHandle_t = struct cublasLtContext*;

namespace tsr::cuda::on_host {

struct LtOperation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  int32_t epilogue = 1;
  void* bias = nullptr;
};
struct LtLayout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading;
};
struct LtWish {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignments[4] = {256, 256, 256, 256};
};

}  // namespace tsr::cuda::on_host

using cublasLtMatmulDesc_t = tsr::cuda::on_host::LtOperation*;
using cublasLtMatrixLayout_t = tsr::cuda::on_host::LtLayout*;
using cublasLtMatmulPreference_t = tsr::cuda::on_host::LtWish*;

inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  *made = new tsr::cuda::on_host::LtOperation{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to,
                                                     cublasLtMatmulDescAttributes_t name,
                                                     const void* value, size_t nbytes) {
  if (nbytes != (name == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? 8 : 4))
    return CUBLAS_STATUS_INVALID_VALUE;
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      std::memcpy(&to->op_a, value, nbytes);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      std::memcpy(&to->op_b, value, nbytes);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      std::memcpy(&to->epilogue, value, nbytes);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      std::memcpy(&to->bias, value, nbytes);
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type,
                                                 uint64_t rows, uint64_t columns, int64_t leading) {
  *made = new tsr::cuda::on_host::LtLayout{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = new tsr::cuda::on_host::LtWish;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t to, cublasLtMatmulPreferenceAttributes_t name, const void* value,
    size_t nbytes) {
  const bool is_workspace = name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  if (nbytes != (is_workspace ? 8 : 4)) return CUBLAS_STATUS_INVALID_VALUE;
  if (is_workspace) {
    std::memcpy(&to->workspace, value, nbytes);
  } else if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) {
    std::memcpy(&to->reductions, value, nbytes);
  } else {
    std::memcpy(&to->alignments[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, nbytes);
  }
  return CUBLAS_STATUS_SUCCESS;
}

// The algorithm says which type the parts of a sum have, and the alignments that it relies on.
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t wish, int, cublasLtMatmulHeuristicResult_t* found, int* count) {
  const int asked = tsr::cuda::on_host::failure("cublasLtMatmulAlgoGetHeuristic");
  *count = 0;
  if (asked != 0) return static_cast<cublasStatus_t>(asked);
  if (reinterpret_cast<uintptr_t>(operation->bias) % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  *found = {};
  found->algo.data[0] = wish->reductions;
  for (int i = 0; i < 4; ++i) found->algo.data[1 + i] = wish->alignments[i];
  found->workspaceSize = wish->workspace;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t light, cublasLtMatmulDesc_t operation,
                                     const void* alpha, const void* a, cublasLtMatrixLayout_t la,
                                     const void* b, cublasLtMatrixLayout_t lb, const void* beta,
                                     const void* c, cublasLtMatrixLayout_t, void* d,
                                     cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t* algo,
                                     void* workspace, size_t workspace_size, cudaStream_t stream) {
  using namespace tsr::cuda::on_host;
  const int asked = failure("cublasLtMatmul");
  if (asked != 0) return static_cast<cublasStatus_t>(asked);
  const bool plain_a = operation->op_a == CUBLAS_OP_N;
  const bool plain_b = operation->op_b == CUBLAS_OP_N;
  const uint64_t m = plain_a ? la->rows : la->columns;
  const uint64_t k = plain_a ? la->columns : la->rows;
  const uint64_t n = plain_b ? lb->columns : lb->rows;
  const void* const given[4] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<uintptr_t>(given[i]) % algo->data[1 + i] != 0)
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaDataType_t scale = ld->type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  if (c != d || k != (plain_b ? lb->rows : lb->columns) || ld->rows != m || ld->columns != n ||
      operation->bias == nullptr || operation->scale != scale)
    return CUBLAS_STATUS_INVALID_VALUE;
  cublasContext own = *reinterpret_cast<cublasHandle_t>(light);
  own.stream = stream;
  own.workspace = static_cast<char*>(workspace);
  own.workspace_size = workspace_size;
  own.math = (algo->data[0] & ~uint64_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}) == 0
                 ? CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
                 : CUBLAS_DEFAULT_MATH;
  Gemm g{};
  g.op_a = operation->op_a;
  g.op_b = operation->op_b;
  g.m = static_cast<int64_t>(m);
  g.n = static_cast<int64_t>(n);
  g.k = static_cast<int64_t>(k);
  g.a = a;
  g.b = b;
  g.c = d;
  g.lda = la->leading;
  g.ldb = lb->leading;
  g.ldc = ld->leading;
  g.batch = 1;
  g.bias = operation->epilogue == CUBLASLT_EPILOGUE_BIAS ? operation->bias : nullptr;
  g.sums_of_b = operation->epilogue == CUBLASLT_EPILOGUE_BGRADB ? operation->bias : nullptr;
  return enqueue_gemm(&own, g, alpha, beta, la->type, lb->type, ld->type, operation->compute);
}
