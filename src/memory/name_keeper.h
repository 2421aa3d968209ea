// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Names in /dev/shm that do not outlive the processes that use them.
#pragma once

#include <string>

namespace tsr {

// A new name for shm_open, in an own range of names of this process. The first call in a process
// starts its keeper, see Note [Shared memory]. Throws Error kIo when that fails.
std::string next_shared_name();

// Whether next_shared_name of some process could have made this name.
bool is_shared_name(const std::string& name) noexcept;

}  // namespace tsr
