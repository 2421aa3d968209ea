// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The parts of a thread's state that layers above `base` add: each says how to save and restore it.
// Who carries a thread's state to another place (tsr_ambient_save, checkpoints) carries all parts.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace tsr {

struct AmbientPart {
  // The calling thread's state, immutable from then on; null if the part has nothing to keep.
  std::shared_ptr<const void> (*save)();
  // Makes it the calling thread's state; gets what save returned.
  void (*restore)(const std::shared_ptr<const void>& saved);
};

inline constexpr size_t kMaxAmbientParts = 8;

// Adds a part. Called by the explicit start-up, before any state is saved.
void add_ambient_part(AmbientPart part);

// The saved state of all parts.
class AmbientParts {
 public:
  static AmbientParts save();
  void restore() const;

 private:
  std::array<std::shared_ptr<const void>, kMaxAmbientParts> saved_;
};

}  // namespace tsr
