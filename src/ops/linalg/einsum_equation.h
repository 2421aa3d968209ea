// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The equation of an einsum, read: which label each axis of each operand and of the result has.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/small_vector.h"

namespace tsr::ops {

// Labels 0 to 51 are letters in the order of ASCII, those above the axes of the ellipsis: the last
// axis is kEllipsisEnd, the one before it kEllipsisEnd - 1.
inline constexpr int kLetters = 52;
inline constexpr int kEllipsisEnd = kLetters + 63;
inline constexpr int kLabels = kEllipsisEnd + 1;
using Labels = SmallVector<int, 8>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

// `ranks`: the number of dims of each operand. Throws kValue for what is no equation or has another
// number of operands, kShape where an operand has another number of dims than letters.
Equation read_equation(std::string_view text, std::span<const int64_t> ranks);

}  // namespace tsr::ops
