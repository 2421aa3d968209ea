// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/memory_curve.h"

#include <algorithm>

namespace tsr::profile {
namespace {

int64_t at_start(const Profile& profile, Device device) {
  const auto found = std::find_if(profile.memory.begin(), profile.memory.end(),
                                  [&](const StartMemory& start) { return start.device == device; });
  return found == profile.memory.end() ? 0 : found->nbytes;
}

MemoryCurve& curve_of(std::vector<MemoryCurve>& curves, const Profile& profile, Device device) {
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const MemoryCurve& curve) { return curve.device == device; });
  if (found != curves.end()) return *found;
  MemoryCurve& fresh = curves.emplace_back();
  fresh.device = device;
  fresh.times.push_back(profile.begin);
  fresh.bytes.push_back(at_start(profile, device));
  fresh.peak = fresh.bytes.back();
  return fresh;
}

}  // namespace

std::vector<MemoryCurve> memory_curves(const Profile& profile) {
  std::vector<const Event*> changes;  // of all threads, by time
  for (const Event& event : profile.events) {
    if (event.is_memory()) changes.push_back(&event);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Event* a, const Event* b) { return a->begin < b->begin; });
  std::vector<MemoryCurve> curves;
  for (const Event* event : changes) {
    MemoryCurve& curve = curve_of(curves, profile, event->device());
    const int64_t change = event->kind == TraceKind::kFree ? -event->value : event->value;
    curve.times.push_back(event->begin);
    // Memory that was taken before counters began may be given back.
    curve.bytes.push_back(std::max<int64_t>(curve.bytes.back() + change, 0));
    curve.peak = std::max(curve.peak, curve.bytes.back());
  }
  return curves;
}

}  // namespace tsr::profile
