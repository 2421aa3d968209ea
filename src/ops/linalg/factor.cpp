// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/factor.h"

#include <utility>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"

namespace tsr::ops {

using kernel::FactorOp;

namespace {

constexpr auto kNotImplemented = static_cast<kernel::Status>(Code::kNotImplemented);

}  // namespace

void check_square(const Tensor& input, const char* arg) {
  TSR_CHECK(input.ndim() >= 2 && input.size(input.ndim() - 2) == input.size(input.ndim() - 1),
            Code::kShape, arg, "expected square matrices, got shape ", input.sizes());
}

void check_matrices(const Tensor& input, const char* arg) {
  const DType dtype = input.dtype();
  TSR_CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64 || is_complex(dtype), Code::kDType,
            arg, "expected float32, float64, complex64 or complex128, got ", dtype);
  TSR_CHECK(input.ndim() >= 2, Code::kShape, arg, "expected at least 2 dimensions, got shape ",
            input.sizes());
}

void check_square_matrices(const Tensor& input, const char* arg) {
  check_matrices(input, arg);
  check_square(input, arg);
}

void check_row_exchanges(const Tensor& pivots, const Tensor& factors) {
  TSR_CHECK(is_integral(pivots.dtype()) &&
                pivots.sizes() == Dims(factors.sizes().begin(), factors.sizes().end() - 1),
            Code::kShape, "pivots", "expected integers, one for each row of the factors of shape ",
            factors.sizes(), ", got ", pivots.dtype(), " of shape ", pivots.sizes());
}

Dims batch_of(const Tensor& matrices) {
  return Dims(matrices.sizes().begin(), matrices.sizes().end() - 2);
}

int64_t batch_count(const Tensor& matrices) {
  return numel_of(DimsView(matrices.sizes().data(), matrices.sizes().size() - 2));
}

Dims with_batch(const Tensor& matrices, std::initializer_list<int64_t> sizes) {
  Dims all = batch_of(matrices);
  for (const int64_t size : sizes) all.push_back(size);
  return all;
}

Tensor empty_columns(DimsView sizes, DType dtype, Device device) {
  Dims turned(sizes);
  const size_t rank = turned.size();
  std::swap(turned[rank - 2], turned[rank - 1]);
  Dims strides = contiguous_strides(turned);
  std::swap(strides[rank - 2], strides[rank - 1]);
  return empty_strided(sizes, strides, dtype, device);
}

Tensor copy_by_rows(const Tensor& matrices) {
  Tensor copy = empty(matrices.sizes(), matrices.dtype(), matrices.device());
  copy_memory(copy, matrices);
  return copy;
}

Tensor copy_by_columns(const Tensor& matrices) {
  Tensor copy = empty_columns(matrices.sizes(), matrices.dtype(), matrices.device());
  copy_memory(copy, matrices);
  return copy;
}

Factoring::Factoring(FactorOp op, const Tensor& matrices, int64_t others,
                     std::optional<int64_t> batch)
    : device_(matrices.device()),
      status_(empty(Dims{batch.value_or(batch_count(matrices))}, DType::kInt32, Device{})) {
  plan.op = op;
  plan.dtype = matrices.dtype();
  plan.batch = status_.numel();
  plan.rows = matrices.size(matrices.ndim() - 2);
  plan.columns = matrices.size(matrices.ndim() - 1);
  plan.others = others;
  plan.a_step = plan.rows * plan.columns;
  plan.status = status_.data_as<int32_t>();
}

void Factoring::run() {
  const bool has_sides = plan.op == FactorOp::kSolve || plan.op == FactorOp::kTriangularSolve ||
                         plan.op == FactorOp::kLeastSquares;
  const bool no_sides = has_sides && plan.others == 0;
  if (plan.batch == 0 || plan.rows == 0 || plan.columns == 0 || no_sides) {
    for (int64_t i = 0; i < plan.batch; ++i) status_.data_as<int32_t>()[i] = 0;
    return;
  }
  if (try_on(device_)) return;
  if (device_.is_cpu()) kernel::throw_kernel_error(device_, "factor", kNotImplemented);
  kernel::forget_kernel_error();
  run_on_cpu();
}

bool Factoring::try_on(Device device) {
  const auto memory = [](const Tensor& operand) {
    return operand.defined() ? operand.data() : nullptr;
  };
  plan.place = kernel::place_on(device);
  plan.a = memory(a);
  plan.b = memory(b);
  plan.q = memory(q);
  plan.v = memory(v);
  plan.values = memory(values);
  plan.pivots = static_cast<int32_t*>(memory(pivots));
  return kernel::try_launch(kernel::kFactor, device, plan);
}

void Factoring::run_on_cpu() {
  Tensor* const operands[] = {&a, &b, &q, &v, &values, &pivots};
  Tensor there[std::size(operands)];
  for (size_t i = 0; i < std::size(operands); ++i) {
    Tensor& operand = *operands[i];
    if (!operand.defined()) continue;
    there[i] = operand;
    operand = empty_strided(there[i].sizes(), there[i].strides(), there[i].dtype(), Device{});
    if (operands[i] == &a || operands[i] == &b) copy_memory(operand, there[i]);
  }
  if (!try_on(Device{})) kernel::throw_kernel_error(Device{}, "factor", kNotImplemented);
  for (size_t i = 0; i < std::size(operands); ++i) {
    const bool only_read = operands[i] == &a && plan.op == FactorOp::kTriangularSolve;
    if (there[i].defined() && !only_read) copy_memory(there[i], *operands[i]);
  }
}

int64_t Factoring::first_failure() const {
  for (int64_t i = 0; i < plan.batch; ++i) {
    if (status_of(i) != 0) return i;
  }
  return -1;
}

void Factoring::fail_at(int64_t i, const char* arg, const char* expected, std::string got) const {
  std::string text = concat("expected ", expected, ", got ", got);
  if (plan.batch > 1) text += concat(" (matrix ", i, " of the batch)");
  Error error(Code::kLinalg, arg, std::move(text), __FILE__, __LINE__);
  error.set_native_code(i);
  throw error;
}

void Factoring::check_positive_definite(const char* arg) const {
  const int64_t i = first_failure();
  if (i < 0) return;
  fail_at(i, arg, "a positive-definite matrix",
          concat("one whose leading minor of order ", status_of(i), " is not positive"));
}

void Factoring::check_invertible(const char* arg) const {
  const int64_t i = first_failure();
  if (i < 0) return;
  fail_at(i, arg, "an invertible matrix",
          concat("a singular one, whose LU factorization has a zero as pivot ", status_of(i)));
}

void Factoring::check_converged(const char* arg) const {
  const int64_t i = first_failure();
  if (i < 0) return;
  if (status_of(i) == kernel::kNotFinite) fail_at(i, arg, "finite numbers", "NaN or infinity");
  fail_at(i, arg, "a matrix for which the iteration converges",
          concat("one for which it does not (LAPACK's info is ", status_of(i), ")"));
}

}  // namespace tsr::ops
