// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers of the host as arguments: which fields are read, which numbers are refused, and truth
// values with bool tensors.
#include <string>

#include "capi/abi_support.h"

namespace test_numbers {

using namespace tsr::test;

namespace {

constexpr double kGarbage = std::numeric_limits<double>::signaling_NaN();

std::string last_error() {
  tsr_error_view view{};
  view.struct_size = sizeof view;
  ok(tsr_error_last(&view));
  return {view.message, static_cast<size_t>(view.message_len)};
}

TEST(Numbers, of_each_kind_are_read_from_their_own_fields) {
  const Tensor x(reals(TSR_FLOAT32, {1}, {2}));
  Tensor y;
  const tsr_number truth = {TSR_NUMBER_BOOL, 0, 1, kGarbage, kGarbage};
  const tsr_number integer = {TSR_NUMBER_INTEGER, 0, 40, kGarbage, kGarbage};
  const tsr_number real = {TSR_NUMBER_REAL, 0, INT64_MIN, 0.5, kGarbage};
  const tsr_number pair = {TSR_NUMBER_COMPLEX, 0, INT64_MIN, 0.5, -1};
  ok(tsr_add_scalar(x, &truth, y.slot()));
  same(y, reals(TSR_FLOAT32, {1}, {3}));
  ok(tsr_add_scalar(x, &integer, y.slot()));
  same(y, reals(TSR_FLOAT32, {1}, {42}));
  ok(tsr_add_scalar(x, &real, y.slot()));
  same(y, reals(TSR_FLOAT32, {1}, {2.5}));
  ok(tsr_add_scalar(x, &pair, y.slot()));
  same(y, complexes(TSR_COMPLEX64, {1}, {2.5, -1}));
}

TEST(Numbers, keep_64_bits_of_integers) {
  const Tensor x(ints(TSR_INT64, {1}, {0}));
  Tensor y;
  ok(tsr_add_scalar(x, TSR_I64(INT64_MAX - 1), y.slot()));
  same(y, ints(TSR_INT64, {1}, {INT64_MAX - 1}));
  tsr_number back;
  ok(tsr_tensor_item(y, &back));
  EXPECT_EQ(back.kind, TSR_NUMBER_INTEGER);
  EXPECT_EQ(back.integer, INT64_MAX - 1);
}

TEST(Numbers, beyond_int64_are_unsigned_and_fit_uint64_alone) {
  constexpr uint64_t kLargest = ~uint64_t{0};
  const Tensor x(ints(TSR_UINT64, {2}, {0, 7}));
  Tensor y;
  ok(tsr_add_scalar(x, TSR_U64(kLargest), y.slot()));
  tsr_number back;
  Tensor sum;
  ok(tsr_select(y, 0, 0, sum.slot()));
  ok(tsr_tensor_item(sum, &back));
  EXPECT_EQ(static_cast<uint64_t>(back.integer), kLargest);
  ok(tsr_select(y, 0, 1, sum.slot()));
  ok(tsr_tensor_item(sum, &back));
  EXPECT_EQ(back.integer, 6);
  // Smaller numbers of the kind are ordinary integers; floating tensors round the others.
  ok(tsr_add_scalar(Tensor(ints(TSR_INT8, {1}, {2})), TSR_U64(3), y.slot()));
  same(y, ints(TSR_INT8, {1}, {5}));
  ok(tsr_add_scalar(Tensor(reals(TSR_FLOAT64, {1}, {0})), TSR_U64(kLargest), y.slot()));
  same(y, reals(TSR_FLOAT64, {1}, {0x1p64}));
  ok(tsr_less_scalar(Tensor(ints(TSR_INT64, {1}, {INT64_MAX})), TSR_U64(kLargest), y.slot()));
  ok(tsr_tensor_item(y, &back));
  EXPECT_EQ(back.integer, 1);
  refused(tsr_add_scalar(Tensor(ints(TSR_INT64, {1}, {2})), TSR_U64(kLargest), y.slot()),
          TSR_VALUE);
  EXPECT_NE(last_error().find("18446744073709551615"), std::string::npos) << last_error();
}

TEST(Numbers, that_are_none_are_refused_by_name) {
  const Tensor x(reals(TSR_FLOAT32, {1}, {2}));
  Tensor y;
  refused(tsr_add_scalar(x, nullptr, y.slot()), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(), "add: other: expected a number, got NULL");
  refused(tsr_add_scalar(x, kNoNumbers + 1, y.slot()), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(), "add: other: expected a number of a kind TSR_NUMBER_, got 6");
  refused(tsr_add_scalar(x, kNoNumbers + 2, y.slot()), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(), "add: other: expected a number whose field reserved is 0, got 1");
  refused(tsr_add_scalar(x, kNoNumbers + 3, y.slot()), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(),
            "add: other: expected a bool number whose field integer is 0 or 1, got 2");
  const tsr_number negative = {-1, 0, 0, 0, 0};
  refused(tsr_subtract_scalar_left(&negative, x, y.slot()), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(), "subtract: input: expected a number of a kind TSR_NUMBER_, got -1");
}

TEST(Numbers, of_a_kind_that_an_op_does_not_take_are_refused_by_name) {
  const Tensor x(reals(TSR_FLOAT32, {1}, {2}));
  Tensor y;
  refused(tsr_clip_scalars(x, nullptr, TSR_C128(0, 1), y.slot()), TSR_TYPE);
  EXPECT_EQ(last_error(),
            "clip: max: expected a number of the kind bool, integer, real, got complex");
  refused(tsr_bitwise_and_scalar(x, TSR_I64(1), y.slot()), TSR_DTYPE);
  refused(tsr_maximum_scalar(x, TSR_C128(0, 1), y.slot()), TSR_DTYPE);
}

// Regression: they were integers if an op had no form for them, and bools became integers.
TEST(Numbers, that_are_truth_values_leave_bools_bools) {
  const Tensor mask(ints(TSR_BOOL, {2}, {1, 0}));
  const Literal all = ints(TSR_BOOL, {2}, {1, 1});
  const Literal none = ints(TSR_BOOL, {2}, {0, 0});
  Tensor y;
  ok(tsr_add_scalar(mask, TSR_TRUTH(true), y.slot()));
  same(y, all);
  ok(tsr_bitwise_and_scalar(mask, TSR_TRUTH(false), y.slot()));
  same(y, none);
  ok(tsr_logical_or_scalar(mask, TSR_TRUTH(true), y.slot()));
  same(y, all);
  ok(tsr_maximum_scalar(mask, TSR_TRUTH(true), y.slot()));
  same(y, all);
  ok(tsr_where_scalars(mask, TSR_TRUTH(false), TSR_TRUTH(false), y.slot()));
  same(y, none);
  ok(tsr_clip_scalars(mask, TSR_TRUTH(true), nullptr, y.slot()));
  same(y, all);
  ok(tsr_fill_inplace(mask, TSR_TRUTH(true)));
  same(mask, all);
  refused(tsr_subtract_scalar(mask, TSR_TRUTH(true), y.slot()), TSR_DTYPE);
}

TEST(Numbers, out_of_tensors_have_every_field_that_means_something) {
  tsr_number value;
  ok(tsr_tensor_item(Tensor(ints(TSR_BOOL, {}, {1})), &value));
  EXPECT_EQ(value.kind, TSR_NUMBER_BOOL);
  EXPECT_EQ(value.integer, 1);
  EXPECT_EQ(value.real, 1.0);
  ok(tsr_tensor_item(Tensor(ints(TSR_UINT64, {1}, {-1})), &value));
  EXPECT_EQ(value.kind, TSR_NUMBER_INTEGER);
  EXPECT_EQ(value.integer, -1);
  EXPECT_EQ(value.real, 18446744073709551616.0);
  ok(tsr_tensor_item(Tensor(reals(TSR_BFLOAT16, {1}, {1.5})), &value));
  EXPECT_EQ(value.kind, TSR_NUMBER_REAL);
  EXPECT_EQ(value.real, 1.5);
  EXPECT_EQ(value.imaginary, 0.0);
  ok(tsr_tensor_item(Tensor(complexes(TSR_COMPLEX64, {1}, {1.5, -2})), &value));
  EXPECT_EQ(value.kind, TSR_NUMBER_COMPLEX);
  EXPECT_EQ(value.real, 1.5);
  EXPECT_EQ(value.imaginary, -2.0);
  EXPECT_EQ(value.reserved, 0);
}

}  // namespace
}  // namespace test_numbers
