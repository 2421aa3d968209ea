// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Updates that need norms or products of whole parameters: LAMB and Muon, written over ops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/add_products.h"
#include "ops/linalg/matmul.h"
#include "ops/optim/optim.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "optim/kinds.h"

namespace tsr::optim {
namespace {

using ops::Out;

// ‖x‖ / ‖u‖, or 1 if one of them is 0.
Tensor trust_ratio(const Tensor& x, const Tensor& u) {
  const Tensor of_x = ops::vector_norm(x);
  const Tensor of_u = ops::vector_norm(u);
  const Tensor both = ops::multiply(ops::sign(of_x), ops::sign(of_u));
  return ops::where(ops::not_equal(both, 0), ops::divide(of_x, of_u), 1.0);
}

// Approximates the nearest matrix with orthonormal rows or columns: five steps of the quintic
// Newton-Schulz iteration with the coefficients of Jordan and others. The singular values end near
// 1.
Tensor orthogonalized(const Tensor& matrix, double eps, int64_t steps) {
  constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
  const bool tall = matrix.sizes()[0] > matrix.sizes()[1];
  Tensor x = tall ? ops::matrix_transpose(matrix) : matrix;
  x = ops::divide(x, ops::clip(ops::vector_norm(x), Scalar(eps), std::nullopt));
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor gram = ops::matmul(x, ops::matrix_transpose(x));
    x = ops::addmm(x, ops::addmm(gram, gram, gram, kB, kC), x, kA, 1);
  }
  return tall ? ops::matrix_transpose(x) : x;
}

}  // namespace

// You and others 2020, "Large Batch Optimization for Deep Learning", algorithm 2 with φ(z) = z and
// the correction of both moments: x -= lr ‖x‖/‖u‖ u for u = m / (sqrt(v) + eps) + weight_decay x.
void update_lamb(const KindRow& row, const Batch& batch) {
  std::vector<Tensor> directions;
  for (const Tensor& param : batch.params) directions.push_back(ops::empty_like(param));
  ops::take_step(plan_of(row, batch), batch.params, batch.grads,
                 {batch.states[0], batch.states[1], directions});
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor& param = batch.params[i];
    ops::addcmul(param, directions[i], trust_ratio(param, directions[i]),
                 -batch.options.get(Option::kLr), Out::inplace(param));
  }
}

// Jordan and others 2024, "Muon: An optimizer for hidden layers in neural networks", as
// torch.optim.Muon writes it: the buffer is a mean, the rate grows with the root of rows / columns
// above 1, weight decay is decoupled. The iteration runs in float32, or float64 for such
// parameters.
void update_muon(const KindRow& /*row*/, const Batch& batch) {
  const Options& options = batch.options;
  const double momentum = options.get(Option::kMomentum);
  const double rate = options.get(Option::kLr);
  for (size_t i = 0; i < batch.params.size(); ++i) {
    const Tensor& param = batch.params[i];
    const Tensor& buffer = batch.states[0][i];
    const Tensor grad =
        options.is_set(Option::kMaximize) ? ops::negative(batch.grads[i]) : batch.grads[i];
    ops::lerp(buffer, grad, 1 - momentum, Out::inplace(buffer));
    const Tensor mixed =
        options.is_set(Option::kNesterov) ? ops::lerp(grad, buffer, momentum) : buffer;
    const DType wide = param.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    const Tensor direction = orthogonalized(ops::astype(mixed, wide), options.get(Option::kEps),
                                            static_cast<int64_t>(options.get(Option::kNsSteps)));
    const auto rows = static_cast<double>(param.sizes()[0]);
    const auto columns = static_cast<double>(param.sizes()[1]);
    const double scaled = rate * std::sqrt(std::max(1.0, columns > 0 ? rows / columns : 1.0));
    ops::multiply(param, 1 - rate * options.get(Option::kWeightDecay), Out::inplace(param));
    ops::subtract(param, ops::astype(ops::multiply(direction, scaled), param.dtype()),
                  Out::inplace(param));
  }
}

}  // namespace tsr::optim
