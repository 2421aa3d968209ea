// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/svd.h"

#include <algorithm>
#include <limits>

#include "autograd/forward.h"
#include "autograd/grad_mode.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/eig.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/triangular.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

struct Parts {
  Tensor u, s, vh;
};

// Without a graph; `u` and `vh` are undefined without `vectors`.
Parts decompose(const Tensor& input, bool vectors, bool full) {
  const int64_t m = input.size(input.ndim() - 2);
  const int64_t n = input.size(input.ndim() - 1);
  const int64_t k = std::min(m, n);
  const DType dtype = input.dtype();
  Parts parts;
  parts.s = empty(with_batch(input, {k}), real_dtype(dtype), input.device());
  const Tensor scratch = copy_by_rows(input);
  Factoring factoring(kernel::FactorOp::kSvd, input, full ? m : k);
  factoring.a = scratch;
  factoring.values = parts.s;
  factoring.plan.full = full ? 1 : 0;
  if (vectors) {
    parts.u = empty(with_batch(input, {m, full ? m : k}), dtype, input.device());
    parts.vh = empty(with_batch(input, {full ? n : k, n}), dtype, input.device());
    // Without singular values every orthonormal basis will do.
    if (k == 0 && full) {
      copy_memory(parts.u, eye(m, {}, 0, dtype, input.device()));
      copy_memory(parts.vh, eye(n, {}, 0, dtype, input.device()));
    }
    factoring.q = parts.u;
    factoring.v = parts.vh;
  }
  factoring.run();
  factoring.check_converged("input");
  return parts;
}

Tensor skew(const Tensor& x) {
  return subtract(x, adjoint(x));
}

// 1 / (sⱼ² - sᵢ²) beside the diagonal, 0 on it.
Tensor gaps(const Tensor& s) {
  const Tensor squares = square(s);
  const Tensor unit = eye(s.size(s.ndim() - 1), {}, 0, s.dtype(), s.device());
  const Tensor distances = subtract(expand_dims(squares, -2), expand_dims(squares, -1));
  return subtract(reciprocal(add(distances, unit)), unit);
}

// In the basis of the singular vectors the gradient is a k x k matrix, with F of `gaps`
//   (F skew(Uᴴ gU)) S + S (F skew(Vᴴ gV)) + diag(gS + i Im diag(Uᴴ gU) / S)
// beside which the part of gU outside U and that of gV outside V stand alone (M. Giles, 2008,
// section 3.3; J. Townsend, Differentiating the singular value decomposition, 2016; the phase of
// complex vectors: Z. Wan, S. Zhang, Automatic differentiation for complex valued SVD, 2019).
Tensor svd_gradient(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u,
                    const Tensor& s, const Tensor& vh) {
  const Tensor row = expand_dims(s, -2);
  const Tensor column = expand_dims(s, -1);
  const Tensor unit = eye(s.size(s.ndim() - 1), {}, 0, s.dtype(), s.device());
  Tensor core;
  const auto include = [&](const Tensor& part) { core = core.defined() ? add(core, part) : part; };
  Tensor outside;
  const auto include_outside = [&](const Tensor& part) {
    outside = outside.defined() ? add(outside, part) : part;
  };
  if (gs.defined()) include(multiply(expand_dims(gs, -2), unit));
  if (gu.defined()) {
    const Tensor inner = matmul(adjoint(u), gu);
    const Tensor turn = skew(inner);
    include(multiply(multiply(turn, gaps(s)), row));
    if (is_complex(u.dtype())) include(multiply(turn, divide(multiply(unit, 0.5), row)));
    if (u.size(u.ndim() - 2) > u.size(u.ndim() - 1)) {
      include_outside(matmul(divide(subtract(gu, matmul(u, inner)), row), vh));
    }
  }
  if (gvh.defined()) {
    const Tensor inner = matmul(vh, adjoint(gvh));
    include(multiply(column, multiply(skew(inner), gaps(s))));
    if (vh.size(vh.ndim() - 1) > vh.size(vh.ndim() - 2)) {
      const Tensor apart = subtract(gvh, matmul(adjoint(inner), vh));
      include_outside(matmul(u, divide(apart, column)));
    }
  }
  const Tensor result = matmul(u, matmul(astype(core, u.dtype()), vh));
  return outside.defined() ? add(result, outside) : result;
}

// The inverses of what is larger in size than rtol times the largest, 0 of the others.
Tensor inverted(const Tensor& values, const Arg& rtol) {
  if (values.size(values.ndim() - 1) == 0) return values;
  const Tensor sizes = abs(values);
  const Tensor limit = multiply(max(sizes, DimsView(Dims{-1}), true), rtol);
  return where(greater(sizes, limit), reciprocal(values), 0.0);
}

Tensor pseudo_inverse(const Tensor& input, const Arg& rtol, bool hermitian) {
  const Unrecorded no_grad;
  if (hermitian) {
    const auto [values, vectors] = eigh(input);
    const Tensor scaled = multiply(vectors, expand_dims(inverted(values, rtol), -2));
    return matmul(scaled, adjoint(vectors));
  }
  const auto [u, s, vh] = svd(input, false);
  return matmul(adjoint(vh), multiply(expand_dims(inverted(s, rtol), -1), adjoint(u)));
}

}  // namespace

double default_rtol(const Tensor& input) {
  const double epsilon = real_dtype(input.dtype()) == DType::kFloat32
                             ? double{std::numeric_limits<float>::epsilon()}
                             : std::numeric_limits<double>::epsilon();
  const int64_t side = std::max(input.size(input.ndim() - 2), input.size(input.ndim() - 1));
  return static_cast<double>(side) * epsilon;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& input, bool full_matrices, Out u, Out s,
                                       Out vh) {
  check_matrices(input, "input");
  check_apart(u, "u", s, "s");
  check_apart(u, "u", vh, "vh");
  check_apart(s, "s", vh, "vh");
  const bool grad = needs_grad(input);
  const Parts parts = decompose(input, true, full_matrices);
  const Tensor left = deliver(parts.u, u, grad);
  const Tensor values = deliver(parts.s, s, grad);
  const Tensor right = deliver(parts.vh, vh, grad);
  if (grad) {
    record_outputs(
        {left, values, right}, "SvdBackward", {input},
        {save_output(left), save_output(values), save_output(right)},
        TakesBatches{[](Backward& ctx) {
          const Tensor& s_saved = ctx.saved(1);
          const int64_t k = s_saved.size(s_saved.ndim() - 1);
          const auto leading = [k](const Tensor& t, int64_t axis) {
            return t.defined() ? narrow(t, axis, 0, k) : t;
          };
          ctx.set(0, svd_gradient(leading(ctx.grad(0), -1), ctx.grad(1), leading(ctx.grad(2), -2),
                                  leading(ctx.saved(0), -1), s_saved, leading(ctx.saved(2), -2)));
        }});
  }
  return {left, values, right};
}

Tensor svdvals(const Tensor& input, Out out) {
  check_matrices(input, "input");
  const bool grad = needs_grad(input);
  // The derivative needs the vectors.
  if (grad) return deliver(std::get<1>(svd(input, false)), out, grad);
  return deliver(decompose(input, false, false).s, out, false);
}

namespace {

Tensor run_pinv(const Tensor& input, const Arg& rtol, bool hermitian, const Out& out) {
  if (hermitian) check_square(input, "input");
  const bool grad = needs_grad(input);
  const Tensor value = pseudo_inverse(input, rtol, hermitian);
  Tensor output = deliver(value, out, grad);
  if (grad) {
    record(output, "PinvBackward", {input}, {save_input(input), save_output(output)},
           TakesBatches{[](Backward& ctx) {
             ctx.set(0, pinv_gradient(ctx.grad(), ctx.saved(1), ctx.saved(0)));
           }});
  }
  return output;
}

}  // namespace

Tensor pinv(const Tensor& input, std::optional<double> rtol, bool hermitian, Out out) {
  check_matrices(input, "input");
  return run_pinv(input, Scalar(rtol.value_or(default_rtol(input))), hermitian, out);
}

Tensor pinv_by_rtol(const Tensor& input, const Tensor& rtol, bool hermitian, Out out) {
  check_matrices(input, "input");
  return run_pinv(input, shares_for(input, rtol), hermitian, out);
}

Tensor shares_for(const Tensor& input, const Tensor& rtol) {
  check_same_device(input, rtol, "rtol");
  TSR_CHECK(is_floating(rtol.dtype()), Code::kDType, "rtol", "expected a floating dtype, got ",
            rtol.dtype());
  const Dims batch = batch_of(input);
  TSR_CHECK(broadcast_shapes(batch, rtol.sizes(), "rtol") == batch, Code::kShape, "rtol",
            "expected one share for each matrix of shape ", input.sizes(), ", got shape ",
            rtol.sizes());
  return expand_dims(astype(rtol.detached(), real_dtype(input.dtype())), -1);
}

// gA = -Pᴴ G Pᴴ + (I - A P) Gᴴ P Pᴴ + Pᴴ P Gᴴ (I - P A) for P = A⁺ (G. Golub, V. Pereyra, The
// differentiation of pseudo-inverses and nonlinear least squares problems, 1973, theorem 4.3).
Tensor pinv_gradient(const Tensor& g, const Tensor& inverse, const Tensor& input) {
  const Tensor ph = adjoint(inverse);
  const Tensor gh = adjoint(g);
  const Tensor first = matmul(matmul(gh, inverse), ph);
  const Tensor second = matmul(ph, matmul(inverse, gh));
  const Tensor both = add(subtract(first, matmul(input, matmul(inverse, first))),
                          subtract(second, matmul(matmul(second, inverse), input)));
  return subtract(both, matmul(ph, matmul(g, ph)));
}

}  // namespace tsr::ops
