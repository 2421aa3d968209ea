// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Walks the events of a profile with those that are around each.
#pragma once

#include <vector>

#include "profile/events.h"

namespace tsr::profile {

// Calls visit(event, outer) for every event in the profile's order; `outer` are the spans around
// it on its thread, the outermost first. Ranges may end in any order, so what is around an event
// is what contains its beginning.
template <class Visit>
void walk_nested(const Profile& profile, const Visit& visit) {
  std::vector<const Event*> outer;
  int32_t thread = 0;
  for (const Event& event : profile.events) {
    if (event.thread != thread) outer.clear();
    thread = event.thread;
    // A span that ends at the nanosecond in which the next one begins is not around it, except if
    // that one takes no time.
    while (!outer.empty() && outer.back()->end <= event.begin &&
           !(outer.back()->end == event.begin && event.correlation != 0 &&
             event.parent == outer.back()->correlation)) {
      outer.pop_back();
    }
    visit(event, outer);
    if (!event.is_memory()) outer.push_back(&event);
  }
}

}  // namespace tsr::profile
