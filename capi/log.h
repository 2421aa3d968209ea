// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The log callback of the process. The library itself never prints.
#pragma once

#include <string_view>

#include "tessera/tessera.h"

namespace tsr::capi {

// Does nothing if no callback is set. The caller must hold no lock.
void log_message(tsr_log_level level, const char* component, std::string_view message) noexcept;

}  // namespace tsr::capi
