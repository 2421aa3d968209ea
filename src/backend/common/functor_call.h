// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Calling a functor: operands first, then as many of the plan's parameters as it takes.
#pragma once

#include "base/host_device.h"

namespace tsr::math {

template <class F, class V, class... Operands>
[[gnu::always_inline]] TSR_HD inline auto call_functor(const V* params, Operands... operands) {
  if constexpr (requires(F f) { f(operands...); })
    return F{}(operands...);
  else if constexpr (requires(F f) { f(operands..., params[0]); })
    return F{}(operands..., params[0]);
  else
    return F{}(operands..., params[0], params[1]);
}

}  // namespace tsr::math
