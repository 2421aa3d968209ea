// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Profiler: what a program's time and memory are spent on, as a table, a trace or a page.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/cpp/graph.hpp"
#include "tessera/profile.h"
#include "tessera/trace.h"

namespace tessera {

// A named range in profiles and traces, for its scope. Ranges nest. Without a profiler a range
// costs a test.
class ProfileRange {
 public:
  explicit ProfileRange(std::string_view name)
      : range_(tsr_profile_range_begin(name.data(), static_cast<int64_t>(name.size()))) {}
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;
  ~ProfileRange() { tsr_profile_range_end(range_); }

 private:
  int64_t range_;
};

enum class ProfileFormat : tsr_profile_format {
  chrome = TSR_PROFILE_CHROME,  // for chrome://tracing and Perfetto
  events = TSR_PROFILE_EVENTS,  // all facts as JSON
  html = TSR_PROFILE_HTML,      // one page that needs no network
};
enum class ProfileGroup : tsr_profile_group {
  ops = TSR_PROFILE_BY_OPS,
  ops_shapes = TSR_PROFILE_BY_OPS_SHAPES,
  kernels = TSR_PROFILE_BY_KERNELS,
};
enum class ProfileSort : tsr_profile_sort {
  self = TSR_PROFILE_SORT_SELF,
  total = TSR_PROFILE_SORT_TOTAL,
  device = TSR_PROFILE_SORT_DEVICE,
  count = TSR_PROFILE_SORT_COUNT,
  flops = TSR_PROFILE_SORT_FLOPS,
  bytes = TSR_PROFILE_SORT_BYTES,
  name = TSR_PROFILE_SORT_NAME,
};
enum class ProfileAction : tsr_profile_action {
  none = TSR_PROFILE_ACTION_NONE,
  warmup = TSR_PROFILE_ACTION_WARMUP,
  record = TSR_PROFILE_ACTION_RECORD,
  record_and_save = TSR_PROFILE_ACTION_RECORD_AND_SAVE,
};

// A schedule has cycles of `wait` steps that are not recorded, `warmup` steps whose recording is
// dropped, and `active` steps. Without active steps the recording lasts from start to stop.
struct ProfilerOptions {
  bool shapes = false;  // of the arguments of functions
  bool memory = false;  // allocations
  bool stacks = false;  // the call stack of each function, which set_host_stack gives
  int64_t skip_first = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
  int64_t capacity = 0;  // events of a cycle; 0: four million
};

// Records all threads. One profiler runs at a time.
class Profiler {
 public:
  using Ready = std::function<void(Profiler&)>;

  // `on_ready` is called after each cycle, in step or stop.
  explicit Profiler(const ProfilerOptions& options = {}, Ready on_ready = {})
      : state_(std::make_unique<State>(State{this, std::move(on_ready)})) {
    tsr_profiler_options given{};
    given.struct_size = sizeof given;
    given.kinds = TSR_TRACE_CALL | TSR_TRACE_LAUNCH | TSR_TRACE_NODE | TSR_TRACE_ANNOTATION;
    if (options.memory) given.kinds |= TSR_TRACE_ALLOCATE | TSR_TRACE_FREE;
    given.shapes = options.shapes ? 1 : 0;
    given.stacks = options.stacks ? 1 : 0;
    given.skip_first = options.skip_first;
    given.wait = options.wait;
    given.warmup = options.warmup;
    given.active = options.active;
    given.repeat = options.repeat;
    given.capacity = options.capacity;
    check(tsr_profiler_new(&given, &run, state_.get(), nullptr, &handle_));
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler() { tsr_profiler_release(handle_); }

  void start() { check(tsr_profiler_start(handle_)); }
  void step() { check(tsr_profiler_step(handle_)); }
  void stop() { check(tsr_profiler_stop(handle_)); }
  [[nodiscard]] ProfileAction action() const {
    int32_t found = 0;
    check(tsr_profiler_action(handle_, &found));
    return static_cast<ProfileAction>(found);
  }

  // ---- The last recording; all throw InvalidValueError before a cycle has ended ----

  [[nodiscard]] std::string table(ProfileSort sort = ProfileSort::self, int64_t rows = 100,
                                  ProfileGroup group = ProfileGroup::ops) const {
    tsr_buffer text = nullptr;
    check(tsr_profiler_table(handle_, static_cast<tsr_profile_group>(group),
                             static_cast<tsr_profile_sort>(sort), rows, &text));
    return detail::take_text(text);
  }
  // The rows of the table as JSON.
  [[nodiscard]] std::string rows(ProfileGroup group = ProfileGroup::ops,
                                 ProfileSort sort = ProfileSort::self) const {
    tsr_buffer json = nullptr;
    check(tsr_profiler_rows(handle_, static_cast<tsr_profile_group>(group),
                            static_cast<tsr_profile_sort>(sort), &json));
    return detail::take_text(json);
  }
  [[nodiscard]] std::string text(ProfileFormat format) const {
    tsr_buffer text = nullptr;
    check(tsr_profiler_text(handle_, static_cast<tsr_profile_format>(format), &text));
    return detail::take_text(text);
  }
  void save(ProfileFormat format, const std::string& path) const {
    check(tsr_profiler_export(handle_, static_cast<tsr_profile_format>(format), path.data(),
                              detail::length(path)));
  }

 private:
  struct State {
    Profiler* self;
    Ready on_ready;
  };

  static tsr_status run(void* user, tsr_profiler) noexcept {
    try {
      auto& state = *static_cast<State*>(user);
      if (state.on_ready) state.on_ready(*state.self);
      return TSR_OK;
    } catch (...) {
      return detail::report_exception();
    }
  }

  std::unique_ptr<State> state_;
  tsr_profiler handle_ = nullptr;
};

// What a device can do at most: bytes of a copy, operations of a product of float32 matrices.
struct Roof {
  double bytes_per_second, flops_per_second;
};
// Measured at the first call for the device; half a second. Tables then have the shares of it.
inline Roof profile_roof(Device device = {}) {
  Roof roof{};
  check(
      tsr_profile_roof(device.type, device.index, &roof.bytes_per_second, &roof.flops_per_second));
  return roof;
}

}  // namespace tessera
