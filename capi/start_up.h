// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Start-up of the library: the CPU backend, and the operations that autograd needs.
#pragma once

#include <string_view>

namespace tsr::capi {

// Registers the linked-in backend and gives autograd its operations. Later calls do nothing.
void start_up();
// Features that tsr_has knows besides the names of functions.
bool has_feature(std::string_view name) noexcept;

}  // namespace tsr::capi
