// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arguments of sharded checkpoints.
#include <string>

#include "capi/abi_support.h"

namespace test_data_parallel {

using namespace tsr::test;

TEST(Shards, refuse_numbers_that_no_int64_can_hold) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  const tsr_tensor list[1] = {x};
  const std::string slices = R"({"x": {"offset": [9223372036854775808], "shape": [2]}})";
  refused(tsr_shards_save((testing::TempDir() + "tessera_no_shards").c_str(), -1, R"(["x"])", -1,
                          list, 1, slices.c_str(), -1, "{}", -1, nullptr),
          TSR_VALUE);
  tsr_error_view view = {};
  view.struct_size = sizeof view;
  ok(tsr_error_last(&view));
  EXPECT_EQ(std::string(view.message, static_cast<size_t>(view.message_len)),
            "tsr_shards_save: slices: expected whole numbers below 2^63 in the array offset, got "
            "9223372036854775808");
}

}  // namespace test_data_parallel
