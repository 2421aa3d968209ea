// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Summary: a profile's times, operations and bytes, added up by name.
#pragma once

#include <string>
#include <vector>

#include "profile/events.h"
#include "profile/roof.h"

namespace tsr::profile {

enum class Group : int32_t {
  kOps,        // ranges, calls and nodes; the kernels that they launch count as their own work
  kOpsShapes,  // the same, calls with different shapes apart
  kKernels     // kernels alone, of all devices
};

enum class SortBy : int32_t { kSelf, kTotal, kDevice, kCount, kFlops, kBytes, kName };

enum class RowKind : int32_t { kRange, kCall, kNode, kKernel };
const char* row_kind_name(RowKind kind) noexcept;

// Times in nanoseconds. All but self_time and allocated include what is inside. An event inside
// another one of its own row counts only in self_time and count; where ranges of one row overlap,
// the time that they share counts once.
struct Row {
  std::string name;
  std::string shapes;
  RowKind kind = RowKind::kCall;
  int64_t count = 0;
  int64_t self_time = 0, total_time = 0;
  int64_t device_time = 0;  // of kernels on devices with a timeline
  int64_t kernel_time = 0;  // of all kernels: device_time, and launches on the CPU
  int64_t allocated = 0;    // bytes taken minus bytes given back, by itself
  Cost cost;
  double floor_time = 0;  // that the measured roofs allow for the kernels; 0 without a roof
};

struct Summary {
  std::vector<Row> rows;
  int64_t host_time = 0;    // self times together
  int64_t device_time = 0;  // of all activities
};

// An activity of a copy is a kernel here. `roofs`: those that are measured.
Summary summarize(const Profile& profile, Group group, SortBy sort, const std::vector<Roof>& roofs);

// As text for people, with at most `most` rows (0: all).
std::string table_text(const Summary& summary, int64_t most);
// A JSON list of objects.
std::string rows_json(const Summary& summary);

}  // namespace tsr::profile
