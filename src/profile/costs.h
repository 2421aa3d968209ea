// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The operations and bytes of kernels, by family.
#pragma once

#include "profile/events.h"

namespace tsr::profile {

// `plan` is the plan of the family of this name (kernel/generated/families.h). Zero for a name that
// is none, and where the plan does not tell.
Cost cost_of(const char* family, const void* plan) noexcept;

}  // namespace tsr::profile
