// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ambient_parts.h"

#include "base/error.h"

namespace tsr {
namespace {

// Written at start-up only.
constinit std::array<AmbientPart, kMaxAmbientParts> g_parts{};
constinit size_t g_count = 0;

}  // namespace

void add_ambient_part(AmbientPart part) {
  TSR_ASSERT(g_count < kMaxAmbientParts, "expected at most ", kMaxAmbientParts,
             " parts of a thread's state");
  g_parts[g_count++] = part;
}

AmbientParts AmbientParts::save() {
  AmbientParts all;
  for (size_t i = 0; i < g_count; ++i) all.saved_[i] = g_parts[i].save();
  return all;
}

void AmbientParts::restore() const {
  for (size_t i = 0; i < g_count; ++i) g_parts[i].restore(saved_[i]);
}

}  // namespace tsr
