// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/dropout.h"

#include <cmath>

#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/random/random.h"

namespace tsr::ops {
namespace {

void check_dropout(const Tensor& input, double p) {
  TSR_CHECK(p >= 0 && p <= 1, Code::kValue, "p", "expected a probability between 0 and 1, got ", p);
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
}

// One number of the mask for each element of `shape`, which broadcasts to the input's; both parts
// of a complex number are kept or dropped together.
Tensor mask_for(const Tensor& input, DimsView shape, double p, Generator* generator) {
  return dropout_mask(shape, p, real_dtype(input.dtype()), input.device(), generator);
}

Tensor unchanged(const Tensor& input, const Out& out) {
  return out.is_fresh() || out.is_inplace() ? input : clone(input, out);
}

// y = x m with m in {0, 1 / (1 - p)}: dx = g m, so the product saves only m.
Tensor drop(const Tensor& input, DimsView shape, double p, Generator* generator, const Out& out) {
  if (p == 1) return multiply(input, 0, out);
  return multiply(input, mask_for(input, shape, p, generator), out);
}

// The sizes of a mask with one number per channel; the axes before `first` are kept.
Dims channel_mask(const Tensor& input, int64_t first) {
  Dims shape = input.sizes();
  for (size_t d = static_cast<size_t>(first); d < shape.size(); ++d) shape[d] = 1;
  return shape;
}

Tensor drop_channels(const Tensor& input, int64_t axes, double p, bool training,
                     Generator* generator, const Out& out) {
  check_dropout(input, p);
  const int64_t rank = input.ndim();
  TSR_CHECK(rank == axes + 1 || rank == axes + 2, Code::kShape, "input", "expected ", axes + 1,
            " or ", axes + 2, " dimensions, got shape ", input.sizes());
  if (!training || p == 0) return unchanged(input, out);
  // Images of (channels, height, width) would look like sequences of (batch, channels, length),
  // which dropout2d takes; so it has no form without the batch.
  const bool batched = rank == axes + 2 || axes == 2;
  return drop(input, channel_mask(input, batched ? 2 : 1), p, generator, out);
}

// With the limit L = -scale alpha of selu and a = ((1 - p) (1 + p L^2))^(-1/2), the result is a x +
// b where x is kept and a L + b elsewhere, with b = -a p L (Klambauer et al., "Self-normalizing
// neural networks", 2017, section 3). With m in {0, 1 / (1 - p)} that is a (1 - p) (m (x - L) + L).
Tensor alpha_drop(const Tensor& input, DimsView shape, double p, Generator* generator,
                  const Out& out) {
  if (p == 1) return multiply(input, 0, out);
  constexpr double kLimit = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717;
  const double factor = (1 - p) / std::sqrt((1 - p) * (1 + p * kLimit * kLimit));
  const Tensor x = in_opmath(operand(input, out));
  const Tensor mask = mask_for(x, shape, p, generator);
  const Tensor mixed = add(multiply(subtract(x, kLimit), mask), kLimit);
  return settle(astype(multiply(mixed, factor), input.dtype()), out);
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  check_dropout(input, p);
  if (!training || p == 0) return unchanged(input, out);
  return drop(input, input.sizes(), p, generator, out);
}

Tensor dropout1d(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  return drop_channels(input, 1, p, training, generator, out);
}
Tensor dropout2d(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  return drop_channels(input, 2, p, training, generator, out);
}
Tensor dropout3d(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  return drop_channels(input, 3, p, training, generator, out);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training, Generator* generator, Out out) {
  check_dropout(input, p);
  if (!training || p == 0) return unchanged(input, out);
  return alpha_drop(input, input.sizes(), p, generator, out);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, Generator* generator,
                             Out out) {
  check_dropout(input, p);
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  if (!training || p == 0) return unchanged(input, out);
  return alpha_drop(input, channel_mask(input, 2), p, generator, out);
}

}  // namespace tsr::ops
