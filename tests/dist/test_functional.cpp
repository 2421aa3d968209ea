// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Collectives with derivatives, compared with finite differences of the sum of all ranks' losses.
#include "dist/functional.h"

#include "autograd/forward.h"
#include "data_parallel_support.h"
#include "dist/sampler.h"

namespace tsr::dist::test::test_functional {
namespace {

using Collective1 = std::function<Tensor(const GroupPtr&, const Tensor&)>;

// Values that differ between ranks and elements, with no equal ones.
Tensor input_of(int32_t rank, Dims shape) {
  return numbers(std::move(shape), 77 + rank, DType::kFloat64);
}

// Another weight for each element and rank, so that no permutation goes unnoticed.
Tensor loss_of(const GroupPtr& group, const Tensor& output) {
  const Tensor weights = numbers(Dims(output.sizes().begin(), output.sizes().end()),
                                 500 + group->rank(), DType::kFloat64);
  return ops::sum(ops::multiply(ops::multiply(output, output), weights));
}

double total_of(const GroupPtr& group, const Tensor& loss) {
  const Tensor sum = ops::clone(ops::detach(loss));
  group->all_reduce(sum, ReduceOp::kSum)->wait();
  return *sum.data_as<double>();
}

void check_derivative(const GroupPtr& group, Dims shape, const Collective1& collective,
                      const std::string& name) {
  const Tensor input = input_of(group->rank(), shape);
  set_requires_grad(input, true);
  const Tensor loss = loss_of(group, collective(group, input));
  backward({&loss, 1});
  const Tensor grad = grad_of(input);
  ASSERT_TRUE(grad.defined()) << name;
  const NoGrad no_grad;
  constexpr double kStep = 1e-6;
  // Ranks may have different numbers of elements, and all take part in every sum.
  const Tensor most = ops::full(Dims{1}, Scalar(input.numel()), DType::kInt64);
  group->all_reduce(most, ReduceOp::kMax)->wait();
  for (int32_t rank = 0; rank < group->size(); ++rank) {
    for (int64_t i = 0; i < *most.data_as<int64_t>(); ++i) {
      const bool mine = rank == group->rank() && i < input.numel();
      double totals[2];
      for (const int side : {0, 1}) {
        const Tensor moved = input_of(group->rank(), shape);
        if (mine) moved.data_as<double>()[i] += side == 0 ? kStep : -kStep;
        totals[side] = total_of(group, loss_of(group, collective(group, moved)));
      }
      if (!mine) continue;
      EXPECT_NEAR(ops::contiguous(grad).data_as<double>()[i], (totals[0] - totals[1]) / (2 * kStep),
                  1e-6)
          << name << " at " << i << " on rank " << rank << " of " << group->size();
    }
  }
}

TEST(Functional, D9_derivatives_equal_finite_differences) {
  for (const int32_t size : {1, 2, 3}) {
    on_ranks(size, [size](const GroupPtr& group) {
      for (const ReduceOp op :
           {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProd}) {
        check_derivative(
            group, {2, 3},
            [op](const GroupPtr& g, const Tensor& x) { return functional::all_reduce(g, x, op); },
            concat("all_reduce ", name(op)));
        check_derivative(
            group, {2 * size, 2},
            [op](const GroupPtr& g, const Tensor& x) {
              return functional::reduce_scatter(g, x, op);
            },
            concat("reduce_scatter ", name(op)));
      }
      for (int32_t root = 0; root < size; ++root) {
        for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
          check_derivative(
              group, {3},
              [op, root](const GroupPtr& g, const Tensor& x) {
                return functional::reduce(g, x, op, root);
              },
              concat("reduce ", name(op)));
        }
        check_derivative(
            group, {3},
            [root](const GroupPtr& g, const Tensor& x) {
              return functional::broadcast(g, x, root);
            },
            "broadcast");
      }
      check_derivative(group, {2, 2}, functional::all_gather, "all_gather");
      check_derivative(
          group, {2 * size, 2},
          [](const GroupPtr& g, const Tensor& x) { return functional::all_to_all(g, x, {}, {}); },
          "all_to_all");
    });
  }
}

TEST(Functional, D9_parts_of_other_lengths_are_told_and_go_back) {
  on_ranks(3, [](const GroupPtr& group) {
    // Rank r sends r + s rows to rank s.
    std::vector<int64_t> sent, expected;
    int64_t rows = 0;
    for (int32_t other = 0; other < 3; ++other) {
      sent.push_back(group->rank() + other);
      expected.push_back(group->rank() + other);
      rows += sent.back();
    }
    check_derivative(
        group, {rows, 2},
        [&](const GroupPtr& g, const Tensor& x) { return functional::all_to_all(g, x, {}, sent); },
        "all_to_all with told parts");
    check_derivative(
        group, {rows, 2},
        [&](const GroupPtr& g, const Tensor& x) {
          return functional::all_to_all(g, x, expected, sent);
        },
        "all_to_all with parts");
  });
}

TEST(Functional, D9_a_rank_whose_input_needs_no_gradient_runs_its_backward) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor x = input_of(group->rank(), {3});
    if (group->rank() == 0) set_requires_grad(x, true);
    const Tensor y = functional::broadcast(group, x, 0);
    ASSERT_TRUE(requires_grad(y));
    const Tensor loss = ops::sum(ops::multiply(y, 1.0 + group->rank()));
    backward({&loss, 1});
    if (group->rank() == 0) {
      EXPECT_EQ(floats(grad_of(x)), std::vector<float>(3, 3.0F));
    } else {
      EXPECT_FALSE(grad_of(x).defined());
    }
    // No rank needs one, or none records.
    EXPECT_FALSE(requires_grad(functional::all_gather(group, ops::detach(x))));
    const NoGrad no_grad;
    EXPECT_FALSE(requires_grad(functional::all_reduce(group, x, ReduceOp::kSum)));
  });
}

TEST(Functional, D9_a_derivative_has_a_derivative) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor x = input_of(group->rank(), {2});
    set_requires_grad(x, true);
    // Of the sum of both ranks' losses, 2 s^3 with s = x0 + x1: 6 s^2, then 12 s on each rank, and
    // twice that because both ranks have a second loss.
    const Tensor s = functional::all_reduce(group, x, ReduceOp::kSum);
    const Tensor loss = ops::sum(ops::multiply(ops::multiply(s, s), s));
    BackwardOptions options;
    options.create_graph = true;
    const std::vector<Tensor> first = grad({&loss, 1}, {&x, 1}, {}, options, false);
    const Tensor second_loss = ops::sum(first[0]);
    backward({&second_loss, 1});
    const auto sums = floats(s), firsts = floats(first[0]), seconds = floats(grad_of(x));
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(firsts[i], 6 * sums[i] * sums[i], 1e-5);
      EXPECT_NEAR(seconds[i], 24 * sums[i], 1e-5);
    }
  });
}

TEST(Functional, D9_a_tangent_of_one_rank_reaches_the_results_of_all) {
  const std::vector<std::pair<std::string, Collective1>> all{
      {"sum",
       [](const auto& g, const Tensor& x) { return functional::all_reduce(g, x, ReduceOp::kSum); }},
      {"product", [](const auto& g,
                     const Tensor& x) { return functional::all_reduce(g, x, ReduceOp::kProd); }},
      {"largest",
       [](const auto& g, const Tensor& x) { return functional::all_reduce(g, x, ReduceOp::kMax); }},
      {"reduce",
       [](const auto& g, const Tensor& x) { return functional::reduce(g, x, ReduceOp::kAvg, 0); }},
      {"broadcast", [](const auto& g, const Tensor& x) { return functional::broadcast(g, x, 1); }},
      {"gather", [](const auto& g, const Tensor& x) { return functional::all_gather(g, x); }},
      {"scatter", [](const auto& g,
                     const Tensor& x) { return functional::reduce_scatter(g, x, ReduceOp::kSum); }},
      {"exchange",
       [](const auto& g, const Tensor& x) { return functional::all_to_all(g, x, {}, {}); }}};
  for (const auto& [name, collective] : all) {
    for (const bool recording : {false, true}) {
      on_ranks(2, [&, collective = collective, name = name](const GroupPtr& group) {
        const Tensor input = input_of(group->rank(), {4});
        if (recording) set_requires_grad(input, true);
        const Tensor direction = numbers({4}, 9, DType::kFloat64);
        const bool moves = group->rank() == 1;
        const int64_t level = enter_forward_level();
        const Tensor output = collective(group, moves ? make_dual(input, direction) : input);
        const Tensor tangent = unpack_dual(output).tangent;
        const NoGrad no_grad;
        std::vector<Tensor> sides;
        for (const double step : {1e-6, -1e-6}) {
          const Tensor moved = moves ? ops::add(input, ops::multiply(direction, step)) : input;
          sides.push_back(ops::detach(collective(group, moved)));
        }
        const Tensor slope = ops::divide(ops::subtract(sides[0], sides[1]), 2e-6);
        ASSERT_TRUE(tangent.defined()) << name;
        EXPECT_LE(largest_difference({&tangent, 1}, {&slope, 1}), 1e-5F) << name;
        exit_forward_level(level);
        if (!recording) return;
        const GradModeScope with_grad({true, false});
        const Tensor loss = ops::sum(output);
        backward({&loss, 1});
        EXPECT_TRUE(grad_of(input).defined()) << name;
      });
    }
  }
}

TEST(Functional, a_tangent_elsewhere_needs_a_level_on_this_rank) {
  const auto errors = errors_of(
      2,
      [](const GroupPtr& group) {
        Tensor input = input_of(group->rank(), {4});
        set_requires_grad(input, true);
        if (group->rank() == 1) {
          enter_forward_level();
          input = make_dual(input, numbers({4}, 9, DType::kFloat64));
        }
        functional::all_reduce(group, input, ReduceOp::kSum);
      },
      60, true);
  ASSERT_TRUE(errors[0]);
  EXPECT_EQ(errors[0]->code(), Code::kAutograd) << errors[0]->message();
}

TEST(Functional, D9_a_gradient_returns_to_the_sender_of_a_message) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor x = input_of(0, {4});
    if (group->rank() == 0) {
      set_requires_grad(x, true);
      const Tensor hidden = ops::multiply(x, 3.0);
      const Tensor token = functional::send(group, hidden, 1, 5);
      EXPECT_EQ(token.ndim(), 0);
      backward({&token, 1});
      const auto values = floats(x), grads = floats(grad_of(x));
      for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(grads[i], 18 * values[i], 1e-5);
    } else {
      const Tensor hidden = functional::recv(group, ops::empty_like(x), 0, 5, true);
      const Tensor loss = ops::sum(ops::multiply(hidden, hidden));
      backward({&loss, 1});
    }
    // Without a gradient, and both ways at a time.
    const Tensor there = functional::send(group, ops::detach(x), 1 - group->rank(), 6);
    EXPECT_FALSE(requires_grad(there));
    const Tensor here = functional::recv(group, ops::detach(x), 1 - group->rank(), 6, false);
    EXPECT_EQ(floats(here), floats(ops::detach(x)));
  });
}

TEST(Functional, D9_what_has_no_derivative_is_refused) {
  const auto code_of = [](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };
  on_ranks(2, [&](const GroupPtr& group) {
    const Tensor x = input_of(group->rank(), {4});
    set_requires_grad(x, true);
    EXPECT_EQ(code_of([&] { functional::reduce(group, x, ReduceOp::kMax, 0); }),
              Code::kNotImplemented);
    EXPECT_EQ(code_of([&] { functional::broadcast(group, x, 2); }), Code::kIndex);
    EXPECT_EQ(code_of([&] { functional::all_gather(group, ops::zeros(Dims{})); }), Code::kShape);
    EXPECT_EQ(
        code_of([&] { functional::reduce_scatter(group, ops::zeros(Dims{3}), ReduceOp::kSum); }),
        Code::kShape);
    const Tensor whole = ops::zeros(Dims{2}, DType::kInt32);
    EXPECT_EQ(code_of([&] { functional::recv(group, whole, 0, 0, true); }), Code::kDType);
    EXPECT_FALSE(requires_grad(functional::all_reduce(group, whole, ReduceOp::kBitOr)));
    // The group is still in step.
    functional::all_reduce(group, x, ReduceOp::kSum);
  });
}

TEST(Sampler, ranks_share_one_order) {
  for (const bool drop_last : {false, true}) {
    for (const int64_t count : {0, 1, 7, 12}) {
      std::vector<int64_t> seen(static_cast<size_t>(count), 0);
      for (int64_t rank = 0; rank < 3; ++rank) {
        const Tensor own = positions_of_rank(count, 3, rank, 5, drop_last);
        EXPECT_EQ(own.numel(), drop_last ? count / 3 : (count + 2) / 3);
        for (int64_t i = 0; i < own.numel(); ++i) {
          ++seen[static_cast<size_t>(own.data_as<int64_t>()[i])];
        }
      }
      const auto times = [&](int64_t n) { return std::count(seen.begin(), seen.end(), n); };
      if (drop_last) {
        EXPECT_EQ(times(1), count / 3 * 3);
        EXPECT_EQ(times(0), count % 3);
      } else {
        EXPECT_EQ(times(0), 0);
      }
    }
  }
  const auto listed = [](const Tensor& t) {
    return std::vector<int64_t>(t.data_as<int64_t>(), t.data_as<int64_t>() + t.numel());
  };
  EXPECT_EQ(listed(positions_of_rank(5, 2, 1, {}, false)), (std::vector<int64_t>{1, 3, 0}));
  EXPECT_EQ(listed(positions_of_rank(1, 3, 2, {}, false)), (std::vector<int64_t>{0}));
  EXPECT_NE(listed(positions_of_rank(50, 2, 1, 1, false)),
            listed(positions_of_rank(50, 2, 1, 2, false)));
  EXPECT_THROW(positions_of_rank(5, 2, 2, {}, false), Error);
  EXPECT_THROW(positions_of_rank(-1, 2, 1, {}, false), Error);
}

}  // namespace
}  // namespace tsr::dist::test::test_functional
