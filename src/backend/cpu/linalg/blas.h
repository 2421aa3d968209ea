// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The BLAS library: opened at the first product, called by address, used through BlasUse. Its
// products of float32 are oneDNN's where those are faster.
#pragma once

#include <cstdint>

#include "backend/cpu/foreign_call.h"
#include "base/parallel.h"
#include "kernel/contract.h"

namespace tsr::cpu {

// CBLAS's numbers. Its header is not needed to build.
enum class BlasOrder : int { kRows = 101, kColumns = 102 };
enum class BlasTranspose : int { kNo = 111, kYes = 112, kConjugate = 113, kConjugateOnly = 114 };

// CBLAS's functions with 32-bit integers, under their names. sgemm is ours: it asks oneDNN first.
struct Blas {
  template <class T>
  using Gemm = void (*)(BlasOrder, BlasTranspose, BlasTranspose, int m, int n, int k, T alpha,
                        const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
  using ComplexGemm = void (*)(BlasOrder, BlasTranspose, BlasTranspose, int m, int n, int k,
                               const void* alpha, const void* a, int lda, const void* b, int ldb,
                               const void* beta, void* c, int ldc);
  template <class T>
  using Gemv = void (*)(BlasOrder, BlasTranspose, int m, int n, T alpha, const T* a, int lda,
                        const T* x, int incx, T beta, T* y, int incy);

  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  ComplexGemm cgemm = nullptr;
  ComplexGemm zgemm = nullptr;
  Gemv<float> sgemv = nullptr;
  Gemv<double> dgemv = nullptr;
};

// Whether the products of one use run one after the other, each with all threads, or concurrently
// in a parallel region, each with one thread.
enum class BlasCalls { kInTurn, kSideBySide };

// Permission to call BLAS, as long as this object lives.
class BlasUse {
 public:
  explicit BlasUse(BlasCalls calls) noexcept;

  // False if there is no library, no memory for its buffers, or the process is exiting; the host
  // then has the reason, and status() is the error.
  explicit operator bool() const noexcept { return blas_ != nullptr; }
  const Blas* operator->() const noexcept { return blas_; }
  [[nodiscard]] kernel::Status status() const noexcept { return status_; }
  // Another function of the same library; null when it has none of that name.
  [[nodiscard]] void* find(const char* name) const noexcept;

 private:
  ForeignCall call_;
  OpenMpThreads threads_;
  const Blas* blas_ = nullptr;
  kernel::Status status_ = kernel::kOk;
};

// ---- For tests ----

// The file of the library, and OpenBLAS's number for its flavour: 0 serial, 1 POSIX threads, 2
// OpenMP, -1 another library. Loads the library; the path is empty if there is none.
struct BlasLibrary {
  const char* path;
  int flavour;
};
BlasLibrary blas_library() noexcept;

}  // namespace tsr::cpu
