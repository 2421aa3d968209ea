// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data-parallel training in C++: the wrapper's own part, on two threads.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "support.hpp"

namespace test_data_parallel {
namespace {

using namespace tessera;
using namespace tessera::test;
using namespace tessera::distributed;

template <class Body>
void on_two_ranks(const std::string& address, const Body& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&body, &address, rank] {
      GroupOptions options;
      options.rank = rank;
      options.size = 2;
      options.timeout = 60;
      options.address = address;
      body(Group("threads", options));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DataParallel, gradients_are_averages_over_the_ranks) {
  on_two_ranks("cpp data parallel", [](const Group& group) {
    Tensor w = leaf({1, 2, 3});
    DataParallel parallel(group, {w});
    const auto step = [&] {
      w.set_grad(Tensor());
      backward(parallel.forward([&] { return sum(w * double(group.rank() + 1)); }));
      return w.grad().to_vector<double>()[0];
    };
    EXPECT_EQ(step(), 1.5);
    nn::BatchNorm1d norm(2);
    norm.running_mean += double(group.rank());
    DataParallel of_module(group, norm);
    EXPECT_EQ(norm.running_mean.to_vector<double>()[0], 0.0) << "the buffers are rank 0's";
    {
      const NoSyncGuard alone(parallel);
      EXPECT_EQ(step(), group.rank() + 1.0);
    }
    EXPECT_EQ(step(), 1.5);
    EXPECT_NE(parallel.report().find("\"kind\":\"launched\""), std::string::npos);
    EXPECT_THROW(parallel.end_join(), Error);
    parallel.begin_join();
    for (int k = 0; k <= group.rank(); ++k) step();
    parallel.end_join();
  });
}

TEST(DataParallel, wrong_options_are_errors) {
  on_two_ranks("cpp wrong options", [](const Group& group) {
    DataParallelOptions options;
    options.bucket_bytes = 0;
    EXPECT_THROW(DataParallel(group, {leaf({1, 2, 3})}, {}, options), Error);
  });
}

TEST(DataParallel, states_of_an_optimizer_are_divided_and_gathered) {
  on_two_ranks("cpp sharded", [](const Group& group) {
    const std::vector<Tensor> params{leaf({1, 2, 3}), leaf({1, 2, 3})};
    optim::ShardedOptimizer sharded(optim::Adam(TensorList(params)), group);
    for (Tensor param : params) param.set_grad(ones({3}, kFloat64));
    sharded.step();
    EXPECT_EQ(params[0].to_vector<double>(), params[1].to_vector<double>());
    EXPECT_NE(sharded.report().find("\"state_bytes\":48"), std::string::npos);
    const auto whole = sharded.gather(1);
    EXPECT_EQ(whole.has_value(), group.rank() == 1);
    if (whole) {
      EXPECT_EQ(whole->state().tensors.size(), 6U);
    }
  });
}

TEST(DataParallel, checkpoints_are_written_together_and_read_by_one) {
  const std::string folder = "cpp_shards." + std::to_string(::getpid());
  on_two_ranks("cpp shards", [&](const Group& group) {
    const Tensor part = full({2, 3}, double(group.rank()), kFloat32);
    save_shards({{"w", part}}, folder, group, {{"w", ShardSlice{{2 * group.rank(), 0}, {4, 3}}}},
                {{"made", "here"}});
  });
  const Tensor whole = zeros({4, 3});
  load_shards({{"w", whole}}, folder);
  EXPECT_EQ(whole.to_vector<float>()[0], 0);
  EXPECT_EQ(whole.to_vector<float>()[11], 1);
  EXPECT_NE(shards_index(folder).find("\"made\": \"here\""), std::string::npos);
  save_shards({{"w", whole}}, folder);
  EXPECT_THROW(load_shards({{"v", whole}}, folder), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace test_data_parallel
