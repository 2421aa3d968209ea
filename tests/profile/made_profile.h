// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A profile that was made by hand: two threads, a device, memory.
#pragma once

#include <cstring>
#include <string>

#include "profile/events.h"

namespace tsr::test {

inline profile::EventTexts* shapes_text(const char* shapes) {
  const size_t length = std::strlen(shapes) + 1;
  auto* block = static_cast<char*>(std::malloc(sizeof(profile::EventTexts) + length));
  auto* texts = new (block) profile::EventTexts{};
  texts->shapes = texts->dtypes = sizeof(profile::EventTexts);
  std::memcpy(block + sizeof(profile::EventTexts), shapes, length);
  return texts;
}

inline profile::EventTexts* stack_text(const char* stack) {
  profile::EventTexts* texts = shapes_text(stack);
  texts->stack = texts->shapes;
  texts->shapes = texts->dtypes = 0;
  return texts;
}

struct Made {
  profile::Profile profile;

  profile::Event& add(TraceKind kind, const char* name, int64_t begin, int64_t end,
                      int32_t thread = 1) {
    profile::Event event{};
    event.kind = kind;
    event.thread = thread;
    event.device_type = DeviceType::kCpu;
    event.name = name;
    event.begin = begin;
    event.end = end;
    event.correlation = profile.events.size() + 1;
    profile.events.push_back(event);
    return profile.events.back();
  }
};

// Thread 1: step 0..1000 holds conv 100..400 (kernel 150..350, 4000 operations, 200 bytes),
// backward 500..900 with the node 600..800 and in that a launch 650..700 on the device. Thread 2:
// conv 0..100 of another shape.
inline Made example_profile() {
  Made made;
  made.profile.begin = 0;
  made.profile.end = 1000;
  made.profile.threads = {{1, "main"}, {2, "worker"}};
  made.profile.memory = {{Device{}, 50}};
  made.add(TraceKind::kAnnotation, "step", 0, 1000);
  made.add(TraceKind::kCall, "conv2d", 100, 400).texts = shapes_text("[[8,3],[4,3]]");
  made.add(TraceKind::kAllocate, "memory", 120, 120).value = 4096;
  auto& kernel = made.add(TraceKind::kLaunch, "conv", 150, 350);
  kernel.cost = {4000, 200};
  kernel.family = "conv";
  made.add(TraceKind::kCall, "backward", 500, 900);
  made.add(TraceKind::kNode, "ConvBackward", 600, 800);
  auto& launch = made.add(TraceKind::kLaunch, "conv_backward", 650, 700);
  launch.family = "conv";
  launch.device_type = DeviceType::kSimulated;
  launch.cost = {1000, 500};
  const uint64_t queued = launch.correlation;
  made.add(TraceKind::kFree, "memory", 750, 750).value = 96;
  made.add(TraceKind::kCall, "conv2d", 0, 100, 2).texts = shapes_text("[[1,3],[4,3]]");
  made.profile.activities.push_back(
      {"conv_kernel", 710, 1000, queued, 7, 0, Device{DeviceType::kSimulated, 0}, false});
  return made;
}

}  // namespace tsr::test
