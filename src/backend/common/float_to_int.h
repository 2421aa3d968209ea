// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Floats to integers, defined for every value and the same on every device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/host_device.h"

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

namespace tsr::math {

// The whole part of a float; INT64_MIN for NaN and for what int64 cannot hold.
template <class Float>
[[gnu::always_inline]] TSR_HD inline int64_t to_int64(Float value) {
#if defined(__SSE2__) && !defined(__AVX512DQ__) && !defined(__CUDACC__)
  // What the instruction gives, without two comparisons around it. Where whole vectors are
  // converted at once the compiler must see the formula.
  if constexpr (std::is_same_v<Float, float>) {
    return _mm_cvttss_si64(_mm_set_ss(value));
  } else {
    return _mm_cvttsd_si64(_mm_set_sd(value));
  }
#else
  constexpr Float kLimit = static_cast<Float>(0x1p63);
  return value >= -kLimit && value < kLimit ? static_cast<int64_t>(value) : INT64_MIN;
#endif
}

// The same cut to the bits of a narrower type. uint64 takes the upper half of its range as well;
// what lies beyond it is 0.
template <class Int, class Float>
[[gnu::always_inline]] TSR_HD inline Int to_integer(Float value) {
  if constexpr (std::is_same_v<Int, uint64_t>) {
    constexpr Float kHalfRange = static_cast<Float>(0x1p63);
    if (value >= kHalfRange)
      return static_cast<uint64_t>(to_int64(value - kHalfRange)) + (uint64_t{1} << 63);
  }
  return static_cast<Int>(to_int64(value));
}

}  // namespace tsr::math
