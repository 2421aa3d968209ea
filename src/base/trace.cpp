// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

namespace tsr {

std::atomic<const TraceHook*> g_trace_hook{nullptr};

}  // namespace tsr
