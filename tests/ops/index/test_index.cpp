// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/index.h"

#include <array>
#include <functional>

#include "ops/create/create.h"
#include "ops/index/getitem.h"
#include "ops/index/mask.h"
#include "ops/index/scatter.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_index {
namespace {

using ops::Out;

Tensor grid() {
  return f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(IndexSelect, takes_slices_in_the_order_of_the_index) {
  EXPECT_EQ(values(ops::index_select(grid(), 1, i64(Dims{2}, {2, 0}))), (Numbers{3, 1, 6, 4}));
  EXPECT_EQ(values(ops::index_select(grid(), 0, tensor<int32_t>(Dims{1}, {1}))),
            (Numbers{4, 5, 6}));
  EXPECT_EQ(ops::index_select(grid(), 0, i64(Dims{0}, {})).sizes(), (Dims{0, 3}));
  EXPECT_EQ(error_of([] {
              ops::index_select(grid(), 0, i64(Dims{1, 1}, {0}));
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([] { ops::index_select(grid(), 2, i64(Dims{1}, {0})); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([] { ops::index_select(grid(), 0, f32(Dims{1}, {0})); }).code(), Code::kDType);
}

TEST(IndexSelect, names_the_index_that_is_out_of_range) {
  const Error error = error_of([] { ops::index_select(grid(), 1, i64(Dims{3}, {0, 7, -9})); });
  EXPECT_EQ(error.code(), Code::kIndex);
  EXPECT_NE(error.message().find("got 7"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("axis 1"), std::string::npos) << error.message();
}

TEST(IndexSelect, finds_the_one_index_that_is_out_of_range_anywhere) {
  for (const int64_t wrong : {INT64_MIN, INT64_MIN + 1, int64_t{-4}, int64_t{3}, INT64_MAX}) {
    for (size_t place = 0; place < 19; ++place) {
      std::vector<int64_t> indices(19, -3);
      EXPECT_NO_THROW(ops::take(grid(), tensor(Dims{19}, indices), 1));
      indices[place] = wrong;
      const Tensor index = tensor(Dims{19}, indices);
      EXPECT_EQ(error_of([&] { ops::take(grid(), index, 1); }).code(), Code::kIndex);
      std::vector<int64_t> from_start(19, 2);
      from_start[place] = wrong;
      const Tensor plain = tensor(Dims{19}, from_start);
      EXPECT_EQ(error_of([&] { ops::index_select(grid(), 1, plain); }).code(), Code::kIndex);
      from_start[place] = -1;
      const Tensor negative = tensor(Dims{19}, from_start);
      EXPECT_EQ(error_of([&] { ops::index_select(grid(), 1, negative); }).code(), Code::kIndex);
      indices.resize(38);
      const Tensor strided = ops::matrix_transpose(tensor(Dims{2, 19}, indices));
      EXPECT_EQ(error_of([&] { ops::take(grid(), strided, 1); }).code(), Code::kIndex);
    }
  }
}

TEST(Take, replaces_the_axis_by_the_dims_of_the_indices) {
  EXPECT_EQ(ops::take(grid(), i64(Dims{2, 2}, {0, 1, 2, 0}), 1).sizes(), (Dims{2, 2, 2}));
  EXPECT_EQ(values(ops::take(grid(), i64({}, {1}), 1)), (Numbers{2, 5}));
  EXPECT_EQ(values(ops::take(f32(Dims{3}, {7, 8, 9}), i64(Dims{2}, {-1, 0}))), (Numbers{9, 7}));
  EXPECT_EQ(values(ops::take(grid(), i64(Dims{1}, {-1}))), (Numbers{values(grid()).back()}));
  EXPECT_EQ(error_of([] { ops::take(f32(Dims{0}, {}), i64(Dims{1}, {0})); }).code(), Code::kIndex);
}

TEST(Take, checks_the_indices_also_when_nothing_is_read) {
  EXPECT_EQ(error_of([] {
              ops::take(f32(Dims{2, 0}, {}), i64(Dims{1}, {2}), 0);
            }).code(),
            Code::kIndex);
  EXPECT_EQ(ops::take(f32(Dims{0, 2}, {}), i64(Dims{0}, {}), 0).sizes(), (Dims{0, 2}));
}

TEST(Take, works_for_every_dtype_and_layout) {
  for (int k = 0; k < kDTypeCount; ++k) {
    const Tensor x = ops::astype(grid(), static_cast<DType>(k), true);
    const Tensor wide = is_complex(x.dtype()) ? ops::real_part(x) : x;
    const Tensor turned = ops::matrix_transpose(wide);
    EXPECT_EQ(values(ops::take(wide, i64(Dims{2}, {1, 1}), 0)),
              values(ops::matrix_transpose(ops::take(turned, i64(Dims{2}, {1, 1}), 1))))
        << name(x.dtype());
  }
}

TEST(Gather, reads_one_position_per_element) {
  const Tensor index = i64(Dims{2, 2}, {0, 2, 1, 2});
  EXPECT_EQ(values(ops::gather(grid(), 1, index)), (Numbers{1, 3, 5, 6}));
  EXPECT_EQ(values(ops::gather(grid(), 0, i64(Dims{1, 2}, {1, 0}))), (Numbers{4, 2}));
  EXPECT_EQ(values(ops::gather(f32({}, {7}), 0, i64({}, {0}))), (Numbers{7}));
  EXPECT_EQ(error_of([] {
              ops::gather(grid(), 1, i64(Dims{3, 1}, {0, 0, 0}));
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([] { ops::gather(grid(), 1, i64(Dims{1}, {0})); }).code(), Code::kShape);
  EXPECT_EQ(error_of([] { ops::gather(grid(), 1, i64(Dims{1, 1}, {3})); }).code(), Code::kIndex);
}

TEST(TakeAlongAxis, broadcasts_the_other_axes) {
  EXPECT_EQ(values(ops::take_along_axis(grid(), i64(Dims{1, 2}, {2, 0}), 1)),
            (Numbers{3, 1, 6, 4}));
  EXPECT_EQ(ops::take_along_axis(f32(Dims{1, 3}, {1, 2, 3}), i64(Dims{4, 1}, {0, 1, 2, 0})).sizes(),
            (Dims{4, 1}));
  EXPECT_EQ(error_of([] {
              ops::take_along_axis(grid(), i64(Dims{2}, {0, 0}));
            }).code(),
            Code::kShape);
}

TEST(ScatterAdd, counts_every_occurrence) {
  const Tensor zero = ops::zeros(Dims{2, 3}, DType::kFloat32);
  const Tensor index = i64(Dims{2, 2}, {0, 0, 2, 2});
  EXPECT_EQ(values(ops::scatter_add(zero, 1, index, f32(Dims{2, 2}, {1, 2, 3, 4}))),
            (Numbers{3, 0, 0, 0, 0, 7}));
  const Tensor x = grid();
  ops::scatter_add(x, 0, i64(Dims{1, 3}, {1, 1, 0}), f32(Dims{2, 4}, {1, 2, 3, 9, 9, 9, 9, 9}),
                   Out::inplace(x));
  EXPECT_EQ(values(x), (Numbers{1, 2, 6, 5, 7, 6}));
  EXPECT_EQ(error_of([&] {
              ops::scatter_add(x, 1, index, f32(Dims{2, 1}, {1, 2}));
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::scatter_add(i64(Dims{1}, {0}), 0, i64(Dims{1}, {0}), f32(Dims{1}, {1}));
            }).code(),
            Code::kDType);
}

TEST(ScatterAdd, leaves_the_input_alone_when_an_index_is_out_of_range) {
  const Tensor x = grid();
  EXPECT_EQ(
      error_of([&] {
        ops::scatter_add(x, 1, i64(Dims{1, 2}, {0, 5}), f32(Dims{1, 2}, {1, 2}), Out::inplace(x));
      }).code(),
      Code::kIndex);
  EXPECT_EQ(values(x), values(grid()));
}

TEST(ScatterAdd, sums_sixteen_bit_floats_in_float32) {
  // The sum of 4096 ones: bfloat16 alone would stop at 256.
  const Tensor ones = ops::ones(Dims{4096}, DType::kBFloat16);
  const Tensor index = ops::zeros(Dims{4096}, DType::kInt64);
  const Tensor sum = ops::scatter_add(ops::zeros(Dims{1}, DType::kBFloat16), 0, index, ones);
  EXPECT_EQ(values(sum), (Numbers{4096}));
}

// Large enough for several threads, with many equal positions; compared with a plain loop.
TEST(ScatterAdd, is_the_same_for_any_number_of_threads) {
  constexpr int64_t kCount = 200000;
  constexpr int64_t kPlaces = 1000;
  std::vector<int64_t> places;
  std::vector<float> parts;
  uint32_t state = 1;
  for (int64_t i = 0; i < kCount; ++i) {
    state = state * 1664525 + 1013904223;
    places.push_back(state % kPlaces);
    parts.push_back(static_cast<float>(state >> 8) * 0x1p-24F);
  }
  std::vector<float> expected(kPlaces);
  for (size_t i = 0; i < kCount; ++i) expected[static_cast<size_t>(places[i])] += parts[i];
  const Tensor index = i64(Dims{kCount}, places);
  const Tensor zero = ops::zeros(Dims{kPlaces}, DType::kFloat32);
  EXPECT_EQ(values<float>(ops::scatter_add(zero, 0, index, f32(Dims{kCount}, parts))), expected);
  // The same for columns and rows of a matrix, which divide the work differently.
  const Dims tall{kCount, 3};
  const Tensor sums =
      ops::scatter_add(ops::zeros(Dims{kPlaces, 3}, DType::kFloat32), 0,
                       ops::broadcast_to(ops::expand_dims(index, 1), tall),
                       ops::broadcast_to(ops::expand_dims(f32(Dims{kCount}, parts), 1), tall));
  EXPECT_EQ(values<float>(ops::select(sums, 1, 2)), expected);
}

TEST(Embedding, reads_rows_and_keeps_the_padding_row_fixed) {
  const Tensor weight = random_leaf(Dims{4, 2}, 1);
  const Tensor rows = ops::embedding(i64(Dims{2, 2}, {1, 3, 1, 0}), weight, 3);
  EXPECT_EQ(rows.sizes(), (Dims{2, 2, 2}));
  EXPECT_EQ(values(ops::select(ops::select(rows, 0, 1), 0, 0)), values(ops::select(weight, 0, 1)));
  backward(std::array{ops::sum(rows)}, std::array{Tensor()});
  EXPECT_EQ(values(grad_of(weight)), (Numbers{1, 1, 2, 2, 0, 0, 0, 0}));
  EXPECT_EQ(error_of([&] { ops::embedding(i64(Dims{1}, {4}), weight); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::embedding(i64(Dims{1}, {0}), weight, 4); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::embedding(i64(Dims{1}, {0}), f32(Dims{1}, {0})); }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] { ops::embedding(f32(Dims{1}, {0}), weight); }).code(), Code::kDType);
}

TEST(Embedding, out_form_refuses_a_weight_that_requires_grad) {
  const Tensor out = ops::zeros(Dims{1, 2}, DType::kFloat64);
  const Tensor weight = random_leaf(Dims{4, 2}, 1);
  EXPECT_EQ(error_of([&] { ops::embedding(i64(Dims{1}, {0}), weight, {}, Out::into(out)); }).code(),
            Code::kAutograd);
  ops::embedding(i64(Dims{1}, {2}), weight.detached(), {}, Out::into(out));
  EXPECT_EQ(values(out), values(ops::select(weight, 0, 2)));
}

TEST(IndexGet, refuses_more_arrays_than_the_kernels_take) {
  Tensor deep = f32({}, {1});
  for (int i = 0; i < 9; ++i) deep = ops::expand_dims(deep, 0);
  const std::vector<Tensor> nine(9, i64(Dims{1}, {0}));
  EXPECT_EQ(error_of([&] { ops::index_get(deep, {nine}); }).code(), Code::kNotImplemented);
  EXPECT_EQ(ops::index_get(deep, {std::span(nine).first(8)}).sizes(), (Dims{1, 1}));
}

TEST(MaskedFill, fills_in_the_dtype_of_the_input) {
  const Tensor mask = ops::greater(grid(), 3);
  EXPECT_EQ(values(ops::masked_fill(grid(), mask, 0.5)), (Numbers{1, 2, 3, 0.5, 0.5, 0.5}));
  const Tensor x = i64(Dims{2}, {1, 2});
  ops::masked_fill(x, ops::equal(x, 2), i64({}, {7}), Out::inplace(x));
  EXPECT_EQ(values(x), (Numbers{1, 7}));
  EXPECT_EQ(error_of([&] { ops::masked_fill(x, ops::equal(x, 1), 0.5); }).code(), Code::kDType);
  EXPECT_EQ(error_of([&] { ops::masked_fill(x, x, 0); }).code(), Code::kDType);
  EXPECT_EQ(error_of([&] { ops::masked_fill(x, mask, 0); }).code(), Code::kShape);
}

TEST(MaskedSelect, takes_what_the_mask_shows) {
  EXPECT_EQ(values(ops::masked_select(grid(), ops::greater(f32(Dims{3}, {1, 0, 1}), 0))),
            (Numbers{1, 3, 4, 6}));
  EXPECT_EQ(error_of([] {
              ops::masked_select(grid(), i64(Dims{3}, {1, 0, 1}));
            }).code(),
            Code::kDType);
}

TEST(Nonzero, gives_positions_in_row_major_order) {
  const Tensor x = f32(Dims{2, 3}, {0, -0.0F, 1, NAN, 0, 2});
  const std::vector<Tensor> positions = ops::nonzero(x);
  ASSERT_EQ(positions.size(), 2U);
  EXPECT_EQ(values(positions[0]), (Numbers{0, 1, 1}));
  EXPECT_EQ(values(positions[1]), (Numbers{2, 0, 2}));
  EXPECT_EQ(values(ops::argwhere(ops::matrix_transpose(x))), (Numbers{0, 1, 2, 0, 2, 1}));
  EXPECT_EQ(ops::argwhere(f32({}, {3})).sizes(), (Dims{1, 0}));
  EXPECT_EQ(ops::argwhere(f32({}, {0})).sizes(), (Dims{0, 0}));
  EXPECT_EQ(ops::nonzero(f32(Dims{0, 2}, {}))[1].sizes(), (Dims{0}));
  EXPECT_EQ(error_of([] { ops::nonzero(f32({}, {1})); }).code(), Code::kShape);
}

TEST(Nonzero, counts_across_chunks) {
  constexpr int64_t kCount = 300001;
  std::vector<int64_t> bits(kCount);
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < kCount; i += 7) {
    bits[static_cast<size_t>(i)] = 1;
    expected.push_back(i);
  }
  EXPECT_EQ(values<int64_t>(ops::nonzero(i64(Dims{kCount}, bits))[0]), expected);
}

const struct {
  const char* name;
  Tensor (*call)(Inputs x);
} kRows[] = {
    {"index_select",
     [](Inputs x) {
       return ops::index_select(x[0], 1, i64(Dims{3}, {2, 0, 2}));
     }},
    {"take",
     [](Inputs x) {
       return ops::take(x[0], i64(Dims{2, 2}, {2, 0, 2, 1}), 0);
     }},
    {"gather",
     [](Inputs x) {
       return ops::gather(x[0], 1, i64(Dims{2, 3}, {0, 3, 3, 1, 1, 1}));
     }},
    {"take_along_axis",
     [](Inputs x) {
       return ops::take_along_axis(x[0], i64(Dims{1, 2}, {3, 1}), 1);
     }},
    {"scatter_add",
     [](Inputs x) {
       return ops::scatter_add(x[0], 1, i64(Dims{2, 3}, {0, 3, 3, 1, 1, 1}), x[1]);
     }},
    {"scatter_add in place",
     [](Inputs x) {
       const Tensor y = ops::multiply(x[0], x[0]);
       return ops::scatter_add(y, 0, i64(Dims{1, 4}, {0, 2, 2, 1}), x[1], Out::inplace(y));
     }},
    {"embedding",
     [](Inputs x) {
       return ops::embedding(i64(Dims{2, 2}, {0, 2, 1, 2}), x[0]);
     }},
    {"masked_fill", [](Inputs x) { return ops::masked_fill(x[0], ops::greater(x[0], 0), 2); }},
    {"masked_fill by a tensor",
     [](Inputs x) {
       const Tensor y = ops::multiply(x[0], x[0]);
       return ops::masked_fill(y, ops::greater(x[0], 0), ops::select(x[1], 0, 0), Out::inplace(y));
     }},
    {"masked_select", [](Inputs x) { return ops::masked_select(x[0], ops::greater(x[0], 0)); }},
};

TEST(IndexGradients, agree_with_differences_once_and_twice) {
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    const auto fn = [&](Inputs x) {
      const Tensor y = row.call(x);
      return ops::multiply(y, y);
    };
    const std::vector<Tensor> inputs{random_leaf(Dims{3, 4}, 7), random_leaf(Dims{3, 4}, 8)};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

// Each place of the result has two or three factors: its own and those of the source.
TEST(ScatterReduce, products_are_differentiated_twice_at_zeros) {
  const Tensor index = i64(Dims{4}, {0, 1, 1, 0});
  const Numbers selves[] = {{2, 3}, {0, 3}, {0, 0}};
  const Numbers sources[] = {{2, 3, 4, 5}, {0, 3, 4, 5}, {0, 3, 0, 5}, {0, 0, 0, 0}};
  for (const bool own : {true, false}) {
    for (const Numbers& self : selves) {
      for (const Numbers& source : sources) {
        SCOPED_TRACE(::testing::Message() << own << self[0] << self[1] << source[0] << source[2]);
        const auto fn = [&](Inputs x) {
          return ops::scatter_reduce(x[0], 0, index, x[1], "prod", own);
        };
        const std::vector<Tensor> inputs{f64(Dims{2}, self), f64(Dims{4}, source)};
        for (const Tensor& input : inputs) set_requires_grad(input, true);
        EXPECT_TRUE(gradcheck(fn, inputs));
        EXPECT_TRUE(gradgradcheck(fn, inputs));
      }
    }
  }
}

TEST(ScatterReduce, third_derivative_of_a_product_is_right_or_refused) {
  const auto third = [](const Numbers& factors) {
    const Tensor one = f64(Dims{1}, {1});
    const Tensor s = f64(Dims{static_cast<int64_t>(factors.size())}, factors);
    set_requires_grad(s, true);
    const Tensor index = ops::zeros(s.sizes(), DType::kInt64);
    Tensor y = ops::sum(ops::scatter_reduce(one, 0, index, s, "prod", true));
    const BackwardOptions record{.create_graph = true};
    for (int64_t i = 0; i < 2; ++i) {
      y = ops::select(grad(std::array{y}, std::array{s}, {}, record)[0], 0, i);
    }
    return values(grad(std::array{y}, std::array{s})[0]);
  };
  const Numbers found = third({2, 3, 5});
  EXPECT_NEAR(found[1], 0, 1e-15);
  EXPECT_NEAR(found[2], 1, 1e-15);
  EXPECT_EQ(third({0, 3, 0}), (Numbers{0, 0, 1}));
  EXPECT_EQ(third({0, 0, 3, 5}), (Numbers{0, 0, 5, 3}));
  const Error error = error_of([&] { third({0, 0, 0}); });
  EXPECT_EQ(error.code(), Code::kAutograd);
  EXPECT_NE(error.message().find("expected at most two zeros"), std::string::npos);
}

// The padding row makes the first derivative wrong on purpose; the second one must still be the
// derivative of the first.
TEST(IndexGradients, of_an_embedding_with_padding_can_be_differentiated) {
  const auto fn = [](Inputs x) {
    const Tensor y = ops::embedding(i64(Dims{2, 2}, {0, 2, 1, 2}), x[0], 1);
    return ops::multiply(y, y);
  };
  EXPECT_TRUE(gradgradcheck(fn, {random_leaf(Dims{3, 4}, 7)}));
}

// Two storages on one block of foreign memory, as after two imports of one array.
TEST(Index, put_reads_values_before_it_overwrites_them_through_another_storage) {
  std::vector<double> block{0, 1, 2, 3, 4, 5};
  const auto import = [&](int64_t offset, int64_t count) {
    return make_view(
        Tensor::adopt(new TensorImpl(wrap_storage({}, block.data(), 48, nullptr, nullptr),
                                     DType::kFloat64, Dims{6}, Dims{1}, 0)),
        Dims{count}, Dims{1}, offset);
  };
  const Tensor positions = i64(Dims{5}, {1, 2, 3, 4, 5});
  ops::index_put(import(0, 6), {&positions, 1}, import(0, 5), false,
                 ops::Out::inplace(import(0, 6)));
  EXPECT_EQ(block, (std::vector<double>{0, 0, 1, 2, 3, 4}));
  ops::copy_(import(1, 5), import(0, 5));
  EXPECT_EQ(block, (std::vector<double>{0, 0, 0, 1, 2, 3}));
}

TEST(Index, put_reads_the_positions_before_it_overwrites_them) {
  const Tensor x = i64(Dims{4}, {1, 2, 3, 0});
  ops::index_put(x, {&x, 1}, i64(Dims{4}, {3, 3, 0, 0}), false, ops::Out::inplace(x));
  EXPECT_EQ(values(x), (std::vector<double>{0, 3, 3, 0}));
}

TEST(Index, accumulating_bools_reads_any_byte_that_is_not_0_as_true) {
  const Tensor x = tensor<uint8_t>(Dims{2}, {0, 0});
  const Tensor mask = tensor<uint8_t>(Dims{2}, {2, 0});
  const auto as_bool = [](const Tensor& t) {
    return Tensor::adopt(new TensorImpl(t.storage(), DType::kBool, Dims{2}, Dims{1}, 0));
  };
  const Tensor positions = i64(Dims{2}, {0, 1});
  ops::index_put(as_bool(x), {&positions, 1}, as_bool(mask), true, ops::Out::inplace(as_bool(x)));
  EXPECT_EQ(values(x), (std::vector<double>{1, 0}));
}

// In NumPy's functions negative indices count from the end; PyTorch's functions treat them as an
// error in the data.
TEST(Index, negative_indices_count_from_the_end_only_where_numpy_says_so) {
  const Tensor x = test::f64(Dims{3}, {1, 2, 3});
  const Tensor table = test::f64(Dims{3, 1}, {1, 2, 3});
  const Tensor last = i64(Dims{1}, {-1});
  EXPECT_EQ(values(ops::take(x, last)), (std::vector<double>{3}));
  EXPECT_EQ(values(ops::take_along_axis(x, last, 0)), (std::vector<double>{3}));
  const std::function<void()> calls[] = {
      [&] { ops::gather(x, 0, last); },
      [&] { ops::scatter_add(x, 0, last, test::f64(Dims{1}, {1})); },
      [&] { ops::embedding(last, table); },
      [&] { ops::index_select(x, 0, last); },
      // Long enough for vector instructions and several threads.
      [&] { ops::embedding(ops::full(Dims{9000}, -1), table); },
  };
  for (const auto& call : calls) {
    const Error error = error_of(call);
    EXPECT_EQ(error.code(), Code::kIndex);
    EXPECT_NE(error.message().find("[0, 2]"), std::string::npos) << error.message();
  }
  // The gradient is added at the position of the negative index.
  const Tensor leaf = x.detached();
  set_requires_grad(leaf, true);
  backward(std::array{ops::sum(ops::take_along_axis(leaf, last, 0))});
  EXPECT_EQ(values(grad_of(leaf)), (std::vector<double>{0, 0, 1}));
}

}  // namespace
}  // namespace tsr::test_index
