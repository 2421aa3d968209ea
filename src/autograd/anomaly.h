// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Anomaly mode: every node keeps where the host called its forward, and a backward that fails or
// makes nan says which forward that was.
#pragma once

#include "autograd/node.h"

namespace tsr {

struct AnomalyMode {
  bool on = false;
  bool check_nan = false;  // with on: a backward fails at the first nan that a node makes
};

// The mode of the calling thread.
[[nodiscard]] AnomalyMode anomaly_mode() noexcept;
void set_anomaly_mode(AnomalyMode mode) noexcept;

// Stores the host's stack in the metadata of a node that is being made, and where the node that
// runs now was made, if a backward makes it. A failure leaves the node without.
void note_origin(Node& node) noexcept;

// While it lives, nodes that this thread makes are not noted: for code that holds a lock, under
// which the host must not run.
class NoOrigins {
 public:
  NoOrigins() noexcept;
  NoOrigins(const NoOrigins&) = delete;
  NoOrigins& operator=(const NoOrigins&) = delete;
  ~NoOrigins();

 private:
  bool before_;
};

// Runs a node and explains what goes wrong: throws the node's own error with the stack of its
// forward added, or kAutograd if a result has nan while no gradient that came in had.
[[gnu::cold, gnu::noinline]] void apply_watched(Node& node, Backward& ctx);

// Begins the part of a message that apply_watched adds.
inline constexpr const char* kOriginMark = "\nThe forward of ";

}  // namespace tsr
