// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The data of the profile's page, and the page. See page/profile.js for who reads it.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "profile/embedded.h"
#include "profile/export.h"
#include "profile/json_text.h"
#include "profile/memory_curve.h"
#include "profile/nesting.h"
#include "profile/page.h"

namespace tsr::profile {
namespace {

// Note [Data of the page]
// Texts are numbered, and a span is six numbers in a row of its track: begin and duration
// (nanoseconds; begins count from the profile's), text, kind, depth, detail (the number of a text,
// or 0). Text 0 is empty. A track is a thread or a stream. An arrow is four numbers: the track and
// the time of the launch, the track and the time of the kernel.
constexpr const char* kKinds[] = {"call", "kernel", "node", "range", "device", "copy", "frame"};
enum SpanKind : int64_t {
  kCallSpan,
  kKernelSpan,
  kNodeSpan,
  kRangeSpan,
  kDeviceSpan,
  kCopySpan,
  kFrame  // of the host's stack; only in the flame graph
};

SpanKind span_kind(TraceKind kind) noexcept {
  switch (kind) {
    case TraceKind::kLaunch:
      return kKernelSpan;
    case TraceKind::kNode:
      return kNodeSpan;
    case TraceKind::kAnnotation:
      return kRangeSpan;
    default:
      return kCallSpan;
  }
}

// "file:line in function" with the function first and without folders: "function (file:line)".
std::string short_frame(std::string_view frame) {
  const size_t end = frame.find(" in ");
  if (end == std::string_view::npos) return std::string(frame);
  const std::string_view place = frame.substr(0, end);
  const size_t folder = place.rfind('/');
  return concat(frame.substr(end + 4), " (",
                place.substr(folder == std::string_view::npos ? 0 : folder + 1), ")");
}

// Whether nothing but ranges of the program is around.
bool only_ranges(const std::vector<const Event*>& outer) {
  return std::all_of(outer.begin(), outer.end(),
                     [](const Event* event) { return event->kind == TraceKind::kAnnotation; });
}

class Texts {
 public:
  int64_t number(std::string_view text) {
    if (text.empty()) return 0;
    const auto [found, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.emplace_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, int64_t> numbers_;
};

struct Track {
  std::string name;
  std::string group;  // "host" or a device
  std::vector<int64_t> spans;
};

// A node of the flame graph: spans of one name with the same names around them.
struct Flame {
  int64_t name = 0;
  int64_t kind = 0;
  int64_t time = 0, count = 0;
  std::vector<size_t> inner;
};

// Boxes that are deeper count in the one around them: whoever writes or draws the flame graph calls
// itself for what is inside.
constexpr size_t kDeepestFlame = 500;
constexpr double kLeastFlame = 1e-5;  // of the whole; thinner boxes cannot be seen

struct PageData {
  explicit PageData(const Profile& from) : profile(from) {}

  const Profile& profile;
  Texts texts;
  std::vector<Track> tracks;
  std::vector<int64_t> arrows;
  std::vector<Flame> flames{1};
  std::unordered_map<uint64_t, std::pair<size_t, int64_t>> launches;  // track and begin

  void add_span(Track& track, int64_t begin, int64_t duration, int64_t text, SpanKind kind,
                size_t depth, int64_t detail) {
    const int64_t span[] = {begin - profile.begin,       duration, text, kind,
                            static_cast<int64_t>(depth), detail};
    track.spans.insert(track.spans.end(), std::begin(span), std::end(span));
  }

  size_t flame_inside(size_t outer, int64_t name, int64_t kind) {
    for (const size_t inner : flames[outer].inner) {
      if (flames[inner].name == name && flames[inner].kind == kind) return inner;
    }
    flames.push_back({name, kind, 0, 0, {}});
    flames[outer].inner.push_back(flames.size() - 1);
    return flames.size() - 1;
  }

  // Boxes for the frames of the host that called, from the outermost on; returns the last one.
  size_t flame_of_frames(size_t around, const Event& event) {
    std::string_view stack = event.stack();
    while (!stack.empty()) {
      const size_t line = stack.rfind('\n');
      const size_t begin = line == std::string_view::npos ? 0 : line + 1;
      around = flame_inside(around, texts.number(short_frame(stack.substr(begin))), kFrame);
      flames[around].time += event.duration();
      ++flames[around].count;
      stack = stack.substr(0, begin == 0 ? 0 : begin - 1);
    }
    return around;
  }

  std::string detail_of(const Event& event) const {
    std::string text;
    if (*event.shapes() != '\0') append_text(text, concat("shapes ", event.shapes(), "\n"));
    if (event.cost.flops > 0)
      append_text(text, concat("GFLOP/s ",
                               event.cost.flops /
                                   static_cast<double>(std::max<int64_t>(event.duration(), 1)),
                               "\n"));
    if (*event.stack() != '\0') append_text(text, event.stack());
    return text;
  }

  void add_host() {
    // One for each span around.
    struct Place {
      size_t flame;
      size_t depth;  // below all that are around, also where one between them has ended
    };
    std::vector<Place> path;
    int32_t thread = 0;
    const auto visit = [&](const Event& event, const std::vector<const Event*>& outer) {
      if (event.is_memory()) return;
      if (tracks.empty() || event.thread != thread) begin_thread(thread = event.thread);
      const int64_t name = texts.number(event.name);
      const SpanKind kind = span_kind(event.kind);
      const size_t depth = path.empty() ? 0 : path.back().depth + 1;
      add_span(tracks.back(), event.begin, event.duration(), name, kind, depth,
               texts.number(detail_of(event)));
      if (kind == kKernelSpan) launches[event.correlation] = {tracks.size() - 1, event.begin};
      size_t around = path.empty() ? 0 : path.back().flame;
      if (depth >= kDeepestFlame) {
        path.push_back({around, depth});
        return;
      }
      if (kind == kCallSpan && only_ranges(outer)) around = flame_of_frames(around, event);
      path.push_back({flame_inside(around, name, kind), depth});
      Flame& flame = flames[path.back().flame];
      flame.time += event.duration();
      ++flame.count;
      if (outer.empty()) flames[0].time += event.duration();
    };
    walk_nested(profile, visit,
                [&](size_t at) { path.erase(path.begin() + static_cast<ptrdiff_t>(at)); });
  }
  void begin_thread(int32_t thread) {
    const auto found = profile.threads.find(thread);
    const std::string name = found == profile.threads.end() ? "" : found->second;
    tracks.push_back({concat(name.empty() ? "thread" : name, " ", thread), "host", {}});
  }

  void add_devices() {
    const Activity* last = nullptr;
    for (const Activity& activity : profile.activities) {
      if (last == nullptr || last->device != activity.device || last->stream != activity.stream)
        tracks.push_back({concat("stream ", activity.stream), concat(activity.device), {}});
      last = &activity;
      const std::string detail =
          activity.nbytes == 0 ? std::string() : concat(activity.nbytes, " bytes");
      add_span(tracks.back(), activity.begin, activity.end - activity.begin,
               texts.number(activity.name), activity.copies ? kCopySpan : kDeviceSpan, 0,
               texts.number(detail));
      const auto launch = launches.find(activity.correlation);
      if (launch == launches.end()) continue;
      const int64_t arrow[] = {
          static_cast<int64_t>(launch->second.first), launch->second.second - profile.begin,
          static_cast<int64_t>(tracks.size() - 1), activity.begin - profile.begin};
      arrows.insert(arrows.end(), std::begin(arrow), std::end(arrow));
    }
  }

  // [name, kind, time, count, [inner...]].
  void write_flame(std::string& out, size_t at) {
    Flame& flame = flames[at];
    const auto least = static_cast<int64_t>(kLeastFlame * static_cast<double>(flames[0].time));
    std::erase_if(flame.inner, [&](size_t inner) { return flames[inner].time < least; });
    std::sort(flame.inner.begin(), flame.inner.end(),
              [&](size_t a, size_t b) { return flames[a].time > flames[b].time; });
    out += '[';
    for (const int64_t number : {flame.name, flame.kind, flame.time, flame.count}) {
      append_json(out, number);
      out += ',';
    }
    append_list(out, flame.inner, [&](size_t inner) { write_flame(out, inner); });
    out += ']';
  }
};

void append_numbers(std::string& out, const std::vector<int64_t>& numbers) {
  append_list(out, numbers, [&](int64_t number) { append_json(out, number); });
}

// Devices may still have been busy when the recording ended.
int64_t last_end(const Profile& profile) {
  int64_t end = profile.end;
  for (const Activity& activity : profile.activities) end = std::max(end, activity.end);
  return end;
}

std::string page_json(const Profile& profile, const std::vector<Roof>& roofs) {
  PageData data(profile);
  data.add_host();
  data.add_devices();
  std::string out;
  {
    JsonObject object(out);
    object.field("span", last_end(profile) - profile.begin).field("lost", profile.lost);
    object.field("events", static_cast<int64_t>(profile.events.size()));
    object.nested("kinds", [&] {
      append_list(out, kKinds, [&](const char* kind) { append_json(out, kind); });
    });
    object.nested("tracks", [&] {
      append_list(out, data.tracks, [&](const Track& track) {
        JsonObject entry(out);
        entry.field("name", track.name).field("group", track.group);
        entry.nested("spans", [&] { append_numbers(out, track.spans); });
      });
    });
    object.nested("arrows", [&] { append_numbers(out, data.arrows); });
    object.nested("flame", [&] { data.write_flame(out, 0); });
    object.nested("texts", [&] {
      append_list(out, data.texts.all(), [&](const std::string& text) { append_json(out, text); });
    });
    const bool shapes = std::any_of(profile.events.begin(), profile.events.end(),
                                    [](const Event& event) { return *event.shapes() != '\0'; });
    const Group ops = shapes ? Group::kOpsShapes : Group::kOps;
    object.field("ops", Raw{rows_json(summarize(profile, ops, SortBy::kSelf, roofs))});
    object.field("kernels",
                 Raw{rows_json(summarize(profile, Group::kKernels, SortBy::kSelf, roofs))});
    object.nested("roofs", [&] {
      append_list(out, roofs, [&](const Roof& roof) {
        JsonObject(out)
            .field("device", concat(roof.device))
            .field("bytes", roof.bytes_per_second)
            .field("flops", roof.flops_per_second);
      });
    });
    object.nested("memory", [&] {
      append_list(out, memory_curves(profile), [&](const MemoryCurve& curve) {
        std::vector<int64_t> times = curve.times;
        for (int64_t& time : times) time -= profile.begin;
        JsonObject entry(out);
        entry.field("device", concat(curve.device)).field("peak", curve.peak);
        entry.nested("times", [&] { append_numbers(out, times); });
        entry.nested("bytes", [&] { append_numbers(out, curve.bytes); });
      });
    });
  }
  return out;
}

}  // namespace

std::string html_page(const Profile& profile, const std::vector<Roof>& roofs) {
  return make_page("Tessera profile", embedded::profile_css(), embedded::profile_js(),
                   page_json(profile, roofs));
}

}  // namespace tsr::profile
