// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// In-place writes and views.
#include "autograd/view.h"

#include <gtest/gtest.h>

#include "autograd/hooks.h"
#include "autograd/ownership.h"
#include "toy_ops.h"

namespace tsr::test_view {
namespace {

using toy::expect_error;
using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::Values;
using toy::values;

using ViewTest = toy::GraphTest;

TEST_F(ViewTest, I1_version_counts_writes_of_the_whole_storage_family) {
  const Tensor x = make({2}, {1, 2});
  const Tensor view = toy::slice(x, 0, 1);
  const Tensor alias = x.detached();
  EXPECT_EQ(x.version(), 0U);
  toy::scale_inplace(view, 2);
  toy::scale_inplace(alias, 2);
  {
    const NoGrad guard;
    toy::scale_inplace(x, 2);
  }
  EXPECT_EQ(x.version(), 3U);
  EXPECT_EQ(view.version(), 3U);
  EXPECT_EQ(alias.version(), 3U);
}

TEST_F(ViewTest, I4_write_to_a_leaf_that_requires_grad_raises) {
  const Tensor x = leaf({2}, {1, 2});
  expect_error([&] { toy::scale_inplace(x, 2); }, "a leaf that requires grad");
  expect_error([&] { toy::scale_inplace(toy::slice(x, 0, 1), 2); }, "a view of a leaf");
  EXPECT_EQ(x.version(), 0U);
  const NoGrad guard;
  toy::scale_inplace(x, 2);
  EXPECT_EQ(values(x), (Values{2, 4}));
}

TEST_F(ViewTest, I5_in_place_write_rebases_the_history) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 3);
  const NodePtr old = grad_fn(y);
  toy::scale_inplace(y, 2);
  EXPECT_NE(grad_fn(y), old);
  EXPECT_EQ(grad_fn(y)->next_edge(0).node, old);
  backward(std::array{toy::sum(y)});
  EXPECT_EQ(grad_values(x), (Values{6, 6}));
}

TEST_F(ViewTest, A13_old_graph_stays_valid_for_others) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 3);
  const Tensor z = toy::scale(y, 5);
  toy::scale_inplace(y, 2);
  backward(std::array{z});
  EXPECT_EQ(grad_values(x), (Values{15}));
}

TEST_F(ViewTest, in_place_write_makes_a_constant_part_of_the_graph) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor c = make({2}, {1, 2});
  toy::mul_inplace(c, w);
  EXPECT_TRUE(c.requires_grad());
  backward(std::array{toy::sum(c)});
  EXPECT_EQ(grad_values(w), (Values{1, 2}));
}

TEST_F(ViewTest, I5_in_place_product_has_both_derivatives) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor w = leaf({2}, {3, 4});
  const Tensor y = toy::scale(x, 1);
  toy::mul_inplace(y, w);
  const auto first = grad(std::array{toy::sum(y)}, std::array{x, w}, {}, {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{3, 4}));
  EXPECT_EQ(values(first[1]), (Values{1, 2}));
  // d(sum dw)/dx = 1: the copy of the old value kept its history.
  const auto second = grad(std::array{toy::sum(first[1])}, std::array{x});
  EXPECT_EQ(values(second[0]), (Values{1, 1}));
}

TEST_F(ViewTest, E6_I6_write_through_a_view_reaches_the_base) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor base = toy::scale(x, 1);
  toy::scale_inplace(toy::slice(base, 1, 3), 10);
  EXPECT_STREQ(grad_fn(base)->name(), "CopySlices");
  EXPECT_EQ(values(base), (Values{1, 20, 30}));
  backward(std::array{toy::sum(base)});
  EXPECT_EQ(grad_values(x), (Values{1, 10, 10}));
}

TEST_F(ViewTest, I6_written_view_gets_a_new_history_from_its_base) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor base = toy::scale(x, 1);
  const Tensor view = toy::slice(base, 1, 3);
  EXPECT_STREQ(grad_fn(view)->name(), "SliceBackward");
  toy::scale_inplace(view, 10);
  EXPECT_STREQ(grad_fn(view)->name(), "AsStridedBackward");
  EXPECT_EQ(grad_fn(view)->next_edge(0).node, grad_fn(base));
  backward(std::array{toy::sum(view)});
  EXPECT_EQ(grad_values(x), (Values{0, 10, 10}));
}

TEST_F(ViewTest, I7_write_to_the_base_reaches_its_views) {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = toy::scale(x, 1);
  const Tensor v = toy::select(y, 0);
  toy::scale_inplace(y, 2);
  backward(std::array{toy::sum(v)});
  EXPECT_EQ(grad_values(x), (Values{2, 2, 0, 0}));
}

TEST_F(ViewTest, I7_write_through_one_view_reaches_another) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor base = toy::scale(x, 1);
  const Tensor first = toy::slice(base, 0, 2);
  const Tensor second = toy::slice(base, 1, 3);
  toy::scale_inplace(first, 10);
  backward(std::array{toy::sum(second)});
  EXPECT_EQ(grad_values(x), (Values{0, 10, 1}));
}

TEST_F(ViewTest, written_view_makes_base_and_other_views_require_grad) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor base = make({4}, {1, 2, 3, 4});
  const Tensor other = toy::slice(base, 0, 3);
  EXPECT_FALSE(requires_grad(other));
  toy::mul_inplace(toy::slice(base, 2, 4), w);
  EXPECT_TRUE(base.requires_grad());
  EXPECT_TRUE(requires_grad(other));
  EXPECT_TRUE(needs_grad(other));
  backward(std::array{toy::sum(toy::add(toy::sum(other), toy::sum(base)))});
  EXPECT_EQ(grad_values(w), (Values{6, 4}));
}

TEST_F(ViewTest, E6_writes_through_transposed_and_nested_views) {
  const Tensor x = leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor w = leaf({2}, {10, 100});
  const Tensor base = toy::scale(x, 1);
  const Tensor column = toy::select(toy::transpose(base), 1);
  toy::mul_inplace(column, w);
  EXPECT_EQ(values(base), (Values{1, 20, 3, 4, 500, 6}));
  backward(std::array{toy::sum(base)});
  EXPECT_EQ(grad_values(x), (Values{1, 10, 1, 1, 100, 1}));
  EXPECT_EQ(grad_values(w), (Values{2, 5}));
}

TEST_F(ViewTest, E6_copy_and_fill_cut_the_old_value) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor w = leaf({1}, {7});
  const Tensor base = toy::scale(x, 1);
  toy::fill_inplace(toy::slice(base, 0, 1), 5);
  toy::copy_inplace(toy::slice(base, 1, 2), w);
  backward(std::array{base}, std::array{make({3}, {10, 20, 30})});
  EXPECT_EQ(grad_values(x), (Values{0, 0, 30}));
  EXPECT_EQ(grad_values(w), (Values{20}));
}

TEST_F(ViewTest, E6_second_derivative_goes_through_copy_slices) {
  // f = sum(b * b) with b = x, b[1:] *= w: first derivatives 2 x0, 2 x1 w^2 and 2 x1^2 w.
  const Tensor x = leaf({2}, {3, 5});
  const Tensor w = leaf({1}, {2});
  const Tensor base = toy::scale(x, 1);
  toy::mul_inplace(toy::slice(base, 1, 2), w);
  const Tensor f = toy::sum(toy::mul(base, base));
  const auto first = grad(std::array{f}, std::array{x, w}, {}, {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{6, 40}));
  EXPECT_EQ(values(first[1]), (Values{100}));
  const auto of_x =
      grad(std::array{toy::sum(first[0])}, std::array{x, w}, {}, {.retain_graph = true});
  EXPECT_EQ(values(of_x[0]), (Values{2, 8}));
  EXPECT_EQ(values(of_x[1]), (Values{40}));
  const auto of_w = grad(std::array{first[1]}, std::array{x, w});
  EXPECT_EQ(values(of_w[0]), (Values{0, 40}));
  EXPECT_EQ(values(of_w[1]), (Values{50}));
}

TEST_F(ViewTest, saved_result_of_a_written_view_is_differentiable) {
  const Tensor x = leaf({2}, {0, 0});
  const Tensor base = toy::scale(x, 1);
  toy::exp_inplace(toy::slice(base, 1, 2));
  const auto first = grad(std::array{toy::sum(base)}, std::array{x}, {}, {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{1, 1}));
  const auto second = grad(std::array{toy::sum(first[0])}, std::array{x});
  EXPECT_EQ(values(second[0]), (Values{0, 1}));
}

TEST_F(ViewTest, strided_window_sums_what_it_shows_twice) {
  const Tensor x = leaf({4}, {1, 2, 3, 4});
  const Tensor y = toy::scale(x, 1);
  // Overlapping windows of 3 elements with step 1, each repeated.
  const Tensor windows =
      as_strided_view(y, std::array<int64_t, 3>{2, 2, 3}, std::array<int64_t, 3>{0, 1, 1}, 0);
  backward(std::array{toy::sum(windows)});
  EXPECT_EQ(grad_values(x), (Values{2, 4, 4, 2}));
}

// The limits of a window are those of the storage: its base may be an alias of a part.
TEST_F(ViewTest, E6_write_through_a_view_that_reaches_beyond_its_base) {
  constexpr int64_t kCount = 48;
  const Tensor x = make({64}, Values(64, 1));
  const Tensor base = toy::slice(x, 40, 43).detached();
  const Tensor window = as_strided_view(base, std::array{kCount}, std::array<int64_t, 1>{1}, 8);
  const Tensor w = leaf({kCount}, Values(kCount, 2));
  toy::mul_inplace(window, w);
  toy::mul_inplace(window, w);
  backward(std::array{toy::sum(base)});
  Values wanted(kCount, 0);
  std::fill_n(wanted.begin() + 32, 3, 4);
  EXPECT_EQ(grad_values(w), wanted);
}

TEST_F(ViewTest, E6_empty_view_lies_anywhere) {
  const Tensor x = leaf({2}, {3, 4});
  const Tensor base = toy::scale(x, 2);
  const Tensor window =
      as_strided_view(base, std::array<int64_t, 1>{0}, std::array<int64_t, 1>{1}, int64_t{1} << 50);
  backward(std::array{toy::sum(window)});
  EXPECT_EQ(grad_values(x), (Values{0, 0}));
  toy::mul_inplace(window, leaf({0}, {}));
  backward(std::array{toy::sum(base)});
  EXPECT_EQ(grad_values(x), (Values{2, 2}));
}

TEST_F(ViewTest, strided_window_has_second_derivatives) {
  const Tensor x = leaf({3}, {1, 2, 3});
  const Tensor y = toy::mul(x, x);
  const Tensor window =
      as_strided_view(y, std::array<int64_t, 2>{2, 2}, std::array<int64_t, 2>{1, 1}, 0);
  const auto first = grad(std::array{toy::sum(toy::mul(window, window))}, std::array{x}, {},
                          {.create_graph = true});
  EXPECT_EQ(values(first[0]), (Values{4, 64, 108}));  // 4 x^3, twice in the middle
  const auto second = grad(std::array{toy::sum(first[0])}, std::array{x});
  EXPECT_EQ(values(second[0]), (Values{12, 96, 108}));
}

TEST_F(ViewTest, I8_views_made_by_one_call_cannot_be_written) {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = toy::scale(x, 1);
  const std::vector<Tensor> rows = toy::unbind(y);
  expect_error([&] { toy::scale_inplace(rows[1], 2); }, "output 1 of UnbindBackward is a view");
  backward(std::array{toy::sum(rows[1])});
  EXPECT_EQ(grad_values(x), (Values{0, 0, 1, 1}));
}

TEST_F(ViewTest, I8_views_made_by_one_call_raise_after_a_write_to_their_base) {
  const Tensor y = toy::scale(leaf({2, 2}, {1, 2, 3, 4}), 1);
  const std::vector<Tensor> rows = toy::unbind(y);
  toy::scale_inplace(y, 2);
  expect_error([&] { toy::sum(rows[0]); }, "its base or another view of its base");
}

TEST_F(ViewTest, I8_view_made_without_grad_mode_cannot_be_written_with_it) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 1);
  Tensor view;
  {
    const NoGrad guard;
    view = toy::slice(y, 0, 1);
  }
  EXPECT_FALSE(requires_grad(view));
  const Tensor w = leaf({1}, {3});
  expect_error([&] { toy::mul_inplace(view, w); }, "no_grad mode");
  // Writing a constant would still change y, and y's history would not record it.
  expect_error([&] { toy::scale_inplace(view, 2); }, "no_grad mode");
  expect_error([&] { toy::fill_inplace(view, 2); }, "no_grad mode");
  expect_error([&] { begin_out(view, false); }, "out= forms");
  EXPECT_EQ(values(y), (Values{1, 2}));
  const NoGrad guard;
  toy::scale_inplace(view, 2);
  EXPECT_EQ(values(y), (Values{2, 2}));
}

TEST_F(ViewTest, view_of_a_leaf_made_without_grad_mode_cannot_be_written_with_it) {
  const Tensor x = leaf({2}, {1, 2});
  Tensor view;
  {
    const NoGrad guard;
    view = toy::slice(x, 0, 1);
  }
  expect_error([&] { toy::scale_inplace(view, 5); }, "no_grad mode");
  EXPECT_EQ(values(x), (Values{1, 2}));
}

TEST_F(ViewTest, view_made_without_grad_mode_of_a_constant_can_be_written_by_constants) {
  const Tensor c = make({2}, {1, 2});
  Tensor view;
  {
    const NoGrad guard;
    view = toy::slice(c, 0, 1);
  }
  toy::scale_inplace(view, 2);
  EXPECT_EQ(values(c), (Values{2, 2}));
  expect_error([&] { toy::mul_inplace(view, leaf({1}, {3})); }, "no_grad mode");
  // From here on c needs a gradient, so a write through the view would need one too.
  toy::mul_inplace(c, leaf({1}, {3}));
  expect_error([&] { toy::scale_inplace(view, 2); }, "no_grad mode");
}

TEST_F(ViewTest, view_of_a_constant_is_written_again_and_again) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor base = make({2, 2}, {1, 2, 3, 4});
  const Tensor row = toy::select(base, 0);
  toy::add_inplace(row, w);
  toy::scale_inplace(row, 2);
  toy::mul_inplace(row, w);
  EXPECT_EQ(values(base), (Values{24, 48, 3, 4}));
  backward(std::array{toy::sum(base)});
  // (1 + w) 2 w and (2 + w) 2 w.
  EXPECT_EQ(grad_values(w), (Values{14, 20}));
}

TEST_F(ViewTest, view_that_a_write_to_its_base_makes_differentiable_says_so) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor base = make({2}, {1, 2});
  const Tensor view = toy::slice(base, 0, 2);
  EXPECT_FALSE(requires_grad(view));
  toy::add_inplace(base, w);
  EXPECT_TRUE(requires_grad(view));
  EXPECT_FALSE(view.requires_grad());  // the bare flag is set at the first use
  EXPECT_STREQ(grad_fn(view)->name(), "AsStridedBackward");
}

TEST_F(ViewTest, ambiguous_view_says_that_it_requires_grad_and_raises_when_used) {
  const Tensor base = make({2, 2}, {1, 2, 3, 4});
  const std::vector<Tensor> rows = toy::unbind(base);
  toy::add_inplace(base, leaf({2}, {3, 4}));
  EXPECT_TRUE(requires_grad(rows[0]));
  expect_error([&] { toy::sum(rows[0]); }, "its base or another view of its base");
}

TEST_F(ViewTest, write_that_reads_an_ambiguous_view_is_refused_before_it_writes) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor base = toy::mul(make({2, 2}, {1, 2, 3, 4}), w);
  const std::vector<Tensor> rows = toy::unbind(base);
  toy::scale_inplace(base, 2);
  const Tensor target = make({2}, {1, 2});
  expect_error([&] { toy::mul_inplace(target, rows[0]); }, "its base or another view of its base");
  EXPECT_EQ(values(target), (Values{1, 2}));
  EXPECT_EQ(target.version(), 0U);
  const Tensor tracked = toy::scale(w, 1);  // the first input needs a gradient already
  expect_error([&] { toy::mul_inplace(tracked, rows[0]); }, "its base or another view of its base");
  EXPECT_EQ(values(tracked), (Values{3, 4}));
}

TEST_F(ViewTest, view_of_a_frozen_leaf_keeps_its_history_and_cannot_be_written) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor view = toy::slice(x, 0, 1);
  set_requires_grad(x, false);
  // The history of x would refer to the view, and so to x again.
  expect_error([&] { toy::scale_inplace(view, 2); }, "a view of a leaf");
  EXPECT_FALSE(requires_grad(x));
  EXPECT_TRUE(is_leaf(x));
}

TEST_F(ViewTest, leaf_that_a_graph_owns_cannot_get_a_history) {
  const Tensor x = leaf({2}, {1, 2});
  Tensor y = toy::mul(x, x);
  set_requires_grad(x, false);
  expect_error([&] { toy::mul_inplace(x, y); }, "a graph that still exists");
  expect_error([&] { toy::mul_inplace(toy::slice(x, 0, 1), toy::slice(y, 0, 1)); },
               "a graph that still exists");
  toy::scale_inplace(toy::slice(x, 0, 1), 5);  // records nothing
  y.reset();
  toy::mul_inplace(x, leaf({2}, {2, 2}));
  EXPECT_EQ(values(x), (Values{10, 4}));
}

TEST_F(ViewTest, writes_through_views_of_constants_have_derivatives) {
  const Tensor w = leaf({2}, {3, 4});
  const Tensor base = make({2, 2}, {1, 2, 3, 4});
  const Tensor other = toy::select(base, 0);
  const Tensor column = toy::select(toy::transpose(base), 1);
  toy::mul_inplace(column, w);
  EXPECT_EQ(values(base), (Values{1, 6, 3, 16}));
  toy::mul_inplace(toy::select(base, 0), w);
  EXPECT_EQ(values(other), (Values{3, 24}));
  backward(std::array{toy::sum(toy::add(toy::sum(base), toy::sum(other)))});
  // base = {w0, 2 w0 w1, 3, 4 w1}, of which the first row counts twice.
  EXPECT_EQ(grad_values(w), (Values{2 + 4 * 4, 4 * 3 + 4}));
}

TEST_F(ViewTest, I8_inference_tensors_are_neither_counted_nor_written_outside) {
  Tensor x;
  {
    const InferenceMode guard;
    x = make({2}, {1, 2});
    toy::scale_inplace(x, 2);
  }
  EXPECT_TRUE(x.has(kInferenceFlag));
  expect_error([&] { begin_out(x, false); }, "inference mode");
  EXPECT_EQ(x.version(), 0U);
  expect_error([&] { toy::scale_inplace(x, 2); }, "inference mode");
  EXPECT_FALSE(toy::slice(x, 0, 1).has(kViewFlag));
}

TEST_F(ViewTest, I11_write_to_a_tensor_that_repeats_elements_raises) {
  const Tensor wide = toy::expand(make({1}, {1}), std::array<int64_t, 1>{3});
  expect_error([&] { toy::scale_inplace(wide, 2); }, "overlapping elements", Code::kValue);
}

TEST_F(ViewTest, write_to_read_only_memory_raises) {
  const Tensor x = make({1}, {1});
  x.storage()->read_only = true;
  expect_error([&] { toy::scale_inplace(x, 2); }, "read-only", Code::kBuffer);
}

TEST_F(ViewTest, out_forms_refuse_tensors_that_require_grad) {
  const Tensor x = leaf({1}, {1});
  const Tensor out = make({1}, {0});
  expect_error([&] { begin_out(out, needs_grad(x)); }, "out= forms");
  expect_error([&] { begin_out(x, false); }, "out= forms");
  begin_out(out, false);
  EXPECT_EQ(out.version(), 1U);
}

TEST_F(ViewTest, I9_detached_and_integer_views_are_not_tracked) {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::scale(x, 1);
  const Tensor cut = detach(y);
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_FALSE(view_base(cut).defined());
  const Tensor whole = empty(std::array<int64_t, 1>{2}, DType::kInt64);
  EXPECT_FALSE(toy::slice(whole, 0, 1).has(kViewFlag));
}

TEST_F(ViewTest, base_of_a_view_of_a_view_is_the_root) {
  const Tensor x = make({2, 2}, {1, 2, 3, 4});
  const Tensor row = toy::select(x, 1);
  EXPECT_TRUE(view_base(toy::slice(row, 0, 1)).is_same(x));
  EXPECT_FALSE(view_base(x).defined());
}

TEST_F(ViewTest, retained_gradient_follows_an_in_place_write) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  retain_grad(y);
  toy::scale_inplace(y, 3);
  backward(std::array{toy::scale(y, 5)});
  EXPECT_EQ(grad_values(y), (Values{5}));
  EXPECT_EQ(grad_values(x), (Values{30}));
}

TEST_F(ViewTest, hook_stays_with_the_value_it_was_registered_on) {
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  Values seen;
  add_tensor_hook(y, [&](const Tensor& g) {
    seen = values(g);
    return Tensor();
  });
  toy::scale_inplace(y, 3);
  backward(std::array{toy::scale(y, 5)});
  EXPECT_EQ(seen, (Values{15}));
}

TEST_F(ViewTest, view_whose_base_has_other_memory_does_not_own_its_own_alone) {
  Tensor base = make({2}, {1, 2});
  const Tensor view = toy::slice(base, 0, 2);
  const Tensor alias = base.detached();
  set_data(base, make({2}, {3, 4}));
  base.reset();
  EXPECT_FALSE(owns_alone(view));
}

}  // namespace
}  // namespace tsr::test_view
