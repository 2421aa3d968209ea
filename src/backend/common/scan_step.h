// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The steps of scans: what is carried along a line, and how the states of two parts of a line, the
// first before the second, are joined. Joining is associative, so a line may be cut into parts.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half.h"

namespace tsr::math {

template <class V>
struct RunningSum {
  using Value = V;
  using State = V;
  TSR_HD static State none() { return -V(0); }  // 0.0 + -0.0 would be 0.0
  TSR_HD static State of(V value, int64_t) { return value; }
  TSR_HD static State join(State before, State after) { return before + after; }
  TSR_HD static V value(State state) { return state; }
};

// 1 times a complex number with an infinite part has a NaN, of 0 times infinity. So nothing at all
// is there a NaN whose bits no computation gives.
template <class V>
struct RunningProduct {
  using Value = V;
  using State = V;
  TSR_HD static State none() {
    if constexpr (kIsComplex) {
      const uint64_t bits = kNothing;
      State empty;
      std::memcpy(&empty.re, &bits, sizeof(bits));
      empty.im = empty.re;
      return empty;
    } else {
      return V(1);
    }
  }
  TSR_HD static State of(V value, int64_t) { return value; }
  TSR_HD static State join(State before, State after) {
    if constexpr (kIsComplex) {
      if (is_none(before)) return after;
      if (is_none(after)) return before;
    }
    return before * after;
  }
  TSR_HD static V value(State state) { return state; }

 private:
  static constexpr bool kIsComplex = requires(V number) { number.re; };
  static constexpr uint64_t kNothing = 0x7ff8'7465'7373'6572;
  TSR_HD static bool is_none(const State& state) {
    uint64_t re;
    uint64_t im;
    std::memcpy(&re, &state.re, sizeof(re));
    std::memcpy(&im, &state.im, sizeof(im));
    return re == kNothing && im == kNothing;
  }
};

template <class T>
struct Placed {
  T value;
  int64_t position;  // -1: of nothing
};

// The last of equal extrema; a NaN stays, the last one too.
template <class T, bool kLargest>
struct RunningExtremum {
  using Value = T;
  using State = Placed<T>;
  TSR_HD static State none() { return {T{}, -1}; }
  TSR_HD static State of(T value, int64_t position) { return {value, position}; }
  TSR_HD static State join(State before, State after) {
    if (after.position < 0) return before;
    return before.position < 0 || takes_over(before.value, after.value) ? after : before;
  }
  TSR_HD static T value(State state) { return state.value; }
  TSR_HD static bool takes_over(T before, T after) {
    const auto a = comparable(before);
    const auto b = comparable(after);
    const bool not_worse = kLargest ? b >= a : b <= a;  // false beside a NaN
    if constexpr (std::is_floating_point_v<std::remove_const_t<decltype(a)>>) {
      return not_worse || b != b;
    } else {
      return not_worse;
    }
  }

 private:
  TSR_HD static auto comparable(T value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return static_cast<float>(value);
    } else {
      return value;
    }
  }
};

// The logarithm of a sum of exponentials is kept as the largest term and the sum of the terms
// divided by it, so that nothing overflows.
struct ScaledSum {
  double largest;  // its logarithm
  double sum;
};
struct RunningLogSumExp {
  using Value = double;
  using State = ScaledSum;
  TSR_HD static State none() { return {-std::numeric_limits<double>::infinity(), 0}; }
  TSR_HD static State of(double value, int64_t) { return {value, 1}; }
  TSR_HD static State join(State before, State after) {
    // A NaN is neither larger nor smaller, and must stay.
    const bool first = before.largest > after.largest || before.largest != before.largest;
    const double largest = first ? before.largest : after.largest;
    return {largest, before.sum * weight(before.largest, largest) +
                         after.sum * weight(after.largest, largest)};
  }
  TSR_HD static double value(State state) { return state.largest + ::log(state.sum); }

 private:
  // Infinities are equal here, where their difference is NaN.
  TSR_HD static double weight(double term, double largest) {
    return term == largest ? 1.0 : ::exp(term - largest);
  }
};

}  // namespace tsr::math
