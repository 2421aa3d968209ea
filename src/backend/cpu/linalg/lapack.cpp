// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/linalg/lapack.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "backend/cpu/host.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr::cpu {
namespace {

template <class T>
struct Names;
template <>
struct Names<float> {
  static constexpr char kPrefix = 's';
};
template <>
struct Names<double> {
  static constexpr char kPrefix = 'd';
};
template <>
struct Names<std::complex<float>> {
  static constexpr char kPrefix = 'c';
};
template <>
struct Names<std::complex<double>> {
  static constexpr char kPrefix = 'z';
};

// Finds "dpotrf_" for "potrf". Like everything of that library by its address: see Note [A BLAS of
// our own].
template <class T, class Function>
bool bind(const BlasUse& blas, const char* name, Function& function) noexcept {
  char symbol[16];
  std::snprintf(symbol, sizeof symbol, "%c%s_", Names<T>::kPrefix, name);
  function = reinterpret_cast<Function>(blas.find(symbol));
  return function != nullptr;
}

template <class T>
bool bind_all(const BlasUse& blas, Lapack<T>& to) noexcept {
  constexpr bool kComplex = Lapack<T>::kComplex;
  return bind<T>(blas, "potrf", to.potrf) && bind<T>(blas, "getrf", to.getrf) &&
         bind<T>(blas, "getrs", to.getrs) && bind<T>(blas, "getri", to.getri) &&
         bind<T>(blas, "trsm", to.trsm) && bind<T>(blas, "trsv", to.trsv) &&
         bind<T>(blas, "trmv", to.trmv) && bind<T>(blas, "geqrf", to.geqrf) &&
         bind<T>(blas, kComplex ? "ungqr" : "orgqr", to.orgqr) &&
         bind<T>(blas, "gesdd", to.gesdd) &&
         bind<T>(blas, kComplex ? "heevd" : "syevd", to.syevd) && bind<T>(blas, "geev", to.geev) &&
         bind<T>(blas, "gelsd", to.gelsd) &&
         bind<T>(blas, kComplex ? "unmqr" : "ormqr", to.ormqr) &&
         bind<T>(blas, "gebrd", to.gebrd) &&
         bind<T>(blas, kComplex ? "unmbr" : "ormbr", to.ormbr) &&
         bind<typename Lapack<T>::Real>(blas, "bdsqr", to.bdsqr);
}

enum class Search : int { kNotYet, kFound, kAbsent };

template <class T>
struct Bound {
  GuardedMutex mutex;
  std::atomic<Search> state{Search::kNotYet};
  Lapack<T> functions;
};

}  // namespace

template <class T>
const Lapack<T>* find_lapack(const BlasUse& blas) noexcept {
  auto& bound = immortal<Bound<T>>();
  Search state = bound.state.load(std::memory_order_acquire);
  if (state == Search::kNotYet) [[unlikely]] {
    const std::lock_guard lock(bound.mutex);
    state = bind_all(blas, bound.functions) ? Search::kFound : Search::kAbsent;
    bound.state.store(state, std::memory_order_release);
  }
  if (state == Search::kFound) return &bound.functions;
  char text[512];
  Dl_info where{};
  dladdr(reinterpret_cast<void*>(blas->dgemm), &where);
  std::snprintf(text, sizeof text,
                "expected a BLAS library with LAPACK's functions, got %s, which lacks them; "
                "OpenBLAS has them unless it was built without LAPACK",
                where.dli_fname == nullptr ? "one" : where.dli_fname);
  failure(Code::kNotImplemented, text);
  return nullptr;
}

template const Lapack<float>* find_lapack<float>(const BlasUse&) noexcept;
template const Lapack<double>* find_lapack<double>(const BlasUse&) noexcept;
template const Lapack<std::complex<float>>* find_lapack<std::complex<float>>(
    const BlasUse&) noexcept;
template const Lapack<std::complex<double>>* find_lapack<std::complex<double>>(
    const BlasUse&) noexcept;

}  // namespace tsr::cpu
