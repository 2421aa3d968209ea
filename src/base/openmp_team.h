// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Before OpenMP starts threads: how many there can be, and that they sleep while they wait.
#pragma once

#include <cstdint>

namespace tsr {

// How many processors this process may use; at least 1.
int32_t processors() noexcept;

// How many threads, of `wanted`, a parallel region of the calling thread may ask OpenMP for; at
// least 1. OpenMP ends the process when it cannot start a thread, so they are tried before.
int32_t ready_team(int32_t wanted) noexcept;

}  // namespace tsr
