// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Profiler: records cycles of a program's steps as its schedule says.
#pragma once

#include <functional>

#include "base/intrusive_ptr.h"
#include "profile/recorder.h"

namespace tsr::profile {

inline constexpr auto kProfilerTag = static_cast<ObjectTag>(0x54535052U);

// A cycle is `wait` steps without a recording, `warmup` steps whose recording is dropped, and
// `active` steps that are kept. There are `repeat` cycles (0: no end) after `skip_first` steps.
// With active = 0 there is no schedule: one cycle from start to stop.
struct Schedule {
  int64_t skip_first = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
};

enum class Action : int32_t { kNone, kWarmUp, kRecord, kRecordAndSave };

// What happens during this step, counted from 0.
Action action_of(const Schedule& schedule, int64_t step) noexcept;

struct ProfilerOptions {
  RecordOptions record;
  Schedule schedule;
};

// One profiler runs at a time. A profiler is used by one thread; it records all threads.
class Profiler final : public Object {
 public:
  using OnReady = std::function<void()>;

  // `on_ready` is called after each cycle, in step or stop, on their thread; what it throws comes
  // out of them. Throws kValue for a schedule that cannot be.
  Profiler(const ProfilerOptions& options, OnReady on_ready);
  static void destroy(Profiler* profiler) noexcept;

  // Throws kValue if a profiler runs.
  void start();
  // Both throw kValue if this profiler does not run. stop ends the cycle that is being recorded.
  void step();
  void stop();

  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] int64_t steps() const noexcept { return step_; }
  // That of the current step; kNone when it does not run.
  [[nodiscard]] Action action() const noexcept;
  // The last cycle that was finished. Throws kValue if there is none.
  [[nodiscard]] const Profile& profile() const;

 private:
  void end_step_range() noexcept;
  void enter(Action before);
  void record();
  void pause() noexcept;
  void finish_cycle();

  ProfilerOptions options_;
  OnReady on_ready_;
  Profile profile_;
  bool running_ = false, recording_ = false, has_profile_ = false;
  int64_t step_ = 0;
  int64_t cycles_ = 0;
  int64_t range_ = 0;  // the trace's range of the current step
  std::vector<StartMemory> start_memory_;
};

}  // namespace tsr::profile
