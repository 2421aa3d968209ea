// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise.h"

#include "backend/cpu/host.h"
#include "backend/cpu/walk.h"

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

bool gives_bool(UnaryOp op) {
  return op >= UnaryOp::kIsNan && op < UnaryOp::kCount;
}
bool gives_bool(BinaryOp op) {
  return op >= BinaryOp::kEqual && op <= BinaryOp::kLogicalXor;
}

}  // namespace

Status unary(UnaryOp op, const ElementwisePlan& plan) {
  const DType compute = opmath(plan.dtypes[1]);
  const Row row = find_row(op, compute);
  if (row == nullptr) return missing();
  DType result = compute;
  if (gives_bool(op)) result = DType::kBool;
  if (op == UnaryOp::kAbs) result = real_dtype(compute);
  return walk_rows(plan, row, {result, {compute}});
}

Status binary(BinaryOp op, const ElementwisePlan& plan) {
  const DType compute = opmath(plan.dtypes[1]);
  const Row row = find_row(op, compute);
  if (row == nullptr) return missing();
  const Status status =
      walk_rows(plan, row, {gives_bool(op) ? DType::kBool : compute, {compute, compute}});
  if (status != static_cast<Status>(Code::kValue)) return status;
  return failure(Code::kValue,
                 op == BinaryOp::kPow
                     ? "expected exponents of at least 0 for integers, got a negative one"
                     : "expected divisors other than 0, got an integer division by zero");
}

Status ternary(TernaryOp op, const ElementwisePlan& plan) {
  // where() moves elements and needs no opmath.
  const bool moves = op == TernaryOp::kWhere;
  const DType compute = moves ? plan.dtypes[0] : opmath(plan.dtypes[1]);
  const Row row = find_row(op, compute);
  if (row == nullptr) return missing();
  return walk_rows(plan, row, {compute, {moves ? DType::kBool : compute, compute, compute}});
}

}  // namespace tsr::cpu
