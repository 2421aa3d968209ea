// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/promotion.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"

namespace tsr::test_promotion {
namespace {

constexpr auto b1 = DType::kBool;
constexpr auto u1 = DType::kUInt8;
constexpr auto i1 = DType::kInt8;
constexpr auto i2 = DType::kInt16;
constexpr auto i4 = DType::kInt32;
constexpr auto i8 = DType::kInt64;
constexpr auto f2 = DType::kFloat16;
constexpr auto bf = DType::kBFloat16;
constexpr auto f4 = DType::kFloat32;
constexpr auto f8 = DType::kFloat64;
constexpr auto c8 = DType::kComplex64;
constexpr auto c16 = DType::kComplex128;

// The published lattice for tensors, not derived from the code under test.
TEST(Promotion, follows_the_lattice) {
  constexpr std::array order{b1, u1, i1, i2, i4, i8, f2, bf, f4, f8, c8, c16};
  constexpr std::array<std::array<DType, 12>, 12> table{{
      {b1, u1, i1, i2, i4, i8, f2, bf, f4, f8, c8, c16},
      {u1, u1, i2, i2, i4, i8, f2, bf, f4, f8, c8, c16},
      {i1, i2, i1, i2, i4, i8, f2, bf, f4, f8, c8, c16},
      {i2, i2, i2, i2, i4, i8, f2, bf, f4, f8, c8, c16},
      {i4, i4, i4, i4, i4, i8, f2, bf, f4, f8, c8, c16},
      {i8, i8, i8, i8, i8, i8, f2, bf, f4, f8, c8, c16},
      {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8, c8, c16},
      {bf, bf, bf, bf, bf, bf, f4, bf, f4, f8, c8, c16},
      {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8, c8, c16},
      {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, c16, c16},
      {c8, c8, c8, c8, c8, c8, c8, c8, c8, c16, c8, c16},
      {c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16},
  }};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < order.size(); ++j) {
      EXPECT_EQ(promote_types(order[i], order[j]), table[i][j])
          << name(order[i]) << " " << name(order[j]);
    }
  }
}

TEST(Promotion, wide_unsigned_types_go_to_the_next_wider_signed_one) {
  EXPECT_EQ(promote_types(DType::kUInt16, i1), i4);
  EXPECT_EQ(promote_types(DType::kUInt16, i4), i4);
  EXPECT_EQ(promote_types(DType::kUInt32, i4), i8);
  EXPECT_EQ(promote_types(DType::kUInt32, DType::kUInt8), DType::kUInt32);
  EXPECT_EQ(promote_types(DType::kUInt64, f2), f2);
  EXPECT_EQ(promote_types(DType::kUInt64, b1), DType::kUInt64);
  try {
    promote_types(DType::kUInt64, i8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDType);
    EXPECT_NE(error.message().find("uint64"), std::string::npos);
    EXPECT_NE(error.message().find("int64"), std::string::npos);
  }
}

TEST(Promotion, scalars_raise_the_category_only) {
  EXPECT_EQ(promote_scalar(i4, Scalar(5)), i4);
  EXPECT_EQ(promote_scalar(i4, Scalar(1.5)), f4);
  EXPECT_EQ(promote_scalar(f2, Scalar(1e10)), f2);
  EXPECT_EQ(promote_scalar(b1, Scalar(1)), i8);
  EXPECT_EQ(promote_scalar(b1, Scalar(true)), b1);
  EXPECT_EQ(promote_scalar(u1, Scalar(-1)), u1);
  EXPECT_EQ(promote_scalar(f8, Scalar(std::complex<double>(0, 1))), c16);
  EXPECT_EQ(promote_scalar(f4, Scalar(std::complex<double>(0, 1))), c8);
  EXPECT_EQ(promote_scalar(i4, Scalar(std::complex<double>(0, 1))), c8);
}

TEST(Promotion, the_default_dtype_decides_what_integers_become) {
  set_default_dtype(f8);
  EXPECT_EQ(promote_scalar(i4, Scalar(1.5)), f8);
  EXPECT_EQ(promote_scalar(i4, Scalar(std::complex<double>(0, 1))), c16);
  set_default_dtype(f4);
  EXPECT_THROW(set_default_dtype(i4), Error);
}

TEST(Promotion, in_place_results_may_not_fall_in_category) {
  EXPECT_TRUE(can_cast_in_place(f4, f2));
  EXPECT_TRUE(can_cast_in_place(i8, i4));
  EXPECT_TRUE(can_cast_in_place(i8, f4));
  EXPECT_FALSE(can_cast_in_place(f4, i8));
  EXPECT_FALSE(can_cast_in_place(i8, b1));
  EXPECT_FALSE(can_cast_in_place(c8, f4));
}

TEST(Promotion, casts_only_where_promotion_stays) {
  EXPECT_TRUE(can_cast(i1, i2) && can_cast(b1, u1) && can_cast(i8, f2) && can_cast(f4, c8));
  EXPECT_FALSE(can_cast(i2, i1) || can_cast(f2, bf) || can_cast(f8, c8) || can_cast(c8, f8));
  EXPECT_FALSE(can_cast(DType::kUInt64, i8) || can_cast(i8, DType::kUInt64));
  EXPECT_TRUE(can_cast(i4, i4));
}

}  // namespace
}  // namespace tsr::test_promotion
