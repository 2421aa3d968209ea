// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors: metadata, operators, indexing, making them from C++ values, printing.
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <sstream>
#include <utility>

#include "support.hpp"

namespace test_tensor {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Tensor, metadata) {
  const Tensor x = zeros({2, 3, 4}, kFloat64);
  EXPECT_EQ(x.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(x.strides(), (Shape{12, 4, 1}));
  EXPECT_EQ(x.ndim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.nbytes(), 24 * 8);
  EXPECT_EQ(x.dtype(), kFloat64);
  EXPECT_EQ(x.device(), Device::cpu());
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_THROW(x.size(3), OutOfRangeError);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.transpose(0, 1).is_contiguous());
  EXPECT_EQ(name(x.dtype()), "float64");
}

TEST(Tensor, dtypes_promote_as_the_library_says) {
  EXPECT_EQ(promote_types(kInt8, kUInt8), kInt16);
  EXPECT_EQ(promote_types(kFloat16, kBFloat16), kFloat32);
  EXPECT_THROW(promote_types(kUInt64, kInt8), DTypeError);
  EXPECT_TRUE(can_cast(kInt8, kInt16));
  EXPECT_FALSE(can_cast(kFloat64, kFloat32) || can_cast(kUInt64, kInt64));
  EXPECT_EQ((ones({1}, kInt8) + ones({1}, kFloat16)).dtype(), promote_types(kInt8, kFloat16));
  EXPECT_EQ(default_dtype(), kFloat32);
  set_default_dtype(kFloat64);
  EXPECT_EQ(sqrt(ones({1}, kInt8)).dtype(), kFloat64);
  EXPECT_EQ((ones({1}, kInt8) * 0.5).dtype(), kFloat64);
  set_default_dtype(kFloat32);
  EXPECT_THROW(set_default_dtype(kInt8), DTypeError);
}

TEST(Tensor, copies_share_and_moves_empty) {
  Tensor x = ones({2});
  const Tensor shared = x;
  EXPECT_EQ(x.use_count(), 2);
  x += 1;
  EXPECT_EQ(numbers(shared), (Numbers{2, 2}));
  const Tensor moved = std::move(x);
  EXPECT_FALSE(x.defined());  // the test checks this guarantee
  EXPECT_EQ(moved.use_count(), 2);
  Tensor own = moved.clone();
  own += 1;
  EXPECT_EQ(numbers(moved), (Numbers{2, 2}));
  Tensor& itself = own;
  own = itself;
  EXPECT_EQ(own.use_count(), 1);
}

TEST(Tensor, nothing_is_left_behind) {
  const int64_t before = live_handles();
  {
    Tensor x = ones({2});
    Tensor y = x + 1;
    x = y;
    y = Tensor();
    std::vector<Tensor> many(10, x);
    EXPECT_EQ(live_handles(), before + 11);
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Tensor, handles_go_out_and_come_in) {
  Tensor x = ones({2});
  const tsr_tensor raw = x.release();
  EXPECT_FALSE(x.defined());
  const Tensor borrowed = Tensor::borrow(raw);
  EXPECT_EQ(borrowed.use_count(), 2);
  const Tensor taken = Tensor::take(raw);
  EXPECT_TRUE(taken.is_same(borrowed));
}

TEST(Tensor, operators_take_numbers_on_both_sides) {
  const Tensor x = tensor({1.0, 2.0, 4.0});
  EXPECT_EQ(numbers(x + 1), (Numbers{2, 3, 5}));
  EXPECT_EQ(numbers(1 + x), (Numbers{2, 3, 5}));
  EXPECT_EQ(numbers(x - 1), (Numbers{0, 1, 3}));
  EXPECT_EQ(numbers(1 - x), (Numbers{0, -1, -3}));
  EXPECT_EQ(numbers(x * 2.0F), (Numbers{2, 4, 8}));
  EXPECT_EQ(numbers(2 * x), (Numbers{2, 4, 8}));
  EXPECT_EQ(numbers(x / 2), (Numbers{0.5, 1, 2}));
  EXPECT_EQ(numbers(4 / x), (Numbers{4, 2, 1}));
  EXPECT_EQ(numbers(x % 3), (Numbers{1, 2, 1}));
  EXPECT_EQ(numbers(7 % x), (Numbers{0, 1, 3}));
  EXPECT_EQ(numbers(-x), (Numbers{-1, -2, -4}));
  EXPECT_EQ(numbers(pow(2, x)), (Numbers{2, 4, 16}));
  EXPECT_EQ(numbers(x + x * x), (Numbers{2, 6, 20}));
}

TEST(Tensor, numbers_are_weak) {
  EXPECT_EQ((tensor({1, 2}) + 1).dtype(), kInt64);
  EXPECT_EQ((tensor({1, 2}) + 1.5).dtype(), kFloat32);
  EXPECT_EQ((ones({2}, kFloat16) + 1.5).dtype(), kFloat16);
  EXPECT_EQ((ones({2}, kFloat64) + 1.5F).dtype(), kFloat64);
  EXPECT_EQ((ones({2}) * std::complex<double>(0, 1)).dtype(), kComplex64);
}

TEST(Tensor, inplace_operators_keep_the_object) {
  Tensor x = tensor({1.0, 2.0});
  const Tensor same = x;
  x += 1;
  x -= tensor({0.0, 1.0});
  x *= 3;
  x /= 2;
  EXPECT_EQ(numbers(same), (Numbers{3, 3}));
  EXPECT_TRUE(x.is_same(same));
  EXPECT_EQ(same.version(), 4);
  x.index({0}) += 10;  // through a view
  EXPECT_EQ(numbers(same), (Numbers{13, 3}));
}

TEST(Tensor, comparisons_and_logic) {
  expect_same(!(tensor({1, 2}) > 1), tensor({true, false}));
  expect_same(!tensor({0.0, 2.0}), tensor({true, false}));
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(numbers(x == 2), (Numbers{0, 1, 0}));
  EXPECT_EQ(numbers(2 != x), (Numbers{1, 0, 1}));
  EXPECT_EQ(numbers(x < 2), (Numbers{1, 0, 0}));
  EXPECT_EQ(numbers(2 < x), (Numbers{0, 0, 1}));
  EXPECT_EQ(numbers(x >= x), (Numbers{1, 1, 1}));
  EXPECT_EQ(numbers((x > 1) & (x < 3)), (Numbers{0, 1, 0}));
  EXPECT_EQ(numbers((x == 1) | (x == 3)), (Numbers{1, 0, 1}));
  EXPECT_EQ(numbers(~(x == 1)), (Numbers{0, 1, 1}));
  EXPECT_EQ(numbers(x ^ 1), (Numbers{0, 3, 2}));
  EXPECT_EQ((x == 2).dtype(), kBool);
}

TEST(Tensor, bool_numbers_keep_bool_tensors_bool) {
  Tensor x = tensor({true, false});
  for (const Tensor& made : {x | true, x & true, x ^ true, true | x, where(x, x, false)}) {
    EXPECT_EQ(made.dtype(), kBool);
  }
  EXPECT_EQ(where(x, true, false).dtype(), kBool);
  EXPECT_EQ(numbers(logical_or(x, 0.5)), (Numbers{1, 1}));
  EXPECT_EQ(clip(x, std::optional<Scalar>(true), std::nullopt).dtype(), kBool);
  x &= false;
  EXPECT_EQ(x.dtype(), kBool);
  EXPECT_EQ(numbers(x), (Numbers{0, 0}));
}

TEST(Tensor, numbers_of_a_kind_that_does_not_fit_are_refused) {
  EXPECT_THROW(static_cast<void>(tensor({1, 2}) & 1.5), DTypeError);
  EXPECT_THROW(static_cast<void>(ones({2}) < std::complex<double>(0, 1)), DTypeError);
  EXPECT_THROW(static_cast<void>(tensor({1}) + ~uint64_t{0}), InvalidValueError);
}

TEST(Tensor, matmul_operator) {
  const Tensor a = arange(6).reshape({2, 3}).to(kFloat32);
  EXPECT_EQ(numbers(a.matmul(a.matrix_transpose())), (Numbers{5, 14, 14, 50}));
}

TEST(Tensor, default_arguments_and_lists) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_EQ(x.sum().item<int64_t>(), 276);
  EXPECT_EQ(x.sum(0).shape(), (Shape{3, 4}));
  EXPECT_EQ(x.sum({0, -1}).shape(), (Shape{3}));
  EXPECT_EQ(x.sum(std::vector<int64_t>{0, 1}, true).shape(), (Shape{1, 1, 4}));
  EXPECT_EQ(x.sum(std::array<int64_t, 1>{2}).shape(), (Shape{2, 3}));
  EXPECT_EQ(x.sum(std::nullopt, true).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(x.permute_dims({2, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(zeros({}).ndim(), 0);
  EXPECT_EQ(clip(x, 3, std::nullopt).min().item<int64_t>(), 3);
  EXPECT_EQ(x.clip(std::nullopt, 5).max().item<int64_t>(), 5);
  EXPECT_EQ(concat({x, x}, 1).shape(), (Shape{2, 6, 4}));
  EXPECT_EQ(x.split(1).size(), 2U);
  const auto [values, indices] = topk(tensor({3, 1, 2}), 2);
  EXPECT_EQ(numbers(values), (Numbers{3, 2}));
  EXPECT_EQ(numbers(indices), (Numbers{0, 2}));
  EXPECT_EQ(arange(40).unstack().size(), 40U) << "a list longer than the first guess";
}

// As std::span of C++20.
struct Span {
  const int64_t* first;
  size_t count;
  const int64_t* data() const { return first; }
  size_t size() const { return count; }
};

TEST(Tensor, shapes_may_be_spans) {
  const std::array<int64_t, 3> sizes = {2, 3, 0};
  const Span shape{sizes.data(), 2};
  EXPECT_EQ(zeros(shape).shape(), (Shape{2, 3}));
  EXPECT_EQ(ones({6}).reshape(shape).sum(Span{sizes.data() + 2, 1}).shape(), (Shape{3}));
  const OptionalIntList single = 1;
  EXPECT_EQ(ones(IntList(single)).numel(), 1);
}

TEST(Tensor, methods_need_no_optional_tensors) {
  const Tensor x = tensor({1, 2, 4});
  expect_same(x.diff(), diff(x));
  expect_same(x.diff(2), diff(x, 2));
  expect_same(x.diff(1, 0, tensor({0})), tensor({1, 1, 2}));
  expect_same(x.bincount(), tensor({0, 1, 1, 0, 1}));
  expect_same(x.searchsorted(tensor({2, 3})), tensor({1, 2}));
  expect_same(x.searchsorted(2, "right"), searchsorted(x, 2, "right"));
  expect_same(x.clip(tensor(2)), tensor({2, 2, 4}));
  expect_same(x.clip(2), tensor({2, 2, 4}));
  expect_near(x.to(kFloat64).cov(), {7.0 / 3});
  expect_near(x.to(kFloat64).trapezoid(), {4.5});
}

TEST(Tensor, out_forms_write_the_same_values) {
  Tensor dst = zeros({2});
  const Tensor& same = add_out(dst, ones({2}), 1);
  EXPECT_TRUE(same.is_same(dst));
  EXPECT_EQ(numbers(dst), (Numbers{2, 2}));
  Tensor values = zeros({1}, kInt64);
  Tensor indices = zeros({1}, kInt64);
  topk_out(values, indices, tensor({3, 9}), 1);
  EXPECT_EQ(values.item<int>(), 9);
  EXPECT_EQ(indices.item<int>(), 1);
}

TEST(Tensor, indexing_matches_python) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_EQ(x.index({1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(numbers(x.index({1, 2, -1})), (Numbers{23}));
  EXPECT_EQ(numbers(x.index({0, Slice(1, 3), 0})), (Numbers{4, 8}));
  EXPECT_EQ(numbers(x.index({0, 0, Slice(std::nullopt, std::nullopt, 2)})), (Numbers{0, 2}));
  EXPECT_EQ(numbers(x.index({0, 0, Slice(std::nullopt, -2)})), (Numbers{0, 1}));
  EXPECT_EQ(x.index({Ellipsis, 0}).shape(), (Shape{2, 3}));
  EXPECT_EQ(x.index({None, Slice(), None}).shape(), (Shape{1, 2, 1, 3, 4}));
  EXPECT_EQ(numbers(x[0][1][2]), (Numbers{6}));
  EXPECT_EQ(numbers(x.index({x > 20})), (Numbers{21, 22, 23}));
  EXPECT_EQ(x.index({Slice(), tensor({2, 0})}).shape(), (Shape{2, 2, 4}));
  EXPECT_EQ(numbers(x.index({tensor({0, 1}), tensor({1, 2}), 0})), (Numbers{4, 20}));
  EXPECT_TRUE(x.index({0}).is_view() || x.index({0}).data<int64_t>() == x.data<int64_t>());
}

TEST(Tensor, indexing_with_tensors_and_values_of_all_kinds) {
  Tensor x = zeros({2, 3});
  x.set({0}, tensor({1.0, 2.0, 3.0}));
  x.set({1, Slice(1, std::nullopt)}, 7);
  x.set({Slice(), 0}, 0.5);
  EXPECT_EQ(numbers(x), (Numbers{0.5, 2, 3, 0.5, 7, 7}));
  x.set({x > 2}, -1);
  EXPECT_EQ(numbers(x), (Numbers{0.5, 2, -1, 0.5, -1, -1}));
  x.set({Ellipsis}, false);
  EXPECT_EQ(numbers(x.sum()), (Numbers{0}));
  Tensor z = zeros({2}, kComplex64);
  z.set({0}, std::complex<double>(1, 2));
  EXPECT_EQ(z[0].item<std::complex<double>>(), std::complex<double>(1, 2));
}

TEST(Tensor, indices_may_be_made_at_run_time) {
  Tensor x = arange(24).reshape({2, 3, 4});
  std::vector<Index> items(static_cast<size_t>(x.ndim()) - 1, Slice());
  items.emplace_back(1);
  EXPECT_EQ(x.index(items).shape(), (Shape{2, 3}));
  x.set(items, 0);
  EXPECT_EQ(x.index(items).sum().item<int>(), 0);
  x.set(items, tensor(7));
  EXPECT_EQ(x.index({1, 2, 1}).item<int>(), 7);
  EXPECT_EQ(x.index({}).shape(), x.shape());
}

TEST(Tensor, slices_take_none_for_an_end) {
  const Tensor x = arange(6);
  const std::optional<int64_t> third = 3;
  EXPECT_EQ(to_string(x.index({Slice(None, None, -2)})), "tensor([5, 3, 1])");
  EXPECT_EQ(to_string(x.index({Slice(4, None)})), "tensor([4, 5])");
  EXPECT_EQ(to_string(x.index({Slice(std::nullopt, 2)})), "tensor([0, 1])");
  EXPECT_EQ(to_string(x.index({Slice(third, x.size(0), 2U)})), "tensor([3, 5])");
}

TEST(Tensor, bad_indices_raise) {
  const Tensor x = zeros({2, 3});
  EXPECT_THROW(x[2], OutOfRangeError);
  EXPECT_THROW(x.index({0, 0, 0}), OutOfRangeError);
  EXPECT_THROW(x.index({Ellipsis, Ellipsis}), Error);
  EXPECT_THROW(x.index({tensor({0.5})}), DTypeError);
  EXPECT_THROW(x.index({Slice(0, 2, 0)}), InvalidValueError);
}

TEST(Tensor, values_of_all_kinds_make_tensors) {
  EXPECT_EQ(tensor({1, 2}).dtype(), kInt64);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), kFloat32);
  EXPECT_EQ(tensor({true, false}).dtype(), kBool);
  EXPECT_EQ(tensor({std::complex<float>(1, 2)}).dtype(), kComplex64);
  EXPECT_EQ(tensor({1, 2}, kUInt8).dtype(), kUInt8);
  EXPECT_EQ(tensor({0.1}, kFloat64).item<double>(), 0.1) << "no detour through float32";
  EXPECT_EQ(tensor({{1, 2, 3}, {4, 5, 6}}).shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor({{{1}, {2}}, {{3}, {4}}}).shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(tensor(3.5).ndim(), 0);
  EXPECT_THROW(tensor({{1, 2}, {3}}), ShapeError);
  const std::array<int16_t, 4> source{1, 2, 3, 4};
  const Tensor copied = copy_from(source.data(), {2, 2});
  EXPECT_EQ(copied.dtype(), kInt16);
  EXPECT_EQ(numbers(copied), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers(arange(1, 6, 2)), (Numbers{1, 3, 5}));
  EXPECT_EQ(numbers(arange(0, 1, 0.5)), (Numbers{0, 0.5}));
  EXPECT_EQ(arange(3.0).dtype(), kFloat32);
}

TEST(Tensor, lists_of_several_kinds_of_numbers) {
  const int three = 3;
  EXPECT_EQ(to_string(tensor({1, 2.5, three})), "tensor([1, 2.5, 3])");
  EXPECT_EQ(tensor({1.5f, 2.0}).dtype(), kFloat32);
  EXPECT_EQ(tensor({1, 2.5}, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(tensor({true, 2}).dtype(), kInt64);
  EXPECT_EQ(tensor({std::complex<float>(0, 1), 2.0}).to_vector<std::complex<float>>()[1],
            std::complex<float>(2, 0));
  EXPECT_EQ(tensor({1, std::numeric_limits<uint64_t>::max()}, kUInt64).to_vector<uint64_t>()[1],
            std::numeric_limits<uint64_t>::max());
  EXPECT_THROW(tensor({-1, std::numeric_limits<uint64_t>::max()}, kUInt64), InvalidValueError);
  EXPECT_THROW(tensor({1, 300L}, kUInt8), InvalidValueError);
  EXPECT_EQ(to_string(tensor({})), "tensor([])");
  EXPECT_EQ(to_string(tensor({{true, false}, {false, true}})),
            "tensor([[true, false],\n        [false, true]])");
  EXPECT_EQ(numbers(tensor({{{true}, {false}}}, kFloat32)), (Numbers{1, 0}));
}

TEST(Tensor, vectors_are_values_too) {
  expect_same(tensor(std::vector<double>{1.5, 2}), tensor({1.5, 2.0}));
  expect_same(tensor(std::vector<int>{1, 2}), tensor({1, 2}));
  expect_same(tensor(std::vector<bool>{true, false}), tensor({true, false}));
  EXPECT_EQ(tensor(std::vector<float>{1, 2}, kFloat64).dtype(), kFloat64);
  EXPECT_THROW(tensor(std::vector<int>{300}, kUInt8), InvalidValueError);
  expect_same(arange(3, kFloat64), tensor({0, 1, 2}, kFloat64));
}

TEST(Tensor, values_never_wrap_around) {
  EXPECT_THROW(tensor({300}, kUInt8), InvalidValueError);
  EXPECT_THROW(tensor({-1}, kUInt64), InvalidValueError);
  EXPECT_THROW(tensor({{1, 2}, {3, 400}}, kInt8), InvalidValueError);
  EXPECT_THROW(tensor({18446744073709551615ULL}), InvalidValueError);
  EXPECT_THROW(tensor({9223372036854775808.0}, kInt64), InvalidValueError);
  EXPECT_THROW(tensor({256.0}, kUInt8), InvalidValueError);
  EXPECT_THROW(tensor({std::nan("")}, kInt32), InvalidValueError);
  EXPECT_EQ(tensor({18446744073709551615ULL}, kUInt64).item<uint64_t>(), 18446744073709551615ULL);
  EXPECT_EQ(tensor({-9223372036854775808.0}, kInt64).item<int64_t>(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(to_string(tensor({1.9, -0.5, 255.5}, kUInt8)), "tensor([1, 0, 255], dtype=uint8)");
  EXPECT_THROW(tensor(300).item<uint8_t>(), InvalidValueError);
  EXPECT_THROW(tensor(-1).item<unsigned>(), InvalidValueError);
  EXPECT_THROW(tensor({18446744073709551615ULL}, kUInt64).item<int64_t>(), InvalidValueError);
  EXPECT_EQ(tensor(-128).item<int8_t>(), -128);
}

TEST(Tensor, borrowed_memory_is_shared) {
  std::vector<float> ours{1, 2, 3, 4, 5, 6};
  Tensor flat = from_borrowed(ours);
  flat += 1;
  EXPECT_EQ(ours[5], 7);
  const Tensor columns = from_borrowed(ours.data(), {3, 2}, {1, 3});
  EXPECT_EQ(numbers(columns), (Numbers{2, 5, 3, 6, 4, 7}));
  const std::vector<float>& fixed = ours;
  Tensor refused = from_borrowed(fixed);
  EXPECT_TRUE(refused.is_read_only());
  EXPECT_THROW(refused += 1, MemoryAccessError);
}

TEST(Tensor, owners_live_as_long_as_the_memory_is_used) {
  const auto owner = std::make_shared<std::vector<double>>(4, 1.5);
  Tensor view;
  {
    const Tensor whole = from_owner(owner->data(), {4}, owner);
    EXPECT_EQ(owner.use_count(), 2);
    view = whole.index({Slice(1, 3)});
  }
  EXPECT_EQ(owner.use_count(), 2);
  view = Tensor();
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_THROW(from_owner(owner->data(), {-4}, owner), Error);
  EXPECT_EQ(owner.use_count(), 1) << "a failure lets the owner go, too";
}

TEST(Tensor, owners_are_moved_in_beside_their_pointer) {
  std::vector<float> values = {1, 2, 3};
  const float* const memory = values.data();
  const Tensor whole = from_owner(values.data(), {3}, std::move(values));
  EXPECT_EQ(whole.data<float>(), memory);
  auto owned = std::make_unique<int64_t[]>(2);
  const Tensor numbers_of_array = from_owner(owned.get(), {2}, std::move(owned));
  EXPECT_EQ(numbers(numbers_of_array), (Numbers{0, 0}));
}

TEST(Tensor, vectors_are_moved_in_without_a_copy) {
  std::vector<int32_t> values{1, 2, 3, 4};
  const int32_t* const data = values.data();
  const Tensor x = from_vector(std::move(values), {2, 2});
  EXPECT_EQ(x.data<int32_t>(), data);
  EXPECT_EQ(x.shape(), (Shape{2, 2}));
  EXPECT_THROW(from_vector(std::vector<float>{1, 2}, {3}), ShapeError);
  EXPECT_THROW(from_vector(std::vector<float>(), {int64_t{1} << 62, 4}), ShapeError);
  EXPECT_THROW(from_vector(std::vector<float>(4), {-2, -2}), ShapeError);
}

TEST(Tensor, conversions_to_cpp) {
  EXPECT_EQ(tensor(3).item<int>(), 3);
  EXPECT_EQ(tensor(2.5).item<float>(), 2.5F);
  EXPECT_TRUE(tensor(true).item<bool>());
  EXPECT_THROW(tensor(2.5).item<int>(), DTypeError);
  EXPECT_THROW(tensor({1, 2}).item<int>(), Error);
  Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_EQ(x.matrix_transpose().to_vector<int>(), (std::vector<int>{1, 3, 2, 4}));
  EXPECT_EQ(x.data<float>()[3], 4.0F);
  EXPECT_THROW(x.data<double>(), DTypeError);
  const int64_t version = x.version();
  x.mutable_data<float>()[0] = 9;
  EXPECT_EQ(x.version(), version + 1);
  EXPECT_EQ(x.index({0, 0}).item<double>(), 9);
  Tensor weight = zeros({2}).requires_grad_();
  EXPECT_THROW(weight.mutable_data<float>(), AutogradError);
}

TEST(Tensor, conversions_of_dtype) {
  const Tensor x = tensor({1.5, -2.5});
  EXPECT_EQ(numbers(x.to(kInt32)), (Numbers{1, -2}));
  EXPECT_TRUE(x.to(kFloat32).is_same(x) || x.to(kFloat32).data<float>() == x.data<float>());
  EXPECT_EQ(x.to(kBFloat16).dtype(), kBFloat16);
  EXPECT_EQ(x.to(Device::cpu(), kFloat64).dtype(), kFloat64);
}

TEST(Tensor, dtype_facts) {
  EXPECT_EQ(itemsize(kBool), 1);
  EXPECT_EQ(itemsize(kBFloat16), 2);
  EXPECT_EQ(itemsize(kComplex128), 16);
  EXPECT_TRUE(is_floating_point(kBFloat16) && is_complex(kComplex64) && is_integral(kUInt8));
  EXPECT_FALSE(is_integral(kBool) || is_floating_point(kComplex64));
  EXPECT_EQ(dtype_of<long long>(), kInt64);
  EXPECT_EQ(dtype_of<unsigned char>(), kUInt8);
  EXPECT_EQ(dtype_of<BFloat16>(), kBFloat16);
}

TEST(Tensor, repr) {
  EXPECT_EQ(to_string(tensor({-NAN, NAN, -INFINITY})), "tensor([nan, nan, -inf])");
  EXPECT_EQ(to_string(tensor({{1.0, 2.5}, {-3.0, 4.0}})), "tensor([[1, 2.5],\n        [-3, 4]])");
  EXPECT_EQ(to_string(tensor({1, 2}, kUInt8)), "tensor([1, 2], dtype=uint8)");
  EXPECT_EQ(to_string(tensor({true, false})), "tensor([true, false])");
  EXPECT_EQ(to_string(tensor(std::complex<double>(1, -2))), "tensor(1-2j, dtype=complex64)");
  EXPECT_EQ(to_string(tensor(std::complex<double>(1, -0.0))), "tensor(1-0j, dtype=complex64)");
  EXPECT_EQ(to_string(zeros({0})), "tensor([])");
  EXPECT_EQ(to_string(Tensor()), "tensor(undefined)");
  EXPECT_EQ(to_string(tensor({~uint64_t{0} >> 1, uint64_t{0}}, kInt64)),
            "tensor([9223372036854775807, 0])");
  EXPECT_EQ(to_string(arange(2000)), "tensor([0, 1, 2, ..., 1997, 1998, 1999])");
  Tensor x = ones({1}).requires_grad_();
  EXPECT_EQ(to_string(x), "tensor([1], requires_grad)");
  EXPECT_EQ(to_string(x * 2), "tensor([2], grad_fn=<MultiplyBackward>)");
  std::ostringstream stream;
  stream << tensor({1});
  EXPECT_EQ(stream.str(), "tensor([1])");
}

// Which locales a system has differs, so this is what printf writes in some of them.
TEST(Tensor, texts_have_a_point_in_every_language) {
  EXPECT_EQ(detail::with_point("-1,25e-05"), "-1.25e-05");
  EXPECT_EQ(detail::with_point("1\u066b5"), "1.5");  // a point of two bytes
  for (const char* text : {"0.5", "17", "1e+10", "nan", "-inf", "1.5e+300"})
    EXPECT_EQ(detail::with_point(text), text);
}

TEST(Tensor, printing_copies_only_what_is_shown) {
  const Tensor large = arange(40000).reshape({20, 2000});
  reset_peak_memory();
  const int64_t before = memory_stats().allocated_bytes.all.current;
  const std::string text = to_string(large);
  EXPECT_EQ(text.rfind("tensor([[0, 1, 2, ..., 1997, 1998, 1999],\n        [2000, 2001, ", 0), 0U);
  EXPECT_NE(text.find("...,\n        [34000"), std::string::npos) << text;
  EXPECT_LT(memory_stats().allocated_bytes.all.peak - before, 1 << 16);
  EXPECT_EQ(to_string(zeros({2, 0})), "tensor([], shape=[2, 0])");
  std::ostringstream stream;
  stream << large.dtype() << " " << large.device();
  EXPECT_EQ(stream.str(), "int64 cpu");
}

TEST(Tensor, seeds_repeat_random_numbers) {
  manual_seed(3);
  const Numbers first = numbers(rand({4}));
  manual_seed(3);
  EXPECT_EQ(numbers(rand({4})), first);
  const Generator own(3);
  EXPECT_EQ(numbers(rand({4}, {}, {}, own)), first);
  const Generator::State state = own.state();
  const Numbers next = numbers(randn({4}, {}, {}, own));
  own.set_state(state);
  const Generator copy = own;  // NOLINT(performance-unnecessary-copy-initialization): shares
  EXPECT_EQ(numbers(randn({4}, {}, {}, copy)), next);
}

}  // namespace
}  // namespace test_tensor
