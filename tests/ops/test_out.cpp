// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// out= forms whose destination is an input, shares an input's memory or has another shape.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "ops/index/getitem.h"
#include "ops/index/index.h"
#include "ops/index/mask.h"
#include "ops/index/sort.h"
#include "ops/linalg/add_products.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tests/ops/tensors.h"

namespace tsr::test_out {
namespace {

using namespace test;
using ops::Out;
using Inputs = std::vector<Tensor>;

// Floats that are all different, starting at `first`.
Tensor ramp(DimsView shape, double first = 0.5) {
  std::vector<float> numbers(static_cast<size_t>(numel_of(shape)));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(first + 0.25 * static_cast<double>(i));
  return f32(shape, numbers);
}
Tensor mask_of(DimsView shape) {
  Tensor mask = empty(shape, DType::kBool);
  for (int64_t i = 0; i < mask.numel(); ++i) mask.data_as<bool>()[i] = i % 3 != 1;
  return mask;
}

struct Case {
  const char* name;
  std::function<Inputs()> inputs;
  std::function<Tensor(const Inputs&, Out)> call;
};

const Dims kFirst{0};
const Dims kLast{-1};

// In each case at least one input has another shape than the result.
const Case kCases[] = {
    {"add, broadcast",
     [] {
       return Inputs{ramp(Dims{4, 3}), ramp(Dims{1})};
     },
     [](const Inputs& x, Out out) { return ops::add(x[0], x[1], out); }},
    {"atan2, two broadcasts",
     [] {
       return Inputs{ramp(Dims{4, 1}), ramp(Dims{1, 3})};
     },
     [](const Inputs& x, Out out) { return ops::atan2(x[0], x[1], out); }},
    {"greater, to bool",
     [] {
       return Inputs{ramp(Dims{4, 3}), ramp(Dims{3})};
     },
     [](const Inputs& x, Out out) { return ops::greater(x[0], x[1], out); }},
    {"sum",
     [] {
       return Inputs{ramp(Dims{2, 4})};
     },
     [](const Inputs& x, Out out) { return ops::sum(x[0], DimsView(kFirst), false, {}, out); }},
    {"sum of an expanded",
     [] {
       return Inputs{ops::broadcast_to(ramp(Dims{1, 3}), Dims{5, 3})};
     },
     [](const Inputs& x, Out out) { return ops::sum(x[0], DimsView(kFirst), false, {}, out); }},
    {"max",
     [] {
       return Inputs{ramp(Dims{2, 4})};
     },
     [](const Inputs& x, Out out) { return ops::max(x[0], DimsView(kFirst), false, out); }},
    {"var",
     [] {
       return Inputs{ramp(Dims{2, 4})};
     },
     [](const Inputs& x, Out out) { return ops::var(x[0], DimsView(kLast), 1, false, out); }},
    {"std",
     [] {
       return Inputs{ramp(Dims{2, 4})};
     },
     [](const Inputs& x, Out out) { return ops::std(x[0], DimsView(kLast), 1, false, out); }},
    {"argmax",
     [] {
       return Inputs{i64(Dims{2, 3}, {1, 5, 2, 9, 4, 3})};
     },
     [](const Inputs& x, Out out) { return ops::argmax(x[0], 1, false, out); }},
    {"vector_norm",
     [] {
       return Inputs{ramp(Dims{2, 4})};
     },
     [](const Inputs& x, Out out) { return ops::vector_norm(x[0], {}, false, 2, out); }},
    {"cumulative_sum with a first 0", [] { return Inputs{ramp(Dims{5})}; },
     [](const Inputs& x, Out out) { return ops::cumulative_sum(x[0], {}, {}, true, out); }},
    {"matmul",
     [] {
       return Inputs{ramp(Dims{2, 300}), ramp(Dims{300, 40})};
     },
     [](const Inputs& x, Out out) { return ops::matmul(x[0], x[1], out); }},
    {"linear",
     [] {
       return Inputs{ramp(Dims{7, 3}), ramp(Dims{4, 3}), ramp(Dims{4})};
     },
     [](const Inputs& x, Out out) { return ops::linear(x[0], x[1], x[2], out); }},
    {"addmm",
     [] {
       return Inputs{ramp(Dims{4}), ramp(Dims{5, 3}), ramp(Dims{3, 4})};
     },
     [](const Inputs& x, Out out) { return ops::addmm(x[0], x[1], x[2], 1, 1, out); }},
    {"outer",
     [] {
       return Inputs{ramp(Dims{4}), ramp(Dims{5})};
     },
     [](const Inputs& x, Out out) { return ops::outer(x[0], x[1], out); }},
    {"conv2d",
     [] {
       return Inputs{ramp(Dims{1, 2, 5, 5}), ramp(Dims{3, 2, 3, 3}), ramp(Dims{3})};
     },
     [](const Inputs& x, Out out) {
       return ops::conv2d(x[0], x[1], x[2], {}, {}, {}, 1, false, out);
     }},
    {"max_pool2d",
     [] {
       return Inputs{ramp(Dims{1, 2, 6, 6})};
     },
     [](const Inputs& x, Out out) {
       return ops::max_pool<2>(x[0], Dims{2, 2}, {}, {}, {}, false, out);
     }},
    {"max_pool2d without a batch",
     [] {
       return Inputs{ramp(Dims{2, 6, 6})};
     },
     [](const Inputs& x, Out out) {
       return ops::max_pool<2>(x[0], Dims{2, 2}, {}, {}, {}, false, out);
     }},
    {"avg_pool2d",
     [] {
       return Inputs{ramp(Dims{1, 2, 6, 6})};
     },
     [](const Inputs& x, Out out) {
       return ops::avg_pool<2>(x[0], Dims{3, 3}, {}, {}, false, true, {}, out);
     }},
    {"layer_norm",
     [] {
       return Inputs{ramp(Dims{4, 3}), ramp(Dims{3}), ramp(Dims{3}, 2)};
     },
     [](const Inputs& x, Out out) {
       return ops::layer_norm(x[0], Dims{3}, x[1], x[2], 1e-5, out);
     }},
    {"batch_norm",
     [] {
       return Inputs{ramp(Dims{4, 3}), ramp(Dims{3}), ramp(Dims{3}), ramp(Dims{3}), ramp(Dims{3})};
     },
     [](const Inputs& x, Out out) {
       return ops::batch_norm(x[0], x[1], x[2], x[3], x[4], false, 0.1, 1e-5, out);
     }},
    {"softmax of integers",
     [] {
       return Inputs{ramp(Dims{2, 3})};
     },
     [](const Inputs& x, Out out) { return ops::softmax(x[0], -1, DType::kFloat64, out); }},
    {"embedding",
     [] {
       return Inputs{i64(Dims{2, 2}, {0, 3, 1, 2}), ramp(Dims{4, 3})};
     },
     [](const Inputs& x, Out out) { return ops::embedding(x[0], x[1], {}, out); }},
    {"take",
     [] {
       return Inputs{ramp(Dims{4, 3}), i64(Dims{2}, {3, 0})};
     },
     [](const Inputs& x, Out out) { return ops::take(x[0], x[1], 0, out); }},
    {"gather",
     [] {
       return Inputs{ramp(Dims{3, 3}), i64(Dims{1, 3}, {2, 0, 1})};
     },
     [](const Inputs& x, Out out) { return ops::gather(x[0], 0, x[1], out); }},
    {"take_along_axis",
     [] {
       return Inputs{ramp(Dims{3, 3}), i64(Dims{1, 3}, {2, 0, 1})};
     },
     [](const Inputs& x, Out out) { return ops::take_along_axis(x[0], x[1], 0, out); }},
    {"scatter_add",
     [] {
       return Inputs{ramp(Dims{4}), i64(Dims{6}, {3, 0, 0, 1, 1, 2}), ramp(Dims{6})};
     },
     [](const Inputs& x, Out out) {
       const Tensor part = ops::narrow(x[2], 0, 0, 4);
       return ops::scatter_add(x[0], 0, ops::narrow(x[1], 0, 0, 4), part, out);
     }},
    {"index_put",
     [] {
       return Inputs{ramp(Dims{5}), i64(Dims{2}, {3, 0}), ramp(Dims{1}, 9)};
     },
     [](const Inputs& x, Out out) {
       return ops::index_put(x[0], {&x[1], 1}, x[2], false, out);
     }},
    {"masked_select",
     [] {
       return Inputs{ramp(Dims{3, 3}), mask_of(Dims{3, 3})};
     },
     [](const Inputs& x, Out out) { return ops::masked_select(x[0], x[1], out); }},
    {"masked_fill",
     [] {
       return Inputs{ramp(Dims{3, 3}), mask_of(Dims{3}), ramp(Dims{1}, 8)};
     },
     [](const Inputs& x, Out out) { return ops::masked_fill(x[0], x[1], x[2], out); }},
    {"where",
     [] {
       return Inputs{mask_of(Dims{3, 1}), ramp(Dims{3}), ramp(Dims{1})};
     },
     [](const Inputs& x, Out out) { return ops::where(x[0], x[1], x[2], out); }},
    {"lerp",
     [] {
       return Inputs{ramp(Dims{3, 1}), ramp(Dims{4}), ramp(Dims{1})};
     },
     [](const Inputs& x, Out out) { return ops::lerp(x[0], x[1], x[2], out); }},
    {"clip by tensors",
     [] {
       return Inputs{ramp(Dims{6}), ramp(Dims{1}, 1), ramp(Dims{2, 1}, 1)};
     },
     [](const Inputs& x, Out out) { return ops::clip(x[0], x[1], x[2], out); }},
    {"repeat",
     [] {
       return Inputs{ramp(Dims{3, 2}), i64(Dims{3}, {2, 0, 3})};
     },
     [](const Inputs& x, Out out) { return ops::repeat(x[0], x[1], 0, out); }},
    {"tile",
     [] {
       return Inputs{ramp(Dims{3, 2})};
     },
     [](const Inputs& x, Out out) {
       return ops::tile(x[0], Dims{2, 2}, out);
     }},
    {"pad",
     [] {
       return Inputs{ramp(Dims{3, 4})};
     },
     [](const Inputs& x, Out out) {
       return ops::pad(x[0], Dims{1, -2}, "constant", 7, out);
     }},
    {"pad, circular",
     [] {
       return Inputs{ramp(Dims{3, 4})};
     },
     [](const Inputs& x, Out out) {
       return ops::pad(x[0], Dims{1, 2}, "circular", 0, out);
     }},
    {"concat",
     [] {
       return Inputs{ramp(Dims{2, 3}), ramp(Dims{1, 3}, 9)};
     },
     [](const Inputs& x, Out out) { return ops::concat(x, 0, out); }},
    {"stack",
     [] {
       return Inputs{ramp(Dims{2, 3}), ramp(Dims{2, 3}, 9)};
     },
     [](const Inputs& x, Out out) { return ops::stack(x, 1, out); }},
    {"topk",
     [] {
       return Inputs{ramp(Dims{3, 5})};
     },
     [](const Inputs& x, Out out) {
       return std::get<0>(ops::topk(x[0], 2, -1, true, true, out, Out{}));
     }},
    {"flip, equal shapes",
     [] {
       return Inputs{ramp(Dims{3, 4})};
     },
     [](const Inputs& x, Out out) { return ops::flip(x[0], {}, out); }},
    {"sort, equal shapes", [] { return Inputs{ops::flip(ramp(Dims{7}))}; },
     [](const Inputs& x, Out out) { return ops::sort(x[0], 0, false, true, out); }},
};

bool holds(const Tensor& dst, const Tensor& result) {
  return category(result.dtype()) <= category(dst.dtype());
}

void expect_equal(const Tensor& found, const Tensor& wanted, const std::string& what) {
  EXPECT_EQ(found.sizes(), wanted.sizes()) << what;
  EXPECT_EQ(values<float>(found), values<float>(wanted)) << what;
}

TEST(Out, may_be_any_input_whatever_the_shapes) {
  for (const Case& row : kCases) {
    const Tensor wanted = row.call(row.inputs(), {});
    const size_t count = row.inputs().size();
    for (size_t k = 0; k < count; ++k) {
      const std::string what = concat(row.name, ", dst = input ", k);
      const Inputs inputs = row.inputs();
      const Tensor dst = inputs[k];
      if (!holds(dst, wanted)) continue;
      const bool overlaps = may_overlap_itself(dst.sizes(), dst.strides());
      if (overlaps && dst.sizes() == wanted.sizes()) continue;
      expect_equal(row.call(inputs, Out::into(dst)), wanted, what);
      expect_equal(dst, wanted, what);
      for (size_t other = 0; other < count; ++other) {
        if (other != k) expect_equal(inputs[other], row.inputs()[other], what);
      }
    }
  }
}

// An alias, and a flat view that covers only the end of the input.
TEST(Out, may_share_the_memory_of_any_input) {
  for (const Case& row : kCases) {
    const Tensor wanted = row.call(row.inputs(), {});
    for (size_t k = 0; k < row.inputs().size(); ++k) {
      for (const bool whole : {true, false}) {
        const std::string what = concat(row.name, ", input ", k, whole ? " whole" : " in part");
        const Inputs inputs = row.inputs();
        const Tensor& input = inputs[k];
        if (!holds(input, wanted) || !input.is_contiguous()) continue;
        const int64_t last = input.numel() - 1;
        const Tensor dst = whole ? input.detached()
                                 : make_view(input, Dims{1, 1, 1, 1, 1}, Dims{1, 1, 1, 1, 1}, last);
        row.call(inputs, Out::into(dst));
        expect_equal(dst, wanted, what);
        if (dst.sizes() == input.sizes()) continue;
        EXPECT_NE(dst.data(), make_view(input, Dims{1}, Dims{1}, whole ? 0 : last).data()) << what;
        expect_equal(input, row.inputs()[k], what);
      }
    }
  }
}

TEST(Out, a_destination_of_another_shape_keeps_its_dtype) {
  const Tensor dst = f64(Dims{0}, {});
  ops::add(ramp(Dims{2, 2}), 1, Out::into(dst));
  EXPECT_EQ(dst.dtype(), DType::kFloat64);
  EXPECT_EQ(values(dst), (std::vector<double>{1.5, 1.75, 2, 2.25}));
}

TEST(Out, a_failing_call_leaves_a_destination_of_another_shape_as_it_is) {
  const Tensor dst = ramp(Dims{3});
  const Error error = error_of([&] {
    ops::take(ramp(Dims{4, 3}), i64(Dims{2}, {3, 4}), 0, Out::into(dst));
  });
  EXPECT_EQ(error.code(), Code::kIndex);
  expect_equal(dst, ramp(Dims{3}), "after the error");
}

TEST(Out, two_results_need_two_places) {
  const Tensor input = i64(Dims{3}, {3, 1, 2});
  const Tensor both = i64(Dims{3}, {0, 0, 0});
  for (const Tensor& second : {both, both.detached()}) {
    const Error error = error_of(
        [&] { ops::sort_with_indices(input, 0, false, true, Out::into(both), Out::into(second)); });
    EXPECT_EQ(error.code(), Code::kValue);
    EXPECT_NE(error.message().find("`values`"), std::string::npos) << error.message();
    EXPECT_STREQ(error.arg(), "indices");
  }
  EXPECT_EQ(values(both), (std::vector<double>{0, 0, 0}));
  // The input itself may be either destination.
  const Tensor x = i64(Dims{3}, {3, 1, 2});
  ops::sort_with_indices(x, 0, false, true, {}, Out::into(x));
  EXPECT_EQ(values(x), (std::vector<double>{1, 2, 0}));
}

// ---- autograd and a destination that gets other memory ----

TEST(Out, a_saved_destination_of_another_shape_is_noticed) {
  const Tensor x = f32(Dims{3}, {1, 2, 3});
  set_requires_grad(x, true);
  const Tensor condition = mask_of(Dims{3});
  const uint32_t before = condition.version();
  const Tensor y = ops::where(condition, x, 0);
  ops::greater(ramp(Dims{1, 3}), 0.6, Out::into(condition));
  EXPECT_GT(condition.version(), before);
  EXPECT_EQ(error_of([&] { backward(std::array{ops::sum(y)}); }).code(), Code::kAutograd);
}

TEST(Out, versions_count_on_however_often_the_shape_changes) {
  const Tensor dst = ramp(Dims{2});
  uint32_t last = dst.version();
  for (const int64_t size : {3, 1, 7, 7, 0, 2}) {
    ops::add(ramp(Dims{size}), 1, Out::into(dst));
    EXPECT_GT(dst.version(), last);
    last = dst.version();
  }
}

TEST(Out, memory_that_others_see_stays_as_it_is) {
  const Tensor dst = ramp(Dims{4});
  const Tensor alias = dst.detached();
  const uint32_t version = alias.version();
  ops::add(ramp(Dims{2}, 7), 1, Out::into(dst));
  expect_equal(alias, ramp(Dims{4}), "alias");
  EXPECT_EQ(alias.version(), version);
}

TEST(Out, a_view_of_another_shape_leaves_its_base) {
  const Tensor base = ops::zeros_of(ramp(Dims{4}));
  const Tensor view = ops::narrow(base, 0, 0, 2);
  ops::add(ramp(Dims{3}), 0, Out::into(view));
  EXPECT_FALSE(view_base(view).defined());
  const Tensor w = ramp(Dims{3});
  set_requires_grad(w, true);
  ops::multiply(view, w, Out::inplace(view));
  EXPECT_FALSE(needs_grad(base));
  EXPECT_TRUE(needs_grad(view));
  backward(std::array{ops::sum(view)});
  expect_equal(grad_of(w), ramp(Dims{3}), "gradient");
}

TEST(Out, a_base_of_another_shape_leaves_its_views) {
  const Tensor base = ramp(Dims{4});
  const Tensor view = ops::narrow(base, 0, 0, 2);
  ops::add(ramp(Dims{3}), 0, Out::into(base));
  EXPECT_FALSE(view_base(view).defined());
  const Tensor part = ops::narrow(view, 0, 1, 1);
  const Tensor w = ramp(Dims{1}, 3);
  set_requires_grad(w, true);
  ops::multiply(view, w, Out::inplace(view));
  EXPECT_TRUE(needs_grad(view));
  EXPECT_FALSE(needs_grad(base));
  // The histories of base and view are independent from now on.
  ops::multiply(base, w, Out::inplace(base));
  backward(std::array{ops::sum(view)});
  expect_equal(grad_of(w), f32(Dims{1}, {1.25}), "gradient");
  EXPECT_EQ(values<float>(part), (std::vector<float>{2.25F}));
}

TEST(Out, a_destination_that_requires_grad_keeps_its_shape) {
  const Tensor leaf = ramp(Dims{3});
  set_requires_grad(leaf, true);
  const NoGrad pause;
  const Error error = error_of([&] { ops::add(ramp(Dims{4}), 0, Out::into(leaf)); });
  EXPECT_EQ(error.code(), Code::kAutograd);
  ops::add(ramp(Dims{3}, 5), 0, Out::into(leaf));
  expect_equal(leaf, ramp(Dims{3}, 5), "equal shape");
}

}  // namespace
}  // namespace tsr::test_out
