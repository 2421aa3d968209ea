// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A profile as a file for other programs, or as a page for people.
#pragma once

#include <string>

#include "profile/roof.h"
#include "profile/summary.h"

namespace tsr::profile {

// The format of chrome://tracing and Perfetto: spans by thread and stream, arrows from a launch to
// its kernels, counters of memory.
std::string chrome_trace(const Profile& profile);
// All facts, as JSON: {"begin", "end", "lost", "threads", "events", "activities", "memory"}.
std::string events_json(const Profile& profile);
// One HTML file: timeline, flame graph, operators, memory.
std::string html_page(const Profile& profile, const std::vector<Roof>& roofs);

const char* trace_kind_name(TraceKind kind) noexcept;

}  // namespace tsr::profile
