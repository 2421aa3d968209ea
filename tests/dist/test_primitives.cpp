// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Training over several ranks written with the primitives alone, as a user would who does not want
// DataParallel.
#include "data_parallel_support.h"
#include "dist/collectives.h"

namespace tsr::dist::test::test_primitives {
namespace {

constexpr float kClose = 1e-6F;
constexpr int64_t kSteps = 5;

enum class Averaging { kAllReduce, kReduceAndBroadcast, kScatterAndGather };

// Every way leaves the average of the ranks in `grad`.
void average(const GroupPtr& group, const Tensor& grad, Averaging way) {
  switch (way) {
    case Averaging::kAllReduce:
      group->all_reduce(grad, ReduceOp::kAvg)->wait();
      break;
    case Averaging::kReduceAndBroadcast:
      group->reduce(grad, ReduceOp::kAvg, 0)->wait();
      group->broadcast(grad, 0)->wait();
      break;
    case Averaging::kScatterAndGather: {
      const Tensor part = ops::empty(Dims{grad.numel() / group->size()}, grad.dtype(), {});
      group->reduce_scatter(part, grad, ReduceOp::kAvg)->wait();
      group->all_gather(grad, part)->wait();
      break;
    }
  }
}

TEST(Primitives, P18_data_parallel_training_by_hand_equals_the_whole_batch) {
  const auto alone = trained_alone(sgd(), kSteps);
  for (const Averaging way :
       {Averaging::kAllReduce, Averaging::kReduceAndBroadcast, Averaging::kScatterAndGather}) {
    on_ranks(2, [&](const GroupPtr& group) {
      const Network network(group->rank() * 100);
      group->broadcast(network.params, 0)->wait();
      const OptimizerPtr optimizer = make_optimizer(sgd(), network.params);
      for (int64_t step = 0; step < kSteps; ++step) {
        optimizer->zero_grad(true);
        const Tensor loss = mean_of_squares(network(share(batch(step), *group)));
        backward({&loss, 1});
        for (const Tensor& param : network.params) average(group, grad_of(param), way);
        optimizer->step();
      }
      EXPECT_LE(largest_difference(network.params, alone), kClose) << static_cast<int>(way);
    });
  }
}

// The first layer is on rank 0 and the second on rank 1: activations go there, gradients come back.
TEST(Primitives, P18_a_model_divided_over_ranks_trains_by_messages) {
  const auto alone = trained_alone(sgd(), kSteps);
  on_ranks(2, [&](const GroupPtr& group) {
    const Network network;
    const bool first = group->rank() == 0;
    const std::span<const Tensor> all = network.params;
    const std::span<const Tensor> own = first ? all.first(4) : all.subspan(4);
    const OptimizerPtr optimizer = make_optimizer(sgd(), own);
    for (int64_t step = 0; step < kSteps; ++step) {
      optimizer->zero_grad(true);
      const Tensor message = ops::zeros(Dims{12, 16});
      if (first) {
        const Tensor hidden = ops::linear(batch(step), all[0], all[1]);
        const Tensor output = ops::tanh(ops::add(ops::multiply(hidden, all[2]), all[3]));
        group->send(ops::detach(output), 1, 0)->wait();
        group->recv(message, 1, 1)->wait();
        backward({&output, 1}, {&message, 1});
      } else {
        group->recv(message, 0, 0)->wait();
        set_requires_grad(message, true);
        const Tensor loss = mean_of_squares(ops::linear(message, all[4], all[5]));
        backward({&loss, 1});
        group->send(grad_of(message), 0, 1)->wait();
      }
      optimizer->step();
    }
    const std::span<const Tensor> wanted = alone;
    EXPECT_LE(largest_difference(own, first ? wanted.first(4) : wanted.subspan(4)), kClose);
  });
}

}  // namespace
}  // namespace tsr::dist::test::test_primitives
