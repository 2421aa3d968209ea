// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Runs the examples of the schema, compiled as C99: one use of each function of the ABI that is not
// an operator.
#include <gtest/gtest.h>

#include <string>

#include "capi/example_support.h"

namespace test_examples {
namespace {

class Example : public testing::TestWithParam<int> {};

TEST_P(Example, does_what_its_documentation_says) {
  const int64_t before = tsr_live_handles();
  kExamples[GetParam()].run();
  EXPECT_EQ(tsr_live_handles(), before) << "the example leaks or over-releases a handle";
}

INSTANTIATE_TEST_SUITE_P(Schema, Example, testing::Range(0, kExampleCount),
                         [](const auto& row) { return std::string(kExamples[row.param].name); });

}  // namespace
}  // namespace test_examples
