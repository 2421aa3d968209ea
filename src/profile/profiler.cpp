// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/profiler.h"

#include <atomic>
#include <limits>
#include <utility>

#include "base/error.h"
#include "kernel/registry.h"
#include "memory/allocator.h"
#include "profile/timelines.h"

namespace tsr::profile {
namespace {

constexpr int64_t kDefaultCapacity = int64_t{1} << 22;

std::atomic<bool> g_taken{false};  // a profiler runs

std::vector<StartMemory> memory_in_use() {
  std::vector<StartMemory> all;
  for (int32_t type = 0; type < kernel::kMaxDeviceType; ++type) {
    const auto of = static_cast<DeviceType>(type);
    const kernel::Backend* backend = kernel::find_backend(of);
    if (backend == nullptr) continue;
    const int32_t count = of == DeviceType::kCpu ? 1 : backend->device->device_count();
    for (int32_t index = 0; index < count; ++index) {
      const Device device{of, index};
      all.push_back({device, allocator_for(device).stats().requested_bytes.all.current});
    }
  }
  return all;
}

}  // namespace

Action action_of(const Schedule& schedule, int64_t step) noexcept {
  if (schedule.active == 0) return Action::kRecord;
  if (step < schedule.skip_first) return Action::kNone;
  step -= schedule.skip_first;
  const int64_t cycle = schedule.wait + schedule.warmup + schedule.active;
  if (schedule.repeat > 0 && step / cycle >= schedule.repeat) return Action::kNone;
  step %= cycle;
  if (step < schedule.wait) return Action::kNone;
  if (step < schedule.wait + schedule.warmup) return Action::kWarmUp;
  return step + 1 < cycle ? Action::kRecord : Action::kRecordAndSave;
}

Profiler::Profiler(const ProfilerOptions& options, OnReady on_ready)
    : Object(kProfilerTag), options_(options), on_ready_(std::move(on_ready)) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;
  const Schedule& plan = options_.schedule;
  const std::pair<const char*, int64_t> parts[] = {{"skip_first", plan.skip_first},
                                                   {"wait", plan.wait},
                                                   {"warmup", plan.warmup},
                                                   {"active", plan.active},
                                                   {"repeat", plan.repeat}};
  for (const auto& [name, value] : parts) {
    TSR_CHECK(value >= 0 && value <= kMost, Code::kValue, "options", "expected ", name,
              " of at least 0, got ", value);
    TSR_CHECK(value == 0 || plan.active > 0, Code::kValue, "options",
              "expected active steps in a schedule, got 0 with ", name, " ", value);
  }
  int64_t& capacity = options_.record.capacity;
  TSR_CHECK(capacity >= 0 && capacity <= kMost, Code::kValue, "options",
            "expected a capacity of at least 0, got ", capacity);
  if (capacity == 0) capacity = kDefaultCapacity;
}

void Profiler::destroy(Profiler* profiler) noexcept {
  profiler->end_step_range();
  profiler->pause();
  if (profiler->running_) g_taken.store(false);
  profiler->tag = ObjectTag::kDead;
  delete profiler;
}

void Profiler::start() {
  TSR_CHECK(!running_ && !g_taken.exchange(true), Code::kValue, nullptr,
            "expected no running profiler, got one that was not stopped");
  running_ = true;
  step_ = 0;
  cycles_ = 0;
  try {
    enter(Action::kNone);
  } catch (...) {
    pause();
    running_ = false;
    g_taken.store(false);
    throw;
  }
}

void Profiler::step() {
  TSR_CHECK(running_, Code::kValue, nullptr, "expected a running profiler, got one that is not");
  end_step_range();
  const Action before = action();
  ++step_;
  if (before == Action::kRecordAndSave) finish_cycle();
  enter(before);
}

void Profiler::stop() {
  TSR_CHECK(running_, Code::kValue, nullptr, "expected a running profiler, got one that is not");
  end_step_range();
  const Action last = action();
  running_ = false;
  const struct Release {
    ~Release() { g_taken.store(false); }
  } release;
  if (last == Action::kRecord || last == Action::kRecordAndSave) return finish_cycle();
  pause();
}

Action Profiler::action() const noexcept {
  return running_ ? action_of(options_.schedule, step_) : Action::kNone;
}

const Profile& Profiler::profile() const {
  TSR_CHECK(
      has_profile_, Code::kValue, "profiler",
      "expected a profiler that has recorded a cycle, got one that has not (stop it first, or "
      "let it come to the end of its schedule's active steps)");
  return profile_;
}

void Profiler::end_step_range() noexcept {
  end_range(std::exchange(range_, 0));
}

// Begins the current step, which follows one with `before`.
void Profiler::enter(Action before) {
  const Action now = action();
  if (now == Action::kNone) return pause();
  const bool starts = now != Action::kWarmUp && (!recording_ || before == Action::kWarmUp);
  record();
  if (starts) {
    static_cast<void>(take_activities());
    start_memory_ = memory_in_use();
    static_cast<void>(take_recording());
  }
  if (options_.schedule.active > 0 || step_ > 0)
    range_ = begin_range(concat("ProfilerStep#", step_));
}

void Profiler::record() {
  if (recording_) return;
  start_recording(options_.record);
  start_timelines();
  recording_ = true;
}

void Profiler::pause() noexcept {
  if (!recording_) return;
  stop_recording();
  stop_timelines();
  recording_ = false;
}

// The callback's own work is not recorded.
void Profiler::finish_cycle() {
  {
    const struct Pause {
      Profiler& self;
      ~Pause() { self.pause(); }
    } at_end{*this};
    std::vector<Activity> activities = take_activities();
    stop_recording();
    Profile fresh = take_recording();
    fresh.activities = std::move(activities);
    fresh.memory = start_memory_;
    fresh.cycle = cycles_++;
    profile_ = std::move(fresh);
    has_profile_ = true;
  }
  if (on_ready_) on_ready_();
}

}  // namespace tsr::profile
