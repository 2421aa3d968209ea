// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/chain.h"

#include <limits>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/solve.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// The tensors as matrices: a 1-D first one is a row, a 1-D last one a column.
std::vector<Tensor> as_matrices(std::span<const Tensor> tensors) {
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  TSR_CHECK(matrices.size() >= 2, Code::kValue, "tensors", "expected at least 2 tensors, got ",
            matrices.size());
  if (matrices.front().ndim() == 1) matrices.front() = expand_dims(matrices.front(), 0);
  if (matrices.back().ndim() == 1) matrices.back() = expand_dims(matrices.back(), 1);
  for (size_t i = 0; i < matrices.size(); ++i) {
    check_like(matrices[i], "tensors", matrices[0], 2);
    TSR_CHECK(i == 0 || matrices[i - 1].size(1) == matrices[i].size(0), Code::kShape, "tensors",
              "expected ", i == 0 ? 0 : matrices[i - 1].size(1), " rows in tensor ", i,
              ", got shape ", tensors[i].sizes());
  }
  return matrices;
}

// Where to split each part [i, j] of the chain: the textbook's dynamic program (Cormen, Leiserson,
// Rivest, Stein, Introduction to Algorithms, section 15.2).
class ChainOrder {
 public:
  explicit ChainOrder(std::span<const Tensor> matrices)
      : count_(matrices.size()), cost_(count_ * count_, 0), split_(count_ * count_, 0) {
    std::vector<double> sizes{static_cast<double>(matrices[0].size(0))};
    for (const Tensor& matrix : matrices) sizes.push_back(static_cast<double>(matrix.size(1)));
    for (size_t length = 1; length < count_; ++length) {
      for (size_t i = 0; i + length < count_; ++i) choose(i, i + length, sizes);
    }
  }
  [[nodiscard]] size_t split(size_t i, size_t j) const { return split_[i * count_ + j]; }

 private:
  void choose(size_t i, size_t j, const std::vector<double>& sizes) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t k = i; k < j; ++k) {
      const double cost = cost_[i * count_ + k] + cost_[(k + 1) * count_ + j] +
                          sizes[i] * sizes[k + 1] * sizes[j + 1];
      if (cost >= best) continue;
      best = cost;
      split_[i * count_ + j] = k;
    }
    cost_[i * count_ + j] = best;
  }

  size_t count_;
  std::vector<double> cost_;
  std::vector<size_t> split_;
};

Tensor product(std::span<const Tensor> matrices, const ChainOrder& order, size_t i, size_t j) {
  if (i == j) return matrices[i];
  const size_t k = order.split(i, j);
  return matmul(product(matrices, order, i, k), product(matrices, order, k + 1, j));
}

bool any_needs_grad(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (needs_grad(tensor)) return true;
  }
  return false;
}

// By squaring: n >= 1.
Tensor power(const Tensor& input, uint64_t n) {
  Tensor result;
  Tensor square = input;
  for (;; n >>= 1U, square = matmul(square, square)) {
    if ((n & 1U) != 0) result = result.defined() ? matmul(result, square) : square;
    if (n <= 1) return result;
  }
}

}  // namespace

Tensor multi_dot(std::span<const Tensor> tensors, Out out) {
  const std::vector<Tensor> matrices = as_matrices(tensors);
  Tensor result = product(matrices, ChainOrder(matrices), 0, matrices.size() - 1);
  if (tensors.back().ndim() == 1) result = squeeze(result, Dims{1});
  if (tensors.front().ndim() == 1) result = squeeze(result, Dims{0});
  return deliver(result, out, any_needs_grad(tensors));
}

Tensor matrix_power(const Tensor& input, int64_t n, Out out) {
  check_square(input, "input");
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  const bool grad = needs_grad(input);
  if (n == 0) {
    const int64_t size = input.size(input.ndim() - 1);
    const Tensor identity = eye(size, {}, 0, input.dtype(), input.device());
    return deliver(contiguous_memory(broadcast_to(identity, input.sizes())), out, grad);
  }
  const Tensor base = n < 0 ? inv(input) : input;
  const Tensor result =
      power(base, n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n));
  return deliver(n == 1 ? clone(result) : result, out, grad);
}

}  // namespace tsr::ops
