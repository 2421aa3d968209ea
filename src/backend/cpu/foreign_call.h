// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ForeignCall: leave to be inside OpenBLAS or oneDNN, whose memory goes away while the process
// ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/contract.h"

namespace tsr::cpu {

// Note [Foreign code at exit]
// At exit OpenBLAS unmaps the memory of products that other threads still compute, and oneDNN ends
// what convolutions need, either of which would end the process by a signal. So before that an exit
// handler of ours lets nobody in any more but the thread that ends the process, and waits a moment
// for those who are inside.
class ForeignCall {
 public:
  ForeignCall() noexcept;
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;
  ~ForeignCall();

  [[nodiscard]] bool refused() const noexcept { return refused_; }
  // Leaves the text of the refusal for the host.
  static kernel::Status refuse() noexcept;
  // How many calls there are at the moment; never less than the calls of any one thread.
  [[nodiscard]] static int64_t running() noexcept;

 private:
  bool refused_ = false;
};

// True when that much memory could be mapped now. Those libraries do not survive when it cannot.
bool can_map(size_t nbytes) noexcept;

// The door closes before the exit handlers that are there by now: for what oneDNN makes later.
void end_foreign_calls_early() noexcept;

}  // namespace tsr::cpu
