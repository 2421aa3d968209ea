// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The timelines of all devices that have one.
#pragma once

#include <vector>

#include "profile/events.h"

namespace tsr::profile {

// Whether a launch runs before it returns, so that it is its own timeline.
inline bool event_device_is_cpu(const TraceEvent& launch) noexcept {
  return launch.device_type == DeviceType::kCpu;
}

// Starts those of the backends that are loaded. A timeline that cannot start stays silent: the
// profile then has launches only.
void start_timelines() noexcept;
void stop_timelines() noexcept;
// Waits for the devices, and takes the work that has ended, by device, stream and begin.
std::vector<Activity> take_activities();

// Between the two, what this thread queues belongs to the launch.
void enter_timeline(const TraceEvent& launch) noexcept;
void leave_timeline(const TraceEvent& launch) noexcept;

}  // namespace tsr::profile
