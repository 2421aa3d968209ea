// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent gates: a thread per hidden unit and row.
#include "backend/common/gate_step.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/number.cuh"

namespace tsr::cuda {

using kernel::GatesOp;
using kernel::GatesPlan;
using kernel::Status;

namespace {

template <class T>
struct OneUnit {
  using Value = Number<T>;
  int64_t unit;
  __device__ Value load(const T* block) const { return Value(block[unit]); }
  __device__ void store(T* block, Value value) const { block[unit] = value.v; }
};

template <GatesOp kOp, bool kBackward, class T>
__global__ void units(math::GateRow<T> first, int64_t y_step, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t index = i / first.hidden;
    const math::GateRow<T> row = math::row_at(first, kOp, y_step, index);
    const OneUnit<T> at{i - index * first.hidden};
    if constexpr (kBackward)
      math::gates_backward<kOp>(at, row);
    else
      math::gates_forward<kOp>(at, row);
  }
}

template <GatesOp kOp, class T>
Status run_op(const GatesPlan& plan) {
  const int64_t count = plan.rows * plan.hidden;
  const math::GateRow<T> first = math::first_row<T>(plan);
  if (plan.backward != 0)
    return launch(plan.place, count, units<kOp, true, T>, first, plan.y_step, count);
  return launch(plan.place, count, units<kOp, false, T>, first, plan.y_step, count);
}

template <class T>
Status run(const GatesPlan& plan) {
  switch (plan.op) {
    case GatesOp::kTanh:
      return run_op<GatesOp::kTanh, T>(plan);
    case GatesOp::kRelu:
      return run_op<GatesOp::kRelu, T>(plan);
    case GatesOp::kLstm:
      return run_op<GatesOp::kLstm, T>(plan);
    case GatesOp::kGru:
      return run_op<GatesOp::kGru, T>(plan);
    default:
      return failure(Code::kNotImplemented, "gates: unknown operation");
  }
}

}  // namespace

Status gates(const GatesPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "gates: expected float32 or float64");
}

}  // namespace tsr::cuda
