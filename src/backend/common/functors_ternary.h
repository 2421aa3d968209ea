// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of three operands (see Note [Functors]).
#pragma once

#include "base/host_device.h"

namespace tsr::math {

// From the nearer end, so that the weights 0 and 1 give a and b exactly.
struct Lerp {
  template <class V>
  TSR_HD V operator()(V a, V b, V weight) const {
    const V step = b - a;
    return select(weight < V(0.5), fma(weight, step, a), b - step * (V(1) - weight));
  }
};
struct Addcmul {
  template <class V>
  TSR_HD V operator()(V a, V b, V c, V factor) const {
    return a + factor * b * c;
  }
};
struct Addcdiv {
  template <class V>
  TSR_HD V operator()(V a, V b, V c, V factor) const {
    return a + factor * b / c;
  }
};
// A NaN limit wins, as the Array API's clip over arrays is a maximum and a minimum.
struct ClipBetween {
  template <class V>
  TSR_HD V operator()(V x, V low, V high) const {
    const V raised = select((x < low) | (low != low), low, x);
    return select((raised > high) | (high != high), high, raised);
  }
};

}  // namespace tsr::math
