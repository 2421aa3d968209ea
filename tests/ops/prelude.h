// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the tests of operators with derivatives begin with: small tensors, comparison with
// differences, the ops that make inputs and losses, and short names for them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "support/gradcheck.h"
#include "tests/ops/tensors.h"

namespace tsr {

using test::error_of;
using test::f32;
using test::f64;
using test::i64;
using test::tensor;
using test::values;
using testing::gradcheck;
using testing::gradgradcheck;
using testing::random_leaf;
using Inputs = std::span<const Tensor>;
using Numbers = std::vector<double>;

}  // namespace tsr
