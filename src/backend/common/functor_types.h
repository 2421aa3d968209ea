// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The element types that a functor says it is written for (see Note [Functors]).
#pragma once

#include "base/host_device.h"

namespace tsr::math {

enum Types : unsigned {
  kReal = 1,       // float32, float64; 16-bit floats compute in float32
  kComplexes = 2,  // complex64, complex128
  kIntegers = 4,   // every width, signed and unsigned
  kSignless = 8,   // as kIntegers; signed and unsigned code is the same and is compiled once
  kBools = 16,     // bytes that hold 0 or 1
  kMoved = 32,     // any type, by size: the functor moves elements and does not look into them
};

}  // namespace tsr::math
