// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise/pointwise.h"

#include <cmath>
#include <cstring>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"
#include "kernel/numbers.h"

namespace tsr::cpu {

using kernel::BinaryOp;
using kernel::ElementwisePlan;
using kernel::opmath;
using kernel::Status;
using kernel::TernaryOp;
using kernel::UnaryOp;

namespace {

// The kernels of a family by id and dtype. Filled once, because each lookup function is a
// chain of comparisons.
template <class Op>
class Table {
 public:
  void fill(PointwiseKernel (*look_up)(Op op, DType dtype)) {
    for (int32_t id = kFirst; id < kEnd; ++id) {
      for (size_t dtype = 0; dtype < kDTypeCount; ++dtype)
        kernels_[id - kFirst][dtype] = look_up(static_cast<Op>(id), static_cast<DType>(dtype));
    }
  }
  [[nodiscard]] const PointwiseKernel* find(Op op, DType dtype) const {
    const auto id = static_cast<int32_t>(op);
    if (id < kFirst || id >= kEnd) return nullptr;
    const PointwiseKernel& found = kernels_[id - kFirst][static_cast<size_t>(dtype)];
    return found.row == nullptr ? nullptr : &found;
  }
  // The kernel for the plan's inputs, and the dtype that it takes them in.
  [[nodiscard]] const PointwiseKernel* find(Op op, const ElementwisePlan& plan,
                                            DType& compute) const {
    compute = kernel::compute_dtype(plan);
    if (opmath(compute) == compute) return find(op, compute);
    const PointwiseKernel* found = find(op, compute);
    // A result of another dtype must not be rounded twice.
    if (found != nullptr && (plan.dtypes[0] == compute || found->result == DType::kBool))
      return found;
    compute = opmath(compute);
    return find(op, compute);
  }

 private:
  static constexpr int32_t kFirst = kernel::OpRange<Op>::kFirst;
  static constexpr int32_t kEnd = kernel::OpRange<Op>::kEnd;
  PointwiseKernel kernels_[kEnd - kFirst][kDTypeCount];
};
constinit Table<kernel::UnaryOp> g_unary;
constinit Table<kernel::BinaryOp> g_binary;
constinit Table<kernel::TernaryOp> g_ternary;

Status missing() {
  return failure(Code::kNotImplemented,
                 "expected an op that exists for these dtypes, got one that does not");
}

// a 2**b of one whole number b for all a is a product with a power of 2, which is rounded once as
// well: kept in `power`, a number in host memory. False: b is no such number, or the dtype has no
// such power among its normal numbers.
bool find_power(const ElementwisePlan& plan, double& power) {
  for (int32_t d = 0; d < plan.ndim; ++d) {
    if (plan.sizes[d] != 1 && plan.strides[2][d] != 0) return false;
  }
  const DType dtype = plan.dtypes[2];
  double exponent = 0;
  if (dtype == DType::kFloat64)
    std::memcpy(&exponent, plan.data[2], sizeof(exponent));
  else
    rows_of<CopyRows>().cast(dtype, DType::kFloat64)(1, &exponent, plan.data[2]);
  const double most = opmath(dtype) == DType::kFloat64 ? 1022 : 126;
  if (!(std::abs(exponent) <= most) || exponent != std::trunc(exponent)) return false;
  power = std::exp2(exponent);
  return true;
}
Status multiply_by_power(const ElementwisePlan& plan, double power) {
  ElementwisePlan product = plan;
  auto narrow = static_cast<float>(power);
  const bool wide = opmath(plan.dtypes[2]) == DType::kFloat64;
  product.data[2] = wide ? static_cast<void*>(&power) : &narrow;
  product.dtypes[2] = opmath(plan.dtypes[2]);
  product.host_operands |= 4U;
  return binary(BinaryOp::kMultiply, product);
}

}  // namespace

void fill_pointwise_tables() noexcept {
  const auto& from = rows_of<PointwiseRows>();
  g_unary.fill(from.unary);
  g_binary.fill(from.binary);
  g_ternary.fill(from.ternary);
}

const PointwiseKernel* find_kernel(UnaryOp op, DType dtype) noexcept {
  return g_unary.find(op, dtype);
}
const PointwiseKernel* find_kernel(BinaryOp op, DType dtype) noexcept {
  return g_binary.find(op, dtype);
}

Status unary(UnaryOp op, const ElementwisePlan& plan) {
  DType compute;
  const PointwiseKernel* kernel = g_unary.find(op, plan, compute);
  if (kernel == nullptr) return missing();
  return walk_rows(plan, *kernel, {kernel->result, {compute}});
}

Status binary(BinaryOp op, const ElementwisePlan& plan) {
  // A plan is copied, which few elements are not worth.
  constexpr int64_t kFew = 256;
  if (double power = 0; op == BinaryOp::kLdexp && plan.numel > kFew && find_power(plan, power))
    return multiply_by_power(plan, power);
  DType compute;
  const PointwiseKernel* kernel = g_binary.find(op, plan, compute);
  if (kernel == nullptr) return missing();
  if (kernel->result == DType::kBool && compute == plan.dtypes[0] && compute == DType::kFloat32) {
    const Row row = rows_of<PointwiseRows>().truths(op);
    if (row != nullptr) return walk_rows(plan, {row}, {compute, {compute, compute}});
  }
  const Status status = walk_rows(plan, *kernel, {kernel->result, {compute, compute}});
  if (status != static_cast<Status>(Code::kValue)) return status;
  return failure(Code::kValue, kernel->refusal);
}

Status ternary(TernaryOp op, const ElementwisePlan& plan) {
  // where() only moves elements, so it needs no opmath.
  const bool moves = op == TernaryOp::kWhere;
  const DType own = plan.dtypes[0];
  const bool alike = plan.dtypes[1] == own && plan.dtypes[2] == own && plan.dtypes[3] == own;
  const bool has_row = alike && g_ternary.find(op, own) != nullptr;
  const DType compute = moves || has_row ? own : opmath(plan.dtypes[1]);
  const PointwiseKernel* kernel = g_ternary.find(op, compute);
  if (kernel == nullptr) return missing();
  const DType first = moves ? DType::kBool : compute;
  return walk_rows(plan, *kernel, {kernel->result, {first, compute, compute}});
}

Status sum_of_products(const ElementwisePlan& plan) {
  const DType dtype = plan.dtypes[0];
  const int64_t size = itemsize(dtype);
  const Row row = rows_of<PointwiseRows>().sum_of_products(dtype).row;
  for (int32_t k = 0; k < plan.operands; ++k) {
    if (plan.dtypes[k] != dtype || plan.strides[k][0] != size) return missing();
  }
  if (row == nullptr || plan.ndim != 1 || plan.operands != 5) return missing();
  const auto run = [&](int64_t begin, int64_t end) {
    const auto at = [&](int slot) {
      return static_cast<std::byte*>(plan.data[slot]) + begin * size;
    };
    const void* in[] = {at(1), at(2), at(3), at(4)};
    row(end - begin, at(0), in, plan.params);
  };
  if (plan.numel <= kGrain) {
    run(0, plan.numel);
  } else {
    parallel_for(plan.numel, kGrain, run);
  }
  return kernel::kOk;
}

}  // namespace tsr::cpu
