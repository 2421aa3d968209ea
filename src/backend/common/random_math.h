// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// From uniform numbers to distributions, in float64 whatever the dtype of the result: for a vector
// of float64 on the CPU, for one number on CUDA.
#pragma once

#include <math.h>

#include <cstdint>

#include "backend/common/philox.h"
#include "base/host_device.h"

namespace tsr::math {

// ---- Functions of uniform numbers u in (0, 1) ----

// By the inverse of the distribution function.
template <class V>
[[gnu::always_inline]] TSR_HD inline V exponential_of(V u, double rate) {
  return -log(u) / V(rate);
}
template <class V>
[[gnu::always_inline]] TSR_HD inline V cauchy_of(V u, double median, double width) {
  return V(median) + V(width) * tan(V(3.141592653589793) * (u - V(0.5)));
}
template <class V>
[[gnu::always_inline]] TSR_HD inline V geometric_of(V u, double log_failure) {
  return floor(log(u) / V(log_failure)) + V(1.0);
}

// The quantile of the standard normal distribution: Wichura's algorithm AS 241 (Applied Statistics
// 37, 1988), whose rational functions have a relative error of 1e-16.
TSR_HD inline double normal_quantile(double p) {
  const double q = p - 0.5;
  if (::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    const double a =
        (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
             45921.953931549871457) *
                r +
            13731.693765509461125) *
               r +
           1971.5909503065514427) *
              r +
          133.14166789178437745) *
             r +
         3.387132872796366608);
    const double b =
        (((((((5226.495278852545925 * r + 28729.085735721942674) * r + 39307.89580009271061) * r +
             21213.794301586595867) *
                r +
            5394.1960214247511077) *
               r +
           687.1870074920579083) *
              r +
          42.313330701600911252) *
             r +
         1.0);
    return q * a / b;
  }
  double r = ::sqrt(-::log(q < 0 ? p : 1 - p));
  double a = 0;
  double b = 0;
  if (r <= 5) {
    r -= 1.6;
    a = (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r +
              0.24178072517745061177) *
                 r +
             1.27045825245236838258) *
                r +
            3.64784832476320460504) *
               r +
           5.7694972214606914055) *
              r +
          4.6303378461565452959) *
             r +
         1.42343711074968357734);
    b = (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r +
              0.0151986665636164571966) *
                 r +
             0.14810397642748007459) *
                r +
            0.68976733498510000455) *
               r +
           1.6763848301838038494) *
              r +
          2.05319162663775882187) *
             r +
         1.0);
  } else {
    r -= 5;
    a = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r +
              0.0012426609473880784386) *
                 r +
             0.026532189526576123093) *
                r +
            0.29656057182850489123) *
               r +
           1.7848265399172913358) *
              r +
          5.4637849111641143699) *
             r +
         6.6579046435011037772);
    b = (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r +
              1.8463183175100546818e-5) *
                 r +
             7.868691311456132591e-4) *
                r +
            0.0148753612908506148525) *
               r +
           0.13692988092273580531) *
              r +
          0.59983220655588793769) *
             r +
         1.0);
  }
  return q < 0 ? -a / b : a / b;
}

// ---- Poisson ----

// The first 52 bits of a number, and half a unit: uniform in (0, 1), the ends left out.
TSR_HD inline double open_unit(uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}
struct UnitPair {
  double first, second;
};
// The two numbers of one block of an element.
TSR_HD inline UnitPair open_units(uint64_t seed, uint64_t counter, uint32_t attempt) {
  const PhiloxBlock<uint64_t> block = philox<uint64_t>(seed, counter, attempt);
  const auto join = [&](int k) { return (block.words[k] & 0xffffffff) | block.words[k + 1] << 32; };
  return {open_unit(join(0)), open_unit(join(2))};
}
// The pairs of an element, one for each attempt. Whoever draws for many elements makes their first
// pairs together: by themselves they are chains of dependent operations.
struct Draws {
  uint64_t seed, counter;
  UnitPair first;

  TSR_HD Draws(uint64_t of_seed, uint64_t of_counter)
      : Draws(of_seed, of_counter, open_units(of_seed, of_counter, 0)) {}
  TSR_HD Draws(uint64_t of_seed, uint64_t of_counter, UnitPair made)
      : seed(of_seed), counter(of_counter), first(made) {}
  TSR_HD UnitPair operator()(uint32_t attempt) const {
    return attempt == 0 ? first : open_units(seed, counter, attempt);
  }
};

// log(k!), by a product or by Stirling's series; to 1e-14.
TSR_HD inline double log_factorial(double k) {
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; i += 1) product *= i;
    return ::log(product);
  }
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  const double inverse = 1 / k;
  const double square = inverse * inverse;
  const double rest =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (k + 0.5) * ::log(k) - k + kHalfLogTwoPi + rest;
}

// Counts the steps that the distribution function takes below u.
TSR_HD inline double poisson_by_steps(double rate, double u) {
  double term = ::exp(-rate);
  double sum = term;
  double count = 0;
  // Where the terms have become too small to change the sum, no further step is taken.
  while (u > sum && sum + term != sum) {
    count += 1;
    term *= rate / count;
    sum += term;
  }
  return count;
}

// Hoermann's transformed rejection with squeeze ("The transformed rejection method for generating
// Poisson random variables", Insurance: Mathematics and Economics 12, 1993: PTRS), for rates of at
// least 10. Every attempt takes a block of its own.
TSR_HD inline double poisson_by_rejection(double rate, const Draws& draws) {
  const double b = 0.931 + 2.53 * ::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double sure = 0.9277 - 3.6224 / (b - 2);
  double count = 0;
  // An attempt fails with a probability below 1/4.
  for (uint32_t attempt = 0; attempt < 1000; ++attempt) {
    const UnitPair pair = draws(attempt);
    const double u = pair.first - 0.5;
    const double v = pair.second;
    const double room = 0.5 - ::fabs(u);
    count = ::floor((2 * a / room + b) * u + rate + 0.43);
    if (room >= 0.07 && v <= sure) break;
    if (count < 0 || (room < 0.013 && v > room)) continue;
    // Most numbers are taken before this.
    const double bound = count * ::log(rate) - rate - log_factorial(count);
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    if (::log(v * inverse_alpha / (a / (room * room) + b)) <= bound) break;
  }
  return count < 0 ? 0 : count;
}

TSR_HD inline double poisson_of(double rate, const Draws& draws) {
  if (rate >= 10) return poisson_by_rejection(rate, draws);
  return poisson_by_steps(rate, draws.first.first);
}

// ---- Gamma ----

constexpr uint32_t kAttempts = 1000;  // one fails with a probability below 1/4

// Shape a >= 0, rate 1: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
// TOMS 26, 2000. Below shape 1 a number of shape a + 1 times u^(1/a). Every attempt takes a block
// of its own; u is that behind the last.
TSR_HD inline double gamma_of(double a, const Draws& draws) {
  if (a == 0) return 0;
  const double d = (a < 1 ? a + 1 : a) - 1.0 / 3;
  const double c = 1 / ::sqrt(9 * d);
  double value = d;
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    const UnitPair pair = draws(attempt);
    const double x = normal_quantile(pair.first);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double cube = root * root * root;
    value = d * cube;
    if (::log(pair.second) < 0.5 * x * x + d - value + d * ::log(cube)) break;
  }
  if (a >= 1) return value;
  return value * ::exp(::log(draws(kAttempts).first) / a);
}

// ---- Binomial ----

// Takes the probabilities of 0, 1, ... off u; for n p below 10.
TSR_HD inline double binomial_by_steps(double n, double p, double u) {
  const double odds = p / (1 - p);
  double term = ::exp(n * ::log1p(-p));
  double count = 0;
  while (u > term && count < n) {
    u -= term;
    count += 1;
    term *= odds * (n - count + 1) / count;
  }
  return count;
}

// Hoermann's transformed rejection with squeeze ("The generation of binomial random variates",
// Journal of Statistical Computation and Simulation 46, 1993: BTRS), for p <= 1/2 and n p >= 10.
TSR_HD inline double binomial_by_rejection(double n, double p, const Draws& draws) {
  const double spread = ::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double log_odds = ::log(p / (1 - p));
  const double mode = ::floor((n + 1) * p);
  const double at_mode = log_factorial(mode) + log_factorial(n - mode);
  double count = mode;
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    const UnitPair pair = draws(attempt);
    const double u = pair.first - 0.5;
    const double v = pair.second;
    const double room = 0.5 - ::fabs(u);
    count = ::floor((2 * a / room + b) * u + n * p + 0.5);
    if (room >= 0.07 && v <= 0.92 - 4.2 / b) break;
    if (count < 0 || count > n) continue;
    const double bound = at_mode - log_factorial(count) - log_factorial(n - count);
    if (::log(v * alpha / (a / (room * room) + b)) <= bound + (count - mode) * log_odds) break;
  }
  return count < 0 ? 0 : count > n ? n : count;
}

TSR_HD inline double binomial_of(double n, double p, const Draws& draws) {
  const double rare = p > 0.5 ? 1 - p : p;
  const double count = n * rare >= 10 ? binomial_by_rejection(n, rare, draws)
                                      : binomial_by_steps(n, rare, draws.first.first);
  return p > 0.5 ? n - count : count;
}

}  // namespace tsr::math
