// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/shape.h"

#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_shape {
namespace {

const Tensor matrix() {
  return f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(Reshape, shares_memory_where_strides_allow_and_copies_elsewhere) {
  const Tensor x = matrix();
  EXPECT_EQ(ops::reshape(x, Dims{3, -1}).data(), x.data());
  EXPECT_EQ(ops::reshape(x, Dims{3, -1}).sizes(), (Dims{3, 2}));
  const Tensor turned = ops::matrix_transpose(x);
  const Tensor copied = ops::reshape(turned, Dims{6});
  EXPECT_NE(copied.data(), x.data());
  EXPECT_EQ(values(copied), (Numbers{1, 4, 2, 5, 3, 6}));
}

TEST(Reshape, copy_decides_between_view_and_memory_of_its_own) {
  const Tensor x = matrix();
  EXPECT_NE(ops::reshape(x, Dims{6}, true).data(), x.data());
  EXPECT_EQ(ops::reshape(x, Dims{6}, false).data(), x.data());
  const Error error = error_of([&] { ops::reshape(ops::matrix_transpose(x), Dims{6}, false); });
  EXPECT_EQ(error.code(), Code::kValue);
  EXPECT_STREQ(error.arg(), "copy");
}

TEST(Reshape, refuses_shapes_of_other_sizes_and_two_unknowns) {
  EXPECT_EQ(error_of([] { ops::reshape(matrix(), Dims{4}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::reshape(matrix(), Dims{-1, -1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::reshape(matrix(), Dims{-2, -3}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::reshape(matrix(), Dims{INT64_MAX, 4}); }).code(), Code::kShape);
  const Tensor none = f32(Dims{0, 3}, {});
  EXPECT_EQ(ops::reshape(none, Dims{3, 0, 7}).sizes(), (Dims{3, 0, 7}));
  EXPECT_EQ(error_of([&] { ops::reshape(none, Dims{0, -1}); }).code(), Code::kShape);
}

TEST(View, never_copies) {
  const Error error = error_of([] { ops::view(ops::matrix_transpose(matrix()), Dims{6}); });
  EXPECT_EQ(error.code(), Code::kValue);
  EXPECT_NE(error.message().find("reshape"), std::string::npos);
}

TEST(Flatten, merges_a_range_of_axes) {
  const Tensor x = ops::reshape(ops::broadcast_to(matrix(), Dims{4, 2, 3}), Dims{4, 2, 3}, true);
  EXPECT_EQ(ops::flatten(x).sizes(), (Dims{24}));
  EXPECT_EQ(ops::flatten(x, 1).sizes(), (Dims{4, 6}));
  EXPECT_EQ(ops::flatten(x, 0, -2).sizes(), (Dims{8, 3}));
  EXPECT_EQ(ops::flatten(f32({}, {5})).sizes(), (Dims{1}));
  EXPECT_EQ(error_of([&] { ops::flatten(x, 2, 1); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::flatten(x, 0, 3); }).code(), Code::kIndex);
}

TEST(Squeeze, drops_only_axes_of_size_one) {
  const Tensor x = ops::reshape(matrix(), Dims{1, 2, 1, 3});
  EXPECT_EQ(ops::squeeze(x, Dims{0, -2}).sizes(), (Dims{2, 3}));
  EXPECT_EQ(ops::squeeze(x, {}).sizes(), x.sizes());
  EXPECT_EQ(error_of([&] { ops::squeeze(x, Dims{1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::squeeze(x, Dims{0, 0}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::squeeze(x, Dims{4}); }).code(), Code::kIndex);
}

TEST(ExpandDims, inserts_the_axis_where_the_result_has_it) {
  EXPECT_EQ(ops::expand_dims(matrix(), 0).sizes(), (Dims{1, 2, 3}));
  EXPECT_EQ(ops::expand_dims(matrix(), -1).sizes(), (Dims{2, 3, 1}));
  EXPECT_EQ(ops::expand_dims(f32({}, {5}), 0).sizes(), (Dims{1}));
  EXPECT_EQ(error_of([] { ops::expand_dims(matrix(), 3); }).code(), Code::kIndex);
  Tensor deep = f32({}, {1});
  for (int i = 0; i < 64; ++i) deep = ops::expand_dims(deep, 0);
  EXPECT_EQ(error_of([&] { ops::expand_dims(deep, 0); }).code(), Code::kShape);
}

TEST(Permute, reorders_axes_without_touching_memory) {
  const Tensor x = ops::reshape(matrix(), Dims{1, 2, 3});
  EXPECT_EQ(ops::permute_dims(x, Dims{2, 0, -2}).sizes(), (Dims{3, 1, 2}));
  EXPECT_EQ(values(ops::transpose(matrix(), 0, 1)), (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(ops::moveaxis(x, Dims{0}, Dims{-1}).sizes(), (Dims{2, 3, 1}));
  EXPECT_EQ(ops::moveaxis(x, Dims{2, 0}, Dims{0, 1}).sizes(), (Dims{3, 1, 2}));
  EXPECT_EQ(error_of([&] { ops::permute_dims(x, Dims{0, 1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::permute_dims(x, Dims{0, 1, 1}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::moveaxis(x, Dims{0}, Dims{}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::matrix_transpose(f32(Dims{3}, {1, 2, 3})); }).code(), Code::kShape);
}

TEST(Broadcast, repeats_without_memory_and_refuses_writes) {
  const Tensor x = ops::broadcast_to(f32(Dims{2, 1}, {1, 2}), Dims{3, 2, 2});
  EXPECT_EQ(values(x), (Numbers{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(error_of([&] { ops::fill_(x, 0); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::add(x, 1, ops::Out::inplace(x)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::broadcast_to(matrix(), Dims{3}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::broadcast_to(matrix(), Dims{2, 4}); }).code(), Code::kShape);
}

TEST(Expand, keeps_sizes_that_are_minus_one) {
  const Tensor x = f32(Dims{2, 1}, {1, 2});
  EXPECT_EQ(ops::expand(x, Dims{4, -1, 3}).sizes(), (Dims{4, 2, 3}));
  EXPECT_EQ(error_of([&] { ops::expand(x, Dims{-1, 2, 3}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::expand(x, Dims{2}); }).code(), Code::kShape);
}

TEST(ShapeViews, carry_writes_and_gradients_to_their_base) {
  const Tensor x = random_leaf(Dims{2, 3}, 1);
  const Tensor y = ops::multiply(x, 1);
  const Tensor view = ops::transpose(ops::reshape(y, Dims{3, 2}), 0, 1);
  ops::multiply(view, 3, ops::Out::inplace(view));
  EXPECT_EQ(values(y), values(ops::multiply(x, 3)));
  backward(std::array{ops::sum(y)}, std::array{Tensor()});
  EXPECT_EQ(values(grad_of(x)), (Numbers{3, 3, 3, 3, 3, 3}));
}

TEST(ShapeViews, of_other_dtypes_work) {
  const Tensor x = i64(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values<int64_t>(ops::matrix_transpose(x)), (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
}

const struct {
  const char* name;
  Tensor (*call)(const Tensor& x);
} kRows[] = {
    {"reshape",
     [](const Tensor& x) {
       return ops::reshape(x, Dims{4, -1});
     }},
    {"reshape copy", [](const Tensor& x) { return ops::reshape(x, Dims{12}, true); }},
    {"reshape of transposed",
     [](const Tensor& x) { return ops::reshape(ops::transpose(x, 0, 2), Dims{12}); }},
    {"view",
     [](const Tensor& x) {
       return ops::view(x, Dims{6, 2});
     }},
    {"flatten", [](const Tensor& x) { return ops::flatten(x, 1); }},
    {"squeeze",
     [](const Tensor& x) {
       return ops::squeeze(ops::reshape(x, Dims{2, 1, 6}), Dims{1});
     }},
    {"expand_dims", [](const Tensor& x) { return ops::expand_dims(x, 1); }},
    {"permute_dims",
     [](const Tensor& x) {
       return ops::permute_dims(x, Dims{2, 0, 1});
     }},
    {"transpose", [](const Tensor& x) { return ops::transpose(x, 0, -1); }},
    {"matrix_transpose", [](const Tensor& x) { return ops::matrix_transpose(x); }},
    {"moveaxis", [](const Tensor& x) { return ops::moveaxis(x, Dims{0}, Dims{2}); }},
    {"broadcast_to",
     [](const Tensor& x) {
       return ops::broadcast_to(x, Dims{2, 2, 3, 2});
     }},
    {"expand",
     [](const Tensor& x) {
       return ops::expand(ops::expand_dims(x, 0), Dims{3, -1, -1, -1});
     }},
};

TEST(ShapeGradients, agree_with_differences_once_and_twice) {
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    // Squared, so that the second derivative is not zero.
    const auto fn = [&](Inputs x) {
      const Tensor y = row.call(x[0]);
      return ops::multiply(y, y);
    };
    const std::vector<Tensor> inputs{random_leaf(Dims{2, 3, 2}, 3)};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

}  // namespace
}  // namespace tsr::test_shape
