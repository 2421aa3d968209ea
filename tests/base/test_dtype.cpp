// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tsr::test_dtype {
namespace {

TEST(DType, abi_bits_are_those_of_dlpack) {
  EXPECT_EQ(dtype_to_abi(DType::kFloat32), 0x00012002);
  EXPECT_EQ(dtype_to_abi(DType::kBool), 0x00010806);
  EXPECT_EQ(dtype_to_abi(DType::kBFloat16), 0x00011004);
  EXPECT_EQ(dtype_to_abi(DType::kComplex128), 0x00018005);
  EXPECT_EQ(dtype_to_abi(DType::kUInt8), 0x00010801);
  EXPECT_EQ(dtype_to_abi(DType::kInt64), 0x00014000);
}

TEST(DType, every_dtype_survives_the_way_to_the_abi_and_back) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_abi(dtype_to_abi(dtype)), dtype) << name(dtype);
  }
}

TEST(DType, unknown_bits_name_nothing) {
  for (const int32_t bits : {0, -1, 0x00012003, 0x00022002, 0x00011002 | 1 << 30, 0x7fffffff}) {
    EXPECT_EQ(dtype_from_abi(bits), std::nullopt) << bits;
  }
}

TEST(DType, visit_gives_the_type_that_stores_the_dtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto [size, back] = visit_dtype(dtype, []<class T>(TypeTag<T>) {
      return std::pair{sizeof(T), dtype_of<T>()};
    });
    EXPECT_EQ(static_cast<int64_t>(size), itemsize(dtype));
    EXPECT_EQ(back, dtype);
  }
}

TEST(Half, every_value_survives_the_way_to_float_and_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = std::bit_cast<Half>(static_cast<uint16_t>(bits));
    const float value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(value))));
    } else {
      EXPECT_EQ(Half(value).bits, bits);
    }
  }
}

// Checks that rounding gives the nearest value: compares the exact distances in double.
template <class T>
void expect_nearest(float value) {
  const T rounded(value);
  const double distance = std::abs(static_cast<double>(static_cast<float>(rounded)) - value);
  for (const int step : {-1, 1}) {
    const auto bits = static_cast<uint16_t>(rounded.bits + step);
    const double other = static_cast<float>(std::bit_cast<T>(bits));
    if (!std::isfinite(other)) continue;
    EXPECT_LE(distance, std::abs(other - value)) << value;
    if (distance == std::abs(other - value)) {
      EXPECT_EQ(rounded.bits & 1, 0) << value;
    }
  }
}

TEST(Half, rounding_picks_the_nearest_and_ties_go_to_even) {
  for (float value = 1e-8F; value < 60000.0F; value *= 1.0007F) {
    expect_nearest<Half>(value);
    expect_nearest<Half>(-value);
  }
  expect_nearest<Half>(1.0F + 0x1p-11F);
  expect_nearest<Half>(1.0F + 0x3p-11F);
  EXPECT_TRUE(std::isinf(static_cast<float>(Half(65520.0F))));
  EXPECT_EQ(static_cast<float>(Half(65519.0F)), 65504.0F);
}

TEST(BFloat16, rounding_picks_the_nearest_and_ties_go_to_even) {
  for (float value = 1e-30F; value < 1e30F; value *= 1.01F) {
    expect_nearest<BFloat16>(value);
    expect_nearest<BFloat16>(-value);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace tsr::test_dtype
