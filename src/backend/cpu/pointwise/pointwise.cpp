// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise/pointwise.h"

#include "backend/cpu/host.h"
#include "backend/cpu/pointwise/walk.h"

namespace tsr::cpu {

using kernel::BinaryOp;
using kernel::ElementwisePlan;
using kernel::opmath;
using kernel::Status;
using kernel::TernaryOp;
using kernel::UnaryOp;

namespace {

Status missing() {
  return failure(Code::kNotImplemented,
                 "expected an op that exists for these dtypes, got one that does not");
}

}  // namespace

Status unary(UnaryOp op, const ElementwisePlan& plan) {
  const DType compute = opmath(plan.dtypes[1]);
  const PointwiseKernel* kernel = find_kernel(op, compute);
  if (kernel == nullptr) return missing();
  return walk_rows(plan, kernel->row, {kernel->result, {compute}});
}

Status binary(BinaryOp op, const ElementwisePlan& plan) {
  const DType compute = opmath(plan.dtypes[1]);
  const PointwiseKernel* kernel = find_kernel(op, compute);
  if (kernel == nullptr) return missing();
  const Status status = walk_rows(plan, kernel->row, {kernel->result, {compute, compute}});
  if (status != static_cast<Status>(Code::kValue)) return status;
  return failure(Code::kValue, kernel->refusal);
}

Status ternary(TernaryOp op, const ElementwisePlan& plan) {
  // where() moves elements and needs no opmath.
  const bool moves = op == TernaryOp::kWhere;
  const DType compute = moves ? plan.dtypes[0] : opmath(plan.dtypes[1]);
  const PointwiseKernel* kernel = find_kernel(op, compute);
  if (kernel == nullptr) return missing();
  const DType first = moves ? DType::kBool : compute;
  return walk_rows(plan, kernel->row, {kernel->result, {first, compute, compute}});
}

}  // namespace tsr::cpu
