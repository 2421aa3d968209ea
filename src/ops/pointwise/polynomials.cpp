// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/polynomials.h"

#include <cmath>

#include "autograd/record.h"
#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/opmath.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;

// Every degree is a step at all elements.
constexpr double kLargestDegree = 16384;

void check_degree(double degree) {
  TSR_CHECK(degree <= kLargestDegree, Code::kValue, "n", "expected degrees of at most ",
            kLargestDegree, ", got ", degree);
}

// The derivative towards x, by polynomials of lower degrees (DLMF 18.9.19 to 18.9.28): T' = n U,
// C' = 2 a C of the order a + 1 (U is the C of order 1; V and W are U less or plus the U of the
// degree before), H' = 2 n H, He' = n He, and L' = -L of the next order.
Tensor slope_of(const PolynomialFamily& family, const Tensor& x, const Tensor& n);

// Of whole degrees n. Both have the dtype of the computation.
Tensor value_of(const PolynomialFamily& family, const Tensor& x, const Tensor& n) {
  const bool grad = needs_grad(x);
  const Dims shape = broadcast_shapes(x.sizes(), n.sizes(), "n");
  Result result = allocate({}, shape, x.dtype(), x.device(), grad, {&x, &n});
  if (result.value().numel() != 0) {
    kernel::Elementwise walk(result.value(), {x, n});
    walk.param(0, family.p0, x.dtype()).param(1, family.p1, x.dtype());
    kernel::launch(kernel::kBinary, x.device(), family.op, walk.plan());
  }
  Tensor output = result.finish();
  if (grad) {
    const auto derivative = [family](Backward& ctx) {
      ctx.set(0, multiply(ctx.grad(), slope_of(family, ctx.saved(0), ctx.saved(1))));
    };
    record(output, "OrthogonalPolynomialBackward", {x}, {save_input(x), save_input(n)}, derivative,
           kElementwise);
  }
  return output;
}

Tensor slope_of(const PolynomialFamily& family, const Tensor& x, const Tensor& n) {
  const auto below = [&](const PolynomialFamily& of, double steps) {
    return value_of(of, x, subtract(n, steps));
  };
  switch (family.op) {
    case BinaryOp::kChebyshevFirstKind: {
      const double stretch = family.p0;
      return multiply(below({BinaryOp::kChebyshevOtherKinds, 0, stretch}, 1), multiply(n, stretch));
    }
    case BinaryOp::kChebyshevOtherKinds: {
      const auto [op, start, stretch] = family;
      const PolynomialFamily next{BinaryOp::kGegenbauer, 2, stretch};
      const Tensor slope = multiply(below(next, 1), 2 * stretch);
      return start == 0 ? slope : add(slope, multiply(below(next, 2), 2 * stretch * start));
    }
    case BinaryOp::kGegenbauer: {
      const auto [op, order, stretch] = family;
      return multiply(below({op, order + 1, stretch}, 1), 2 * order * stretch);
    }
    case BinaryOp::kHermite:
      return multiply(below(family, 1), multiply(n, family.p0));
    default:
      return negative(below({family.op, family.p0 + 1, 0}, 1));
  }
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
  const DType compute = kernel::opmath(dtype);
  const auto tensor_of = [&](const Arg& arg) {
    const Device device = (input.is_tensor() ? input : n).tensor().device();
    return arg.is_tensor() ? astype(arg.tensor(), compute)
                           : full({}, arg.scalar(), compute, device);
  };
  if (!n.is_tensor()) check_degree(std::trunc(n.scalar().to<double>()));
  const Tensor degrees = trunc(tensor_of(n));
  if (n.is_tensor() && degrees.numel() != 0) check_degree(read<double>(max(degrees)));
  return settle(astype(value_of(family, tensor_of(input), degrees), dtype), out);
}

// clang-format off
constinit const OrthogonalPolynomial chebyshev_polynomial_t{{BinaryOp::kChebyshevFirstKind, 1, 0}};
constinit const OrthogonalPolynomial chebyshev_polynomial_u{{BinaryOp::kChebyshevOtherKinds, 0, 1}};
constinit const OrthogonalPolynomial chebyshev_polynomial_v{{BinaryOp::kChebyshevOtherKinds, -1, 1}};
constinit const OrthogonalPolynomial chebyshev_polynomial_w{{BinaryOp::kChebyshevOtherKinds, 1, 1}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_t{{BinaryOp::kChebyshevFirstKind, 2, 0}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_u{{BinaryOp::kChebyshevOtherKinds, 0, 2}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_v{{BinaryOp::kChebyshevOtherKinds, -1, 2}};
constinit const OrthogonalPolynomial shifted_chebyshev_polynomial_w{{BinaryOp::kChebyshevOtherKinds, 1, 2}};
constinit const OrthogonalPolynomial hermite_polynomial_h{{BinaryOp::kHermite, 2, 0}};
constinit const OrthogonalPolynomial hermite_polynomial_he{{BinaryOp::kHermite, 1, 0}};
constinit const OrthogonalPolynomial laguerre_polynomial_l{{BinaryOp::kLaguerre, 0, 0}};
constinit const OrthogonalPolynomial legendre_polynomial_p{{BinaryOp::kGegenbauer, 0.5, 1}};
// clang-format on

}  // namespace tsr::ops
