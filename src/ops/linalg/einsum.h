// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// einsum: sums of products of any number of tensors, said by an equation. Made of other ops.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// "ij,jk->ik": a letter names an axis; letters that are not in the result are summed over; a letter
// twice in one operand takes its diagonal. "..." stands for axes that broadcast. Without "->" the
// result has the axes of the ellipsis and the letters that occur once, in the order of ASCII. Axes
// of size 1 broadcast. `path` holds pairs of positions in the list of operands that are left: the
// two are taken out and their product goes to the end; absent: the pair of the smallest product is
// next. Throws kValue, kShape, kDType, kDevice.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::optional<DimsView> path = {}, Out out = {});

}  // namespace tsr::ops
