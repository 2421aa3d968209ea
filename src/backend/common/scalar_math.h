// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Operations without a vector form on any instruction set: division with Python's rounding, and
// integer powers. Always inlined, so that sources compiled for several instruction sets can share
// this file.
#pragma once

#include <math.h>

#include <cstdint>
#include <type_traits>

#include "base/host_device.h"

namespace tsr::math {

// C's remainder, exact, with the sign of a.
[[gnu::always_inline]] TSR_HD inline float trunc_remainder(float a, float b) {
  return ::fmodf(a, b);
}
[[gnu::always_inline]] TSR_HD inline double trunc_remainder(double a, double b) {
  return ::fmod(a, b);
}

// Integers as C has them; 0 for a divisor of 0, which the caller reports. (The smallest number
// divided by -1 overflows in C.)
template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] TSR_HD inline T trunc_remainder(T a, T b) {
  if (b == T{0}) return T{0};
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return T{0};
  }
  return static_cast<T>(a % b);
}
template <class T>
requires std::is_integral_v<T>
[[gnu::always_inline]] TSR_HD inline T trunc_divide(T a, T b) {
  if (b == T{0}) return T{0};
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));  // wraps
  }
  return static_cast<T>(a / b);
}

// a - b floor(a / b): the sign of a nonzero result is that of b. Integers: 0 for a divisor of 0,
// which the caller reports.
template <class T>
[[gnu::always_inline]] TSR_HD inline T floor_remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = trunc_remainder(a, b);
    if (rest == 0) return b < 0 ? T{-0.0} : T{0};
    return (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;  // the smallest number % -1 overflows
      const T rest = static_cast<T>(a % b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
    return static_cast<T>(a % b);
  }
}

// floor(a / b), from the exact remainder: a / b itself may round up to the next whole number.
template <class T>
[[gnu::always_inline]] TSR_HD inline T floor_divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T rest = trunc_remainder(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return static_cast<T>(::copysign(0.0, static_cast<double>(a / b)));
    const T whole = sizeof(T) == 4 ? static_cast<T>(::floorf(static_cast<float>(quotient)))
                                   : static_cast<T>(::floor(static_cast<double>(quotient)));
    return quotient - whole > T{0.5} ? whole + 1 : whole;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      using U = std::make_unsigned_t<T>;
      if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));  // wraps
      const T quotient = static_cast<T>(a / b);
      return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
    }
    return static_cast<T>(a / b);
  }
}

// Wraps on overflow. A negative exponent gives the truncated reciprocal (the op layer refuses
// negative exponents).
template <class T>
[[gnu::always_inline]] TSR_HD inline T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      return base == -1 ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T{0};
    }
  }
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1U) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

}  // namespace tsr::math
