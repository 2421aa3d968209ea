// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products: cuBLAS for floating and complex matrices, a plain kernel for cases that it lacks
// (integers, conjugation without transposition, empty sums).
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/linalg/cublas.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::GemmPlan;
using kernel::Status;

namespace {

// ---- The batch: any number of dims, the innermost as cuBLAS's batch ----

// Calls fn(offset of A, of B, of C in elements) for every index of all dims but the innermost.
template <class Fn>
Status for_outer_batch(const GemmPlan& plan, const Fn& fn) {
  int64_t outer = 1;
  for (int32_t d = 0; d + 1 < plan.batch_ndim; ++d) outer *= plan.batch_sizes[d];
  for (int64_t i = 0; i < outer; ++i) {
    int64_t at[3] = {0, 0, 0};
    int64_t rest = i;
    for (int32_t d = plan.batch_ndim - 2; d >= 0; --d) {
      const int64_t index = rest % plan.batch_sizes[d];
      rest /= plan.batch_sizes[d];
      for (int k = 0; k < 3; ++k) at[k] += index * plan.batch_strides[k][d];
    }
    const Status status = fn(at[0], at[1], at[2]);
    if (status != kernel::kOk) return status;
  }
  return kernel::kOk;
}
int64_t inner_batch(const GemmPlan& plan) {
  return plan.batch_ndim == 0 ? 1 : plan.batch_sizes[plan.batch_ndim - 1];
}
int64_t inner_stride(const GemmPlan& plan, int operand) {
  return plan.batch_ndim == 0 ? 0 : plan.batch_strides[operand][plan.batch_ndim - 1];
}

// ---- cuBLAS ----

// One operand for column-major BLAS, which computes Cᵀ = Bᵀ Aᵀ instead of C = A B: a row-major
// matrix is its transpose in column-major order, so it needs no operation.
struct Side {
  cublasOperation_t operation;
  int64_t leading;
  bool offered;  // cuBLAS conjugates only what it also transposes
};
Side describe(const int64_t strides[2], int64_t rows, int64_t columns, bool conjugate) {
  const bool by_rows = strides[1] == 1 && (strides[0] >= columns || rows == 1);
  const int64_t leading = by_rows ? std::max(strides[0], columns) : std::max(strides[1], rows);
  if (by_rows) return {CUBLAS_OP_N, std::max<int64_t>(leading, 1), !conjugate};
  return {conjugate ? CUBLAS_OP_C : CUBLAS_OP_T, std::max<int64_t>(leading, 1), true};
}

struct BlasType {
  cudaDataType_t data;
  cublasComputeType_t compute;
};
// Both precisions below the highest use TF32, also kMedium, which would allow factors in bfloat16.
BlasType blas_type(DType dtype, kernel::Precision precision) {
  const cublasComputeType_t single =
      precision == kernel::Precision::kHighest ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
  switch (dtype) {
    case DType::kFloat16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::kBFloat16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case DType::kFloat32:
      return {CUDA_R_32F, single};
    case DType::kFloat64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::kComplex64:
      return {CUDA_C_32F, single};
    default:
      return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

Status with_cublas(const GemmPlan& plan, Side a, Side b, Side c) {
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  const BlasHandle handle(plan.place);
  if (handle.status() != CUBLAS_STATUS_SUCCESS) return blas_failure(handle.status());
  const BlasType type = blas_type(plan.dtype, plan.precision);
  const int64_t size = itemsize(plan.dtype);
  // C is column-major: compute C = A B in column-major order, and flip the operation of each
  // operand.
  const bool by_columns = c.operation != CUBLAS_OP_N;
  const auto turn = [&](Side side) {
    return side.operation == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  return for_outer_batch(plan, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
    const void* x = static_cast<const char*>(plan.a) + at_a * size;
    const void* y = static_cast<const char*>(plan.b) + at_b * size;
    void* z = static_cast<char*>(plan.c) + at_c * size;
    const auto call = [&](cublasOperation_t op_first, cublasOperation_t op_second, int64_t m,
                          int64_t n, const void* first, int64_t first_leading, int64_t first_stride,
                          const void* second, int64_t second_leading, int64_t second_stride) {
      return cublasGemmStridedBatchedEx_64(
          handle.get(), op_first, op_second, m, n, plan.k, &plan.alpha, first, type.data,
          first_leading, first_stride, second, type.data, second_leading, second_stride, &plan.beta,
          z, type.data, c.leading, inner_stride(plan, 2), inner_batch(plan), type.compute,
          CUBLAS_GEMM_DEFAULT);
    };
    const cublasStatus_t status =
        by_columns ? call(turn(a), turn(b), plan.m, plan.n, x, a.leading, inner_stride(plan, 0), y,
                          b.leading, inner_stride(plan, 1))
                   : call(b.operation, a.operation, plan.n, plan.m, y, b.leading,
                          inner_stride(plan, 1), x, a.leading, inner_stride(plan, 0));
    return status == CUBLAS_STATUS_SUCCESS ? queued(plan.place) : blas_failure(status);
  });
}

// ---- The plain kernel ----

template <class S>
__global__ void gemm_kernel(GemmPlan plan, const typename S::Type* a, const typename S::Type* b,
                            typename S::Type* c, int64_t batch, int64_t stride_a, int64_t stride_b,
                            int64_t stride_c) {
  using V = typename S::Value;
  V alpha;
  V beta;
  if constexpr (requires { typename V::Element; }) {
    alpha = V(*reinterpret_cast<const typename V::Element*>(&plan.alpha));
    beta = V(*reinterpret_cast<const typename V::Element*>(&plan.beta));
  } else {
    alpha = S::load(*reinterpret_cast<const typename S::Type*>(&plan.alpha));
    beta = S::load(*reinterpret_cast<const typename S::Type*>(&plan.beta));
  }
  for (int64_t t = first_index(); t < batch * plan.m * plan.n; t += index_step()) {
    const int64_t which = t / (plan.m * plan.n);
    const int64_t i = t / plan.n % plan.m;
    const int64_t j = t % plan.n;
    const auto* x = a + which * stride_a + i * plan.a_strides[0];
    const auto* y = b + which * stride_b + j * plan.b_strides[1];
    V sum(0);
    for (int64_t l = 0; l < plan.k; ++l) {
      const V left = S::load(x[l * plan.a_strides[1]]);
      const V right = S::load(y[l * plan.b_strides[0]]);
      sum = sum + (plan.conj_a != 0 ? conj(left) : left) * (plan.conj_b != 0 ? conj(right) : right);
    }
    auto* target = c + which * stride_c + i * plan.c_strides[0] + j * plan.c_strides[1];
    const V scaled = alpha * sum;
    *target = S::store(beta == V(0) ? scaled : scaled + beta * S::load(*target));
  }
}

template <class S>
Status with_kernel(const GemmPlan& plan) {
  using T = typename S::Type;
  const int64_t batch = inner_batch(plan);
  return for_outer_batch(plan, [&](int64_t at_a, int64_t at_b, int64_t at_c) {
    return launch(plan.place, batch * plan.m * plan.n, &gemm_kernel<S>, plan,
                  static_cast<const T*>(plan.a) + at_a, static_cast<const T*>(plan.b) + at_b,
                  static_cast<T*>(plan.c) + at_c, batch, inner_stride(plan, 0),
                  inner_stride(plan, 1), inner_stride(plan, 2));
  });
}

// Signed and unsigned integers have the same products.
Status with_integers(const GemmPlan& plan) {
  switch (itemsize(plan.dtype)) {
    case 1:
      return with_kernel<Plain<int8_t>>(plan);
    case 2:
      return with_kernel<Plain<int16_t>>(plan);
    case 4:
      return with_kernel<Plain<int32_t>>(plan);
    default:
      return with_kernel<Plain<int64_t>>(plan);
  }
}

// Any dtype, without cuBLAS.
Status with_kernels(const GemmPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat16:
      return with_kernel<Short<Half>>(plan);
    case DType::kBFloat16:
      return with_kernel<Short<BFloat16>>(plan);
    case DType::kFloat32:
      return with_kernel<Plain<float>>(plan);
    case DType::kFloat64:
      return with_kernel<Plain<double>>(plan);
    case DType::kComplex64:
      return with_kernel<Paired<float>>(plan);
    case DType::kComplex128:
      return with_kernel<Paired<double>>(plan);
    default:
      return with_integers(plan);
  }
}

}  // namespace

Status gemm(const GemmPlan& plan) {
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0) return kernel::kOk;
  // For k = 0 the result is beta C, which versions of cuBLAS handle differently.
  if (is_integral_or_bool(plan.dtype) || plan.k == 0) return with_kernels(plan);
  const Side a = describe(plan.a_strides, plan.m, plan.k, plan.conj_a != 0);
  const Side b = describe(plan.b_strides, plan.k, plan.n, plan.conj_b != 0);
  const Side c = describe(plan.c_strides, plan.m, plan.n, false);
  const bool conjugates = plan.conj_a != 0 || plan.conj_b != 0;
  if (a.offered && b.offered && !(conjugates && c.operation != CUBLAS_OP_N))
    return with_cublas(plan, a, b, c);
  return with_kernels(plan);
}

}  // namespace tsr::cuda
