// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The calls of LAPACK for one matrix whose methods iterate: eigenvalues, singular values. NaN and
// infinities are found before, because with them some of these methods do not end.
#pragma once

#include "backend/cpu/linalg/factorizations.h"

namespace tsr::cpu {

// Whether the triangle that is read is finite; rows are contiguous.
template <class T>
bool triangle_finite(const T* a, int64_t n, bool upper) {
  for (int64_t row = 0; row < n; ++row) {
    const T* line = a + row * n;
    if (!(upper ? all_finite(line + row, n - row) : all_finite(line, row + 1))) return false;
  }
  return true;
}

// A transposed Hermitian matrix is conj(A): the same eigenvalues, and conjugate eigenvectors.
template <class T>
struct EighOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const {
    T work{};
    RealOf<T> real{};
    int whole = 0;
    call(nullptr, nullptr, {&work, &real, &whole, -1, -1, -1});
    return {answered_size(work), answered_size(real), whole};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, n * n);
    if (!triangle_finite(a, n, this->plan.upper != 0)) return kernel::kNotFinite;
    const int info = call(a, nth<RealOf<T>>(this->plan.values, i, n), scratch);
    if constexpr (Lapack<T>::kComplex) {
      if (this->plan.vectors != 0) {
        for (int64_t j = 0; j < n * n; ++j) a[j] = std::conj(a[j]);
      }
    }
    return info;
  }

 private:
  int call(T* a, RealOf<T>* values, const Scratch<T>& s) const {
    const char* job = this->plan.vectors != 0 ? "V" : "N";
    const char* uplo = this->plan.upper != 0 ? "L" : "U";
    int info = 0;
    if constexpr (Lapack<T>::kComplex) {
      this->lapack.syevd(job, uplo, &this->columns, a, &this->columns, values, s.work, &s.work_size,
                         s.real, &s.real_size, s.whole, &s.whole_size, &info, 1, 1);
    } else {
      this->lapack.syevd(job, uplo, &this->columns, a, &this->columns, values, s.work, &s.work_size,
                         s.whole, &s.whole_size, &info, 1, 1);
    }
    return info;
  }
};

// Aᵀ = W S Zᴴ gives A = (Zᴴ)ᵀ S Wᵀ: U by rows is Zᴴ by columns, and Vᴴ by rows is W by columns.
template <class T>
struct SvdOf : Facts<T> {
  using Facts<T>::Facts;
  [[nodiscard]] ScratchSizes sizes() const {
    T work{};
    RealOf<T> real{};
    int whole = 0;
    call(nullptr, nullptr, nullptr, nullptr, {&work, &real, &whole, -1, 0, 0});
    const int64_t small = this->least;
    const int64_t large = std::max(this->rows, this->columns);
    const int64_t reals = this->plan.q == nullptr
                              ? 7 * small
                              : small * std::max(5 * small + 7, 2 * large + 2 * small + 1);
    return {answered_size(work), Lapack<T>::kComplex ? reals : 0, 8 * small};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t m = this->rows;
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, m * n);
    if (!all_finite(a, m * n)) return kernel::kNotFinite;
    const bool vectors = this->plan.q != nullptr;
    T* u = vectors ? nth<T>(this->plan.q, i, m * left()) : nullptr;
    T* v = vectors ? nth<T>(this->plan.v, i, right() * n) : nullptr;
    return call(a, nth<RealOf<T>>(this->plan.values, i, this->least), u, v, scratch);
  }

 private:
  [[nodiscard]] int left() const { return this->plan.full != 0 ? this->rows : this->least; }
  [[nodiscard]] int right() const { return this->plan.full != 0 ? this->columns : this->least; }

  int call(T* a, RealOf<T>* values, T* u, T* v, const Scratch<T>& s) const {
    const char* job = this->plan.q == nullptr ? "N" : this->plan.full != 0 ? "A" : "S";
    const int rows_of_zh = left();
    int info = 0;
    if constexpr (Lapack<T>::kComplex) {
      this->lapack.gesdd(job, &this->columns, &this->rows, a, &this->columns, values, v,
                         &this->columns, u, &rows_of_zh, s.work, &s.work_size, s.real, s.whole,
                         &info, 1);
    } else {
      this->lapack.gesdd(job, &this->columns, &this->rows, a, &this->columns, values, v,
                         &this->columns, u, &rows_of_zh, s.work, &s.work_size, s.whole, &info, 1);
    }
    return info;
  }
};

template <class T>
struct EigOf : Facts<T> {
  using Facts<T>::Facts;
  using Number = std::complex<RealOf<T>>;

  // A real matrix needs room for real and imaginary parts of its values, and for its vectors: a
  // conjugate pair shares two columns, the real and the imaginary parts.
  [[nodiscard]] ScratchSizes sizes() const {
    T work{};
    RealOf<T> real[2] = {};  // written by the question too
    const int64_t n = this->columns;
    call(nullptr, nullptr, nullptr, {&work, real, nullptr, -1, 0, 0});
    return {answered_size(work) + vector_room(), 2 * n, 0};
  }
  int run(int64_t i, const Scratch<T>& scratch) const {
    const int64_t n = this->columns;
    T* a = nth<T>(this->plan.a, i, n * n);
    if (!all_finite(a, n * n)) return kernel::kNotFinite;
    auto* values = nth<Number>(this->plan.values, i, n);
    Number* vectors = this->plan.q == nullptr ? nullptr : nth<Number>(this->plan.q, i, n * n);
    if constexpr (Lapack<T>::kComplex) {
      return call(a, values, vectors, scratch);
    } else {
      Scratch<T> rest = scratch;
      rest.work += vector_room();
      rest.work_size -= static_cast<int>(vector_room());
      const int info = call(a, nullptr, scratch.work, rest);
      const RealOf<T>* re = scratch.real;
      const RealOf<T>* im = scratch.real + n;
      for (int64_t j = 0; j < n; ++j) values[j] = {re[j], im[j]};
      if (vectors != nullptr) unpack(scratch.work, im, vectors);
      return info;
    }
  }

 private:
  [[nodiscard]] int64_t vector_room() const {
    return Lapack<T>::kComplex || this->plan.q == nullptr ? 0
                                                          : int64_t{this->columns} * this->columns;
  }

  int call(T* a, Number* values, T* vectors, const Scratch<T>& s) const {
    const char* right = this->plan.q == nullptr ? "N" : "V";
    const int one = 1;
    int info = 0;
    if constexpr (Lapack<T>::kComplex) {
      this->lapack.geev("N", right, &this->columns, a, &this->columns, values, nullptr, &one,
                        vectors, &this->columns, s.work, &s.work_size, s.real, &info, 1, 1);
    } else {
      this->lapack.geev("N", right, &this->columns, a, &this->columns, s.real,
                        s.real + this->columns, nullptr, &one, vectors, &this->columns, s.work,
                        &s.work_size, &info, 1, 1);
    }
    return info;
  }

  void unpack(const T* packed, const RealOf<T>* imaginary, Number* vectors) const {
    const int64_t n = this->columns;
    for (int64_t j = 0; j < n; ++j) {
      const T* re = packed + j * n;
      if (imaginary[j] == 0 || j + 1 == n) {
        for (int64_t i = 0; i < n; ++i) vectors[j * n + i] = re[i];
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        vectors[j * n + i] = {re[i], re[n + i]};
        vectors[(j + 1) * n + i] = {re[i], -re[n + i]};
      }
      ++j;
    }
  }
};

}  // namespace tsr::cpu
