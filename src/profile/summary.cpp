// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/summary.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/json_text.h"
#include "profile/nesting.h"

namespace tsr::profile {
namespace {

RowKind kind_of(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kAnnotation:
      return RowKind::kRange;
    case TraceKind::kNode:
      return RowKind::kNode;
    case TraceKind::kLaunch:
      return RowKind::kKernel;
    default:
      return RowKind::kCall;
  }
}

// The time that the roof of the device allows for the kernel.
double floor_of(const Event& launch, const std::vector<Roof>& roofs) {
  for (const Roof& roof : roofs) {
    if (roof.device != launch.device()) continue;
    return 1e9 * std::max(launch.cost.flops / roof.flops_per_second,
                          launch.cost.bytes / roof.bytes_per_second);
  }
  return 0;
}

// What devices did for each launch.
using DeviceTimes = std::unordered_map<uint64_t, int64_t>;
DeviceTimes device_times(const Profile& profile) {
  DeviceTimes times;
  for (const Activity& activity : profile.activities) {
    if (activity.correlation != 0) times[activity.correlation] += activity.end - activity.begin;
  }
  return times;
}

class Adder {
 public:
  Adder(const Profile& profile, Group group, const std::vector<Roof>& roofs)
      : profile_(profile), group_(group), roofs_(roofs), device_times_(device_times(profile)) {}

  Summary run() {
    walk_nested(
        profile_,
        [&](const Event& event, const std::vector<const Event*>&) {
          if (event.thread != thread_) begin_thread(event.thread);
          if (event.is_memory()) return add_memory(event);
          add_span(event);
        },
        [&](size_t at) { levels_.erase(levels_.begin() + static_cast<ptrdiff_t>(at)); });
    for (const Activity& activity : profile_.activities) {
      summary_.device_time += activity.end - activity.begin;
      if (group_ == Group::kKernels) add_activity(activity);
    }
    return std::move(summary_);
  }

 private:
  static constexpr size_t kNoRow = SIZE_MAX;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  // One for each span that is around, with its row; kernels have none among operations.
  struct Level {
    size_t row;
    int64_t end;
  };
  // Of a row, so that nothing counts twice in it.
  struct Counted {
    int64_t until = kNever;  // the end of what its total time contains, on this thread
    int64_t kernels = 0;     // the number of the last kernel in it
  };

  size_t row_of(std::string_view name, RowKind kind, const char* shapes) {
    const auto [found, is_new] = index_.try_emplace(
        std::tuple(std::string(name), kind, std::string(shapes)), summary_.rows.size());
    if (is_new) {
      Row& row = summary_.rows.emplace_back();
      counted_.emplace_back();
      row.name = name;
      row.kind = kind;
      row.shapes = shapes;
    }
    return found->second;
  }

  void begin_thread(int32_t thread) {
    thread_ = thread;
    for (Counted& counted : counted_) counted.until = kNever;
  }
  Level* innermost() {
    const auto found = std::find_if(levels_.rbegin(), levels_.rend(),
                                    [](const Level& level) { return level.row != kNoRow; });
    return found == levels_.rend() ? nullptr : &*found;
  }

  void add_memory(const Event& event) {
    if (Level* level = innermost())
      summary_.rows[level->row].allocated +=
          event.kind == TraceKind::kFree ? -event.value : event.value;
  }

  void add_span(const Event& event) {
    const bool kernel = event.kind == TraceKind::kLaunch;
    // A kernel that nothing launches among the recorded events has a row of its own.
    const bool own_row = group_ == Group::kKernels ? kernel && !has_activity(event)
                                                   : !kernel || innermost() == nullptr;
    Level level{kNoRow, event.end};
    if (own_row) {
      const char* shapes = group_ == Group::kOpsShapes ? event.shapes() : "";
      level.row = row_of(event.name, kind_of(event.kind), shapes);
      add_times(event, level.row);
    }
    levels_.push_back(level);
    if (kernel) add_kernel(event);
  }

  void add_times(const Event& event, size_t number) {
    // What is its own is not that of the spans around it, as long as these last.
    int64_t from = event.begin;
    for (auto level = levels_.rbegin(); level != levels_.rend() && from < event.end; ++level) {
      if (level->row == kNoRow || level->end <= from) continue;
      const int64_t shared = std::min(level->end, event.end) - from;
      summary_.rows[level->row].self_time -= shared;
      summary_.host_time -= shared;
      from += shared;
    }
    Row& row = summary_.rows[number];
    ++row.count;
    row.self_time += event.duration();
    summary_.host_time += event.duration();
    int64_t& until = counted_[number].until;
    if (event.end > until) row.total_time += event.end - std::max(event.begin, until);
    until = std::max(until, event.end);
  }

  [[nodiscard]] bool has_activity(const Event& launch) const {
    return device_times_.contains(launch.correlation);
  }

  // To the rows of all spans around it.
  void add_kernel(const Event& launch) {
    const auto found = device_times_.find(launch.correlation);
    const int64_t device = found == device_times_.end() ? 0 : found->second;
    const int64_t kernel = device != 0 || !launch.device().is_cpu() ? device : launch.duration();
    const double least = floor_of(launch, roofs_);
    ++kernels_;
    for (const Level& level : levels_) {
      if (level.row == kNoRow || std::exchange(counted_[level.row].kernels, kernels_) == kernels_)
        continue;
      Row& row = summary_.rows[level.row];
      row.device_time += device;
      row.kernel_time += kernel;
      row.cost += launch.cost;
      row.floor_time += least;
    }
    if (device != 0) launches_[launch.correlation] = &launch;
  }

  void add_activity(const Activity& activity) {
    Row& row = summary_.rows[row_of(activity.name, RowKind::kKernel, "")];
    const int64_t time = activity.end - activity.begin;
    ++row.count;
    row.device_time += time;
    row.kernel_time += time;
    row.total_time += time;
    row.self_time += time;
    const auto found = launches_.find(activity.correlation);
    if (found == launches_.end()) {
      row.cost.bytes += static_cast<double>(activity.nbytes);
      return;
    }
    row.cost += found->second->cost;
    row.floor_time += floor_of(*found->second, roofs_);
    launches_.erase(found);  // its work is that of its first kernel
  }

  const Profile& profile_;
  Group group_;
  const std::vector<Roof>& roofs_;
  DeviceTimes device_times_;
  std::unordered_map<uint64_t, const Event*> launches_;
  std::map<std::tuple<std::string, RowKind, std::string>, size_t> index_;
  std::vector<Level> levels_;
  std::vector<Counted> counted_;  // of each row
  int32_t thread_ = 0;
  int64_t kernels_ = 0;
  Summary summary_;
};

double sort_value(const Row& row, SortBy by) {
  switch (by) {
    case SortBy::kSelf:
      return static_cast<double>(row.self_time);
    case SortBy::kTotal:
      return static_cast<double>(row.total_time);
    case SortBy::kDevice:
      return static_cast<double>(row.device_time);
    case SortBy::kCount:
      return static_cast<double>(row.count);
    case SortBy::kFlops:
      return row.cost.flops;
    case SortBy::kBytes:
      return row.cost.bytes;
    default:
      return 0;
  }
}

}  // namespace

const char* row_kind_name(RowKind kind) noexcept {
  constexpr const char* kNames[] = {"range", "call", "node", "kernel"};
  return kNames[static_cast<size_t>(kind)];
}

Summary summarize(const Profile& profile, Group group, SortBy sort,
                  const std::vector<Roof>& roofs) {
  Summary summary = Adder(profile, group, roofs).run();
  std::sort(summary.rows.begin(), summary.rows.end(), [sort](const Row& a, const Row& b) {
    const double x = sort_value(a, sort), y = sort_value(b, sort);
    if (x != y) return x > y;
    return std::tie(a.name, a.shapes) < std::tie(b.name, b.shapes);
  });
  return summary;
}

std::string rows_json(const Summary& summary) {
  std::string out;
  append_list(out, summary.rows, [&](const Row& row) {
    JsonObject object(out);
    object.field("name", row.name).field("kind", row_kind_name(row.kind));
    if (!row.shapes.empty()) object.field("shapes", Raw{row.shapes});
    object.field("count", row.count)
        .field("self_time", row.self_time)
        .field("total_time", row.total_time)
        .field("device_time", row.device_time)
        .field("kernel_time", row.kernel_time)
        .field("allocated", row.allocated)
        .field("flops", row.cost.flops)
        .field("bytes", row.cost.bytes)
        .field("floor_time", row.floor_time);
  });
  return out;
}

}  // namespace tsr::profile
