// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU kernels in the way the library calls them: small calls, memory-bound calls, reductions,
// products. Compared with plain C (memcpy) or OpenBLAS alone.
#include <cblas.h>

#include <cstring>
#include <string>

#include "bench/backend.h"

namespace tsr::bench {
namespace {

using kernel::ElementwisePlan;

ElementwisePlan contiguous(int64_t count, std::initializer_list<float*> operands) {
  ElementwisePlan plan{};
  plan.ndim = 1;
  plan.numel = plan.sizes[0] = count;
  for (float* data : operands) {
    plan.data[plan.operands] = data;
    plan.dtypes[plan.operands] = DType::kFloat32;
    plan.strides[plan.operands++][0] = 4;
  }
  return plan;
}

void small_calls() {
  const Floats a = floats(64), b = floats(64), out = floats(64);
  const ElementwisePlan binary = contiguous(4, {out.get(), a.get(), b.get()});
  const ElementwisePlan unary = contiguous(4, {out.get(), a.get()});
  ElementwisePlan scalar = binary;
  scalar.strides[2][0] = 0;
  constexpr int64_t kCalls = 20000;
  const auto measure = [&](const char* name, auto call) {
    Case c = make(name, "4 float32", "call", kCalls, 0);
    c.ours = [&] {
      for (int64_t i = 0; i < kCalls; ++i) call();
    };
    run(c);
  };
  measure("small add", [&] { kernels().binary(kernel::BinaryOp::kAdd, binary); });
  measure("small add scalar", [&] { kernels().binary(kernel::BinaryOp::kAdd, scalar); });
  measure("small exp", [&] { kernels().unary(kernel::UnaryOp::kExp, unary); });
  measure("small copy", [&] { kernels().copy(unary); });
  measure("small fill", [&] { kernels().fill(unary); });
  kernel::ReducePlan reduction{};
  reduction.op = kernel::ReduceOp::kSum;
  reduction.kept_ndim = reduction.reduced_ndim = 1;
  reduction.kept_numel = reduction.kept_sizes[0] = 1;
  reduction.reduced_numel = reduction.reduced_sizes[0] = 4;
  reduction.reduced_strides[0] = 4;
  reduction.input = a.get();
  reduction.output = out.get();
  reduction.input_dtype = reduction.output_dtype = DType::kFloat32;
  measure("small sum", [&] { kernels().reduce(reduction); });
}

void streams() {
  constexpr int64_t kCount = int64_t{16} << 20;
  const Floats a = floats(kCount), b = floats(kCount), out = floats(kCount);
  const auto measure = [&](const char* name, double bytes, auto call) {
    Case c = make(name, "64 MiB float32", "element", kCount, bytes);
    c.ours = call;
    c.peer_name = "memcpy of as many bytes";
    run(c);
  };
  constexpr double kBytes = 4.0 * kCount;
  const ElementwisePlan add = contiguous(kCount, {out.get(), a.get(), b.get()});
  const ElementwisePlan in_place = contiguous(kCount, {out.get(), out.get(), b.get()});
  const ElementwisePlan one = contiguous(kCount, {out.get(), a.get()});
  measure("add", 3 * kBytes, [&] { kernels().binary(kernel::BinaryOp::kAdd, add); });
  measure("add in place", 3 * kBytes, [&] { kernels().binary(kernel::BinaryOp::kAdd, in_place); });
  measure("exp", 2 * kBytes, [&] { kernels().unary(kernel::UnaryOp::kExp, one); });
  measure("gelu", 2 * kBytes, [&] { kernels().unary(kernel::UnaryOp::kGelu, one); });
  measure("copy", 2 * kBytes, [&] { kernels().copy(one); });
  measure("memcpy, one thread", 2 * kBytes, [&] { std::memcpy(out.get(), a.get(), 4 * kCount); });
  ElementwisePlan fill = contiguous(kCount, {out.get()});
  measure("fill", kBytes, [&] { kernels().fill(fill); });
  ElementwisePlan transposed = one;
  transposed.ndim = 2;
  transposed.sizes[0] = transposed.sizes[1] = 4096;
  transposed.strides[0][0] = 4 * 4096;
  transposed.strides[0][1] = 4;
  transposed.strides[1][0] = 4;
  transposed.strides[1][1] = 4 * 4096;
  measure("copy transposed", 2 * kBytes, [&] { kernels().copy(transposed); });
  ElementwisePlan add_transposed = transposed;
  add_transposed.operands = 3;
  add_transposed.data[2] = b.get();
  add_transposed.dtypes[2] = DType::kFloat32;
  add_transposed.strides[2][0] = 4 * 4096;
  add_transposed.strides[2][1] = 4;
  measure("add transposed", 3 * kBytes,
          [&] { kernels().binary(kernel::BinaryOp::kAdd, add_transposed); });
}

void reductions() {
  constexpr int64_t kRows = 4096;
  const Floats a = floats(kRows * kRows), out = floats(kRows);
  const auto measure = [&](const char* name, kernel::ReduceOp op, bool rows, bool columns) {
    kernel::ReducePlan plan{};
    plan.op = op;
    plan.input = a.get();
    plan.output = out.get();
    plan.input_dtype = DType::kFloat32;
    plan.output_dtype = op == kernel::ReduceOp::kArgmax ? DType::kInt64 : DType::kFloat32;
    plan.kept_ndim = plan.reduced_ndim = 1;
    plan.kept_numel = plan.reduced_numel = kRows;
    if (rows && columns) {
      plan.kept_numel = 1;
      plan.reduced_numel = kRows * kRows;
    }
    plan.kept_sizes[0] = plan.kept_numel;
    plan.reduced_sizes[0] = plan.reduced_numel;
    plan.reduced_strides[0] = columns ? 4 : 4 * kRows;
    plan.kept_input_strides[0] = columns ? 4 * kRows : 4;
    plan.kept_output_strides[0] = itemsize(plan.output_dtype);
    const double one = 2;
    std::memcpy(&plan.params[0], &one, sizeof(one));
    Case c = make(name, "4096x4096 float32", "element", kRows * kRows, 4.0 * kRows * kRows);
    c.ours = [&] { kernels().reduce(plan); };
    run(c);
  };
  using kernel::ReduceOp;
  measure("sum all", ReduceOp::kSum, true, true);
  measure("sum rows", ReduceOp::kSum, true, false);
  measure("sum columns", ReduceOp::kSum, false, true);
  measure("max all", ReduceOp::kMax, true, true);
  measure("argmax columns", ReduceOp::kArgmax, false, true);
  measure("var columns", ReduceOp::kVar, false, true);
  measure("var rows", ReduceOp::kVar, true, false);
  measure("norm all", ReduceOp::kEuclideanNorm, true, true);
  measure("logsumexp columns", ReduceOp::kLogsumexp, false, true);
}

void products() {
  for (const int64_t n : {int64_t{4}, int64_t{8}, int64_t{16}, int64_t{32}, int64_t{64},
                          int64_t{256}, int64_t{1024}}) {
    const Floats a = floats(n * n), b = floats(n * n), out = floats(n * n);
    kernel::GemmPlan plan{};
    plan.dtype = DType::kFloat32;
    plan.m = plan.n = plan.k = n;
    plan.a = a.get();
    plan.b = b.get();
    plan.c = out.get();
    plan.a_strides[0] = plan.b_strides[0] = plan.c_strides[0] = n;
    plan.a_strides[1] = plan.b_strides[1] = plan.c_strides[1] = 1;
    const float one = 1;
    std::memcpy(&plan.alpha, &one, sizeof(one));
    plan.batch = 1;
    const int64_t repeats = std::max<int64_t>(1, 20000000 / (n * n * n + 10000));
    const auto size = static_cast<blasint>(n);
    Case c = make("matmul", std::to_string(n) + "x" + std::to_string(n) + " float32", "product",
                  repeats, 0);
    c.ours = [&] {
      for (int64_t i = 0; i < repeats; ++i) kernels().gemm(plan);
    };
    c.peer = [&] {
      for (int64_t i = 0; i < repeats; ++i) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0F, a.get(),
                    size, b.get(), size, 0.0F, out.get(), size);
      }
    };
    c.peer_name = "OpenBLAS";
    run(c);
  }
}

}  // namespace
}  // namespace tsr::bench

int main() {
  tsr::bench::small_calls();
  tsr::bench::streams();
  tsr::bench::reductions();
  tsr::bench::products();
}
