// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/dropout.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/random/random.h"

namespace tsr::ops {

// y = x m with m in {0, 1 / (1 - p)}: dx = g m, so the product saves only m.
Tensor dropout(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  TSR_CHECK(p >= 0 && p <= 1, Code::kValue, "p", "expected a probability between 0 and 1, got ", p);
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  if (!training || p == 0) {
    return out.is_fresh() || out.is_inplace() ? input : clone(input, out);
  }
  if (p == 1) return multiply(input, 0, out);
  return multiply(input, dropout_mask(input.sizes(), p, input.dtype(), input.device(), generator),
                  out);
}

}  // namespace tsr::ops
