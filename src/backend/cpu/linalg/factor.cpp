// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Factorizations by LAPACK: large matrices one after another with all threads, small ones with one
// thread each, of which a batch uses all.
#include "backend/cpu/generated/entries.h"

#include <atomic>
#include <climits>
#include <complex>

#include "backend/cpu/host.h"
#include "backend/cpu/linalg/least_squares.h"
#include "backend/cpu/linalg/spectra.h"
#include "base/determinism.h"
#include "base/parallel.h"
#include "base/round_up.h"

namespace tsr::cpu {

using kernel::FactorOp;
using kernel::Status;

namespace {

// Matrices of at least so many operations are factored one after another with all threads. With
// smaller ones BLAS wakes its threads more often than they have work.
constexpr int64_t kLarge = int64_t{1} << 27;
// As many operations are worth a thread.
constexpr int64_t kGrain = int64_t{1} << 16;

Status no_scratch() {
  return failure(Code::kOutOfMemory, "expected workspace for a factorization, got none");
}

// The matrices [begin, end) with scratch memory of their own.
template <class Task, class T>
Status run_range(const Task& task, const ScratchSizes& sizes, int64_t begin, int64_t end) {
  constexpr uint64_t kLine = 64;
  const auto padded = [](int64_t count, size_t size) {
    return static_cast<int64_t>(round_up(static_cast<uint64_t>(count) * size, kLine));
  };
  const int64_t work = padded(sizes.work, sizeof(T));
  const int64_t real = padded(sizes.real, sizeof(RealOf<T>));
  const int64_t nbytes = work + real + sizes.whole * static_cast<int64_t>(sizeof(int));
  const Workspace memory(nbytes);
  auto* bytes = static_cast<std::byte*>(memory.data());
  if (bytes == nullptr && nbytes != 0) return static_cast<Status>(Code::kOutOfMemory);
  const Scratch<T> scratch{reinterpret_cast<T*>(bytes),
                           reinterpret_cast<RealOf<T>*>(bytes + work),
                           reinterpret_cast<int*>(bytes + work + real),
                           static_cast<int>(sizes.work),
                           static_cast<int>(sizes.real),
                           static_cast<int>(sizes.whole)};
  for (int64_t i = begin; i < end; ++i) task.plan.status[i] = task.run(i, scratch);
  return kernel::kOk;
}

template <template <class> class Task, class T>
Status run(const FactorPlan& plan) {
  const int64_t least = std::min(plan.rows, plan.columns);
  const int64_t work = plan.rows * plan.columns * (least + plan.others);
  // With one thread for each matrix, deterministic mode has no reason to take them in turn.
  const bool in_turn = work >= kLarge && !deterministic();
  const BlasUse use(in_turn ? BlasCalls::kInTurn : BlasCalls::kSideBySide);
  if (!use) return use.status();
  const Lapack<T>* lapack = find_lapack<T>(use);
  if (lapack == nullptr) return static_cast<Status>(Code::kNotImplemented);
  const Task<T> task(plan, *lapack, *use.operator->());
  const ScratchSizes sizes = task.sizes();
  if (std::max({sizes.work, sizes.real, sizes.whole}) > INT_MAX) {
    return failure(Code::kNotImplemented,
                   "expected matrices whose workspace has fewer than 2**31 numbers, got larger "
                   "ones");
  }
  if (in_turn) {
    const Status status = run_range<Task<T>, T>(task, sizes, 0, plan.batch);
    return status == kernel::kOk ? status : no_scratch();
  }
  // The text of a failure belongs to the thread that reports it.
  std::atomic<Status> result{kernel::kOk};
  const int64_t grain = kGrain / std::max<int64_t>(1, work);
  parallel_for(plan.batch, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    const Status status = run_range<Task<T>, T>(task, sizes, begin, end);
    if (status != kernel::kOk) result.store(status, std::memory_order_relaxed);
  });
  return result == kernel::kOk ? kernel::kOk : no_scratch();
}

template <template <class> class Task>
Status run_typed(const FactorPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat32:
      return run<Task, float>(plan);
    case DType::kFloat64:
      return run<Task, double>(plan);
    case DType::kComplex64:
      return run<Task, std::complex<float>>(plan);
    case DType::kComplex128:
      return run<Task, std::complex<double>>(plan);
    default:
      return failure(Code::kDType, "expected float32, float64, complex64 or complex128");
  }
}

}  // namespace

Status factor(const FactorPlan& plan) {
  if (std::max({plan.rows, plan.columns, plan.others}) > INT_MAX) {
    return failure(Code::kNotImplemented,
                   "expected matrices of fewer than 2**31 rows and columns, got larger ones");
  }
  switch (plan.op) {
    case FactorOp::kCholesky:
      return run_typed<CholeskyOf>(plan);
    case FactorOp::kLu:
      return run_typed<LuOf>(plan);
    case FactorOp::kSolve:
      return run_typed<SolveOf>(plan);
    case FactorOp::kInverse:
      return run_typed<InverseOf>(plan);
    case FactorOp::kTriangularSolve:
      return run_typed<TriangularSolveOf>(plan);
    case FactorOp::kQr:
      return run_typed<QrOf>(plan);
    case FactorOp::kEigh:
      return run_typed<EighOf>(plan);
    case FactorOp::kSvd:
      return run_typed<SvdOf>(plan);
    case FactorOp::kEig:
      return run_typed<EigOf>(plan);
    case FactorOp::kLeastSquares:
      return run_typed<LeastSquaresOf>(plan);
    case FactorOp::kCount:
      break;
  }
  return failure(Code::kNotImplemented, "expected a factorization that this library knows");
}

}  // namespace tsr::cpu
