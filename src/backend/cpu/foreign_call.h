// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ForeignCall: permission to call OpenBLAS or oneDNN, whose memory is freed while the process
// exits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/contract.h"

namespace tsr::cpu {

// Note [Foreign code at exit]
// At exit OpenBLAS unmaps memory that products of other threads still use, and oneDNN destroys
// objects that convolutions need. Either would crash the process. Therefore an exit handler of ours
// runs first: from then on only the exiting thread may call these libraries, and the handler waits
// a moment for threads that are inside.
class ForeignCall {
 public:
  ForeignCall() noexcept;
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;
  ~ForeignCall();

  [[nodiscard]] bool refused() const noexcept { return refused_; }
  // Reports a refused call to the host and returns the status.
  static kernel::Status refuse() noexcept;
  // Whether the process is ending; its exiting thread may then no longer call oneDNN, whose objects
  // may be gone.
  [[nodiscard]] static bool ending() noexcept;
  // The number of running calls; never less than the calls of any one thread.
  [[nodiscard]] static int64_t running() noexcept;

 private:
  bool refused_ = false;
};

// True if that much memory can be mapped now. These libraries crash when it cannot.
bool can_map(size_t nbytes) noexcept;

// Registers our exit handler again, so that it runs before the handlers registered until now:
// oneDNN creates objects late.
void end_foreign_calls_early() noexcept;

}  // namespace tsr::cpu
