// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A batched backward gives what one backward for each sample gives, with a few nodes that run once
// for each sample and the others once.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "autograd/hooks.h"
#include "autograd/multi_hook.h"
#include "autograd/record.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/scatter.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_batched_backward {
namespace {

using testing::random_leaf;
using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

class BatchedBackward : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::start_up();
    live_before_ = live_nodes();
  }
  void TearDown() override { EXPECT_EQ(live_nodes(), live_before_); }

 private:
  int64_t live_before_ = 0;
};

Tensor leaf(DimsView sizes, uint32_t seed) {
  return random_leaf(sizes, seed, 0.5, 1.5);
}

double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  if (!(a.sizes() == b.sizes()) || a.numel() == 0) return INFINITY;
  return *ops::max(ops::abs(ops::subtract(a, b)).detached()).data_as<double>();
}

constexpr int64_t kSamples = 3;

// The rows of a batched backward of `f` against backwards of their own; also with create_graph, and
// the derivatives of these.
void expect_rows(const Function& f, const Tensor& a, const Tensor& b) {
  const Tensor y = f(a, b);
  Dims shape{kSamples};
  for (const int64_t size : y.sizes()) shape.push_back(size);
  const Tensor rows = leaf(shape, 99).detached();
  const std::vector<Tensor> inputs{a, b};
  const std::vector<Tensor> roots{y};
  const std::vector<Tensor> vectors{rows};
  for (const bool recorded : {false, true}) {
    const BackwardOptions options{.retain_graph = true, .create_graph = recorded, .batched = true};
    const std::vector<Tensor> found = grad(roots, inputs, vectors, options, true);
    for (int64_t s = 0; s < kSamples; ++s) {
      const std::vector<Tensor> row{ops::select(rows, 0, s)};
      const std::vector<Tensor> alone =
          grad(roots, inputs, row, {.retain_graph = true, .create_graph = recorded}, true);
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(found[i].defined(), alone[i].defined());
        if (!alone[i].defined()) continue;
        const Tensor mine = ops::select(found[i], 0, s);
        EXPECT_LT(difference(mine, alone[i]), 1e-12) << "input " << i << ", sample " << s;
        if (!recorded || !requires_grad(alone[i])) continue;
        const std::vector<Tensor> first{mine};
        const std::vector<Tensor> second{alone[i]};
        const std::vector<Tensor> one{ops::ones_like(alone[i].detached())};
        const BackwardOptions keep{.retain_graph = true};
        const Tensor of_mine = grad(first, {&a, 1}, one, keep, true)[0];
        const Tensor of_alone = grad(second, {&a, 1}, one, keep, true)[0];
        ASSERT_EQ(of_mine.defined(), of_alone.defined());
        if (!of_alone.defined()) continue;
        EXPECT_LT(difference(of_mine, of_alone), 1e-12);
      }
    }
  }
}

Tensor square_leaf(uint32_t seed) {
  return leaf(std::array<int64_t, 2>{4, 4}, seed);
}

TEST_F(BatchedBackward, elementwise_and_broadcast) {
  const Tensor narrow = leaf(std::array<int64_t, 1>{4}, 2);
  const Tensor column = leaf(std::array<int64_t, 2>{4, 1}, 3);
  const Tensor number = leaf(Dims{}, 4);
  const Function mixed = [](const Tensor& a, const Tensor& b) {
    return ops::multiply(ops::exp(ops::multiply(a, b)), ops::divide(ops::tanh(b), a));
  };
  for (const Tensor& other : {narrow, column, number, square_leaf(5)}) {
    expect_rows(mixed, square_leaf(1), other);
    expect_rows(mixed, other, square_leaf(1));
  }
  expect_rows([](const Tensor& a, const Tensor& b) { return ops::multiply(a, b); }, number,
              leaf(Dims{}, 6));
}

TEST_F(BatchedBackward, one_tensor_used_often) {
  expect_rows(
      [](const Tensor& a, const Tensor& b) {
        return ops::add(ops::multiply(a, a), ops::multiply(ops::sin(a), ops::add(a, b)));
      },
      square_leaf(1), square_leaf(2));
}

TEST_F(BatchedBackward, reductions) {
  const Dims last{-1};
  const Dims first{0};
  for (const bool keep : {false, true}) {
    expect_rows(
        [&](const Tensor& a, const Tensor& b) {
          const Tensor x = ops::multiply(a, b);
          const Tensor sums =
              ops::add(ops::sum(x, DimsView(first), keep), ops::mean(x, DimsView(first), keep));
          const Tensor more = ops::add(ops::var(x, DimsView(first), 1, keep),
                                       ops::std(x, DimsView(first), 1, keep));
          return ops::add(ops::add(sums, more),
                          ops::add(ops::max(x, DimsView(first), keep),
                                   ops::add(ops::prod(x, DimsView(first), keep),
                                            ops::logsumexp(x, DimsView(first), keep))));
        },
        square_leaf(1), square_leaf(2));
    for (const double order : {0.0, 1.0, 2.0, 3.0, double{INFINITY}}) {
      expect_rows(
          [&](const Tensor& a, const Tensor& b) {
            return ops::add(ops::vector_norm(ops::multiply(a, b), DimsView(last), keep, order),
                            ops::sum(a, DimsView(last), keep));
          },
          square_leaf(3), square_leaf(4));
    }
  }
  expect_rows([](const Tensor& a, const Tensor& b) { return ops::sum(ops::multiply(a, b)); },
              square_leaf(3), square_leaf(4));
}

TEST_F(BatchedBackward, views_and_copies) {
  expect_rows(
      [](const Tensor& a, const Tensor& b) {
        const Tensor x = ops::permute_dims(ops::reshape(a, Dims{2, 2, 4}), Dims{2, 0, 1});
        const Tensor copied = ops::reshape(x, Dims{4, 4});
        const Tensor part = ops::slice(ops::expand_dims(copied, 1), 2, 0, 4, 2);
        const Tensor wide = ops::broadcast_to(ops::squeeze(part, Dims{1}), Dims{3, 4, 2});
        const Tensor diagonal = ops::diagonal(ops::multiply(a, b), 1, 0, 1);
        const std::array parts{ops::narrow(diagonal, 0, 0, 2),
                               ops::select(ops::select(wide, 1, -1), 0, 2), ops::select(b, 1, 1)};
        return ops::concat(parts, 0);
      },
      square_leaf(1), square_leaf(2));
}

TEST_F(BatchedBackward, parts_and_joins) {
  expect_rows(
      [](const Tensor& a, const Tensor& b) {
        const std::vector<Tensor> rows = ops::unstack(a, 1);
        const std::vector<Tensor> halves = ops::split(b, 2, 1);
        const std::array some{rows[0], rows[3], ops::select(b, 0, 0)};
        const std::array both{ops::stack(some, 1), halves[1]};
        return ops::concat(both, 1);
      },
      square_leaf(1), square_leaf(2));
}

TEST_F(BatchedBackward, products) {
  const Tensor vector = leaf(std::array<int64_t, 1>{4}, 2);
  const Tensor stack = leaf(std::array<int64_t, 3>{2, 4, 4}, 3);
  const Function product = [](const Tensor& a, const Tensor& b) {
    return ops::tanh(ops::matmul(a, b));
  };
  const std::array operands{vector, stack, square_leaf(1)};
  for (const Tensor& a : operands) {
    for (const Tensor& b : operands) expect_rows(product, a, b);
  }
  const Tensor bias = leaf(std::array<int64_t, 1>{4}, 5);
  for (const Tensor& x : operands) {
    expect_rows(
        [&](const Tensor& input, const Tensor& weight) {
          return ops::sigmoid(ops::linear(input, weight, bias));
        },
        x, square_leaf(6));
    expect_rows(
        [&](const Tensor& input, const Tensor& b) { return ops::linear(input, square_leaf(6), b); },
        x, bias);
  }
}

TEST_F(BatchedBackward, softmax_along_any_axis) {
  for (const int64_t axis : {0, 1}) {
    expect_rows(
        [&](const Tensor& a, const Tensor& b) {
          return ops::add(ops::softmax(a, axis), ops::log_softmax(ops::multiply(a, b), axis));
        },
        square_leaf(1), square_leaf(2));
  }
}

TEST_F(BatchedBackward, scans_along_any_axis) {
  const std::array scans{
      +[](const Tensor& x, int64_t axis) { return ops::cumulative_sum(x, axis); },
      +[](const Tensor& x, int64_t axis) { return ops::cumulative_prod(x, axis); },
      +[](const Tensor& x, int64_t axis) { return std::get<0>(ops::cummax(x, axis)); },
      +[](const Tensor& x, int64_t axis) { return std::get<0>(ops::cummin(x, axis)); },
      +[](const Tensor& x, int64_t axis) { return ops::logcumsumexp(x, axis); }};
  Tensor with_zeros = square_leaf(3).detached();
  ops::fill_memory(ops::select(with_zeros, 0, 2), 0);
  set_requires_grad(with_zeros, true);
  for (const auto& scan : scans) {
    for (const int64_t axis : {0, 1}) {
      const Function f = [&](const Tensor& a, const Tensor& b) {
        return ops::multiply(scan(a, axis), b);
      };
      expect_rows(f, square_leaf(1), square_leaf(2));
      expect_rows(f, with_zeros, square_leaf(2));
    }
    expect_rows([&](const Tensor& a, const Tensor& b) { return ops::multiply(scan(a, 0), b); },
                leaf(Dims{}, 4), square_leaf(2));
  }
}

TEST_F(BatchedBackward, nodes_without_a_rule_run_once_for_each_sample) {
  const Tensor x = square_leaf(1);
  const Tensor y = ops::exp(x.detached());
  int64_t runs = 0;
  record(y, "OneSampleBackward", {x}, {}, [&runs](Backward& ctx) {
    ++runs;
    EXPECT_EQ(ctx.grad().sizes(), (Dims{4, 4}));
    ctx.set(0, ops::multiply(ctx.grad(), 2));
  });
  const std::vector<Tensor> rows{leaf(Dims{kSamples, 4, 4}, 5).detached()};
  const Tensor found = grad({&y, 1}, {&x, 1}, rows, {.batched = true})[0];
  EXPECT_EQ(runs, kSamples);
  EXPECT_LT(difference(found, ops::multiply(rows[0], 2)), 1e-12);
}

TEST_F(BatchedBackward, writes_through_views) {
  for (const bool read_views : {false, true}) {
    expect_rows(
        [=](const Tensor& a, const Tensor& b) {
          const Tensor x = ops::multiply(a, 1);
          const Tensor row = ops::select(x, 0, 1);
          const Tensor column = ops::select(x, 1, 2);
          ops::multiply(row, ops::select(b, 0, 0), ops::Out::inplace(row));
          return read_views ? ops::multiply(column, row) : ops::exp(x);
        },
        square_leaf(3), square_leaf(4));
  }
}

TEST_F(BatchedBackward, hooks_see_one_sample_at_a_time) {
  const Tensor x = square_leaf(1);
  const Tensor y = ops::exp(x);
  std::vector<Dims> seen;
  const auto note = [&](const Tensor& g) {
    seen.push_back(g.sizes());
    return ops::multiply(g, 2);
  };
  add_tensor_hook(y, note);
  add_tensor_hook(x, note);
  const std::vector<Tensor> rows{ops::ones(Dims{kSamples, 4, 4}, DType::kFloat64, {})};
  const Tensor found = grad({&y, 1}, {&x, 1}, rows, {.batched = true})[0];
  EXPECT_EQ(seen, std::vector<Dims>(2 * kSamples, Dims{4, 4}));
  EXPECT_LT(difference(found, ops::broadcast_to(ops::multiply(y, 4).detached(), found.sizes())),
            1e-12);
}

TEST_F(BatchedBackward, hooks_on_several_tensors_run_once_for_each_sample) {
  const Tensor x = leaf(Dims{2}, 1);
  const Tensor unused = leaf(Dims{2}, 2);
  const Tensor y = ops::multiply(x, 2);
  std::vector<double> all;
  const auto note = [&](std::span<const Tensor> grads) {
    EXPECT_EQ(grads[0].sizes(), (Dims{2}));
    for (const Tensor& g : grads) all.push_back(g.defined() ? *g.data_as<double>() : 0);
  };
  add_multi_hook(std::array{x, y}, MultiHookMode::kAll, note);
  const std::vector<Tensor> rows{ops::reshape(ops::arange(0, 6, 1, DType::kFloat64), Dims{3, 2})};
  const BackwardOptions options{.retain_graph = true, .batched = true};
  static_cast<void>(grad({&y, 1}, {&x, 1}, rows, options));
  EXPECT_EQ(all, (std::vector<double>{0, 0, 4, 2, 8, 4}));

  all.clear();
  const HookHandle late = add_multi_hook(std::array{x, unused}, MultiHookMode::kAll, note);
  int calls = 0;
  add_multi_hook(std::array{x, y}, MultiHookMode::kAny, [&](std::span<const Tensor> grads) {
    EXPECT_FALSE(grads[0].defined());
    EXPECT_EQ(*grads[1].data_as<double>(), 2 * calls++);
  });
  static_cast<void>(grad({&y, 1}, {&x, 1}, rows, options));
  EXPECT_EQ(all, (std::vector<double>{0, 0, 4, 2, 8, 4, 0, 0, 4, 0, 8, 0}));
  EXPECT_EQ(calls, 3);
}

// A 0-dim input counts as one of one element, also beside an index with an axis, and the other way
// round.
TEST_F(BatchedBackward, scatters_of_0_dim_and_1_dim_tensors) {
  const auto index = [](DimsView sizes) { return ops::zeros(sizes, DType::kInt64, Device{}); };
  const struct {
    Dims input;
    Dims index;
  } cases[] = {{{}, {1}}, {{}, {2}}, {{}, {}}, {{1}, {}}};
  for (const auto& each : cases) {
    const Tensor at = index(each.index);
    const Tensor x = leaf(each.input, 5);
    const Tensor s = leaf(each.index, 6);
    SCOPED_TRACE(concat("input ", each.input, " index ", each.index));
    expect_rows([&](const Tensor& a, const Tensor& b) { return ops::scatter_add(a, 0, at, b); }, x,
                s);
    expect_rows([&](const Tensor& a, const Tensor& b) { return ops::scatter(a, 0, at, b); }, x, s);
    for (const char* reduce : {"sum", "prod", "mean", "amax"}) {
      for (const bool own : {false, true}) {
        expect_rows([&](const Tensor& a,
                        const Tensor& b) { return ops::scatter_reduce(a, 0, at, b, reduce, own); },
                    x, s);
      }
    }
    expect_rows(
        [&](const Tensor& a, const Tensor& b) {
          return ops::multiply(ops::gather(a, 0, at), ops::square(b));
        },
        x, s);
  }
}

TEST_F(BatchedBackward, misuse_is_a_typed_error) {
  const Tensor x = square_leaf(1);
  const Tensor y = ops::exp(x);
  const auto code_of = [&](const Tensor& rows) {
    try {
      static_cast<void>(
          grad({&y, 1}, {&x, 1}, {&rows, 1}, {.retain_graph = true, .batched = true}));
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kInternal;
  };
  EXPECT_EQ(code_of(ops::ones(Dims{4, 4}, DType::kFloat64, {})), Code::kShape);
  EXPECT_EQ(code_of(ops::ones(Dims{}, DType::kFloat64, {})), Code::kShape);
  EXPECT_EQ(code_of(ops::ones(Dims{0, 4, 4}, DType::kFloat64, {})), Code::kValue);
  EXPECT_EQ(code_of(Tensor()), Code::kValue);
}

}  // namespace
}  // namespace tsr::test_batched_backward
