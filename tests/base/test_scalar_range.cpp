// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/scalar_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace tsr::test_scalar_range {
namespace {

TEST(ScalarRange, knows_the_ends_of_every_integer_dtype) {
  struct Row {
    DType dtype;
    int64_t low, high;
  };
  const Row rows[] = {{DType::kUInt8, 0, 255},         {DType::kInt8, -128, 127},
                      {DType::kUInt16, 0, 65535},      {DType::kInt16, -32768, 32767},
                      {DType::kUInt32, 0, 4294967295}, {DType::kInt32, INT32_MIN, INT32_MAX},
                      {DType::kUInt64, 0, INT64_MAX},  {DType::kInt64, INT64_MIN, INT64_MAX}};
  for (const Row& row : rows) {
    EXPECT_EQ(lowest_of(row.dtype), row.low);
    EXPECT_EQ(highest_of(row.dtype), row.high);
    EXPECT_EQ(fit_of(row.low, row.dtype), Fit::kInside);
    EXPECT_EQ(fit_of(row.high, row.dtype), Fit::kInside);
    if (row.low != INT64_MIN) {
      EXPECT_EQ(fit_of(row.low - 1, row.dtype), Fit::kBelow);
    }
    if (row.high != INT64_MAX) {
      EXPECT_EQ(fit_of(row.high + 1, row.dtype), Fit::kAbove);
    }
    EXPECT_EQ(fit_of(-INFINITY, row.dtype), Fit::kBelow);
    EXPECT_EQ(fit_of(INFINITY, row.dtype), Fit::kAbove);
    EXPECT_EQ(fit_of(NAN, row.dtype), Fit::kAbove);
  }
}

TEST(ScalarRange, puts_numbers_beyond_int64_into_uint64_alone) {
  const Scalar large = Scalar::from_unsigned(UINT64_MAX);
  EXPECT_TRUE(large.is_large());
  EXPECT_EQ(large.to<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(large.to<double>(), 0x1p64);
  EXPECT_TRUE(large.to<bool>());
  EXPECT_EQ(fit_of(large, DType::kUInt64), Fit::kInside);
  EXPECT_EQ(fit_of(large, DType::kInt64), Fit::kAbove);
  EXPECT_EQ(fit_of(large, DType::kFloat32), Fit::kInside);
  const Scalar small = Scalar::from_unsigned(INT64_MAX);
  EXPECT_FALSE(small.is_large());
  EXPECT_EQ(small.to<int64_t>(), INT64_MAX);
  EXPECT_EQ(fit_of(small, DType::kInt64), Fit::kInside);
}

TEST(ScalarRange, cuts_fractions_off_and_leaves_other_dtypes_alone) {
  EXPECT_EQ(fit_of(-0.5, DType::kUInt8), Fit::kInside);
  EXPECT_EQ(fit_of(255.9, DType::kUInt8), Fit::kInside);
  EXPECT_EQ(fit_of(256.0, DType::kUInt8), Fit::kAbove);
  EXPECT_EQ(fit_of(-1.0, DType::kUInt64), Fit::kBelow);
  EXPECT_EQ(fit_of(0x1.8p63, DType::kUInt64), Fit::kInside);
  EXPECT_EQ(fit_of(0x1p63, DType::kInt64), Fit::kAbove);
  EXPECT_EQ(fit_of(-0x1p63, DType::kInt64), Fit::kInside);
  EXPECT_EQ(fit_of(1e300, DType::kFloat16), Fit::kInside);
  EXPECT_EQ(fit_of(7, DType::kBool), Fit::kInside);
}

TEST(Scalar, numbers_become_elements_with_one_rounding) {
  EXPECT_EQ(Scalar(1.5e19).to<uint64_t>(), 15000000000000000000U);
  EXPECT_EQ(Scalar(0x1p63).to<uint64_t>(), uint64_t{1} << 63);
  EXPECT_EQ(Scalar(0x1p62).to<uint64_t>(), uint64_t{1} << 62);
  constexpr int64_t kBetween = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;  // of two floats
  EXPECT_EQ(Scalar(kBetween).to<float>(), 0x1.000002p60F);
  constexpr uint64_t kLarge = (uint64_t{1} << 63) + (uint64_t{1} << 39) + 1;
  EXPECT_EQ(Scalar::from_unsigned(kLarge).to<float>(), 0x1.000002p63F);
}

TEST(ScalarRange, names_the_number_and_the_range) {
  try {
    check_fits(300, DType::kUInt8, "value");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kValue);
    EXPECT_STREQ(error.arg(), "value");
    EXPECT_NE(error.message().find("[0, 255] for uint8, got 300"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace tsr::test_scalar_range
