// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <map>
#include <unordered_map>

#include "base/text.h"
#include "profile/export.h"
#include "profile/json_text.h"
#include "profile/memory_curve.h"

namespace tsr::profile {
namespace {

// The format has microseconds, as decimals.
struct Microseconds {
  int64_t nanoseconds;
};
void append_json(std::string& out, Microseconds time) {
  char text[40];
  const int64_t ns = time.nanoseconds < 0 ? 0 : time.nanoseconds;
  const auto whole = static_cast<long long>(ns / 1000);
  std::snprintf(text, sizeof text, "%lld.%03d", whole, static_cast<int>(ns % 1000));
  out += text;
}

const char* category(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kAnnotation:
      return "user_annotation";
    case TraceKind::kNode:
      return "autograd";
    case TraceKind::kLaunch:
      return "launch";
    default:
      return "cpu_op";
  }
}

// Streams of a device are numbered in the order in which they are met.
class ChromeWriter {
 public:
  explicit ChromeWriter(const Profile& profile) : profile_(profile), process_(getpid()) {}

  std::string run() {
    out_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    write_threads();
    for (const Event& event : profile_.events) {
      if (!event.is_memory()) write_span(event);
      if (event.kind == TraceKind::kLaunch) launches_.emplace(event.correlation, &event);
    }
    for (const Activity& activity : profile_.activities) write_activity(activity);
    for (const MemoryCurve& curve : memory_curves(profile_)) write_curve(curve);
    out_ += "\n],\"lostEvents\":" + std::to_string(profile_.lost) + "}\n";
    return std::move(out_);
  }

 private:
  // Begins one event; the caller adds fields.
  template <class Write>
  void event(const char* phase, std::string_view name, int64_t process, int64_t thread,
             const Write& write) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    JsonObject object(out_);
    object.field("ph", phase).field("name", name).field("pid", process).field("tid", thread);
    write(object);
  }
  void label(const char* what, std::string_view name, int64_t process, int64_t thread) {
    event("M", what, process, thread, [&](JsonObject& object) {
      object.nested("args", [&] { JsonObject(out_).field("name", name); });
    });
  }
  [[nodiscard]] Microseconds at(int64_t time) const { return {time - profile_.begin}; }

  void write_threads() {
    label("process_name", "host", process_, 0);
    for (const auto& [thread, name] : profile_.threads) {
      label("thread_name", concat("thread ", thread, " ", name), process_, thread);
    }
  }

  void write_span(const Event& span) {
    event("X", span.name, process_, span.thread, [&](JsonObject& object) {
      object.field("cat", category(span.kind)).field("ts", at(span.begin));
      object.field("dur", Microseconds{span.duration()});
      object.nested("args", [&] { write_arguments(span); });
    });
  }
  void write_arguments(const Event& span) {
    JsonObject args(out_);
    args.field("correlation", span.correlation);
    if (*span.shapes() != '\0') {
      args.field("Input Dims", Raw{span.shapes()}).field("Input type", Raw{span.dtypes()});
    }
    if (*span.stack() != '\0') args.field("stack", span.stack());
    if (span.kind == TraceKind::kNode) args.field("sequence number", span.value);
    if (span.kind != TraceKind::kLaunch) return;
    args.field("family", span.family)
        .field("flops", span.cost.flops)
        .field("bytes", span.cost.bytes);
    args.field("device", concat(span.device()));
  }

  // Numbers of processes for devices must not meet the host's.
  int64_t process_of(Device device) {
    const int64_t number =
        10'000'000 + int64_t{static_cast<int32_t>(device.type)} * 1000 + device.index;
    if (devices_.try_emplace(number, true).second) label("process_name", concat(device), number, 0);
    return number;
  }
  int64_t thread_of(int64_t process, uint64_t stream) {
    const auto [found, is_new] = streams_.try_emplace({process, stream}, int64_t{0});
    if (is_new) {
      found->second = ++stream_count_;
      label("thread_name", concat("stream ", stream), process, found->second);
    }
    return found->second;
  }

  void write_activity(const Activity& activity) {
    const int64_t process = process_of(activity.device);
    const int64_t thread = thread_of(process, activity.stream);
    event("X", activity.name, process, thread, [&](JsonObject& object) {
      object.field("cat", activity.copies ? "gpu_memcpy" : "kernel")
          .field("ts", at(activity.begin));
      object.field("dur", Microseconds{activity.end - activity.begin});
      object.nested("args", [&] {
        JsonObject args(out_);
        args.field("correlation", activity.correlation).field("stream", activity.stream);
        if (activity.nbytes != 0) args.field("bytes", activity.nbytes);
      });
    });
    const auto launch = launches_.find(activity.correlation);
    if (launch == launches_.end()) return;
    write_arrow("s", *launch->second, process_, launch->second->thread, launch->second->begin);
    write_arrow("f", *launch->second, process, thread, activity.begin);
  }
  void write_arrow(const char* phase, const Event& launch, int64_t process, int64_t thread,
                   int64_t time) {
    event(phase, "ac2g", process, thread, [&](JsonObject& object) {
      object.field("cat", "ac2g").field("id", launch.correlation).field("ts", at(time));
      if (*phase == 'f') object.field("bp", "e");
    });
  }

  void write_curve(const MemoryCurve& curve) {
    const std::string name = concat("memory of ", curve.device);
    for (size_t i = 0; i < curve.times.size(); ++i) {
      event("C", name, process_, 0, [&](JsonObject& object) {
        object.field("ts", at(curve.times[i]));
        object.nested("args", [&] { JsonObject(out_).field("bytes", curve.bytes[i]); });
      });
    }
  }

  const Profile& profile_;
  int64_t process_;
  std::string out_;
  bool first_ = true;
  std::unordered_map<uint64_t, const Event*> launches_;
  std::map<int64_t, bool> devices_;
  std::map<std::pair<int64_t, uint64_t>, int64_t> streams_;
  int64_t stream_count_ = 0;
};

}  // namespace

std::string chrome_trace(const Profile& profile) {
  return ChromeWriter(profile).run();
}

}  // namespace tsr::profile
