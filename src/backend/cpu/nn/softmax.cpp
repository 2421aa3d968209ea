// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax: spreads the rows over the threads.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/softmax_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::SoftmaxPlan;
using kernel::Status;

// Numbers that pay for a thread.
constexpr int64_t kGrain = 16384;
// Neighbouring positions one thread takes along a strided axis: whole cache lines.
constexpr int64_t kLine = 32;

template <class T>
void run_rows(const SoftmaxPlan& plan, bool backward) {
  const auto& rows = rows_of<SoftmaxRows<T>>();
  const auto* in = static_cast<const T*>(plan.input);
  const auto* saved = static_cast<const T*>(plan.saved);
  auto* out = static_cast<T*>(plan.output);
  const int64_t columns = plan.columns;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(columns, 1));
  parallel_for(plan.rows, grain, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * columns;
    if (backward) {
      rows.backward(end - begin, columns, plan.log != 0, in + at, saved + at, out + at);
    } else {
      rows.forward(end - begin, columns, plan.log != 0, in + at, out + at);
    }
  });
}

template <class T>
void run_strided(const SoftmaxPlan& plan, bool backward) {
  const auto& rows = rows_of<SoftmaxRows<T>>();
  const auto* in = static_cast<const T*>(plan.input);
  const auto* saved = static_cast<const T*>(plan.saved);
  auto* out = static_cast<T*>(plan.output);
  const int64_t lines = (plan.inner + kLine - 1) / kLine;
  const int64_t grain = std::max<int64_t>(1, kGrain / (plan.columns * kLine));
  parallel_for(plan.rows * lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / lines * plan.columns * plan.inner;
      const int64_t first = i % lines * kLine;
      const int64_t last = std::min(plan.inner, first + kLine);
      if (backward) {
        rows.strided_backward(plan.columns, plan.inner, first, last, plan.log != 0, in + at,
                              saved + at, out + at);
      } else {
        rows.strided(plan.columns, plan.inner, first, last, plan.log != 0, in + at, out + at);
      }
    }
  });
}

template <class T>
Status run(const SoftmaxPlan& plan, bool backward) {
  if (plan.rows * plan.columns * plan.inner == 0) return kernel::kOk;
  if (plan.inner == 1)
    run_rows<T>(plan, backward);
  else
    run_strided<T>(plan, backward);
  return kernel::kOk;
}

Status run_typed(const SoftmaxPlan& plan, bool backward) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan, backward);
  if (plan.dtype == DType::kFloat64) return run<double>(plan, backward);
  return failure(Code::kNotImplemented, "expected float32 or float64 for softmax");
}

}  // namespace

Status softmax(const SoftmaxPlan& plan) {
  return run_typed(plan, false);
}
Status softmax_backward(const SoftmaxPlan& plan) {
  return run_typed(plan, true);
}

}  // namespace tsr::cpu
