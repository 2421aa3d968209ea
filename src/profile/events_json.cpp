// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "profile/export.h"
#include "profile/json_text.h"

namespace tsr::profile {
namespace {

void write_event(std::string& out, const Event& event) {
  JsonObject object(out);
  object.field("kind", trace_kind_name(event.kind))
      .field("name", event.name)
      .field("begin", event.begin)
      .field("end", event.end)
      .field("thread", event.thread)
      .field("correlation", event.correlation)
      .field("parent", event.parent);
  if (event.family != nullptr) object.field("family", event.family);
  if (event.id != 0) object.field("id", event.id);
  if (event.is_memory()) object.field("bytes", event.value);
  if (event.kind == TraceKind::kNode) object.field("sequence", event.value);
  if (event.device_type != DeviceType{}) object.field("device", concat(event.device()));
  if (event.kind == TraceKind::kLaunch) {
    object.field("stream", static_cast<uint64_t>(reinterpret_cast<uintptr_t>(event.stream)));
    object.field("flops", event.cost.flops).field("bytes", event.cost.bytes);
  }
  if (*event.shapes() != '\0')
    object.field("shapes", Raw{event.shapes()}).field("dtypes", Raw{event.dtypes()});
  if (*event.stack() != '\0') object.field("stack", event.stack());
}

void write_activity(std::string& out, const Activity& activity) {
  JsonObject(out)
      .field("kind", activity.copies ? "copy" : "kernel")
      .field("name", activity.name)
      .field("begin", activity.begin)
      .field("end", activity.end)
      .field("device", concat(activity.device))
      .field("stream", activity.stream)
      .field("correlation", activity.correlation)
      .field("bytes", activity.nbytes);
}

}  // namespace

const char* trace_kind_name(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kCall:
      return "call";
    case TraceKind::kLaunch:
      return "launch";
    case TraceKind::kNode:
      return "node";
    case TraceKind::kAllocate:
      return "allocate";
    case TraceKind::kFree:
      return "free";
    default:
      return "range";
  }
}

std::string events_json(const Profile& profile) {
  std::string out;
  {
    JsonObject object(out);
    object.field("begin", profile.begin).field("end", profile.end).field("lost", profile.lost);
    object.field("cycle", profile.cycle);
    object.nested("threads", [&] {
      append_list(out, profile.threads, [&](const auto& thread) {
        JsonObject(out).field("thread", thread.first).field("name", thread.second);
      });
    });
    object.nested("memory", [&] {
      append_list(out, profile.memory, [&](const StartMemory& start) {
        JsonObject(out).field("device", concat(start.device)).field("bytes", start.nbytes);
      });
    });
    object.nested("events", [&] {
      append_list(out, profile.events, [&](const Event& event) { write_event(out, event); });
    });
    object.nested("activities", [&] {
      append_list(out, profile.activities,
                  [&](const Activity& activity) { write_activity(out, activity); });
    });
  }
  return out;
}

}  // namespace tsr::profile
