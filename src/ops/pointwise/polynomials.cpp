// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/polynomials.h"

#include <cmath>

#include "autograd/grad_mode.h"
#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// Every degree is a pass over all elements.
constexpr double kLargestDegree = 16384;

void check_degree(double degree) {
  TSR_CHECK(degree <= kLargestDegree, Code::kValue, "n", "expected degrees of at most ",
            kLargestDegree, ", got ", degree);
}

// A number at every element, which stays a function of x.
Tensor constant(const Tensor& x, double number) {
  return where(zeros(x.sizes(), DType::kBool, x.device()), x, number);
}

Tensor first_of(const Recurrence& steps, const Tensor& x) {
  return add(multiply(x, steps.first), steps.start);
}

// p(k + 1) from p(k) and p(k - 1)
Tensor next_of(const Recurrence& steps, const Tensor& x, const Tensor& value, const Tensor& before,
               double k) {
  const Tensor slope = add(multiply(x, steps.a(k)), steps.b(k));
  return subtract(multiply(slope, value), multiply(before, steps.c(k)));
}

Tensor of_one_degree(const Recurrence& steps, const Tensor& x, double n) {
  if (n < 1) return constant(x, n < 0 ? 0 : 1);
  Tensor before = constant(x, 1);
  Tensor value = first_of(steps, x);
  for (double k = 1; k < n; ++k) {
    const Tensor next = next_of(steps, x, value, before, k);
    before = value;
    value = next;
  }
  return value;
}

// Elements that have reached their degree keep their value, so that nothing overflows beyond it.
Tensor of_degrees(const Recurrence& steps, const Tensor& x, const Tensor& n, double highest) {
  Tensor before = constant(x, 1);
  Tensor value = where(greater_equal(n, 1), first_of(steps, x), before);
  for (double k = 1; k < highest; ++k) {
    const Tensor open = greater(n, k);
    const Tensor next = next_of(steps, x, value, before, k);
    before = where(open, value, before);
    value = where(open, next, value);
  }
  return where(less(n, 0), 0.0, value);
}

}  // namespace

Tensor OrthogonalPolynomial::operator()(const Arg& input, const Arg& n, Out out) const {
  const DType given = operands_dtype(input, n);
  TSR_CHECK(!is_complex(given), Code::kDType, "input", "expected a real dtype, got ", given);
  const DType dtype = is_integral_or_bool(given) ? default_dtype() : given;
  if (input.is_tensor() && n.is_tensor()) check_same_device(input.tensor(), n.tensor(), "n");
  TSR_CHECK(
      !n.is_tensor() || !needs_grad(n.tensor()), Code::kNotImplemented, "n",
      "a polynomial has no derivative towards its degree; expected one that requires no grad");
  // In double, because the steps add up their errors.
  Tensor x = input.is_tensor() ? astype(input.tensor(), DType::kFloat64)
                               : full({}, input.scalar(), DType::kFloat64, n.tensor().device());
  if (steps.shifted) x = subtract(multiply(x, 2), 1);
  Tensor value;
  if (n.is_tensor()) {
    const Tensor degrees = trunc(astype(n.tensor(), DType::kFloat64));
    const Dims shape = broadcast_shapes(x.sizes(), degrees.sizes(), "n");
    const double highest = numel_of(shape) == 0 ? 0 : read<double>(max(degrees));
    check_degree(highest);
    value = of_degrees(steps, broadcast_to(x, shape), degrees, highest);
  } else {
    const double degree = std::trunc(n.scalar().to<double>());
    check_degree(degree);
    value = of_one_degree(steps, x, degree);
  }
  return settle(astype(value, dtype), out);
}

namespace {

double zero(double) {
  return 0;
}
double one(double) {
  return 1;
}
double two(double) {
  return 2;
}
double same(double k) {
  return k;
}
double twice(double k) {
  return 2 * k;
}
double share(double k) {
  return k / (k + 1);
}
double odd_share(double k) {
  return (2 * k + 1) / (k + 1);
}
double negative_share(double k) {
  return -1 / (k + 1);
}

}  // namespace

// clang-format off
constinit const OrthogonalPolynomial chebyshev_polynomial_t{{1, 0, two, zero, one, false}};
constinit const OrthogonalPolynomial chebyshev_polynomial_u{{2, 0, two, zero, one, false}};
constinit const OrthogonalPolynomial chebyshev_polynomial_v{{2, -1, two, zero, one, false}};
constinit const OrthogonalPolynomial chebyshev_polynomial_w{{2, 1, two, zero, one, false}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_t{{1, 0, two, zero, one, true}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_u{{2, 0, two, zero, one, true}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_v{{2, -1, two, zero, one, true}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_w{{2, 1, two, zero, one, true}};
constinit const OrthogonalPolynomial hermite_polynomial_h{{2, 0, two, zero, twice, false}};
constinit const OrthogonalPolynomial hermite_polynomial_he{{1, 0, one, zero, same, false}};
constinit const OrthogonalPolynomial laguerre_polynomial_l{{-1, 1, negative_share, odd_share, share, false}};
constinit const OrthogonalPolynomial legendre_polynomial_p{{1, 0, odd_share, zero, share, false}};
// clang-format on

}  // namespace tsr::ops
