// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of triangles and panels of one instruction-set level.
#include "backend/cpu/isa/triangle.h"

#include "backend/cpu/isa/find.h"

namespace tsr::cpu::TSR_ISA {

const TriangleRows<float> kTriangleRowsFloat = kTriangleRows<float>;
const TriangleRows<double> kTriangleRowsDouble = kTriangleRows<double>;

}  // namespace tsr::cpu::TSR_ISA
