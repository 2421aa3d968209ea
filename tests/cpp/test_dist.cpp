// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of ranks in C++: here of threads; tests/languages has a program for processes.
#include <thread>

#include "support.hpp"

namespace test_dist {
namespace {

using tessera::Tensor;
using tessera::distributed::Group;
using tessera::distributed::GroupOptions;
using tessera::distributed::ReduceOp;
using tessera::distributed::Work;

// Runs body(group) as rank 0 and 1.
template <class Body>
void on_two_ranks(const char* address, const Body& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&body, address, rank] {
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

Tensor pair(double a, double b) {
  return tessera::tensor({a, b}, tessera::kFloat32);
}

bool equal(const Tensor& got, double a, double b) {
  return got.to_vector<double>() == std::vector<double>{a, b};
}

TEST(Dist, D9_collectives_of_two_ranks) {
  on_two_ranks("cpp collectives", [](const Group& group) {
    const double rank = group.rank();
    EXPECT_EQ(group.size(), 2);
    EXPECT_EQ(group.backend(), "threads");
    const Tensor sum = pair(rank, 1);
    group.all_reduce(sum).wait();
    EXPECT_TRUE(equal(sum, 1, 2));
    const Tensor most = pair(rank, 1);
    group.reduce(most, 0, ReduceOp::Max).wait();
    EXPECT_TRUE(equal(most, rank == 0 ? 1 : rank, 1));
    const Tensor copy = pair(rank, rank);
    group.broadcast(copy, 1).wait();
    EXPECT_TRUE(equal(copy, 1, 1));
    const Tensor first = pair(9, 9), second = pair(9, 9), all = tessera::zeros({4});
    group.all_gather({first, second}, pair(rank, 7)).wait();
    EXPECT_TRUE(equal(first, 0, 7) && equal(second, 1, 7));
    group.all_gather(all, pair(rank, 7)).wait();
    const Tensor part = pair(9, 9);
    group.reduce_scatter(part, all).wait();
    EXPECT_TRUE(equal(part, 2 * rank, 14));
    group.all_to_all({first, second}, {pair(rank, 0), pair(rank, 1)}).wait();
    EXPECT_TRUE(equal(first, 0, rank) && equal(second, 1, rank));
    const Tensor swapped = pair(9, 9);
    group.all_to_all_single(swapped, pair(rank, rank + 10)).wait();
    EXPECT_TRUE(equal(swapped, rank * 10, rank * 10 + 1));
    const std::vector<Tensor> none, here{first, second}, fives{pair(5, 5), pair(6, 6)};
    const bool root = group.rank() == 0;
    group.gather(root ? here : none, pair(rank, 3), 0).wait();
    EXPECT_TRUE(!root || (equal(first, 0, 3) && equal(second, 1, 3)));
    group.scatter(part, root ? fives : none, 0).wait();
    EXPECT_TRUE(equal(part, 5 + rank, 5 + rank));
  });
}

TEST(Dist, D9_messages_parts_and_errors) {
  on_two_ranks("cpp messages", [](const Group& group) {
    const int rank = group.rank();
    const Tensor got = pair(9, 9);
    const Work receive = group.recv(got, std::nullopt, 4);
    group.send(pair(rank, 2), 1 - rank, 4).wait();
    receive.wait();
    EXPECT_TRUE(receive.done());
    EXPECT_EQ(receive.source(), 1 - rank);
    EXPECT_TRUE(equal(got, 1 - rank, 2));
    const std::optional<Group> part = group.split(rank == 1 ? 0 : -1);
    EXPECT_EQ(part.has_value(), rank == 1);
    if (part) {
      EXPECT_EQ(part->first_rank(0), 1);
    }
    EXPECT_THROW(group.broadcast(got, 2), tessera::OutOfRangeError);
    EXPECT_THROW(group.all_reduce(tessera::zeros({2 + rank})).wait(), tessera::ShapeError);
    group.barrier().wait(30);
    group.abort("the user stopped it");
    EXPECT_TRUE(group.aborted());
    EXPECT_THROW(group.barrier().wait(), tessera::CancelledError);
  });
}

TEST(Dist, D9_collectives_with_derivatives) {
  namespace functional = tessera::distributed::functional;
  on_two_ranks("cpp functional", [](const Group& group) {
    const int rank = group.rank();
    const auto gradient = [&](const auto& collective) {
      const Tensor x = pair(rank, 3).requires_grad_();
      (collective(x) * (1.0 + rank)).sum().backward();
      return x.grad();
    };
    EXPECT_TRUE(
        equal(gradient([&](const Tensor& x) { return functional::all_reduce(group, x); }), 3, 3));
    EXPECT_TRUE(
        equal(gradient([&](const Tensor& x) { return functional::all_gather(group, x); }), 3, 3));
    EXPECT_TRUE(
        equal(gradient([&](const Tensor& x) { return functional::reduce(group, x, 1); }), 2, 2));
    EXPECT_TRUE(equal(
        gradient([&](const Tensor& x) { return functional::reduce_scatter(group, x); }), 1, 2));
    EXPECT_TRUE(
        equal(gradient([&](const Tensor& x) { return functional::all_to_all(group, x); }), 1, 2));
    const Tensor copied =
        gradient([&](const Tensor& x) { return functional::broadcast(group, x, 1); });
    EXPECT_TRUE(rank == 1 ? equal(copied, 3, 3) : equal(copied, 0, 0));
    EXPECT_TRUE(equal(
        functional::all_to_all(group, pair(rank, 5), std::nullopt, std::vector<int64_t>{1, 1}),
        rank == 0 ? 0 : 5, rank == 0 ? 1 : 5));
    const Tensor x = pair(1, 2).requires_grad_();
    if (rank == 0) {
      functional::send(group, x * 3.0, 1, 2).backward();
      EXPECT_TRUE(equal(x.grad(), 12, 12));
    } else {
      (functional::recv(group, x, 0, 2) * 4.0).sum().backward();
    }
    EXPECT_THROW(functional::broadcast(group, x, 2), tessera::OutOfRangeError);
  });
}

}  // namespace
}  // namespace test_dist
