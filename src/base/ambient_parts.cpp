// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ambient_parts.h"

#include "base/error.h"

namespace tsr {
namespace {

// Written at start-up only.
constinit std::array<AmbientPart, kMaxAmbientParts> g_parts{};
constinit size_t g_count = 0;

bool has_use(const AmbientPart& part, AmbientUse use) noexcept {
  return part.use >= use;
}

}  // namespace

void add_ambient_part(AmbientPart part) {
  TSR_ASSERT(g_count < kMaxAmbientParts, "expected at most ", kMaxAmbientParts,
             " parts of a thread's state");
  g_parts[g_count++] = part;
}

AmbientParts AmbientParts::save(AmbientUse use) {
  AmbientParts all(use);
  for (size_t i = 0; i < g_count; ++i) {
    if (has_use(g_parts[i], use)) all.saved_[i] = g_parts[i].save();
  }
  return all;
}

void AmbientParts::restore() const {
  for (size_t i = 0; i < g_count; ++i) {
    if (has_use(g_parts[i], use_)) g_parts[i].restore(saved_[i]);
  }
}

}  // namespace tsr
