// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How the ranks of an NCCL group get the number by which they find each other: through a file that
// all of them can read. NCCL does the rest.
#pragma once

#include <string>

#include "dist/contract.h"
#include "dist/nccl/api.h"

namespace tsr::dist::nccl {

// Rank 0 writes the id, the others wait for it. A file that was there before is not taken for ours:
// every rank of a new group needs a path of its own.
Status exchange_id(const Api& api, const InitOptions& options, UniqueId* id, Failure* failure);

}  // namespace tsr::dist::nccl
