// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The index family, and triangles.
#pragma once

#include "kernel/index.h"
#include "kernel/random.h"

namespace tsr::cpu {

// Results do not depend on the number of threads: what writes is divided by where it writes.
kernel::Status index(const kernel::IndexPlan& plan);
kernel::Status nonzero(const kernel::NonzeroPlan& plan);
kernel::Status triangle(const kernel::TrianglePlan& plan);

}  // namespace tsr::cpu
