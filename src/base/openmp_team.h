// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Before OpenMP starts threads: count the threads it can have, and make them sleep while they wait.
#pragma once

#include <cstdint>

namespace tsr {

// The number of processors this process may use; at least 1.
int32_t processors() noexcept;

// The number of threads, up to `wanted`, that a parallel region of the calling thread may ask
// OpenMP for; at least 1. OpenMP ends the process if it cannot start a thread, so this function
// tries to start them first.
int32_t ready_team(int32_t wanted) noexcept;

}  // namespace tsr
