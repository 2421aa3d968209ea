// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How the ranks of an NCCL group get the number by which they find each other: through a file that
// all of them can read. NCCL does the rest.
#pragma once

#include <chrono>

#include "dist/contract.h"
#include "dist/nccl/api.h"

namespace tsr::dist::nccl {

// Rank 0 writes the id, the others wait for it. The file of a group that did not come together
// stays, and the ranks of another group would read it: that group needs another path.
Status exchange_id(const Api& api, const InitOptions& options,
                   std::chrono::steady_clock::time_point deadline, UniqueId* id, Failure* failure);
// Rank 0 removes the file, once all ranks have come.
void forget_id(const InitOptions& options) noexcept;

}  // namespace tsr::dist::nccl
