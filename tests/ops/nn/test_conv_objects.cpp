// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a convolution makes anew on each call. In the executable that counts operator new.
#include <gtest/gtest.h>

#include "autograd/grad_mode.h"
#include "ops/create/create.h"
#include "ops/nn/conv.h"
#include "support/failing_new.h"

namespace tsr::test::test_conv_objects {
namespace {

TEST(Conv, makes_no_objects_of_its_backend_again) {
  const NoGrad pause;
  const Tensor x = ops::full(Dims{1, 2, 6, 6}, 1.0);
  const Tensor w = ops::full(Dims{3, 2, 3, 3}, 1.0);
  static_cast<void>(ops::conv2d(x, w, {}));
  const int64_t before = new_calls();
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) EXPECT_EQ(ops::conv2d(x, w, {}).sizes(), (Dims{1, 3, 4, 4}));
  // Some 11 are oneDNN's own for an execution. With its objects made on each call there were 32.
  EXPECT_LE(new_calls() - before, 16 * kCalls);
}

}  // namespace
}  // namespace tsr::test::test_conv_objects
