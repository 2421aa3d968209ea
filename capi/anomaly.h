// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Anomaly mode as a part of a thread's state.
#pragma once

#include "base/ambient_parts.h"

namespace tsr::capi {

AmbientPart anomaly_part() noexcept;

}  // namespace tsr::capi
