// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport between threads of one process: the reference for the others, and a way to run
// programs of several ranks where there is only one process.
#pragma once

#include "dist/contract.h"

namespace tsr::dist {

// Ranks meet under InitOptions::address; rank and size must be given. The last rank to ask for an
// operation performs it for all. A rank that leaves cancels what the others still wait for.
[[nodiscard]] const Table& threads_transport() noexcept;

}  // namespace tsr::dist
