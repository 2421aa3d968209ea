// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Activations: floating dtypes only, the result has the input's shape except that of glu. relu,
// silu, gelu and leaky_relu stand in ops/pointwise/unary.h.
#pragma once

#include <optional>

#include "base/generator.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {

// ---- rows ----

extern const Unary selu, mish, hardswish, hardsigmoid, softsign, tanhshrink, logsigmoid;

// ---- with parameters ----

// x, and alpha (exp(x) - 1) left of 0.
Tensor elu(const Tensor& input, double alpha = 1, Out out = {});
// x, and alpha (exp(x / alpha) - 1) left of 0. Throws kValue for alpha = 0.
Tensor celu(const Tensor& input, double alpha = 1, Out out = {});
// The input limited to [min_val, max_val], of which a NaN is no limit. Throws kValue for
// min_val > max_val.
Tensor hardtanh(const Tensor& input, double min_val = -1, double max_val = 1, Out out = {});
// The input limited to [0, 6].
Tensor relu6(const Tensor& input, Out out = {});
// log(1 + exp(beta x)) / beta, and x where beta x > threshold. Throws kValue for beta = 0.
Tensor softplus(const Tensor& input, double beta = 1, double threshold = 20, Out out = {});
// x nearer to 0 by lambd, 0 within it; and x, 0 within it. Throw kValue for lambd < 0.
Tensor softshrink(const Tensor& input, double lambd = 0.5, Out out = {});
Tensor hardshrink(const Tensor& input, double lambd = 0.5, Out out = {});
// x where x > threshold, else value.
Tensor threshold(const Tensor& input, double threshold, double value, Out out = {});

// ---- with other shapes or operands ----

// x right of 0, weight x elsewhere. weight: one number, or one per channel (axis 1), of the input's
// dtype. Throws kShape, kDType, kDevice.
Tensor prelu(const Tensor& input, const Tensor& weight, Out out = {});
// a σ(b) for the halves a and b of the input along the axis. Throws kShape for an odd size.
Tensor glu(const Tensor& input, int64_t axis = -1, Out out = {});
// softmax of the negative input.
Tensor softmin(const Tensor& input, int64_t axis = -1, std::optional<DType> dtype = {},
               Out out = {});
// softmax((input + gumbel noise) / tau); `hard` gives the largest as 1, the others as 0, with the
// gradient of the soft result. Throws kValue unless tau > 0.
Tensor gumbel_softmax(const Tensor& input, double tau = 1, bool hard = false, int64_t axis = -1,
                      Generator* generator = nullptr);

}  // namespace tsr::ops
