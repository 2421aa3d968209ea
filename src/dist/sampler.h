// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which samples of a data set each rank gets.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace tsr::dist {

// The positions of one rank in an epoch, int64: r, r + ranks, ... of an order that all ranks share.
// `seed`: of a random order; absent: the order of the data set. All ranks get equally many:
// positions of the beginning are repeated at the end, or with `drop_last` the last ones are left
// out. Throws kValue.
Tensor positions_of_rank(int64_t count, int64_t ranks, int64_t rank, std::optional<int64_t> seed,
                         bool drop_last);

}  // namespace tsr::dist
