// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Factorizations by cuSOLVER, matrix after matrix on the plan's stream. To cuSOLVER, which reads
// matrices by columns, one whose rows are contiguous is its own transpose: see the CPU's
// linalg/factorizations.h, whose calls these are. eig and lstsq are left to the CPU.
#include "backend/cuda/generated/entries.h"

#include <algorithm>
#include <climits>

#include "backend/cuda/linalg/cublas.h"
#include "backend/cuda/linalg/cusolver.h"
#include "backend/cuda/linalg/matrices.h"

// Leaves the calling function, which returns a Status, when a call fails.
#define TSR_TRY(call)                                                    \
  do {                                                                   \
    if (const Status tried = (call); tried != kernel::kOk) return tried; \
  } while (false)
#define TSR_SOLVER_TRY(call)                                                     \
  do {                                                                           \
    if (const cusolverStatus_t tried = (call); tried != CUSOLVER_STATUS_SUCCESS) \
      return solver_failure(tried);                                              \
  } while (false)

namespace tsr::cuda {

using kernel::FactorOp;
using kernel::FactorPlan;
using kernel::Status;

namespace {

// Solves op(A) on the right of B, all by columns: B = B op(A)⁻¹.
cublasStatus_t trsm(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, const float* a, float* b) {
  const float one = 1;
  return cublasStrsm(handle, CUBLAS_SIDE_RIGHT, fill, op, diag, m, n, &one, a, n, b, m);
}
cublasStatus_t trsm(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, const double* a, double* b) {
  const double one = 1;
  return cublasDtrsm(handle, CUBLAS_SIDE_RIGHT, fill, op, diag, m, n, &one, a, n, b, m);
}
cublasStatus_t trsm(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, const cuComplex* a, cuComplex* b) {
  const cuComplex one{1, 0};
  return cublasCtrsm(handle, CUBLAS_SIDE_RIGHT, fill, op, diag, m, n, &one, a, n, b, m);
}
cublasStatus_t trsm(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, const cuDoubleComplex* a,
                    cuDoubleComplex* b) {
  const cuDoubleComplex one{1, 0};
  return cublasZtrsm(handle, CUBLAS_SIDE_RIGHT, fill, op, diag, m, n, &one, a, n, b, m);
}

// How a Jacobi iteration ends: cuSOLVER's defaults.
class JacobiOptions {
 public:
  explicit JacobiOptions(const SolverLibrary& library) : library_(library) {
    status_ = library.create_gesvdj(&options_);
  }
  ~JacobiOptions() {
    if (options_ != nullptr) static_cast<void>(library_.destroy_gesvdj(options_));
  }
  JacobiOptions(const JacobiOptions&) = delete;
  JacobiOptions& operator=(const JacobiOptions&) = delete;
  [[nodiscard]] cusolverStatus_t status() const { return status_; }
  [[nodiscard]] gesvdjInfo_t get() const { return options_; }

 private:
  const SolverLibrary& library_;
  gesvdjInfo_t options_ = nullptr;
  cusolverStatus_t status_;
};

// One plan, with numbers of type T.
template <class T>
class Task {
 public:
  Task(const FactorPlan& plan, const SolverLibrary& library, cusolverDnHandle_t handle,
       int32_t* info)
      : plan_(plan),
        library_(library),
        solver_(library.of<T>()),
        handle_(handle),
        info_(info),
        rows_(static_cast<int>(plan.rows)),
        columns_(static_cast<int>(plan.columns)),
        least_(std::min(rows_, columns_)),
        others_(static_cast<int>(plan.others)) {}

  Status run() const {
    switch (plan_.op) {
      case FactorOp::kCholesky:
        return cholesky();
      case FactorOp::kLu:
        return lu();
      case FactorOp::kSolve:
        return solve();
      case FactorOp::kInverse:
        return invert();
      case FactorOp::kQr:
        return qr();
      case FactorOp::kEigh:
        return eigh();
      default:
        return svd();
    }
  }

 private:
  using Real = RealOf<T>;

  // Matrix number i of an operand that has `size` numbers in each.
  template <class U = T>
  static U* nth(void* operand, int64_t i, int64_t size) {
    return static_cast<U*>(operand) + i * size;
  }
  [[nodiscard]] int64_t entries() const { return plan_.rows * plan_.columns; }

  // Calls fn(i, workspace) for every matrix, with a workspace of `size` numbers for all of them.
  template <class Fn>
  Status for_each(int64_t size, const Fn& fn) const {
    const Workspace work(plan_.place, std::max<int64_t>(size, 1) * int64_t{sizeof(T)});
    if (work.missing()) return no_workspace();
    for (int64_t i = 0; i < plan_.batch; ++i) TSR_TRY(fn(i, work.data<T>()));
    return kernel::kOk;
  }

  Status cholesky() const {
    const int n = columns_;
    const auto fill = plan_.upper != 0 ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    int size = 0;
    TSR_SOLVER_TRY(solver_.potrf_size(handle_, fill, n, nth(plan_.a, 0, 0), n, &size));
    const Status status = for_each(size, [&](int64_t i, T* work) -> Status {
      T* a = nth(plan_.a, i, entries());
      TSR_SOLVER_TRY(solver_.potrf(handle_, fill, n, a, n, work, size, info_ + i));
      return kernel::kOk;
    });
    TSR_TRY(status);
    return finish_cholesky(plan_.place, plan_.dtype, plan_.a, plan_.batch, n, plan_.upper != 0,
                           info_);
  }

  // A by columns becomes its factors, rows × columns.
  Status factor_lu(int64_t i, T* work) const {
    T* a = nth(plan_.a, i, entries());
    int* pivots = plan_.pivots + i * least_;
    TSR_SOLVER_TRY(solver_.getrf(handle_, rows_, columns_, a, rows_, work, pivots, info_ + i));
    return kernel::kOk;
  }
  Status lu_size(int* size) const {
    TSR_SOLVER_TRY(solver_.getrf_size(handle_, rows_, columns_, nth(plan_.a, 0, 0), rows_, size));
    return kernel::kOk;
  }

  Status lu() const {
    int size = 0;
    TSR_TRY(lu_size(&size));
    return for_each(size, [&](int64_t i, T* work) { return factor_lu(i, work); });
  }

  // X = op(LU)⁻¹ X. The info of this call only tells wrong arguments, so it is not kept.
  Status substitute(int64_t i, cublasOperation_t op, int nrhs, T* x, int* ignored) const {
    TSR_SOLVER_TRY(solver_.getrs(handle_, op, columns_, nrhs, nth(plan_.a, i, entries()), columns_,
                                 plan_.pivots + i * columns_, x, columns_, ignored));
    return kernel::kOk;
  }

  // Transposed, A X = B is solved with the transpose of what was factored; B goes by columns.
  Status solve() const {
    int size = 0;
    TSR_TRY(lu_size(&size));
    const int64_t sides = plan_.columns * plan_.others;
    const Workspace ignored(plan_.place, sizeof(int32_t));
    if (ignored.missing()) return no_workspace();
    return for_each(size + sides, [&](int64_t i, T* work) -> Status {
      T* b = nth(plan_.b, i, sides);
      T* turned = others_ == 1 ? b : work + size;
      TSR_TRY(factor_lu(i, work));
      if (others_ != 1)
        TSR_TRY(turn(plan_.place, plan_.dtype, b, turned, plan_.columns, plan_.others, false));
      TSR_TRY(substitute(i, CUBLAS_OP_T, others_, turned, ignored.data<int>()));
      if (others_ == 1) return kernel::kOk;
      return turn(plan_.place, plan_.dtype, turned, b, plan_.others, plan_.columns, false);
    });
  }

  // The inverse of the transpose is the transpose of the inverse.
  Status invert() const {
    int size = 0;
    TSR_TRY(lu_size(&size));
    const Workspace ignored(plan_.place, sizeof(int32_t));
    if (ignored.missing()) return no_workspace();
    const size_t nbytes = static_cast<size_t>(entries()) * sizeof(T);
    return for_each(size + entries(), [&](int64_t i, T* work) -> Status {
      T* inverse = work + size;
      TSR_TRY(factor_lu(i, work));
      TSR_TRY(set_identity(plan_.place, plan_.dtype, inverse, plan_.columns));
      TSR_TRY(substitute(i, CUBLAS_OP_N, columns_, inverse, ignored.data<int>()));
      TSR_CUDA_TRY(cudaMemcpyAsync(nth(plan_.a, i, entries()), inverse, nbytes,
                                   cudaMemcpyDeviceToDevice,
                                   static_cast<cudaStream_t>(plan_.place.stream)));
      return queued(plan_.place);
    });
  }

  // Within the device's memory.
  Status copy(T* to, const T* from, int64_t count) const {
    TSR_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<size_t>(count) * sizeof(T),
                                 cudaMemcpyDeviceToDevice,
                                 static_cast<cudaStream_t>(plan_.place.stream)));
    return kernel::kOk;
  }

  // The k scalars of the reflectors stand before cuSOLVER's own workspace.
  Status qr() const {
    T* first = nth(plan_.a, 0, 0);
    int size = 0;
    int basis = 0;
    TSR_SOLVER_TRY(solver_.geqrf_size(handle_, rows_, columns_, first, rows_, &size));
    if (plan_.q != nullptr) {
      TSR_SOLVER_TRY(
          solver_.orgqr_size(handle_, rows_, others_, least_, first, rows_, first, &basis));
    }
    return for_each(least_ + std::max(size, basis), [&](int64_t i, T* tau) -> Status {
      T* work = tau + least_;
      T* a = nth(plan_.a, i, entries());
      TSR_SOLVER_TRY(solver_.geqrf(handle_, rows_, columns_, a, rows_, tau, work, size, info_ + i));
      if (plan_.values != nullptr) {
        TSR_TRY(copy(nth(plan_.values, i, least_), tau, least_));
      }
      if (plan_.q == nullptr) return kernel::kOk;
      T* q = nth(plan_.q, i, plan_.rows * plan_.others);
      TSR_TRY(copy(q, a, plan_.rows * std::min(columns_, others_)));
      TSR_SOLVER_TRY(
          solver_.orgqr(handle_, rows_, others_, least_, q, rows_, tau, work, basis, info_ + i));
      return kernel::kOk;
    });
  }

  // Leaves kNotFinite in info and in the host's status for the matrices to skip.
  Status skip_not_finite(Part part) const {
    TSR_TRY(find_not_finite(plan_.place, plan_.dtype, plan_.a, plan_.batch, plan_.rows,
                            plan_.columns, part, info_));
    return read_status();
  }

 public:
  // Waits for all of the work.
  Status read_status() const {
    const auto stream = static_cast<cudaStream_t>(plan_.place.stream);
    TSR_CUDA_TRY(cudaMemcpyAsync(plan_.status, info_,
                                 static_cast<size_t>(plan_.batch) * sizeof(int32_t),
                                 cudaMemcpyDeviceToHost, stream));
    TSR_CUDA_TRY(cudaStreamSynchronize(stream));
    return kernel::kOk;
  }

 private:
  // A transposed Hermitian matrix is conj(A): the same eigenvalues, and conjugate eigenvectors.
  Status eigh() const {
    const int n = columns_;
    const bool upper = plan_.upper != 0;
    const auto mode = plan_.vectors != 0 ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const auto fill = upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    TSR_TRY(skip_not_finite(upper ? Part::kUpper : Part::kLower));
    int size = 0;
    TSR_SOLVER_TRY(solver_.syevd_size(handle_, mode, fill, n, nth(plan_.a, 0, 0), n,
                                      nth<Real>(plan_.values, 0, 0), &size));
    const Status status = for_each(size, [&](int64_t i, T* work) -> Status {
      if (plan_.status[i] != 0) return kernel::kOk;
      TSR_SOLVER_TRY(solver_.syevd(handle_, mode, fill, n, nth(plan_.a, i, entries()), n,
                                   nth<Real>(plan_.values, i, n), work, size, info_ + i));
      return kernel::kOk;
    });
    TSR_TRY(status);
    if (plan_.vectors == 0) return kernel::kOk;
    return conjugate(plan_.place, plan_.dtype, plan_.a, plan_.batch * entries());
  }

  // Aᵀ = W S Zᴴ gives A = conj(Z) S Wᵀ: Vᴴ by rows is W by columns, U is conj(Z), which must be
  // turned to lie by rows. One-sided Jacobi iterations take matrices of any shape.
  Status svd() const {
    TSR_TRY(skip_not_finite(Part::kWhole));
    const JacobiOptions options(library_);
    TSR_SOLVER_TRY(options.status());
    const bool vectors = plan_.q != nullptr;
    const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const int thin = plan_.full != 0 ? 0 : 1;
    const int left = thin != 0 ? least_ : rows_;
    const int right = thin != 0 ? least_ : columns_;
    const int64_t left_size = int64_t{rows_} * left;
    const int64_t right_size = int64_t{columns_} * right;
    int size = 0;
    T* first = nth(plan_.a, 0, 0);
    TSR_SOLVER_TRY(solver_.gesvdj_size(handle_, mode, thin, columns_, rows_, first, columns_,
                                       nth<Real>(plan_.values, 0, 0), first, columns_, first, rows_,
                                       &size, options.get()));
    // Room for both sides of vectors also when none are wanted, because the call takes them.
    return for_each(size + left_size + right_size, [&](int64_t i, T* work) -> Status {
      if (plan_.status[i] != 0) return kernel::kOk;
      T* z = work + size;
      T* w = vectors ? nth(plan_.v, i, right_size) : z + left_size;
      TSR_SOLVER_TRY(solver_.gesvdj(handle_, mode, thin, columns_, rows_,
                                    nth(plan_.a, i, entries()), columns_,
                                    nth<Real>(plan_.values, i, least_), w, columns_, z, rows_, work,
                                    size, info_ + i, options.get()));
      if (!vectors) return kernel::kOk;
      return turn(plan_.place, plan_.dtype, z, nth(plan_.q, i, left_size), left, rows_, true);
    });
  }

  const FactorPlan& plan_;
  const SolverLibrary& library_;
  const Solver<T>& solver_;
  cusolverDnHandle_t handle_;
  int32_t* info_;  // on the device, one for each matrix
  int rows_, columns_, least_, others_;
};

// Needs cuBLAS alone, and cannot fail, so that nobody need wait. Transposed, A X = B is Xᵀ Aᵀ = Bᵀ:
// a triangle from the right.
template <class T>
Status solve_triangular(const FactorPlan& plan) {
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  const BlasHandle blas(plan.place);
  if (blas.status() != CUBLAS_STATUS_SUCCESS) return blas_failure(blas.status());
  std::fill(plan.status, plan.status + plan.batch, 0);
  const bool by_columns = plan.transposed != 0;
  const auto fill =
      (plan.upper != 0) == by_columns ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto op = by_columns ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto diag = plan.unit != 0 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const int n = static_cast<int>(plan.columns);
  const int m = static_cast<int>(plan.others);
  for (int64_t i = 0; i < plan.batch; ++i) {
    const auto* a = static_cast<const T*>(plan.a) + i * plan.a_step;
    auto* b = static_cast<T*>(plan.b) + i * plan.columns * plan.others;
    const cublasStatus_t status = trsm(blas.get(), fill, op, diag, m, n, a, b);
    if (status != CUBLAS_STATUS_SUCCESS) return blas_failure(status);
  }
  return queued(plan.place);
}

// Calls visit.operator()<T>() with the type of numbers of `dtype`.
template <class Visit>
Status visit_numbers(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return visit.template operator()<double>();
    case DType::kComplex64:
      return visit.template operator()<cuComplex>();
    case DType::kComplex128:
      return visit.template operator()<cuDoubleComplex>();
    default:
      return failure(Code::kDType, "expected float32, float64, complex64 or complex128");
  }
}

template <class T>
Status run(const FactorPlan& plan, const SolverLibrary& library) {
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  const SolverHandle handle(library, plan.place);
  TSR_SOLVER_TRY(handle.status());
  const int64_t nbytes = plan.batch * static_cast<int64_t>(sizeof(int32_t));
  const Workspace info(plan.place, nbytes);
  if (info.missing()) return no_workspace();
  TSR_TRY(clear(plan.place, info.data<void>(), nbytes));
  const Task<T> task(plan, library, handle.get(), info.data<int32_t>());
  TSR_TRY(task.run());
  return task.read_status();
}

}  // namespace

Status factor(const FactorPlan& plan) {
  const bool is_long = std::max({plan.rows, plan.columns, plan.others}) > INT_MAX;
  if (plan.op == FactorOp::kTriangularSolve && !is_long)
    return visit_numbers(plan.dtype, [&]<class T>() { return solve_triangular<T>(plan); });
  const SolverLibrary* library = load_solver();
  const bool left_out = plan.op == FactorOp::kEig || plan.op == FactorOp::kLeastSquares;
  if (library == nullptr || left_out || is_long)
    return failure(Code::kNotImplemented, "expected cuSOLVER, with a method for this op");
  return visit_numbers(plan.dtype, [&]<class T>() { return run<T>(plan, *library); });
}

}  // namespace tsr::cuda
