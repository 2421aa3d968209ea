// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sizes as messages write them.
#pragma once

#include <cstdint>
#include <string>

namespace tsr {

// "512 bytes", "20.00 MiB".
[[nodiscard]] std::string in_bytes(uint64_t nbytes);

}  // namespace tsr
