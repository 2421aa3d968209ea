// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a profile consists of: events of the host, work of devices, and facts about both.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/trace.h"

namespace tsr::profile {

// What the kernel of an event has to do at least.
struct Cost {
  double flops = 0;
  double bytes = 0;  // that the kernel reads and writes if it touches each element once

  Cost& operator+=(const Cost& other) noexcept {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Texts of one event in one malloc'ed block: the offsets of three texts, 0 for none.
struct EventTexts {
  uint32_t name;    // of a range: its name dies with it
  uint32_t shapes;  // of the arguments of a call, as JSON: [[2, 3], [3], []]
  uint32_t dtypes;  // as JSON: ["float32", "float32", ""]
  uint32_t stack;   // of the host, innermost frame first

  [[nodiscard]] const char* text(uint32_t offset) const noexcept {
    return reinterpret_cast<const char*>(this) + offset;
  }
};

// One finished event. Times are nanoseconds of CLOCK_MONOTONIC.
struct Event {
  TraceKind kind;
  int32_t thread;
  int32_t id;
  int32_t device_index;
  DeviceType device_type;
  const char* name;
  const char* family;
  int64_t begin, end;
  uint64_t correlation, parent;
  int64_t value;       // as in TraceEvent
  const void* object;  // likewise
  StreamHandle stream;
  Cost cost;
  EventTexts* texts;  // owned by the profile

  [[nodiscard]] int64_t duration() const noexcept { return end - begin; }
  [[nodiscard]] Device device() const noexcept { return {device_type, device_index}; }
  [[nodiscard]] bool is_memory() const noexcept {
    return kind == TraceKind::kAllocate || kind == TraceKind::kFree;
  }
  [[nodiscard]] const char* shapes() const noexcept { return text(&EventTexts::shapes); }
  [[nodiscard]] const char* dtypes() const noexcept { return text(&EventTexts::dtypes); }
  [[nodiscard]] const char* stack() const noexcept { return text(&EventTexts::stack); }

 private:
  // Empty where there is none.
  const char* text(uint32_t EventTexts::*offset) const noexcept {
    return texts == nullptr || texts->*offset == 0 ? "" : texts->text(texts->*offset);
  }
};

// Work of a device, as its timeline tells it.
struct Activity {
  std::string name;
  int64_t begin, end;
  uint64_t correlation;  // of the event of kind kLaunch that queued it, or of a call; 0: unknown
  uint64_t stream;
  uint64_t nbytes;  // of a copy
  Device device;
  bool copies;
};

struct StartMemory {
  Device device;
  int64_t nbytes;  // in use when the profile began
};

// Everything that was recorded in one cycle.
struct Profile {
  Profile() = default;
  Profile(Profile&& other) noexcept { *this = std::move(other); }
  Profile& operator=(Profile&& other) noexcept {
    events.swap(other.events);
    activities.swap(other.activities);
    threads.swap(other.threads);
    memory.swap(other.memory);
    begin = other.begin;
    end = other.end;
    lost = other.lost;
    cycle = other.cycle;
    return *this;
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() {
    for (const Event& event : events) std::free(event.texts);
  }

  std::vector<Event> events;         // by thread, then by begin; an event before those inside it
  std::vector<Activity> activities;  // by device, stream and begin
  std::map<int32_t, std::string> threads;  // their names
  std::vector<StartMemory> memory;
  int64_t begin = 0, end = 0;
  int64_t lost = 0;  // events for which there was no room
  int64_t cycle = 0;
};

}  // namespace tsr::profile
