// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

#include "base/device.h"
#include "base/dtype.h"
#include "base/scalar.h"
#include "base/small_vector.h"

namespace tsr::test_error {
namespace {

TEST(Error, a_failed_check_names_code_argument_and_facts) {
  const Dims shape{2, 3};
  try {
    TSR_CHECK(shape.size() == 3, Code::kShape, "other", "expected 3 dimensions, got shape ", shape,
              " of ", DType::kFloat32, " on ", Device{});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kShape);
    EXPECT_STREQ(error.arg(), "other");
    EXPECT_EQ(error.message(), "expected 3 dimensions, got shape [2, 3] of float32 on cpu");
    EXPECT_NE(std::string(error.file()).find("test_error"), std::string::npos);
    EXPECT_GT(error.line(), 0);
  }
}

TEST(Error, a_passing_check_evaluates_no_message) {
  int evaluated = 0;
  const auto piece = [&] { return ++evaluated; };
  TSR_CHECK(true, Code::kValue, nullptr, piece());
  EXPECT_EQ(evaluated, 0);
}

TEST(Error, a_failed_assertion_is_an_internal_error) {
  try {
    TSR_ASSERT(1 + 1 == 3, "sum was ", 2);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    EXPECT_NE(error.message().find("sum was 2"), std::string::npos);
  }
}

TEST(Text, numbers_print_so_that_they_read_back) {
  EXPECT_EQ(concat(0.1), "0.1");
  EXPECT_EQ(concat(true, ' ' == ' ' ? " " : "", int64_t{-5}), "true -5");
  EXPECT_EQ(concat(Scalar(std::complex<double>(1, -2))), "1-2j");
  EXPECT_EQ(concat(Scalar(std::complex<double>(1, -0.0))), "1-0j");
  EXPECT_EQ(concat(Scalar(3)), "3");
  EXPECT_EQ(concat(Dims{}), "[]");
}

}  // namespace
}  // namespace tsr::test_error
