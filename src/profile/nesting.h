// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Walks the events of a profile with those that are around each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "profile/events.h"

namespace tsr::profile {

// The spans around an event on its thread, the outermost first.
class Around {
 public:
  [[nodiscard]] const std::vector<const Event*>& spans() const noexcept { return spans_; }

  void enter(const Event& span) {
    spans_.push_back(&span);
    first_ends_.push_back(0);
    update_from(spans_.size() - 1);
  }

  // Takes out the spans that ended before `event`, innermost first; leave(at) is called for each of
  // them while it is still at that place.
  template <class Leave>
  void leave_before(const Event& event, const Leave& leave) {
    // A span that ends at the nanosecond in which the next one begins is not around it, except if
    // that one takes no time: then it is the parent, or around that.
    bool met_parent = false;
    const auto has_ended = [&](const Event& span) {
      met_parent = met_parent || (event.parent != 0 && event.parent == span.correlation);
      return span.end < event.begin || (span.end == event.begin && !met_parent);
    };
    size_t lowest = spans_.size();
    for (size_t at = spans_.size(); at > 0 && first_ends_[at - 1] <= event.begin; --at) {
      if (has_ended(*spans_[at - 1])) take_out(lowest = at - 1, leave);
    }
    update_from(lowest);
  }
  template <class Leave>
  void leave_all(const Leave& leave) {
    while (!spans_.empty()) take_out(spans_.size() - 1, leave);
  }

 private:
  template <class Leave>
  void take_out(size_t at, const Leave& leave) {
    leave(at);
    spans_.erase(spans_.begin() + static_cast<ptrdiff_t>(at));
    first_ends_.pop_back();
  }
  void update_from(size_t first) {
    for (size_t i = first; i < spans_.size(); ++i) {
      const int64_t outside = i == 0 ? std::numeric_limits<int64_t>::max() : first_ends_[i - 1];
      first_ends_[i] = std::min(outside, spans_[i]->end);
    }
  }

  std::vector<const Event*> spans_;
  // The first end of each of them and those around it: where all are nested, only the innermost
  // ones need be looked at.
  std::vector<int64_t> first_ends_;
};

// Calls visit(event, outer) for every event in the profile's order; `outer` are the spans around
// it. Ranges may end in any order, so what is around an event is what contains its beginning.
// Before that leave(at) is called for each span that is no longer around, with its place in the
// `outer` of before; those behind it move up.
template <class Visit, class Leave>
void walk_nested(const Profile& profile, const Visit& visit, const Leave& leave) {
  Around around;
  int32_t thread = 0;
  for (const Event& event : profile.events) {
    if (event.thread != thread) around.leave_all(leave);
    thread = event.thread;
    around.leave_before(event, leave);
    visit(event, around.spans());
    if (!event.is_memory()) around.enter(event);
  }
}

}  // namespace tsr::profile
