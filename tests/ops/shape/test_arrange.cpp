// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/arrange.h"

#include "ops/pointwise/unary.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_arrange {
namespace {

using ops::Out;

Tensor grid() {
  return f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(Concat, joins_and_promotes) {
  const Tensor joined = ops::concat(std::array{grid(), i64(Dims{1, 3}, {7, 8, 9})}, 0);
  EXPECT_EQ(joined.dtype(), DType::kFloat32);
  EXPECT_EQ(values(joined), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(values(ops::concat(std::array{grid(), ops::matrix_transpose(grid())}, std::nullopt)),
            (Numbers{1, 2, 3, 4, 5, 6, 1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(error_of([] { ops::concat({}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] {
              ops::concat(std::array{grid(), f32(Dims{2, 2}, {1, 2, 3, 4})});
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([] {
              ops::concat(std::array{grid(), f32(Dims{0}, {})});
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([] { ops::concat(std::array{f32({}, {1})}); }).code(), Code::kShape);
}

TEST(Concat, out_form_resizes_and_may_overlap_an_input) {
  const Tensor out = f32(Dims{1}, {0});
  ops::concat(std::array{grid(), grid()}, 1, Out::into(out));
  EXPECT_EQ(out.sizes(), (Dims{2, 6}));
  ops::concat(std::array{i64(Dims{1}, {9}), ops::reshape(grid(), Dims{-1})}, 0, Out::into(out));
  EXPECT_EQ(values(out), (Numbers{9, 1, 2, 3, 4, 5, 6}));
  const Tensor x = f32(Dims{4}, {1, 2, 3, 4});
  const Tensor left = ops::narrow(x, 0, 0, 2);
  const Tensor right = ops::narrow(x, 0, 2, 2);
  ops::concat(std::array{right, left}, 0, Out::into(x));
  EXPECT_EQ(values(x), (Numbers{3, 4, 1, 2}));
}

TEST(Stack, adds_an_axis) {
  EXPECT_EQ(ops::stack(std::array{grid(), grid()}, 1).sizes(), (Dims{2, 2, 3}));
  EXPECT_EQ(values(ops::stack(std::array{f32({}, {1}), f32({}, {2})})), (Numbers{1, 2}));
  EXPECT_EQ(ops::stack(std::array{grid()}, -1).sizes(), (Dims{2, 3, 1}));
  EXPECT_EQ(error_of([] {
              ops::stack(std::array{grid(), f32(Dims{3}, {1, 2, 3})});
            }).code(),
            Code::kShape);
}

TEST(Tile, repeats_the_whole_tensor) {
  EXPECT_EQ(values(ops::tile(f32(Dims{2}, {1, 2}), Dims{2, 2})), (Numbers{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values(ops::tile(ops::matrix_transpose(grid()), Dims{2})),
            (Numbers{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6}));
  EXPECT_EQ(ops::tile(grid(), Dims{0, 2}).sizes(), (Dims{0, 6}));
  EXPECT_EQ(error_of([] { ops::tile(grid(), Dims{-1}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::tile(grid(), Dims{INT64_MAX}); }).code(), Code::kShape);
}

TEST(Repeat, repeats_each_element) {
  EXPECT_EQ(values(ops::repeat(grid(), 2, 1)), (Numbers{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  EXPECT_EQ(values(ops::repeat(f32(Dims{2}, {1, 2}), 3)), (Numbers{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(values(ops::repeat(grid(), i64(Dims{2}, {0, 2}), 0)), (Numbers{4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(values(ops::repeat(grid(), i64({}, {2}), 0)),
            (Numbers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(values(ops::repeat(f32({}, {7}), 2)), (Numbers{7, 7}));
  EXPECT_EQ(error_of([] { ops::repeat(grid(), -1); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::repeat(grid(), i64(Dims{2}, {1, -2}), 0); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::repeat(grid(), i64(Dims{2}, {1, 2}), 1); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::repeat(grid(), f32({}, {2}), 1); }).code(), Code::kDType);
}

TEST(Flip, reverses_axes) {
  EXPECT_EQ(values(ops::flip(grid())), (Numbers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(values(ops::flip(grid(), Dims{-1})), (Numbers{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(values(ops::flip(grid(), Dims{})), values(grid()));
  EXPECT_EQ(values(ops::flip(f32({}, {7}))), (Numbers{7}));
  const Tensor x = grid();
  ops::flip(x, Dims{0}, Out::into(x));
  EXPECT_EQ(values(x), (Numbers{4, 5, 6, 1, 2, 3}));
}

TEST(Roll, moves_elements_around) {
  EXPECT_EQ(values(ops::roll(grid(), Dims{1})), (Numbers{6, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(ops::roll(grid(), Dims{-1, 4}, Dims{0, 1})), (Numbers{6, 4, 5, 3, 1, 2}));
  EXPECT_EQ(values(ops::roll(grid(), Dims{1, 1}, Dims{1, 1})), (Numbers{2, 3, 1, 5, 6, 4}));
  EXPECT_EQ(values(ops::roll(grid(), Dims{INT64_MIN}, Dims{1})),
            values(ops::roll(grid(), Dims{INT64_MIN % 3}, Dims{1})));
  EXPECT_EQ(error_of([] { ops::roll(grid(), Dims{1, 2}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::roll(grid(), Dims{1, 2}, Dims{0}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { ops::roll(grid(), Dims{1}, Dims{2}); }).code(), Code::kIndex);
}

TEST(Triangle, keeps_one_side_of_a_diagonal) {
  EXPECT_EQ(values(ops::tril(grid())), (Numbers{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values(ops::triu(grid())), (Numbers{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(values(ops::tril(grid(), -1)), (Numbers{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(values(ops::triu(grid(), INT64_MAX)), (Numbers{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(ops::tril(grid(), INT64_MAX)), values(grid()));
  const Tensor x = grid();
  ops::triu(x, 1, Out::inplace(x));
  EXPECT_EQ(values(x), (Numbers{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(error_of([] { ops::tril(f32(Dims{3}, {1, 2, 3})); }).code(), Code::kShape);
}

TEST(Pad, fills_mirrors_holds_and_wraps) {
  const Tensor x = f32(Dims{3}, {1, 2, 3});
  EXPECT_EQ(values(ops::pad(x, Dims{1, 2}, "constant", 9)), (Numbers{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(values(ops::pad(x, Dims{-1, 1})), (Numbers{2, 3, 0}));
  EXPECT_EQ(values(ops::pad(x, Dims{2, 2}, "reflect")), (Numbers{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(values(ops::pad(x, Dims{2, 4}, "replicate")), (Numbers{1, 1, 1, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(values(ops::pad(x, Dims{2, 3}, "circular")), (Numbers{2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values(ops::pad(x, Dims{-1, 2}, "reflect")), (Numbers{2, 3, 2, 1}));
  EXPECT_EQ(values(ops::pad(grid(), Dims{0, 1, 1, 0})),
            (Numbers{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0}));
}

TEST(Pad, refuses_what_the_mode_cannot_do) {
  const Tensor x = f32(Dims{3}, {1, 2, 3});
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{3, 0}, "reflect"); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{4, 0}, "circular"); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::pad(f32(Dims{0}, {}), Dims{1, 0}, "replicate");
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{1}); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{1, 1, 1, 1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{-2, -2}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{INT64_MAX, 1}); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{1, 1}, "mirror"); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] {
              ops::pad(i64(Dims{1}, {1}), Dims{1, 1}, "constant", 0.5);
            }).code(),
            Code::kDType);
}

const struct {
  const char* name;
  Tensor (*call)(const Tensor& x);
} kRows[] = {
    {"concat",
     [](const Tensor& x) {
       return ops::concat(std::array{x, ops::flip(x), x}, 1);
     }},
    {"concat flat",
     [](const Tensor& x) {
       return ops::concat(std::array{x, x}, std::nullopt);
     }},
    {"stack",
     [](const Tensor& x) {
       return ops::stack(std::array{x, ops::negative(x)}, 1);
     }},
    {"tile",
     [](const Tensor& x) {
       return ops::tile(x, Dims{2, 1, 3});
     }},
    {"tile away",
     [](const Tensor& x) {
       return ops::tile(x, Dims{0, 1});
     }},
    {"repeat", [](const Tensor& x) { return ops::repeat(x, 3, 0); }},
    {"repeat flat", [](const Tensor& x) { return ops::repeat(x, 2); }},
    {"repeat by counts",
     [](const Tensor& x) {
       return ops::repeat(x, test::i64(Dims{4}, {2, 0, 1, 3}), 1);
     }},
    {"flip", [](const Tensor& x) { return ops::flip(x, Dims{1}); }},
    {"roll",
     [](const Tensor& x) {
       return ops::roll(x, Dims{1, -2}, Dims{0, 1});
     }},
    {"roll flat", [](const Tensor& x) { return ops::roll(x, Dims{5}); }},
    {"tril", [](const Tensor& x) { return ops::tril(x, 1); }},
    {"triu in place",
     [](const Tensor& x) {
       const Tensor y = ops::multiply(x, x);
       return ops::triu(y, 0, Out::inplace(y));
     }},
    {"pad",
     [](const Tensor& x) {
       return ops::pad(x, Dims{1, -1, 2, 0}, "constant", 3);
     }},
    {"pad reflect",
     [](const Tensor& x) {
       return ops::pad(x, Dims{2, 1, 1, 1}, "reflect");
     }},
    {"pad replicate",
     [](const Tensor& x) {
       return ops::pad(x, Dims{2, 1}, "replicate");
     }},
    {"pad circular",
     [](const Tensor& x) {
       return ops::pad(x, Dims{2, 1}, "circular");
     }},
};

TEST(ArrangeGradients, agree_with_differences_once_and_twice) {
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    const auto fn = [&](Inputs x) {
      const Tensor y = row.call(x[0]);
      return ops::multiply(y, y);
    };
    const std::vector<Tensor> inputs{random_leaf(Dims{3, 4}, 7)};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

// An empty input may have any size along its other axes.
TEST(Arrange, repeat_takes_no_time_for_an_empty_tensor) {
  const Tensor none = make_view(f32(Dims{0}, {}), Dims{int64_t{1} << 40, 0, 3}, Dims{0, 0, 1}, 0);
  const Tensor result = ops::repeat(none, i64(Dims{1}, {2}), 0);
  EXPECT_EQ(result.sizes(), (Dims{int64_t{1} << 41, 0, 3}));
}

TEST(Pad, circular_wraps_around_what_cropping_has_left) {
  const Tensor x = f64(Dims{5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(values(ops::pad(x, Dims{-1, 2}, "circular")), (std::vector<double>{1, 2, 3, 4, 1, 2}));
  EXPECT_EQ(values(ops::pad(x, Dims{2, -2}, "circular")), (std::vector<double>{1, 2, 0, 1, 2}));
  EXPECT_EQ(values(ops::pad(x, Dims{-2, -1}, "circular")), (std::vector<double>{2, 3}));
  EXPECT_EQ(error_of([&] { ops::pad(x, Dims{-3, 3}, "circular"); }).code(), Code::kShape);
  // The other borders continue the whole input.
  EXPECT_EQ(values(ops::pad(x, Dims{3, -3}, "reflect")), (std::vector<double>{3, 2, 1, 0, 1}));
}

}  // namespace
}  // namespace tsr::test_arrange
