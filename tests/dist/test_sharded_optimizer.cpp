// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sharded_optimizer.h"

#include <nlohmann/json.hpp>

#include "data_parallel_support.h"

namespace tsr::dist::test::test_sharded_optimizer {
namespace {

using nlohmann::json;
using ShardedPtr = IntrusivePtr<ShardedOptimizer>;

// Equal sizes, so that each of two or four ranks gets the same share.
std::vector<Tensor> equal_parameters(int64_t seed = 0) {
  std::vector<Tensor> params;
  for (int64_t i = 0; i < 8; ++i) params.push_back(parameter({5, 3}, seed + i));
  return params;
}

void set_gradients(std::span<const Tensor> params, int64_t step) {
  for (size_t i = 0; i < params.size(); ++i) {
    set_grad(params[i], numbers(params[i].sizes(), 100 * step + static_cast<int64_t>(i)));
  }
}

void take_steps(ShardedOptimizer& sharded, std::span<const Tensor> params, int64_t from,
                int64_t to) {
  for (int64_t step = from; step < to; ++step) {
    set_gradients(params, step);
    sharded.step();
  }
}

std::vector<Tensor> stepped_alone(const optim::Options& rule, int64_t steps) {
  const auto params = equal_parameters();
  const OptimizerPtr optimizer = make_optimizer(rule, params);
  for (int64_t step = 0; step < steps; ++step) {
    set_gradients(params, step);
    optimizer->step();
  }
  return params;
}

TEST(ShardedOptimizer, steps_equal_those_of_the_whole_optimizer) {
  for (const optim::Options& rule : {sgd(), adam()}) {
    const auto alone = stepped_alone(rule, 10);
    for (const int32_t size : {1, 2, 3, 4}) {
      on_ranks(size, [&](const GroupPtr& group) {
        const auto params = equal_parameters();
        const auto sharded =
            ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(rule, params), group));
        take_steps(*sharded, params, 0, 10);
        EXPECT_EQ(largest_difference(params, alone), 0) << size << " ranks";
      });
    }
  }
}

TEST(ShardedOptimizer, each_rank_has_its_part_of_the_bytes_of_the_states) {
  for (const int32_t size : {1, 2, 4}) {
    on_ranks(size, [&](const GroupPtr& group) {
      const auto params = equal_parameters();
      const auto sharded =
          ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(adam(), params), group));
      take_steps(*sharded, params, 0, 2);
      const int64_t all = 8 * 5 * 3 * 4 * 2;  // two moments in float32
      EXPECT_EQ(json::parse(sharded->report())["state_bytes"], all / size);
    });
  }
}

TEST(ShardedOptimizer, the_gathered_state_goes_on_anywhere) {
  const auto alone = stepped_alone(adam(), 8);
  on_ranks(3, [&](const GroupPtr& group) {
    const auto params = equal_parameters();
    const auto sharded =
        ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(adam(), params), group));
    take_steps(*sharded, params, 0, 4);
    EXPECT_EQ(static_cast<bool>(sharded->gather(1)), group->rank() == 1);
    const OptimizerPtr whole = sharded->gather(-1);
    const optim::NamedState state = whole->state();
    EXPECT_EQ(state.names.size(), 8U * 3U);
    // Another optimizer over the same parameters takes the whole state and keeps its share.
    const auto next =
        ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(adam(), params), group));
    next->optimizer().load(state.description, state.names, state.tensors);
    take_steps(*next, params, 4, 8);
    EXPECT_EQ(largest_difference(params, alone), 0);
    EXPECT_LT(json::parse(next->report())["state_bytes"], 8 * 5 * 3 * 4 * 2);
  });
}

TEST(ShardedOptimizer, a_group_that_is_added_is_divided_too) {
  on_ranks(2, [](const GroupPtr& group) {
    const auto params = equal_parameters();
    const auto sharded = ShardedPtr::adopt(
        new ShardedOptimizer(make_optimizer(sgd(), std::span(params).first(2)), group));
    sharded->optimizer().add_group(sgd(0.5), std::span(params).subspan(2));
    take_steps(*sharded, params, 0, 1);
    const json owners = json::parse(sharded->report())["owners"];
    EXPECT_EQ(owners, json::parse("[[0, 1], [0, 1, 0, 1, 0, 1]]"));
  });
}

TEST(ShardedOptimizer, other_parameters_on_another_rank_are_an_error_on_all_ranks) {
  const auto errors = errors_of(2, [](const GroupPtr& group) {
    const Tensor param = parameter({3 + group->rank()}, 1);
    ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(sgd(), {&param, 1}), group));
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::kShape);
  }
}

TEST(ShardedOptimizer, a_rank_that_does_not_exist_is_refused) {
  on_ranks(1, [](const GroupPtr& group) {
    const Tensor param = parameter({3}, 1);
    const auto sharded =
        ShardedPtr::adopt(new ShardedOptimizer(make_optimizer(sgd(), {&param, 1}), group));
    EXPECT_THROW(sharded->gather(1), Error);
  });
}

}  // namespace
}  // namespace tsr::dist::test::test_sharded_optimizer
