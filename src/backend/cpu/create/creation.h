// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The creation family: values that depend on an element's position.
#pragma once

#include "kernel/random.h"

namespace tsr::cpu {

kernel::Status random(const kernel::RandomPlan& plan);
kernel::Status sequence(const kernel::SequencePlan& plan);

}  // namespace tsr::cpu
