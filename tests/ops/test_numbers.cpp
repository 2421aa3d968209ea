// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers of the host language that do not fit the dtype of the tensor in the same operation.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "ops/create/create.h"
#include "ops/index/getitem.h"
#include "ops/index/mask.h"
#include "ops/linalg/linalg.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/random/random.h"
#include "ops/shape/arrange.h"
#include "tests/ops/tensors.h"

namespace tsr::test_numbers {
namespace {

using namespace test;

Tensor bytes() {
  return tensor<uint8_t>(Dims{3}, {1, 5, 200});
}
Tensor mask() {
  Tensor result = empty(Dims{3}, DType::kBool);
  for (int i = 0; i < 3; ++i) result.data_as<bool>()[i] = i == 1;
  return result;
}

TEST(Numbers, that_do_not_fit_are_refused_and_never_wrap) {
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"value", [] { ops::full(Dims{1}, 300, DType::kUInt8); }},
      {"value", [] { ops::full(Dims{1}, -1, DType::kUInt64); }},
      {"value", [] { ops::full(Dims{1}, 300.5, DType::kUInt8); }},
      {"value",
       [] { ops::full(Dims{1}, std::numeric_limits<double>::quiet_NaN(), DType::kInt64); }},
      {"value", [] { ops::full_like(bytes(), 256); }},
      {"value", [] { ops::fill_(bytes(), 300); }},
      {"value", [] { ops::fill_(bytes(), -1); }},
      {"other", [] { ops::add(bytes(), 300); }},
      {"other", [] { ops::add(bytes(), -1); }},
      {"other", [] { ops::pow(bytes(), -1); }},
      {"other", [] { ops::bitwise_and(bytes(), 256); }},
      {"other", [] { ops::maximum(bytes(), 300); }},
      {"input", [] { ops::subtract(300, bytes()); }},
      {"other", [] { ops::add(bytes(), 300, ops::Out::inplace(bytes())); }},
      {"other", [] { ops::where(mask(), bytes(), 300); }},
      {"input", [] { ops::where(mask(), -1, bytes()); }},
      {"value", [] { ops::masked_fill(bytes(), mask(), 300); }},
      {"value", [] { ops::setitem(bytes(), {}, {}, 300); }},
      {"min", [] { ops::clip(bytes(), Scalar(300), {}); }},
      {"max", [] { ops::clip(bytes(), Scalar(0), Scalar(-1)); }},
      {"value",
       [] {
         ops::pad(bytes(), Dims{1, 1}, "constant", 256);
       }},
      {"stop", [] { ops::arange(0, 300, 1, DType::kUInt8); }},
      {"start", [] { ops::arange(-1, 3, 1, DType::kUInt8); }},
      {"stop", [] { ops::arange(3, -3, -1, DType::kUInt8); }},
      {"start", [] { ops::arange(1e300, 1e300 + 2e284, 1e284, DType::kInt64); }},
      {"stop", [] { ops::linspace(0, 300, 4, DType::kUInt8); }},
      {"high", [] { ops::randint(0, 300, Dims{4}, DType::kUInt8); }},
      {"low", [] { ops::randint(-1, 3, Dims{4}, DType::kUInt8); }},
      {"n", [] { ops::randperm(300, DType::kUInt8); }},
  };
  for (const auto& [arg, call] : calls) {
    const Error error = error_of(call);
    EXPECT_EQ(error.code(), Code::kValue) << arg << ": " << error.message();
    ASSERT_NE(error.arg(), nullptr) << error.message();
    EXPECT_STREQ(error.arg(), arg) << error.message();
  }
}

TEST(Numbers, at_the_ends_of_the_range_fit) {
  EXPECT_EQ(values(ops::full(Dims{1}, 255, DType::kUInt8))[0], 255);
  EXPECT_EQ(values(ops::arange(0, 256, 1, DType::kUInt8))[255], 255);
  EXPECT_EQ(values(ops::arange(2, -1, -1, DType::kUInt8)), (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(values<int64_t>(ops::arange(INT64_MAX - 2, INT64_MAX, 1))[1], INT64_MAX - 1);
  EXPECT_EQ(ops::randint(0, 256, Dims{4}, DType::kUInt8).numel(), 4);
  EXPECT_EQ(ops::randperm(256, DType::kUInt8).numel(), 256);
  EXPECT_EQ(values(ops::linspace(0, 255, 2, DType::kUInt8)), (std::vector<double>{0, 255}));
}

TEST(Numbers, a_sequence_of_2_to_the_63_is_refused_by_its_count) {
  for (const int64_t start : {int64_t{-1}, INT64_MIN}) {
    const Error error = error_of([&] { ops::arange(start, INT64_MAX, 1); });
    EXPECT_EQ(error.code(), Code::kShape) << error.message();
    EXPECT_STREQ(error.arg(), "stop") << error.message();
    EXPECT_EQ(error.message().find("-"), std::string::npos) << error.message();
  }
}

TEST(Numbers, a_refused_write_changes_nothing) {
  const Tensor x = bytes();
  const uint32_t version = x.version();
  EXPECT_EQ(error_of([&] { ops::add(x, 300, ops::Out::inplace(x)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::fill_(x, 300); }).code(), Code::kValue);
  const auto pad = [&] { ops::pad(x, Dims{0, 0}, "constant", 300, ops::Out::into(x)); };
  EXPECT_EQ(error_of(pad).code(), Code::kValue);
  EXPECT_EQ(x.version(), version);
  EXPECT_EQ(values(x), (std::vector<double>{1, 5, 200}));
}

// For numbers outside the dtype's range in both directions, on both sides of the comparison.
TEST(Numbers, comparisons_are_right_beyond_the_range) {
  struct Row {
    const ops::Binary& op;
    bool (*meaning)(int64_t a, int64_t b);
  };
  const Row rows[] = {
      {ops::equal, [](int64_t a, int64_t b) { return a == b; }},
      {ops::not_equal, [](int64_t a, int64_t b) { return a != b; }},
      {ops::less, [](int64_t a, int64_t b) { return a < b; }},
      {ops::less_equal, [](int64_t a, int64_t b) { return a <= b; }},
      {ops::greater, [](int64_t a, int64_t b) { return a > b; }},
      {ops::greater_equal, [](int64_t a, int64_t b) { return a >= b; }},
      {ops::logical_and, [](int64_t a, int64_t b) { return a != 0 && b != 0; }},
      {ops::logical_or, [](int64_t a, int64_t b) { return a != 0 || b != 0; }},
      {ops::logical_xor, [](int64_t a, int64_t b) { return (a != 0) != (b != 0); }},
  };
  const std::vector<uint8_t> held{0, 1, 44, 255};
  const Tensor x = tensor(Dims{4}, held);
  for (const Row& row : rows) {
    for (const int64_t number :
         {int64_t{-256}, int64_t{-1}, int64_t{256}, int64_t{300}, INT64_MAX}) {
      const Tensor right = row.op(x, number);
      const Tensor left = row.op(number, x);
      for (size_t i = 0; i < held.size(); ++i) {
        EXPECT_EQ(right.data_as<bool>()[i], row.meaning(held[i], number)) << number;
        EXPECT_EQ(left.data_as<bool>()[i], row.meaning(number, held[i])) << number;
      }
    }
  }
}

TEST(Numbers, a_bound_beyond_the_range_limits_nothing) {
  EXPECT_EQ(values(ops::clip(bytes(), {}, Scalar(300))), (std::vector<double>{1, 5, 200}));
  EXPECT_EQ(values(ops::clip(bytes(), Scalar(-7), {})), (std::vector<double>{1, 5, 200}));
  EXPECT_EQ(values(ops::clip(bytes(), Scalar(-7), Scalar(100))), (std::vector<double>{1, 5, 100}));
}

// A value that int64 cannot represent becomes INT64_MIN, which is truncated to the type; the same
// in single elements, in whole vectors and in the rest behind them.
template <class Float, class Int>
void expect_defined_casts() {
  const Float limits[] = {Float(0x1p63),
                          Float(-0x1p63),
                          Float(1e30),
                          Float(-1e30),
                          Float(3.75),
                          Float(-3.75),
                          std::numeric_limits<Float>::infinity(),
                          -std::numeric_limits<Float>::infinity(),
                          std::numeric_limits<Float>::quiet_NaN()};
  for (const int64_t count : {1, 16, 67}) {
    for (const Float value : limits) {
      const bool inside = value >= Float(-0x1p63) && value < Float(0x1p63);
      const Int wanted = static_cast<Int>(inside ? static_cast<int64_t>(value) : INT64_MIN);
      const Tensor from =
          tensor(Dims{count}, std::vector<Float>(static_cast<size_t>(count), value));
      const Tensor to = ops::astype(from, dtype_of<Int>());
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(to.data_as<Int>()[i], wanted) << value << " at " << i << " of " << count;
    }
  }
}

TEST(Numbers, casts_of_floats_that_no_integer_holds_are_defined) {
  expect_defined_casts<float, int64_t>();
  expect_defined_casts<float, int32_t>();
  expect_defined_casts<float, uint8_t>();
  expect_defined_casts<double, int64_t>();
  expect_defined_casts<double, int16_t>();
  expect_defined_casts<double, uint32_t>();
  const Tensor upper = ops::astype(f64(Dims{3}, {0x1.8p63, 0x1p64, -1}), DType::kUInt64);
  EXPECT_EQ(upper.data_as<uint64_t>()[0], uint64_t{3} << 62);
  EXPECT_EQ(upper.data_as<uint64_t>()[1], 0U);
  EXPECT_EQ(upper.data_as<uint64_t>()[2], UINT64_MAX);
}

}  // namespace
}  // namespace tsr::test_numbers
