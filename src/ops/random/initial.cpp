// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/random/initial.h"

#include <algorithm>
#include <cmath>

#include "autograd/record.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/sort.h"
#include "ops/linalg/qr.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/random/random.h"
#include "ops/random/random_fill.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

void check_dims(const Tensor& input, int64_t least, int64_t most, const char* expected) {
  check_floating(input);
  TSR_CHECK(input.ndim() >= least && input.ndim() <= most, Code::kShape, "input", "expected ",
            expected, " dimensions, got shape ", input.sizes());
}

// Writes ones into a diagonal of a matrix, which may be a view.
void fill_diagonal(const Tensor& matrix) {
  fill_(diagonal(matrix, 0, 0, 1), 1);
}

Tensor dirac_values(const Tensor& input, int64_t groups) {
  Tensor values = zeros_like_shape(input.sizes(), input.dtype(), input.device());
  Tensor middle = values;
  for (int64_t axis = input.ndim() - 1; axis >= 2; --axis) {
    if (input.size(axis) == 0) return values;
    middle = select(middle, axis, input.size(axis) / 2);
  }
  const int64_t rows = input.size(0) / groups;
  if (rows == 0) return values;  // any number of groups divides 0 channels
  for (int64_t group = 0; group < groups; ++group) {
    fill_diagonal(narrow(middle, 0, group * rows, rows));
  }
  return values;
}

Tensor orthogonal_values(const Tensor& input, double gain, Generator* generator) {
  const int64_t rows = input.size(0);
  const int64_t columns = input.numel() / rows;
  const DType wide = input.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Tensor drawn = randn(Dims{std::max(rows, columns), std::min(rows, columns)}, wide,
                             input.device(), generator);
  const auto [q, r] = qr(drawn, "reduced");
  const Tensor turned = multiply(q, sign(diagonal(r, 0, 0, 1)));
  const Tensor matrix = rows < columns ? matrix_transpose(turned) : turned;
  return reshape(multiply(matrix, gain), input.sizes());
}

}  // namespace

Tensor eye_(const Tensor& input) {
  check_dims(input, 2, 2, "2");
  Tensor values;
  {
    const NoGrad pause;
    values = zeros_like_shape(input.sizes(), input.dtype(), input.device());
    fill_diagonal(values);
  }
  return copy_(input, values);
}

Tensor dirac_(const Tensor& input, int64_t groups) {
  check_dims(input, 3, 5, "3 to 5");
  TSR_CHECK(groups >= 1 && input.size(0) % groups == 0, Code::kValue, "groups",
            "expected a divisor of the ", input.size(0), " output channels, got ", groups);
  Tensor values;
  {
    const NoGrad pause;
    values = dirac_values(input, groups);
  }
  return copy_(input, values);
}

Tensor orthogonal_(const Tensor& input, double gain, Generator* generator) {
  check_dims(input, 2, 64, "at least 2");
  if (input.numel() == 0) return input;
  Tensor values;
  {
    const NoGrad pause;
    values = orthogonal_values(input, gain, generator);
  }
  return copy_(input, values);
}

Tensor sparse_(const Tensor& input, double sparsity, double std, Generator* generator) {
  check_dims(input, 2, 2, "2");
  TSR_CHECK(sparsity >= 0 && sparsity <= 1, Code::kValue, "sparsity",
            "expected a share in [0, 1], got ", sparsity);
  TSR_CHECK(std >= 0, Code::kValue, "std",
            "expected a standard deviation that is not negative, got ", std);
  Tensor values;
  {
    const NoGrad pause;
    const double zeros = std::ceil(sparsity * static_cast<double>(input.size(0)));
    const Tensor numbers = randn(input.sizes(), input.dtype(), input.device(), generator);
    const Tensor keys = rand(input.sizes(), DType::kFloat64, input.device(), generator);
    // The places of the keys in the order of their column.
    const Tensor places = argsort(argsort(keys, 0), 0);
    values = where(less(places, zeros), 0.0, multiply(numbers, std));
  }
  return copy_(input, values);
}

}  // namespace tsr::ops
