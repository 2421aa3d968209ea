// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which results are written to memory past the caches.
#pragma once

#include <cstdint>

#include "kernel/pointwise.h"

namespace tsr::cpu {

// Whether the output is written with non-temporal stores, past the caches. That pays where output
// and inputs together fill most of the last cache: an ordinary store first reads its line from
// memory, and leaves no room for anything else. Where little is read, a number or a row, an output
// has the last cache to itself and is written there faster, unless it is twice as large.
bool past_caches(const kernel::ElementwisePlan& plan);
// The same for the bytes that are written and read.
bool past_caches(int64_t written, int64_t read);

}  // namespace tsr::cpu
