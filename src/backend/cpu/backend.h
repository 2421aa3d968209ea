// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU backend's entry, linked in: the library registers it at start-up like any plugin's.
#pragma once

#include "kernel/kernels.h"

namespace tsr::cpu {

// Null when this machine runs none of the instruction-set levels that were built.
const kernel::Backend* backend_entry(const kernel::HostServices* services);

}  // namespace tsr::cpu
