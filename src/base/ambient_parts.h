// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The parts of a thread's state that layers above `base` add: each says how to save and restore it.
// tsr_ambient_save carries all parts to another thread or time; a checkpoint carries to the second
// run of its function those on which the results depend.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace tsr {

enum class AmbientUse {
  kThread,  // belongs to the thread's state
  kReruns,  // and a function that runs again must find it as it was
};

struct AmbientPart {
  // The calling thread's state, immutable from then on; null if the part has nothing to keep.
  std::shared_ptr<const void> (*save)();
  // Makes it the calling thread's state; gets what save returned.
  void (*restore)(const std::shared_ptr<const void>& saved);
  AmbientUse use;
};

inline constexpr size_t kMaxAmbientParts = 8;

// Adds a part. Called by the explicit start-up, before any state is saved.
void add_ambient_part(AmbientPart part);

// The saved state of all parts that have a use.
class AmbientParts {
 public:
  static AmbientParts save(AmbientUse use);
  void restore() const;

 private:
  explicit AmbientParts(AmbientUse use) noexcept : use_(use) {}

  AmbientUse use_;
  std::array<std::shared_ptr<const void>, kMaxAmbientParts> saved_;
};

}  // namespace tsr
