// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent gates: divides the rows of a time step among the threads.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/gates_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GatesPlan;
using kernel::Status;

// The grain, in hidden units: each costs about five exponentials.
constexpr int64_t kGrain = 4096;

template <class T>
Status run(const GatesPlan& plan) {
  const GatesRows<T>& all = rows_of<GatesRows<T>>();
  const auto rows = (plan.backward != 0 ? all.backward : all.forward)[static_cast<int>(plan.op)];
  const math::GateRow<T> first = math::first_row<T>(plan);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(plan.hidden, 1));
  parallel_for(plan.rows, grain,
               [&](int64_t begin, int64_t end) { rows(first, plan.y_step, begin, end); });
  return kernel::kOk;
}

}  // namespace

Status gates(const GatesPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for recurrent gates");
}

}  // namespace tsr::cpu
