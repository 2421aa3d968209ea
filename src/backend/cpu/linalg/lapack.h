// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// LAPACK's functions, and three of BLAS for triangles, from the BLAS library that products use.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "backend/cpu/linalg/blas.h"

namespace tsr::cpu {

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};

// Fortran's calling convention: everything by address, matrices by columns, and the lengths of the
// texts (1 each) at the end. What differs between real and complex numbers are the workspaces.
template <class T>
struct Lapack {
  using Real = typename RealPart<T>::type;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

  using Potrf = void (*)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);
  using Getrf = void (*)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  using Getrs = void (*)(const char* transpose, const int* n, const int* nrhs, const T* a,
                         const int* lda, const int* pivots, T* b, const int* ldb, int* info,
                         size_t);
  using Getri = void (*)(const int* n, T* a, const int* lda, const int* pivots, T* work,
                         const int* lwork, int* info);
  using Trsm = void (*)(const char* side, const char* uplo, const char* transpose, const char* diag,
                        const int* m, const int* n, const T* alpha, const T* a, const int* lda,
                        T* b, const int* ldb, size_t, size_t, size_t, size_t);
  using Trsv = void (*)(const char* uplo, const char* transpose, const char* diag, const int* n,
                        const T* a, const int* lda, T* x, const int* incx, size_t, size_t, size_t);
  using Geqrf = void (*)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work,
                         const int* lwork, int* info);
  using Orgqr = void (*)(const int* m, const int* n, const int* k, T* a, const int* lda,
                         const T* tau, T* work, const int* lwork, int* info);
  using RealGesdd = void (*)(const char* job, const int* m, const int* n, T* a, const int* lda,
                             Real* s, T* u, const int* ldu, T* vt, const int* ldvt, T* work,
                             const int* lwork, int* iwork, int* info, size_t);
  using ComplexGesdd = void (*)(const char* job, const int* m, const int* n, T* a, const int* lda,
                                Real* s, T* u, const int* ldu, T* vt, const int* ldvt, T* work,
                                const int* lwork, Real* rwork, int* iwork, int* info, size_t);
  using RealSyevd = void (*)(const char* job, const char* uplo, const int* n, T* a, const int* lda,
                             Real* w, T* work, const int* lwork, int* iwork, const int* liwork,
                             int* info, size_t, size_t);
  using ComplexSyevd = void (*)(const char* job, const char* uplo, const int* n, T* a,
                                const int* lda, Real* w, T* work, const int* lwork, Real* rwork,
                                const int* lrwork, int* iwork, const int* liwork, int* info, size_t,
                                size_t);
  using RealGeev = void (*)(const char* left, const char* right, const int* n, T* a, const int* lda,
                            Real* wr, Real* wi, T* vl, const int* ldvl, T* vr, const int* ldvr,
                            T* work, const int* lwork, int* info, size_t, size_t);
  using ComplexGeev = void (*)(const char* left, const char* right, const int* n, T* a,
                               const int* lda, T* w, T* vl, const int* ldvl, T* vr, const int* ldvr,
                               T* work, const int* lwork, Real* rwork, int* info, size_t, size_t);
  using RealGelsd = void (*)(const int* m, const int* n, const int* nrhs, T* a, const int* lda,
                             T* b, const int* ldb, Real* s, const Real* rcond, int* rank, T* work,
                             const int* lwork, int* iwork, int* info);
  using ComplexGelsd = void (*)(const int* m, const int* n, const int* nrhs, T* a, const int* lda,
                                T* b, const int* ldb, Real* s, const Real* rcond, int* rank,
                                T* work, const int* lwork, Real* rwork, int* iwork, int* info);

  using Ormqr = void (*)(const char* side, const char* transpose, const int* m, const int* n,
                         const int* k, const T* a, const int* lda, const T* tau, T* c,
                         const int* ldc, T* work, const int* lwork, int* info, size_t, size_t);
  using Gebrd = void (*)(const int* m, const int* n, T* a, const int* lda, Real* d, Real* e,
                         T* tauq, T* taup, T* work, const int* lwork, int* info);
  using Ormbr = void (*)(const char* which, const char* side, const char* transpose, const int* m,
                         const int* n, const int* k, const T* a, const int* lda, const T* tau, T* c,
                         const int* ldc, T* work, const int* lwork, int* info, size_t, size_t,
                         size_t);
  using Bdsqr = void (*)(const char* uplo, const int* n, const int* ncvt, const int* nru,
                         const int* ncc, Real* d, Real* e, Real* vt, const int* ldvt, Real* u,
                         const int* ldu, Real* c, const int* ldc, Real* work, int* info, size_t);

  Potrf potrf = nullptr;
  Getrf getrf = nullptr;
  Getrs getrs = nullptr;
  Getri getri = nullptr;
  Trsm trsm = nullptr;
  Trsv trsv = nullptr;
  Trsv trmv = nullptr;
  Geqrf geqrf = nullptr;
  Orgqr orgqr = nullptr;  // ungqr
  std::conditional_t<kComplex, ComplexGesdd, RealGesdd> gesdd = nullptr;
  std::conditional_t<kComplex, ComplexSyevd, RealSyevd> syevd = nullptr;  // heevd
  std::conditional_t<kComplex, ComplexGeev, RealGeev> geev = nullptr;
  std::conditional_t<kComplex, ComplexGelsd, RealGelsd> gelsd = nullptr;
  Ormqr ormqr = nullptr;  // unmqr
  Gebrd gebrd = nullptr;
  Ormbr ormbr = nullptr;  // unmbr
  Bdsqr bdsqr = nullptr;  // of real numbers
};

// The functions for float, double or a complex type; null when the library lacks one of them. It
// has left the text for the host then.
template <class T>
const Lapack<T>* find_lapack(const BlasUse& blas) noexcept;

}  // namespace tsr::cpu
