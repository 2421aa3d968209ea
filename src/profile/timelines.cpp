// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/timelines.h"

#include <algorithm>
#include <tuple>

#include "kernel/registry.h"
#include "memory/stream.h"

namespace tsr::profile {
namespace {

std::atomic<const DeviceTimeline*> g_started[kernel::kMaxDeviceType] = {};

template <class Visit>
void for_each_started(const Visit& visit) {
  for (int32_t type = 0; type < kernel::kMaxDeviceType; ++type) {
    const DeviceTimeline* timeline = g_started[type].load(std::memory_order_acquire);
    if (timeline != nullptr) visit(static_cast<DeviceType>(type), *timeline);
  }
}

const DeviceTimeline* timeline_of(const TraceEvent& launch) noexcept {
  const auto type = static_cast<int32_t>(launch.device_type);
  const bool known = type >= 0 && type < kernel::kMaxDeviceType;
  return known ? g_started[type].load(std::memory_order_acquire) : nullptr;
}

struct Taken {
  DeviceType type;
  std::vector<Activity>* into;
  bool failed = false;
};

void keep(void* user, const DeviceActivity* from) {
  auto& taken = *static_cast<Taken*>(user);
  try {
    taken.into->push_back({from->name == nullptr ? "work" : from->name, from->begin, from->end,
                           from->correlation, from->stream, from->nbytes,
                           Device{taken.type, from->device}, from->copies != 0});
  } catch (...) {  // no exception through the device's code
    taken.failed = true;
  }
}

// A failure of earlier work is reported where the program waits for it, not here.
void wait_for(DeviceType type) noexcept {
  const kernel::Backend* backend = kernel::find_backend(type);
  if (backend == nullptr) return;
  for (int32_t index = 0; index < backend->device->device_count(); ++index) {
    try {
      synchronize_device(Device{type, index}, *backend->device);
    } catch (...) {
    }
  }
}

bool earlier(const Activity& a, const Activity& b) noexcept {
  const auto key = [](const Activity& activity) {
    return std::tuple(activity.device.type, activity.device.index, activity.stream, activity.begin);
  };
  return key(a) < key(b);
}

}  // namespace

void start_timelines() noexcept {
  for (int32_t type = 0; type < kernel::kMaxDeviceType; ++type) {
    const kernel::Backend* backend = kernel::find_backend(static_cast<DeviceType>(type));
    if (backend == nullptr || backend->device == nullptr) continue;
    const DeviceTimeline* timeline = backend->device->timeline;
    if (timeline != nullptr && timeline->start() == kDeviceOk)
      g_started[type].store(timeline, std::memory_order_release);
  }
}

void stop_timelines() noexcept {
  for_each_started([](DeviceType type, const DeviceTimeline& timeline) {
    g_started[static_cast<size_t>(type)].store(nullptr, std::memory_order_release);
    static_cast<void>(timeline.stop());
  });
}

std::vector<Activity> take_activities() {
  std::vector<Activity> activities;
  for_each_started([&](DeviceType type, const DeviceTimeline& timeline) {
    wait_for(type);
    Taken taken{type, &activities};
    static_cast<void>(timeline.take(keep, &taken));
    if (taken.failed) throw std::bad_alloc();
  });
  std::stable_sort(activities.begin(), activities.end(), earlier);
  return activities;
}

void enter_timeline(const TraceEvent& launch) noexcept {
  if (const DeviceTimeline* timeline = timeline_of(launch))
    static_cast<void>(timeline->enter(launch.correlation));
}

void leave_timeline(const TraceEvent& launch) noexcept {
  if (const DeviceTimeline* timeline = timeline_of(launch)) static_cast<void>(timeline->leave());
}

}  // namespace tsr::profile
