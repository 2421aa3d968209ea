// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The recorder: the listener that keeps trace events for the profiler, in a log of each thread.
#pragma once

#include <string>

#include "profile/events.h"

namespace tsr::profile {

// Appends the shapes and dtypes of a call's arguments as two JSON lists. The ABI knows how.
using DescribeArguments = void (*)(const TraceEvent& event, std::string& shapes,
                                   std::string& dtypes);

struct RecordOptions {
  uint32_t kinds = kAllTraceKinds;
  DescribeArguments describe = nullptr;  // null: no shapes
  bool stacks = false;                   // of the host, at each call (base/host_stack.h)
  int64_t capacity = 0;                  // events; further ones are lost
  // Functions with these ids are the profiler's own, and not recorded.
  int32_t first_own_id = 0, last_own_id = 0;
};

// There is one recorder in the process. Its functions are not for several threads at a time: the
// profiler that runs calls them.
void start_recording(const RecordOptions& options);
// Ends the recording. Spans that are still open are not recorded.
void stop_recording() noexcept;
// Takes what was recorded since start or since the last take; the recording goes on.
Profile take_recording();

}  // namespace tsr::profile
