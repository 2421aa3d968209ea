// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/matrix_norms.h"

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/linalg/eig.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/solve.h"
#include "ops/linalg/svd.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// The norm with both axes kept.
Tensor norm_of(const Tensor& input, std::string_view ord, const char* arg) {
  const Dims rows{-2};
  const Dims columns{-1};
  if (ord == "fro") return vector_norm(input, DimsView(Dims{-2, -1}), true);
  const bool by_columns = ord == "1" || ord == "-1";
  if (by_columns || ord == "inf" || ord == "-inf") {
    const Tensor sums = sum(abs(input), DimsView(by_columns ? rows : columns), true);
    const DimsView across = by_columns ? columns : rows;
    return ord.front() == '-' ? min(sums, across, true) : max(sums, across, true);
  }
  TSR_CHECK(ord == "nuc" || ord == "2" || ord == "-2", Code::kValue, arg,
            "expected fro, nuc, 2, -2, 1, -1, inf or -inf, got ", ord);
  const Tensor values = expand_dims(svdvals(input), -1);
  if (ord == "nuc") return sum(values, DimsView(rows), true);
  return ord == "2" ? max(values, DimsView(rows), true) : min(values, DimsView(rows), true);
}

}  // namespace

Tensor matrix_norm(const Tensor& input, bool keepdims, std::string_view ord, Out out) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  const bool grad = needs_grad(input);
  const Tensor norm = norm_of(input, ord, "ord");
  return deliver(keepdims ? norm : squeeze(norm, Dims{-2, -1}), out, grad);
}

namespace {

Tensor count_rank(const Tensor& input, const Arg& rtol, bool hermitian, const Out& out) {
  const Unrecorded no_grad;
  const Tensor sizes = hermitian ? abs(eigvalsh(input)) : svdvals(input);
  const Dims last{-1};
  if (sizes.size(sizes.ndim() - 1) == 0) {
    return deliver(zeros(batch_of(input), DType::kInt64, input.device()), out, false);
  }
  const Tensor limit = multiply(max(sizes, DimsView(last), true), rtol);
  return sum(greater(sizes, limit), DimsView(last), false, {}, out);
}

}  // namespace

Tensor matrix_rank(const Tensor& input, std::optional<double> rtol, bool hermitian, Out out) {
  check_matrices(input, "input");
  return count_rank(input, Scalar(rtol.value_or(default_rtol(input))), hermitian, out);
}

Tensor matrix_rank_by_rtol(const Tensor& input, const Tensor& rtol, bool hermitian, Out out) {
  check_matrices(input, "input");
  return count_rank(input, shares_for(input, rtol), hermitian, out);
}

Tensor cond(const Tensor& input, std::string_view p, Out out) {
  check_matrices(input, "input");
  TSR_CHECK(input.size(input.ndim() - 1) != 0 && input.size(input.ndim() - 2) != 0, Code::kShape,
            "input", "expected matrices with elements, got shape ", input.sizes());
  const bool grad = needs_grad(input);
  if (p == "2" || p == "-2") {
    const Tensor values = svdvals(input);
    const Tensor largest = select(values, -1, 0);
    const Tensor smallest = select(values, -1, -1);
    return deliver(p == "2" ? divide(largest, smallest) : divide(smallest, largest), out, grad);
  }
  check_square(input, "input");
  const Tensor inverse = inverse_or_infinity(input);
  const Tensor both = multiply(norm_of(input, p, "p"), norm_of(inverse, p, "p"));
  return deliver(squeeze(both, Dims{-2, -1}), out, grad);
}

}  // namespace tsr::ops
