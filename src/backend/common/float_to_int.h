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

// Truncates a float towards zero; INT64_MIN for NaN and for values outside int64's range.
template <class Float>
[[gnu::always_inline]] TSR_HD inline int64_t to_int64(Float value) {
#if defined(__SSE2__) && !defined(__AVX512DQ__) && !defined(__CUDACC__)
  // The instruction already returns INT64_MIN for these values, so it needs no comparisons. With
  // AVX-512DQ the compiler vectorises the formula below instead.
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

// The low bits of to_int64, as many as Int has. For uint64 the upper half of its range is converted
// too, and larger values become 0.
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
