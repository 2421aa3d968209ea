// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuSOLVER. A call is queued on the handle's stream and runs LAPACK. It fills the
// whole workspace with noise, so that one that is too small, or in use, is found.
#include "cusolverDn.h"

#include <complex>
#include <vector>

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
struct gesvdjInfo {};

namespace {

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

// Real numbers have no `rwork`.
#define TSR_LAPACK(letter, T, R, orgqr, syev, ...)                                               \
  extern "C" {                                                                                   \
  void letter##potrf_(const char*, const int*, T*, const int*, int*, size_t);                    \
  void letter##getrf_(const int*, const int*, T*, const int*, int*, int*);                       \
  void letter##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, \
                      const int*, int*, size_t);                                                 \
  void letter##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);         \
  void letter##orgqr##_(const int*, const int*, const int*, T*, const int*, const T*, T*,        \
                        const int*, int*);                                                       \
  void letter##syev##_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, \
                       __VA_ARGS__ int*, size_t, size_t);                                        \
  void letter##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, R*, T*,  \
                      const int*, T*, const int*, T*, const int*, __VA_ARGS__ int*, size_t,      \
                      size_t);                                                                   \
  }                                                                                              \
  template <>                                                                                    \
  struct Lapack<T> {                                                                             \
    using Real = R;                                                                              \
    static constexpr auto potrf = &letter##potrf_;                                               \
    static constexpr auto getrf = &letter##getrf_;                                               \
    static constexpr auto getrs = &letter##getrs_;                                               \
    static constexpr auto geqrf = &letter##geqrf_;                                               \
    static constexpr auto make_q = &letter##orgqr##_;                                            \
    static constexpr auto eigh = &letter##syev##_;                                               \
    static constexpr auto gesvd = &letter##gesvd_;                                               \
  };

template <class T>
struct Lapack;
TSR_LAPACK(s, float, float, orgqr, syev)
TSR_LAPACK(d, double, double, orgqr, syev)
TSR_LAPACK(c, Complex, float, ungqr, heev, float*, )
TSR_LAPACK(z, DoubleComplex, double, ungqr, heev, double*, )
#undef TSR_LAPACK

template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, typename Lapack<T>::Real>;

constexpr int kSize = 24;  // of every workspace, in numbers

template <class T>
cusolverStatus_t tell_size(int* size) {
  *size = kSize + static_cast<int>(sizeof(T)) / 8;
  return CUSOLVER_STATUS_SUCCESS;
}

// Queues `body`, which has read all of its arguments by value.
template <class T, class Body>
cusolverStatus_t queue(cusolverDnHandle_t handle, T* work, int size, const Body& body) {
  int needed = 0;
  tell_size<T>(&needed);
  if (handle == nullptr || (work != nullptr && size < needed)) return CUSOLVER_STATUS_INVALID_VALUE;
  const cudaError_t error = tsr::cuda::on_host::enqueue("launch", handle->stream, [=] {
    if (work != nullptr) std::memset(static_cast<void*>(work), 0xab, needed * sizeof(T));
    body();
  });
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

const char* name(cublasFillMode_t fill) {
  return fill == CUBLAS_FILL_MODE_UPPER ? "U" : "L";
}

template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda,
                       T* work, int size, int* info) {
  return queue(handle, work, size, [=] { Lapack<T>::potrf(name(fill), &n, a, &lda, info, 1); });
}

template <class T>
cusolverStatus_t getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* work, int* pivots,
                       int* info) {
  return queue(handle, work, 1 << 30, [=] { Lapack<T>::getrf(&m, &n, a, &lda, pivots, info); });
}

template <class T>
cusolverStatus_t getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int nrhs, const T* a,
                       int lda, const int* pivots, T* b, int ldb, int* info) {
  const char* transpose = op == CUBLAS_OP_N ? "N" : op == CUBLAS_OP_T ? "T" : "C";
  return queue<T>(handle, nullptr, 0, [=] {
    Lapack<T>::getrs(transpose, &n, &nrhs, a, &lda, pivots, b, &ldb, info, 1);
  });
}

template <class T>
cusolverStatus_t geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work,
                       int size, int* info) {
  return queue(handle, work, size, [=] {
    std::vector<T> room(static_cast<size_t>(n) * 64);
    const int count = static_cast<int>(room.size());
    Lapack<T>::geqrf(&m, &n, a, &lda, tau, room.data(), &count, info);
  });
}

template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau,
                       T* work, int size, int* info) {
  return queue(handle, work, size, [=] {
    std::vector<T> room(static_cast<size_t>(n) * 64);
    const int count = static_cast<int>(room.size());
    Lapack<T>::make_q(&m, &n, &k, a, &lda, tau, room.data(), &count, info);
  });
}

template <class T, class Real>
cusolverStatus_t syevd(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t fill,
                       int n, T* a, int lda, Real* values, T* work, int size, int* info) {
  return queue(handle, work, size, [=] {
    const char* job = mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N";
    std::vector<T> room(static_cast<size_t>(n) * 64);
    std::vector<Real> reals(static_cast<size_t>(n) * 3);
    const int count = static_cast<int>(room.size());
    if constexpr (kIsComplex<T>)
      Lapack<T>::eigh(job, name(fill), &n, a, &lda, values, room.data(), &count, reals.data(), info,
                      1, 1);
    else
      Lapack<T>::eigh(job, name(fill), &n, a, &lda, values, room.data(), &count, info, 1, 1);
  });
}

// LAPACK gives the adjoint of V, cuSOLVER V itself.
template <class T, class Real>
cusolverStatus_t gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int thin, int m, int n,
                        T* a, int lda, Real* values, T* u, int ldu, T* v, int ldv, T* work,
                        int size, int* info, gesvdjInfo_t options) {
  if (options == nullptr || u == nullptr || v == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  return queue(handle, work, size, [=] {
    const char* job = mode == CUSOLVER_EIG_MODE_NOVECTOR ? "N" : thin != 0 ? "S" : "A";
    const int rows = thin != 0 ? std::min(m, n) : n;
    std::vector<T> adjoint(static_cast<size_t>(rows) * static_cast<size_t>(n));
    std::vector<T> room(static_cast<size_t>(m + n) * 64);
    std::vector<Real> reals(static_cast<size_t>(m + n) * 5);
    const int count = static_cast<int>(room.size());
    if constexpr (kIsComplex<T>)
      Lapack<T>::gesvd(job, job, &m, &n, a, &lda, values, u, &ldu, adjoint.data(), &rows,
                       room.data(), &count, reals.data(), info, 1, 1);
    else
      Lapack<T>::gesvd(job, job, &m, &n, a, &lda, values, u, &ldu, adjoint.data(), &rows,
                       room.data(), &count, info, 1, 1);
    if (*job == 'N') return;
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < n; ++i) {
        const T x =
            adjoint[static_cast<size_t>(i) * static_cast<size_t>(rows) + static_cast<size_t>(j)];
        if constexpr (kIsComplex<T>)
          v[int64_t{j} * ldv + i] = std::conj(x);
        else
          v[int64_t{j} * ldv + i] = x;
      }
    }
  });
}

}  // namespace

#define TSR_SIZE(name, T, ...)                                          \
  cusolverStatus_t name##_bufferSize(cusolverDnHandle_t, __VA_ARGS__) { \
    return tell_size<T>(size);                                          \
  }
#define TSR_SOLVER(letter, T, R, q, eigh)                                                          \
  TSR_SIZE(cusolverDn##letter##potrf, T, cublasFillMode_t, int, T*, int, int* size)                \
  cusolverStatus_t cusolverDn##letter##potrf(cusolverDnHandle_t h, cublasFillMode_t fill, int n,   \
                                             T* a, int lda, T* work, int size, int* info) {        \
    return potrf(h, fill, n, a, lda, work, size, info);                                            \
  }                                                                                                \
  TSR_SIZE(cusolverDn##letter##getrf, T, int, int, T*, int, int* size)                             \
  cusolverStatus_t cusolverDn##letter##getrf(cusolverDnHandle_t h, int m, int n, T* a, int lda,    \
                                             T* work, int* pivots, int* info) {                    \
    return getrf(h, m, n, a, lda, work, pivots, info);                                             \
  }                                                                                                \
  cusolverStatus_t cusolverDn##letter##getrs(cusolverDnHandle_t h, cublasOperation_t op, int n,    \
                                             int nrhs, const T* a, int lda, const int* pivots,     \
                                             T* b, int ldb, int* info) {                           \
    return getrs(h, op, n, nrhs, a, lda, pivots, b, ldb, info);                                    \
  }                                                                                                \
  TSR_SIZE(cusolverDn##letter##geqrf, T, int, int, T*, int, int* size)                             \
  cusolverStatus_t cusolverDn##letter##geqrf(cusolverDnHandle_t h, int m, int n, T* a, int lda,    \
                                             T* tau, T* work, int size, int* info) {               \
    return geqrf(h, m, n, a, lda, tau, work, size, info);                                          \
  }                                                                                                \
  TSR_SIZE(cusolverDn##letter##q, T, int, int, int, const T*, int, const T*, int* size)            \
  cusolverStatus_t cusolverDn##letter##q(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda, \
                                         const T* tau, T* work, int size, int* info) {             \
    return orgqr(h, m, n, k, a, lda, tau, work, size, info);                                       \
  }                                                                                                \
  TSR_SIZE(cusolverDn##letter##eigh, T, cusolverEigMode_t, cublasFillMode_t, int, const T*, int,   \
           const R*, int* size)                                                                    \
  cusolverStatus_t cusolverDn##letter##eigh(cusolverDnHandle_t h, cusolverEigMode_t mode,          \
                                            cublasFillMode_t fill, int n, T* a, int lda, R* w,     \
                                            T* work, int size, int* info) {                        \
    return syevd(h, mode, fill, n, a, lda, w, work, size, info);                                   \
  }                                                                                                \
  TSR_SIZE(cusolverDn##letter##gesvdj, T, cusolverEigMode_t, int, int, int, const T*, int,         \
           const R*, const T*, int, const T*, int, int* size, gesvdjInfo_t)                        \
  cusolverStatus_t cusolverDn##letter##gesvdj(                                                     \
      cusolverDnHandle_t h, cusolverEigMode_t mode, int thin, int m, int n, T* a, int lda, R* s,   \
      T* u, int ldu, T* v, int ldv, T* work, int size, int* info, gesvdjInfo_t options) {          \
    return gesvdj(h, mode, thin, m, n, a, lda, s, u, ldu, v, ldv, work, size, info, options);      \
  }

#pragma GCC visibility push(default)
extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  const auto status =
      static_cast<cusolverStatus_t>(tsr::cuda::on_host::failure("cusolverDnCreate"));
  if (status == CUSOLVER_STATUS_SUCCESS) *handle = new cusolverDnContext;
  return status;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
  *info = new gesvdjInfo;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}

// The real library's complex type has the same layout.
TSR_SOLVER(S, float, float, orgqr, syevd)
TSR_SOLVER(D, double, double, orgqr, syevd)
TSR_SOLVER(C, Complex, float, ungqr, heevd)
TSR_SOLVER(Z, DoubleComplex, double, ungqr, heevd)
}
#pragma GCC visibility pop
