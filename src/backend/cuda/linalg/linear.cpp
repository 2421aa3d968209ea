// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Dense layers: cuBLASLt adds the bias, or sums its gradient, while it multiplies. Otherwise the
// bias has a pass of its own.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/linalg/cublas_lt.h"

namespace tsr::cuda {

using kernel::LinearPass;
using kernel::LinearPlan;
using kernel::Status;

namespace {

// Row-major matrices are their transposes in column-major order: outputᵀ = weight inputᵀ.
LtProduct product_of(const LinearPlan& plan) {
  LtProduct product{};
  product.dtype = plan.dtype;
  product.precision = plan.precision;
  product.bias = plan.bias;
  if (plan.pass == LinearPass::kForward) {
    product.epilogue = Epilogue::kBias;
    product.op_a = CUBLAS_OP_T;
    product.op_b = CUBLAS_OP_N;
    product.m = product.ldd = plan.columns;
    product.n = plan.rows;
    product.k = product.lda = product.ldb = plan.inner;
    product.a = plan.weight;
    product.b = plan.input;
    product.d = plan.output;
  } else {
    product.epilogue = Epilogue::kSumB;
    product.op_a = CUBLAS_OP_N;
    product.op_b = CUBLAS_OP_T;
    product.m = product.lda = product.ldd = plan.inner;
    product.n = product.ldb = plan.columns;
    product.k = plan.rows;
    product.a = plan.input;
    product.b = plan.output;
    product.d = plan.weight;
  }
  return product;
}

// Vectors of the bias are read in packs.
bool fits(const LinearPlan& plan) {
  return reinterpret_cast<uintptr_t>(plan.bias) % 16 == 0 && plan.inner > 1 && plan.columns > 1;
}

// ---- Without an epilogue ----

void set_number(kernel::Parameter& parameter, DType dtype, double value) {
  if (dtype == DType::kFloat64) {
    *reinterpret_cast<double*>(parameter.bytes) = value;
  } else {
    *reinterpret_cast<float*>(parameter.bytes) = static_cast<float>(value);
  }
}

// The product alone; the forward adds it to the output.
Status multiply_only(const LinearPlan& plan) {
  const bool forward = plan.pass == LinearPass::kForward;
  kernel::GemmPlan gemm_plan{};
  gemm_plan.dtype = plan.dtype;
  gemm_plan.precision = plan.precision;
  gemm_plan.place = plan.place;
  gemm_plan.batch = 1;
  gemm_plan.m = forward ? plan.rows : plan.columns;
  gemm_plan.n = forward ? plan.columns : plan.inner;
  gemm_plan.k = forward ? plan.inner : plan.rows;
  gemm_plan.a = forward ? plan.input : plan.output;
  gemm_plan.b = forward ? plan.weight : plan.input;
  gemm_plan.c = forward ? plan.output : plan.weight;
  gemm_plan.a_strides[forward ? 0 : 1] = forward ? plan.inner : plan.columns;
  gemm_plan.a_strides[forward ? 1 : 0] = 1;
  gemm_plan.b_strides[forward ? 1 : 0] = plan.inner;
  gemm_plan.b_strides[forward ? 0 : 1] = 1;
  gemm_plan.c_strides[0] = gemm_plan.n;
  gemm_plan.c_strides[1] = 1;
  set_number(gemm_plan.alpha, plan.dtype, 1);
  set_number(gemm_plan.beta, plan.dtype, forward ? 1 : 0);
  return gemm(gemm_plan);
}

// Every row of the output becomes the bias.
Status spread_bias(const LinearPlan& plan) {
  const int64_t size = itemsize(plan.dtype);
  kernel::ElementwisePlan rows{};
  rows.ndim = 2;
  rows.operands = 2;
  rows.numel = plan.rows * plan.columns;
  rows.place = plan.place;
  rows.sizes[0] = plan.rows;
  rows.sizes[1] = plan.columns;
  rows.strides[0][0] = plan.columns * size;
  rows.strides[0][1] = rows.strides[1][1] = size;
  rows.data[0] = plan.output;
  rows.data[1] = plan.bias;
  rows.dtypes[0] = rows.dtypes[1] = plan.dtype;
  return copy(rows);
}

Status sum_rows(const LinearPlan& plan) {
  const int64_t size = itemsize(plan.dtype);
  kernel::ReducePlan sum{};
  sum.op = kernel::ReduceOp::kSum;
  sum.place = plan.place;
  sum.input = plan.output;
  sum.output = plan.bias;
  sum.input_dtype = sum.output_dtype = plan.dtype;
  sum.kept_ndim = sum.reduced_ndim = 1;
  sum.kept_numel = sum.kept_sizes[0] = plan.columns;
  sum.kept_input_strides[0] = sum.kept_output_strides[0] = size;
  sum.reduced_numel = sum.reduced_sizes[0] = plan.rows;
  sum.reduced_strides[0] = plan.columns * size;
  return reduce(sum);
}

}  // namespace

Status linear(const LinearPlan& plan) {
  if (!is_floating(plan.dtype))
    return failure(Code::kDType, "expected a real floating dtype for a layer");
  bool offered = fits(plan);
  if (offered) {
    const Status status = multiply(plan.place, product_of(plan), offered);
    if (offered || status != kernel::kOk) return status;
  }
  const bool forward = plan.pass == LinearPass::kForward;
  const Status status = forward ? spread_bias(plan) : sum_rows(plan);
  return status == kernel::kOk ? multiply_only(plan) : status;
}

}  // namespace tsr::cuda
