// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Runner: makes the calls of a program: one by one, by a plan, or by the launches of an earlier
// run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "capi/program/plan.h"
#include "capi/program/prepared.h"
#include "capi/program/program.h"
#include "capi/program/replay.h"

namespace tsr::capi::program {

// The dynamic sizes that the inputs have; throws kShape, kDType, kDevice, kValue for inputs that do
// not fit.
[[nodiscard]] Sizes check_inputs(const Program& program, std::span<const Tensor> given);
// Throws kDType, kDevice if a call gave another kind of tensor than in the recording.
void check_result(const Program& program, size_t step, int32_t value, const Tensor& made);

class Runner {
 public:
  explicit Runner(Program& program);

  std::vector<Tensor> run(std::span<const Tensor> given);
  // How the last run was made; null: not so.
  [[nodiscard]] const Plan* last_plan() const noexcept { return last_; }
  [[nodiscard]] const Replay* last_replay() const noexcept { return last_replay_; }

 private:
  struct Calls {  // for inputs of one size
    Sizes sizes;
    std::vector<std::unique_ptr<Prepared>> steps;
  };
  Calls& calls_for(const Sizes& sizes);
  std::vector<Tensor> run_calls(std::span<const Tensor> given, const Sizes& sizes,
                                StepWatcher* watcher);
  std::vector<Tensor> train(std::span<const Tensor> given, const Sizes& sizes);

  Program& program_;
  bool can_plan_;
  std::vector<std::vector<int32_t>> dead_after_;  // results, by step
  std::vector<std::unique_ptr<Calls>> calls_;     // most recently used last
  std::vector<std::unique_ptr<Plan>> plans_;      // the same
  std::vector<std::unique_ptr<Replay>> replays_;  // the same
  const Plan* last_ = nullptr;
  const Replay* last_replay_ = nullptr;
};

}  // namespace tsr::capi::program
