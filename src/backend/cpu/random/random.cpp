// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random numbers: divides the elements among threads; the rows compute them.
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/random/random_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

constexpr int64_t kGrainElements = 4096;

}  // namespace

kernel::Status random(const kernel::RandomPlan& plan) {
  const RandomRow row = rows_of<RandomRows>().find(plan.op, plan.dtype);
  if (row == nullptr) {
    return failure(Code::kDType,
                   "random: expected a floating dtype, or an integer one for integers");
  }
  parallel_for(plan.numel, kGrainElements,
               [&](int64_t begin, int64_t end) { row(plan, begin, end); });
  return kernel::kOk;
}

}  // namespace tsr::cpu
