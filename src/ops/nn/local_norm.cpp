// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Local response normalisation, made of average pooling over the channels (Krizhevsky et al.,
// "ImageNet classification with deep convolutional neural networks", 2012, section 3.3).
#include <algorithm>

#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k,
                           Out out) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() >= 3, Code::kShape, "input", "expected at least 3 dimensions, got shape ",
            input.sizes());
  TSR_CHECK(size >= 1 && size <= INT32_MAX, Code::kValue, "size",
            "expected at least 1 and below 2147483648, got ", size);
  const Tensor x = in_opmath(operand(input, out));
  if (x.numel() == 0) return settle(astype(multiply(x, 1), input.dtype()), out);
  // Images of one channel whose rows are the channels.
  const Dims planes{x.size(0), 1, x.size(1), x.numel() / (x.size(0) * x.size(1))};
  // Zeros beyond the last window change nothing.
  const int64_t before = std::min(size / 2, x.size(1));
  const int64_t after = std::min((size - 1) / 2, x.size(1));
  const Dims around{0, 0, before, after};
  const Dims window{before + 1 + after, 1};
  const Dims step{1};
  const Tensor squares = pad(reshape(square(x), planes), around);
  const Tensor means =
      reshape(avg_pool<2>(squares, window, DimsView(step), {}, false, true, size), x.sizes());
  const Tensor scale = pow(add(multiply(means, alpha), k), beta);
  return settle(astype(divide(x, scale), input.dtype()), out);
}

}  // namespace tsr::ops
