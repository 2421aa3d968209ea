// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of three operands, and one of four (see Note [Functors]).
#pragma once

#include "backend/common/functor_types.h"
#include "backend/common/functors_activation.h"
#include "backend/common/functors_binary.h"

namespace tsr::math {

// Moves elements of any type without looking into them.
struct Where {
  static constexpr unsigned kTypes = kMoved;
  template <class M, class V>
  TSR_HD V operator()(M condition, V yes, V no) const {
    return select(condition, yes, no);
  }
};
struct Lerp : LerpBy {};
struct Addcmul {
  static constexpr unsigned kTypes = kReal | kComplexes | kSignless;
  static constexpr bool kSecondAlone = true;
  template <class V>
  TSR_HD V operator()(V a, V b, V c, V factor) const {
    return a + factor * b * c;
  }
};
// The tangent of a product, of four operands.
struct SumOfProducts {
  static constexpr unsigned kTypes = kReal | kComplexes;
  template <class V>
  TSR_HD V operator()(V a, V b, V c, V d) const {
    return a * b + c * d;
  }
};
struct Addcdiv {
  static constexpr unsigned kTypes = kReal | kComplexes;
  static constexpr bool kLight = true;
  template <class V>
  TSR_HD V operator()(V a, V b, V c, V factor) const {
    return a + factor * b / c;
  }
};
// A NaN limit gives NaN: the Array API defines clip by arrays as a maximum and a minimum.
struct Clip {
  static constexpr unsigned kTypes = kReal | kIntegers;
  static constexpr bool kBrief = true;
  template <class V>
  TSR_HD V operator()(V x, V low, V high) const {
    const V raised = select((x < low) | (low != low), low, x);
    return select((raised > high) | (high != high), high, raised);
  }
};
// x with its NaN and infinities replaced.
struct NanToNum {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V high, V low, V nan) const {
    const V limited = select(is_infinite(x), select(x > V(0), high, low), x);
    return select(x != x, nan, limited);
  }
};

}  // namespace tsr::math
