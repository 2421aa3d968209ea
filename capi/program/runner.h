// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Runner: makes the calls of a program, one by one or by a plan.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "capi/program/plan.h"
#include "capi/program/prepared.h"
#include "capi/program/program.h"

namespace tsr::capi::program {

// The dynamic size that the inputs have; throws kShape, kDType, kDevice, kValue for inputs that do
// not fit.
[[nodiscard]] int64_t check_inputs(const Program& program, std::span<const Tensor> given);

class Runner {
 public:
  explicit Runner(Program& program);

  std::vector<Tensor> run(std::span<const Tensor> given);
  [[nodiscard]] const Plan* last_plan() const noexcept { return last_; }

 private:
  struct Calls {  // for one dynamic size
    int64_t size;
    std::vector<std::unique_ptr<Prepared>> steps;
  };
  Calls& calls_for(int64_t size);
  std::vector<Tensor> run_calls(std::span<const Tensor> given, int64_t size);

  Program& program_;
  bool can_plan_;
  std::vector<std::vector<int32_t>> dead_after_;  // results, by step
  std::vector<std::unique_ptr<Calls>> calls_;     // most recently used last
  std::vector<std::unique_ptr<Plan>> plans_;      // the same
  const Plan* last_ = nullptr;
};

}  // namespace tsr::capi::program
