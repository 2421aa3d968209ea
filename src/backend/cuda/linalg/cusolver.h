// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// cuSOLVER's dense factorizations, loaded at first use: without cuSOLVER the library computes them
// on the CPU.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "backend/cuda/host.h"

namespace tsr::cuda {

template <class T>
using RealOf =
    std::conditional_t<std::is_same_v<T, cuComplex>, float,
                       std::conditional_t<std::is_same_v<T, cuDoubleComplex>, double, T>>;

// The functions for one type of numbers: float, double, cuComplex or cuDoubleComplex. Matrices are
// stored by columns, as for LAPACK; `info` is in device memory. Each *_size tells the numbers of T
// that the call wants as workspace.
template <class T>
struct Solver {
  using Handle = cusolverDnHandle_t;
  using Real = RealOf<T>;
  template <class... Args>
  using Function = cusolverStatus_t (*)(Handle, Args...);

  Function<cublasFillMode_t, int, T*, int, int*> potrf_size;
  Function<cublasFillMode_t, int, T*, int, T*, int, int*> potrf;
  Function<int, int, T*, int, int*> getrf_size;
  Function<int, int, T*, int, T*, int*, int*> getrf;
  Function<cublasOperation_t, int, int, const T*, int, const int*, T*, int, int*> getrs;
  Function<int, int, T*, int, int*> geqrf_size;
  Function<int, int, T*, int, T*, T*, int, int*> geqrf;
  Function<int, int, int, const T*, int, const T*, int*> orgqr_size;
  Function<int, int, int, T*, int, const T*, T*, int, int*> orgqr;
  Function<cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const Real*, int*> syevd_size;
  Function<cusolverEigMode_t, cublasFillMode_t, int, T*, int, Real*, T*, int, int*> syevd;
  Function<cusolverEigMode_t, int, int, int, const T*, int, const Real*, const T*, int, const T*,
           int, int*, gesvdjInfo_t>
      gesvdj_size;
  Function<cusolverEigMode_t, int, int, int, T*, int, Real*, T*, int, T*, int, T*, int, int*,
           gesvdjInfo_t>
      gesvdj;
};

// What all types share.
struct SolverLibrary {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnDestroy) destroy;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnCreateGesvdjInfo) create_gesvdj;
  decltype(&cusolverDnDestroyGesvdjInfo) destroy_gesvdj;
  Solver<float> s;
  Solver<double> d;
  Solver<cuComplex> c;
  Solver<cuDoubleComplex> z;

  template <class T>
  [[nodiscard]] const Solver<T>& of() const {
    if constexpr (std::is_same_v<T, float>)
      return s;
    else if constexpr (std::is_same_v<T, double>)
      return d;
    else if constexpr (std::is_same_v<T, cuComplex>)
      return c;
    else
      return z;
  }
};

// Null if the library or one of the functions is missing.
const SolverLibrary* load_solver() noexcept;
kernel::Status solver_failure(cusolverStatus_t status) noexcept;

// A handle for the plan's device and stream during one call. The device must be current.
class SolverHandle {
 public:
  SolverHandle(const SolverLibrary& library, kernel::Place place);
  ~SolverHandle();
  SolverHandle(const SolverHandle&) = delete;
  SolverHandle& operator=(const SolverHandle&) = delete;

  [[nodiscard]] cusolverStatus_t status() const { return status_; }
  [[nodiscard]] cusolverDnHandle_t get() const { return handle_; }

 private:
  const SolverLibrary& library_;
  int32_t device_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverStatus_t status_ = CUSOLVER_STATUS_SUCCESS;
};

}  // namespace tsr::cuda
