// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The callback that gives a thread's call stack in anomaly mode.
#pragma once

#include <memory>

#include "autograd/anomaly.h"

namespace tsr::capi {

// That of this thread; usually null.
std::shared_ptr<const StackSource> host_stack();
void set_host_stack(std::shared_ptr<const StackSource> source);

}  // namespace tsr::capi
