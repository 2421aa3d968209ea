// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/getitem.h"

#include "ops/create/create.h"
#include "ops/shape/slice.h"
#include "tests/ops/prelude.h"

namespace tsr::test_getitem {
namespace {

using Items = std::vector<int64_t>;
using Arrays = std::vector<Tensor>;
using ops::Out;

constexpr int64_t kNo = INT64_MIN;

// The items of an index, such as {at(1), range(0, 2), kNew, kDots, kArr}.
using Item = std::array<int64_t, 4>;
constexpr Item at(int64_t index) {
  return {0, index, kNo, kNo};
}
constexpr Item range(int64_t start, int64_t stop, int64_t step = kNo) {
  return {1, start, stop, step};
}
constexpr Item kAll = range(kNo, kNo);
constexpr Item kNew{2, 0, 0, 0};
constexpr Item kDots{3, 0, 0, 0};
constexpr Item kArr{4, 0, 0, 0};
Items items(std::initializer_list<Item> list) {
  Items out;
  for (const Item& item : list) out.insert(out.end(), item.begin(), item.end());
  return out;
}

// 0, 1, 2, ... in the given shape.
Tensor counting(const Dims& shape) {
  std::vector<float> numbers(static_cast<size_t>(numel_of(shape)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return f32(shape, numbers);
}
Tensor mask(const Dims& shape, const std::vector<float>& bits) {
  return ops::not_equal(f32(shape, bits), 0);
}

TEST(GetitemBasic, does_all_items_in_one_view) {
  const Tensor x = counting(Dims{4, 3, 2, 5});
  const Tensor y = ops::getitem_basic(x, items({range(1, 3), kNew, kDots, at(2)}));
  EXPECT_EQ(y.sizes(), (Dims{2, 1, 3, 2}));
  EXPECT_EQ(y.storage(), x.storage());
  EXPECT_EQ(values(ops::select(ops::select(y, 0, 1), 1, 2)), (Numbers{82, 87}));
  EXPECT_EQ(values(ops::getitem_basic(x, items({at(-1), at(0), at(1), range(kNo, kNo, -2)}))),
            (Numbers{99, 97, 95}));
  EXPECT_EQ(ops::getitem_basic(x, {}).sizes(), x.sizes());
  EXPECT_EQ(ops::getitem_basic(x, items({kDots, kNew})).sizes(), (Dims{4, 3, 2, 5, 1}));
  EXPECT_EQ(ops::getitem_basic(x, items({range(3, 1)})).sizes(), (Dims{0, 3, 2, 5}));
}

TEST(GetitemBasic, refuses_bad_items) {
  const Tensor x = counting(Dims{2, 3});
  const auto code = [&](const Items& list) {
    return error_of([&] { ops::getitem_basic(x, list); }).code();
  };
  EXPECT_EQ(code(items({at(2)})), Code::kIndex);
  EXPECT_EQ(code(items({kAll, kAll, kAll})), Code::kIndex);
  EXPECT_EQ(code(items({kDots, kDots})), Code::kIndex);
  EXPECT_EQ(code(items({range(0, 1, 0)})), Code::kValue);
  EXPECT_EQ(code(items({Item{9, 0, 0, 0}})), Code::kValue);
  EXPECT_EQ(code({0, 1, 2}), Code::kValue);
  EXPECT_EQ(code(items({kArr})), Code::kValue);
  EXPECT_EQ(code(Items(65 * 4, 2)), Code::kShape);
}

TEST(GetitemInteger, places_adjacent_arrays_where_they_stood) {
  const Tensor x = counting(Dims{2, 3, 4, 5});
  const Tensor index = i64(Dims{6}, {0, 1, 0, 1, 0, 1});
  const Tensor none;
  EXPECT_EQ(ops::getitem_integer(x, Arrays{none, index, index}).sizes(), (Dims{2, 6, 5}));
  EXPECT_EQ(ops::getitem_integer(x, Arrays{index, none, index}).sizes(), (Dims{6, 3, 5}));
  EXPECT_EQ(ops::getitem_integer(x, Arrays{none, none, none, index}).sizes(), (Dims{2, 3, 4, 6}));
  EXPECT_EQ(values(ops::getitem_integer(counting(Dims{2, 3}),
                                        Arrays{i64(Dims{2}, {1, 0}), i64(Dims{2}, {2, -3})})),
            (Numbers{5, 0}));
}

TEST(Getitem, counts_integers_as_arrays_when_it_places_the_result) {
  const Tensor x = counting(Dims{2, 3, 4});
  const Arrays index{i64(Dims{5}, {0, 1, 2, 3, 0})};
  EXPECT_EQ(ops::getitem(x, items({at(0), kAll, kArr}), index).sizes(), (Dims{5, 3}));
  EXPECT_EQ(ops::getitem(x, items({at(0), kArr}), Arrays{i64(Dims{2}, {0, 1})}).sizes(),
            (Dims{2, 4}));
  EXPECT_EQ(ops::getitem(x, items({kAll, kArr, kNew, at(1)}), Arrays{i64(Dims{5}, {0, 1, 2, 0, 1})})
                .sizes(),
            (Dims{5, 2, 1}));
  EXPECT_EQ(ops::getitem(x, items({kDots, kArr}), index).sizes(), (Dims{2, 3, 5}));
}

TEST(Getitem, broadcasts_arrays_and_mixes_masks) {
  const Tensor x = counting(Dims{2, 3, 4});
  const Arrays open{i64(Dims{2, 1}, {0, 1}), i64(Dims{3}, {2, 1, 0})};
  EXPECT_EQ(ops::getitem(x, items({kArr, kArr}), open).sizes(), (Dims{2, 3, 4}));
  const Arrays mixed{i64(Dims{2}, {1, 0}), mask(Dims{3}, {1, 0, 1})};
  EXPECT_EQ(values(ops::getitem(x, items({kArr, kArr, at(0)}), mixed)), (Numbers{12, 8}));
  EXPECT_EQ(
      error_of([&] {
        ops::getitem(x, items({kArr, kArr}), Arrays{i64(Dims{2}, {0, 0}), i64(Dims{3}, {0, 0, 0})});
      }).code(),
      Code::kIndex);
}

TEST(GetitemBoolean, selects_leading_axes) {
  const Tensor x = counting(Dims{2, 3});
  EXPECT_EQ(values(ops::getitem_boolean(x, mask(Dims{2, 3}, {1, 0, 0, 0, 1, 1}))),
            (Numbers{0, 4, 5}));
  EXPECT_EQ(values(ops::getitem_boolean(x, mask(Dims{2}, {0, 1}))), (Numbers{3, 4, 5}));
  EXPECT_EQ(ops::getitem_boolean(x, mask({}, {1})).sizes(), (Dims{1, 2, 3}));
  EXPECT_EQ(ops::getitem_boolean(x, mask({}, {0})).sizes(), (Dims{0, 2, 3}));
  // A mask over axes that cannot be merged.
  EXPECT_EQ(
      values(ops::getitem_boolean(ops::matrix_transpose(x), mask(Dims{3, 2}, {0, 1, 1, 0, 0, 1}))),
      (Numbers{3, 1, 5}));
  EXPECT_EQ(error_of([&] {
              ops::getitem_boolean(x, mask(Dims{3}, {1, 1, 1}));
            }).code(),
            Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::getitem_boolean(x, i64(Dims{2}, {0, 1})); }).code(), Code::kDType);
}

TEST(Setitem, writes_scalars_and_tensors_through_views) {
  const Tensor x = counting(Dims{2, 3});
  ops::setitem(x, items({kAll, at(1)}), {}, 9);
  EXPECT_EQ(values(x), (Numbers{0, 9, 2, 3, 9, 5}));
  ops::setitem(x, items({at(0)}), {}, f32(Dims{1, 1, 3}, {7, 8, 9}));
  EXPECT_EQ(values(x), (Numbers{7, 8, 9, 3, 9, 5}));
  ops::setitem(x, items({kDots}), {}, ops::getitem_basic(x, items({kAll, range(kNo, kNo, -1)})));
  EXPECT_EQ(values(x), (Numbers{9, 8, 7, 5, 9, 3}));
  EXPECT_EQ(error_of([&] {
              ops::setitem(x, items({at(0)}), {}, f32(Dims{2}, {1, 2}));
            }).code(),
            Code::kShape);
}

TEST(Setitem, takes_masks_and_arrays) {
  const Tensor x = counting(Dims{2, 3});
  ops::setitem(x, items({kArr}), Arrays{mask(Dims{2}, {1, 0})}, -1);
  EXPECT_EQ(values(x), (Numbers{-1, -1, -1, 3, 4, 5}));
  ops::setitem(x, items({kArr}), Arrays{ops::greater(x, 3)}, f32(Dims{2}, {10, 20}));
  EXPECT_EQ(values(x), (Numbers{-1, -1, -1, 3, 10, 20}));
  ops::setitem(x, items({kAll, kArr}), Arrays{i64(Dims{3}, {0, 2, 0})}, f32(Dims{3}, {1, 2, 3}));
  EXPECT_EQ(values(x), (Numbers{3, -1, 2, 3, 10, 2}));
  EXPECT_EQ(error_of([&] {
              ops::setitem(x, items({kArr}), Arrays{ops::greater(x, 3)}, f32(Dims{2}, {1, 2}));
            }).code(),
            Code::kShape);
}

TEST(Setitem, casts_values_but_not_complex_to_real) {
  const Tensor x = i64(Dims{3}, {1, 2, 3});
  ops::setitem(x, items({at(0)}), {}, 2.75);
  ops::setitem(x, items({kArr}), Arrays{i64(Dims{1}, {1})}, 7.5);
  ops::setitem(x, items({kArr}), Arrays{ops::equal(x, 3)}, f32({}, {5.5}));
  EXPECT_EQ(values(x), (Numbers{2, 7, 5}));
  const Scalar imaginary(std::complex<double>(0, 1));
  EXPECT_EQ(error_of([&] { ops::setitem(x, items({at(0)}), {}, imaginary); }).code(), Code::kDType);
  EXPECT_EQ(error_of([&] {
              ops::setitem(x, items({kArr}), Arrays{i64(Dims{1}, {1})}, imaginary);
            }).code(),
            Code::kDType);
}

TEST(IndexPut, lets_the_last_of_equal_positions_win_or_counts_them_all) {
  const Tensor x = counting(Dims{3});
  const Arrays index{i64(Dims{4}, {1, 1, 2, 1})};
  const Tensor parts = f32(Dims{4}, {10, 20, 30, 40});
  EXPECT_EQ(values(ops::index_put(x, index, parts)), (Numbers{0, 40, 30}));
  EXPECT_EQ(values(ops::index_put(x, index, parts, true)), (Numbers{0, 71, 32}));
  EXPECT_EQ(values(x), (Numbers{0, 1, 2}));
  ops::index_put(x, index, parts, true, Out::inplace(x));
  EXPECT_EQ(values(x), (Numbers{0, 71, 32}));
}

TEST(IndexPut, last_wins_also_with_many_threads) {
  constexpr int64_t kCount = 300000;
  std::vector<int64_t> places;
  std::vector<float> parts;
  std::vector<float> expected(100);
  for (int64_t i = 0; i < kCount; ++i) {
    places.push_back(i * 7 % 100);
    parts.push_back(static_cast<float>(i));
    expected[static_cast<size_t>(places.back())] = parts.back();
  }
  const Tensor x = ops::zeros(Dims{100}, DType::kFloat32);
  ops::index_put(x, Arrays{i64(Dims{kCount}, places)}, f32(Dims{kCount}, parts), false,
                 Out::inplace(x));
  EXPECT_EQ(values<float>(x), expected);
}

TEST(Setitem, reads_a_source_that_shares_memory_before_it_writes) {
  const Tensor x = counting(Dims{4});
  ops::setitem(x, items({kArr}), Arrays{i64(Dims{4}, {1, 2, 3, 0})}, x);
  EXPECT_EQ(values(x), (Numbers{3, 0, 1, 2}));
}

TEST(Setitem, refuses_leaves_that_require_grad_and_expanded_memory) {
  const Tensor leaf = random_leaf(Dims{3}, 1);
  EXPECT_EQ(error_of([&] { ops::setitem(leaf, items({at(0)}), {}, 1); }).code(), Code::kAutograd);
  EXPECT_EQ(
      error_of([&] { ops::setitem(leaf, items({kArr}), Arrays{i64(Dims{1}, {0})}, 1); }).code(),
      Code::kAutograd);
  const Tensor wide = ops::broadcast_to(f32(Dims{1}, {1}), Dims{3});
  EXPECT_EQ(error_of([&] {
              ops::setitem(wide, items({kArr}), Arrays{i64(Dims{2}, {0, 1})}, 1);
            }).code(),
            Code::kValue);
}

TEST(GetitemGradients, duplicates_add_up) {
  const Tensor x = random_leaf(Dims{3}, 1);
  backward(std::array{ops::sum(ops::getitem_integer(x, Arrays{i64(Dims{4}, {0, 2, 0, 0})}))},
           std::array{Tensor()});
  EXPECT_EQ(values(grad_of(x)), (Numbers{3, 0, 1}));
}

// In-place assignment on a computed tensor.
template <class Value>
Tensor assigned(const Tensor& x, const Items& list, const Arrays& arrays, const Value& value) {
  const Tensor y = ops::multiply(x, x);
  ops::setitem(y, list, arrays, value);
  return y;
}

const struct {
  const char* name;
  Tensor (*call)(Inputs x);
} kRows[] = {
    {"basic",
     [](Inputs x) {
       return ops::getitem_basic(x[0], items({range(0, 2), kNew, at(1)}));
     }},
    {"basic backwards",
     [](Inputs x) {
       return ops::getitem_basic(x[0], items({kDots, range(kNo, kNo, -2)}));
     }},
    {"boolean", [](Inputs x) { return ops::getitem_boolean(x[0], ops::greater(x[0], 0)); }},
    {"boolean, not mergeable",
     [](Inputs x) {
       return ops::getitem_boolean(ops::transpose(x[0], 0, 1),
                                   mask(Dims{4, 3}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}));
     }},
    {"integer",
     [](Inputs x) {
       return ops::getitem_integer(x[0], Arrays{i64(Dims{2, 1}, {0, 2}), i64(Dims{3}, {1, 1, 3})});
     }},
    {"mixed",
     [](Inputs x) {
       return ops::getitem(x[0], items({range(0, 2), kArr, kNew}), Arrays{i64(Dims{3}, {3, 0, 3})});
     }},
    {"set basic",
     [](Inputs x) {
       return assigned(x[0], items({range(kNo, kNo, 2), at(1)}), {},
                       ops::getitem_basic(x[1], items({range(0, 2), at(0)})));
     }},
    {"set scalar", [](Inputs x) { return assigned(x[0], items({at(1)}), {}, 3.0); }},
    {"set integer",
     [](Inputs x) {
       return assigned(x[0], items({kArr}), Arrays{i64(Dims{2}, {2, 0})},
                       ops::getitem_basic(x[1], items({range(0, 2)})));
     }},
    {"set integer on a view",
     [](Inputs x) {
       return assigned(x[0], items({at(1), kArr}), Arrays{i64(Dims{2}, {2, 0})},
                       ops::getitem_basic(x[1], items({at(0), at(0)})));
     }},
    {"set mask",
     [](Inputs x) {
       return assigned(x[0], items({kArr}), Arrays{mask(Dims{3}, {1, 0, 1})},
                       ops::getitem_basic(x[1], items({at(0)})));
     }},
    {"set mask to a number of the graph",
     [](Inputs x) {
       return assigned(x[0], items({kArr}), Arrays{ops::greater(x[0], 0)},
                       ops::getitem_basic(x[1], items({at(0), at(0)})));
     }},
    {"set mask scalar",
     [](Inputs x) { return assigned(x[0], items({kArr}), Arrays{ops::greater(x[0], 0)}, 2); }},
    {"put, accumulate",
     [](Inputs x) {
       return ops::index_put(x[0], Arrays{i64(Dims{3}, {1, 1, 0})}, x[1], true);
     }},
};

TEST(GetitemGradients, agree_with_differences_once_and_twice) {
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

}  // namespace
}  // namespace tsr::test_getitem
