// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of folds of complex numbers. The state is a number of two float64; across rows, the
// real parts of all results come before the imaginary ones.
#pragma once

#include "backend/cpu/isa/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {

[[gnu::always_inline]] inline CD load_wide_pairs(const double* source) {
  return load_pairs(source);
}
[[gnu::always_inline]] inline CD load_wide_pairs(const float* source) {
  const VD a = load_widened(source);
  const VD b = load_widened(source + VD::kSize);
  return {every_second<0>(a, b), every_second<1>(a, b)};
}

// Elements of two numbers of T each.
template <class F, class T>
struct OneComplex {
  using State = math::Complex<double>;
  using States = OneComplex<F, double>;
  static constexpr bool kMergesBySum = kIsPlainSum<F>;
  using Vector = VD;

  static void along(int64_t count, const void* in, int64_t, void* state, const Parameter* params) {
    constexpr int kChains = 4;  // hide the latency of the merge
    constexpr int64_t kStep = kChains * VD::kSize;
    const auto* source = static_cast<const T*>(in);
    auto* words = static_cast<double*>(state);
    const double p = first_parameter(params);
    State total(words[0], words[1]);
    int64_t i = 0;
    if (count >= kStep) {
      const auto at = [&](int64_t place) {
        return prepared<F>(load_wide_pairs(source + 2 * place), p);
      };
      CD chains[kChains];
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c) chains[c] = at(c * VD::kSize);
      for (i = kStep; i + kStep <= count; i += kStep) {
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c) chains[c] = F::merge(chains[c], at(i + c * VD::kSize));
      }
      const CD joined = F::merge(F::merge(chains[0], chains[2]), F::merge(chains[1], chains[3]));
      for (int lane = 0; lane < VD::kSize; ++lane)
        total = F::merge(total, State(joined.re.v[lane], joined.im.v[lane]));
    }
    for (; i < count; ++i) total = F::merge(total, prepared<F>(element(source, i), p));
    words[0] = total.re;
    words[1] = total.im;
  }
  static void across_row(int64_t count, const void* in, int64_t, void* state, int64_t width,
                         const Parameter* params) {
    const auto* source = static_cast<const T*>(in);
    auto* real = static_cast<double*>(state);
    double* imaginary = real + width;
    const double p = first_parameter(params);
    int64_t j = 0;
    for (; j + VD::kSize <= count; j += VD::kSize) {
      const CD total = F::merge(CD{VD::load(real + j), VD::load(imaginary + j)},
                                prepared<F>(load_wide_pairs(source + 2 * j), p));
      total.re.store(real + j);
      total.im.store(imaginary + j);
    }
    for (; j < count; ++j) {
      const State total =
          F::merge(State(real[j], imaginary[j]), prepared<F>(element(source, j), p));
      real[j] = total.re;
      imaginary[j] = total.im;
    }
  }
  static State start() {
    return F::template start<State>();
  }
  static State merge(State a, int64_t, State b, int64_t) {
    return F::merge(a, b);
  }
  static auto finish(State total, int64_t n, double p) {
    return finished<F>(total, n, p);
  }

 private:
  static State element(const T* source, int64_t i) {
    return {static_cast<double>(source[2 * i]), static_cast<double>(source[2 * i + 1])};
  }
};

}  // namespace tsr::cpu::TSR_ISA
