// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products: cuBLAS for floating and complex matrices, a plain kernel for cases that it lacks
// (integers, empty sums). cuBLAS conjugates only what it also transposes; other operands with a
// conjugation are conjugated into workspace first.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/linalg/cublas_lt.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::GemmPlan;
using kernel::Status;

namespace {

// ---- The batch ----

// The dims of a batch but the innermost one, which cuBLAS takes as its own where there is no other.
int64_t outer_batch(const GemmPlan& plan) {
  int64_t outer = 1;
  for (int32_t d = 0; d + 1 < plan.batch_ndim; ++d) outer *= plan.batch_sizes[d];
  return outer;
}
// Calls fn(offset of A, of B, of C in elements) for every index of all dims but the innermost.
template <class Fn>
Status for_outer_batch(const GemmPlan& plan, const Fn& fn) {
  for (int64_t i = 0; i < outer_batch(plan); ++i) {
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

// The addresses of all matrices of a batch, for cuBLAS: those of A, then of B, then of C.
struct Addresses {
  int32_t ndim;
  int64_t count, itemsize;
  const char* data[3];
  int64_t sizes[kernel::kMaxRank];
  int64_t strides[3][kernel::kMaxRank];
};
__global__ void addresses_kernel(const __grid_constant__ Addresses of, const char** to) {
  for (int64_t i = first_index(); i < of.count; i += index_step()) {
    int64_t at[3] = {0, 0, 0};
    int64_t rest = i;
    for (int d = of.ndim - 1; d >= 0; --d) {
      const int64_t upper = divide(rest, of.sizes[d]);
      for (int k = 0; k < 3; ++k) at[k] += (rest - upper * of.sizes[d]) * of.strides[k][d];
      rest = upper;
    }
    for (int k = 0; k < 3; ++k) to[k * of.count + i] = of.data[k] + at[k] * of.itemsize;
  }
}
Status write_addresses(const GemmPlan& plan, const char** to) {
  Addresses of;
  of.ndim = plan.batch_ndim;
  of.count = plan.batch;
  of.itemsize = itemsize(plan.dtype);
  const void* const data[3] = {plan.a, plan.b, plan.c};
  for (int k = 0; k < 3; ++k) {
    of.data[k] = static_cast<const char*>(data[k]);
    std::copy_n(plan.batch_strides[k], plan.batch_ndim, of.strides[k]);
  }
  std::copy_n(plan.batch_sizes, plan.batch_ndim, of.sizes);
  return launch(plan.place, of.count, &addresses_kernel, of, to);
}

// One factor as cuBLAS takes it.
struct Factor {
  cublasOperation_t operation;
  int64_t leading;
  int32_t operand;  // 0: A, 1: B
};

Status with_cublas(const GemmPlan& plan, Side a, Side b, Side c) {
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  const BlasHandle handle(plan.place);
  if (handle.status() != CUBLAS_STATUS_SUCCESS) return blas_failure(handle.status());
  const BlasType type = blas_type(plan.dtype, plan.precision);
  // C is column-major: compute C = A B in column-major order, and flip the operation of each
  // operand.
  const bool by_columns = c.operation != CUBLAS_OP_N;
  const auto turn = [&](Side side) {
    return side.operation == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const Factor x = by_columns ? Factor{turn(a), a.leading, 0} : Factor{b.operation, b.leading, 1};
  const Factor y = by_columns ? Factor{turn(b), b.leading, 1} : Factor{a.operation, a.leading, 0};
  const int64_t m = by_columns ? plan.m : plan.n;
  const int64_t n = by_columns ? plan.n : plan.m;
  const void* const data[2] = {plan.a, plan.b};
  cublasStatus_t status;
  if (plan.batch == 1) {
    status = cublasGemmEx_64(handle.get(), x.operation, y.operation, m, n, plan.k, &plan.alpha,
                             data[x.operand], type.data, x.leading, data[y.operand], type.data,
                             y.leading, &plan.beta, plan.c, type.data, c.leading, type.compute,
                             CUBLAS_GEMM_DEFAULT);
  } else if (outer_batch(plan) == 1) {
    status = cublasGemmStridedBatchedEx_64(
        handle.get(), x.operation, y.operation, m, n, plan.k, &plan.alpha, data[x.operand],
        type.data, x.leading, inner_stride(plan, x.operand), data[y.operand], type.data, y.leading,
        inner_stride(plan, y.operand), &plan.beta, plan.c, type.data, c.leading,
        inner_stride(plan, 2), plan.batch, type.compute, CUBLAS_GEMM_DEFAULT);
  } else {
    const Workspace space(plan.place, 3 * plan.batch * static_cast<int64_t>(sizeof(void*)));
    if (space.missing()) return no_workspace();
    const Status written = write_addresses(plan, space.data<const char*>());
    if (written != kernel::kOk) return written;
    auto* const of = space.data<const void*>();
    status = cublasGemmBatchedEx_64(handle.get(), x.operation, y.operation, m, n, plan.k,
                                    &plan.alpha, of + x.operand * plan.batch, type.data, x.leading,
                                    of + y.operand * plan.batch, type.data, y.leading, &plan.beta,
                                    space.data<void*>() + 2 * plan.batch, type.data, c.leading,
                                    plan.batch, type.compute, CUBLAS_GEMM_DEFAULT);
  }
  return status == CUBLAS_STATUS_SUCCESS ? queued(plan.place) : blas_failure(status);
}

// ---- Conjugation without transposition ----

template <class T>
__global__ void conjugated_kernel(const __grid_constant__ Addresses of, int64_t rows,
                                  int64_t columns, int64_t row_stride, int64_t column_stride,
                                  Pair<T>* to) {
  const int64_t size = rows * columns;
  for (int64_t i = first_index(); i < of.count * size; i += index_step()) {
    int64_t rest = divide(i, size);
    const int64_t inside = i - rest * size;
    const int64_t row = divide(inside, columns);
    int64_t at = row * row_stride + (inside - row * columns) * column_stride;
    for (int d = of.ndim - 1; d >= 0; --d) {
      const int64_t upper = divide(rest, of.sizes[d]);
      at += (rest - upper * of.sizes[d]) * of.strides[0][d];
      rest = upper;
    }
    const Pair<T> x = reinterpret_cast<const Pair<T>*>(of.data[0])[at];
    to[i] = {x.re, -x.im};
  }
}

// Writes the conjugated matrices of operand A or B, row-major, one after the other, and puts them
// in place of the operand.
Status conjugate_operand(GemmPlan& plan, int operand, void* to) {
  const int64_t rows = operand == 0 ? plan.m : plan.k;
  const int64_t columns = operand == 0 ? plan.k : plan.n;
  int64_t(&strides)[2] = operand == 0 ? plan.a_strides : plan.b_strides;
  Addresses of{};
  of.ndim = plan.batch_ndim;
  of.count = plan.batch;
  of.data[0] = static_cast<const char*>(operand == 0 ? plan.a : plan.b);
  std::copy_n(plan.batch_sizes, plan.batch_ndim, of.sizes);
  std::copy_n(plan.batch_strides[operand], plan.batch_ndim, of.strides[0]);
  const auto write = [&]<class T>() {
    return launch(plan.place, of.count * rows * columns, &conjugated_kernel<T>, of, rows, columns,
                  strides[0], strides[1], static_cast<Pair<T>*>(to));
  };
  const Status status = plan.dtype == DType::kComplex64 ? write.template operator()<float>()
                                                        : write.template operator()<double>();
  (operand == 0 ? plan.a : plan.b) = to;
  (operand == 0 ? plan.conj_a : plan.conj_b) = 0;
  strides[0] = columns;
  strides[1] = 1;
  int64_t step = rows * columns;
  for (int32_t d = plan.batch_ndim - 1; d >= 0; --d) {
    plan.batch_strides[operand][d] = step;
    step *= plan.batch_sizes[d];
  }
  return status;
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

Side side_of(const GemmPlan& plan, int operand) {
  return operand == 0 ? describe(plan.a_strides, plan.m, plan.k, plan.conj_a != 0)
                      : describe(plan.b_strides, plan.k, plan.n, plan.conj_b != 0);
}
Status gemm_offered(const GemmPlan& plan) {
  return with_cublas(plan, side_of(plan, 0), side_of(plan, 1),
                     describe(plan.c_strides, plan.m, plan.n, false));
}

// A column-major C flips the operations, and with them what cuBLAS can conjugate.
Status gemm_complex(const GemmPlan& plan) {
  const bool by_columns = describe(plan.c_strides, plan.m, plan.n, false).operation != CUBLAS_OP_N;
  const auto copied = [&](int operand) {
    const bool conjugated = (operand == 0 ? plan.conj_a : plan.conj_b) != 0;
    return conjugated && (by_columns || !side_of(plan, operand).offered);
  };
  const int64_t size = itemsize(plan.dtype) * plan.batch * plan.k;
  const Workspace space_a(plan.place, copied(0) ? size * plan.m : 0);
  const Workspace space_b(plan.place, copied(1) ? size * plan.n : 0);
  if (space_a.missing() || space_b.missing()) return no_workspace();
  GemmPlan offered = plan;
  if (copied(0)) {
    const Status status = conjugate_operand(offered, 0, space_a.data<void>());
    if (status != kernel::kOk) return status;
  }
  if (copied(1)) {
    const Status status = conjugate_operand(offered, 1, space_b.data<void>());
    if (status != kernel::kOk) return status;
  }
  return gemm_offered(offered);
}

}  // namespace

Status gemm(const GemmPlan& plan) {
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0) return kernel::kOk;
  // For k = 0 the result is beta C, which versions of cuBLAS handle differently.
  if (is_integral_or_bool(plan.dtype) || plan.k == 0) return with_kernels(plan);
  return is_complex(plan.dtype) ? gemm_complex(plan) : gemm_offered(plan);
}

}  // namespace tsr::cuda
