// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/ldl.h"

#include <complex>

#include "autograd/grad_mode.h"
#include "base/error.h"
#include "base/parallel.h"
#include "kernel/kept_launch.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/factor.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/ldl_math.h"
#include "ops/linalg/systems.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

struct Factors {
  Tensor ld, pivots, info;
};

// fn(T{}) for the type T of a dtype that check_matrices accepts.
template <class Fn>
void visit_matrices(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(float{});
    case DType::kFloat64:
      return fn(double{});
    case DType::kComplex64:
      return fn(std::complex<float>{});
    default:
      return fn(std::complex<double>{});
  }
}

Tensor on_host(const Tensor& given) {
  return to(given.detached(), Device{}, std::nullopt);
}
Tensor on(const Tensor& made, Device device) {
  return to(made, device, std::nullopt);
}

// With `check`, a singular matrix throws. The host computes, whatever the device.
Factors factor(const Tensor& input, bool hermitian, bool check) {
  check_square_matrices(input, "input");
  TSR_CHECK(!needs_grad(input), Code::kNotImplemented, "input",
            "ldl_factor has no derivative; expected matrices that require no grad");
  const int64_t n = input.size(input.ndim() - 1);
  const Tensor packed = copy_by_columns(on_host(input));
  const Tensor pivots = empty(with_batch(input, {n}), DType::kInt32, Device{});
  const Tensor info = empty(batch_of(input), DType::kInt32, Device{});
  visit_matrices(input.dtype(), [&]<class T>(T) {
    parallel_for(batch_count(input), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Ldl<T> matrix(packed.data_as<T>() + i * n * n, pivots.data_as<int32_t>() + i * n, n,
                      hermitian);
        info.data_as<int32_t>()[i] = matrix.factor();
      }
    });
  });
  for (int64_t i = 0; check && i < info.numel(); ++i) {
    const int32_t zero = info.data_as<int32_t>()[i];
    TSR_CHECK(zero == 0, Code::kLinalg, "input", "expected invertible matrices, got one (number ",
              i, ") whose factorization has a zero as pivot ", zero);
  }
  const Device device = input.device();
  return {on(tril(packed), device), on(pivots, device), on(info, device)};
}

// Rows are exchanged by them, so each must name one; the two rows of a block of 2 are negative.
void check_pivots(const Tensor& pivots, int64_t n) {
  kernel::note_host_decision("the pivots of a factorization");
  const Tensor host = contiguous_memory(astype(on_host(pivots), DType::kInt64));
  const auto* all = host.data_as<int64_t>();
  for (int64_t first = 0; first < host.numel(); first += n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t pivot = all[first + i];
      TSR_CHECK(pivot != 0 && pivot >= -n && pivot <= n, Code::kValue, "pivots",
                "expected rows from 1 to ", n, " or their negatives, got ", pivot);
      if (pivot > 0) continue;
      ++i;
      const int64_t next = i < n ? all[first + i] : 0;
      TSR_CHECK(next < 0 && next >= -n, Code::kValue, "pivots",
                "expected two negative rows for each block of 2, got ", pivot, " and ", next);
    }
  }
}

// A⁻¹ B. gB = A⁻ᴴ gX, where Aᴴ is A, or its conjugate when A is symmetric.
Tensor solve_stack(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  const Tensor found = copy_by_columns(on_host(b));
  const int64_t n = ld.size(ld.ndim() - 1);
  const int64_t columns = b.size(b.ndim() - 1);
  Dims full = batch_of(b);
  full.push_back(n);
  const Tensor exchanges =
      contiguous_memory(broadcast_to(astype(on_host(pivots), DType::kInt32), full));
  full.push_back(n);
  const Tensor factors = copy_by_columns(broadcast_to(on_host(ld), full));
  visit_matrices(ld.dtype(), [&]<class T>(T) {
    parallel_for(batch_count(b), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Ldl<T> matrix(factors.data_as<T>() + i * n * n, exchanges.data_as<int32_t>() + i * n,
                            n, hermitian);
        matrix.solve(found.data_as<T>() + i * n * columns, columns);
      }
    });
  });
  const Tensor solution = on(found, b.device());
  if (needs_grad(b)) {
    record(solution, "LdlSolveBackward", {b}, {save_input(ld), save_input(pivots)},
           [hermitian](Backward& ctx) {
             const bool turned = !hermitian && is_complex(ctx.grad().dtype());
             const Tensor g = turned ? conj(ctx.grad()) : ctx.grad();
             const Tensor back = solve_stack(ctx.saved(0), ctx.saved(1), g, hermitian);
             ctx.set(0, turned ? conj(back) : back);
           });
  }
  return solution;
}

}  // namespace

std::tuple<Tensor, Tensor> ldl_factor(const Tensor& input, bool hermitian, Out ld, Out pivots) {
  check_apart(ld, "ld", pivots, "pivots");
  const Factors found = factor(input, hermitian, true);
  return {deliver(found.ld, ld, false), deliver(found.pivots, pivots, false)};
}

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& input, bool hermitian, Out ld,
                                                 Out pivots, Out info) {
  check_apart(ld, "ld", pivots, "pivots");
  check_apart(ld, "ld", info, "info");
  check_apart(pivots, "pivots", info, "info");
  const Factors found = factor(input, hermitian, false);
  return {deliver(found.ld, ld, false), deliver(found.pivots, pivots, false),
          deliver(found.info, info, false)};
}

Tensor ldl_solve(const Tensor& input, const Tensor& pivots, const Tensor& other, bool hermitian,
                 Out out) {
  check_square_matrices(input, "input");
  check_same_device(input, pivots, "pivots");
  TSR_CHECK(!needs_grad(input), Code::kNotImplemented, "input",
            "ldl_solve has no derivative towards the factors; expected ones that require no grad");
  TSR_CHECK(other.ndim() >= 2, Code::kShape, "other", "expected at least 2 dimensions, got shape ",
            other.sizes());
  const System system(input, other, true);
  const int64_t n = input.size(input.ndim() - 1);
  check_row_exchanges(pivots, input);
  if (n != 0) check_pivots(pivots, n);
  const bool grad = needs_grad(other);
  return system.finish(solve_stack(input, pivots, system.b, hermitian), out, grad);
}

}  // namespace tsr::ops
