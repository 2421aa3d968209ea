// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Several threads that use one tensor, one graph or one .grad at the same time. The values show a
// lost update; the thread sanitizer shows the rest.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "autograd/forward.h"
#include "autograd/hooks.h"
#include "autograd/ownership.h"
#include "support/effort.h"
#include "toy_ops.h"

namespace tsr::test_threads {
namespace {

using toy::grad_values;
using toy::leaf;
using toy::make;
using toy::Values;
using toy::values;

using Threads = toy::GraphTest;

constexpr int kThreads = 4;
constexpr BackwardOptions kRetain{.retain_graph = true};

// Runs `work` on all threads, which begin together.
template <class Work>
void run_together(const Work& work) {
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Threads, first_readers_of_a_view_see_the_write_to_its_base) {
  for (int round = 0; round < effort(200, 30); ++round) {
    const Tensor x = leaf({4}, {1, 2, 3, 4});
    const Tensor base = make({4}, {0, 0, 0, 0});
    const Tensor view = toy::slice(base, 0, 2);
    EXPECT_FALSE(requires_grad(view));
    toy::add_inplace(base, x);
    run_together([&] {
      EXPECT_TRUE(requires_grad(view));
      EXPECT_FALSE(is_leaf(view));
      EXPECT_TRUE(needs_grad(view));
      const Tensor y = toy::sum(toy::scale(view, 2));
      EXPECT_EQ(values(grad(std::array{y}, std::array{x}, {}, kRetain)[0]), (Values{2, 2, 0, 0}));
      EXPECT_STREQ(grad_fn(view)->name(), "AsStridedBackward");
    });
    EXPECT_TRUE(requires_grad(view));
  }
}

TEST_F(Threads, view_that_required_nothing_still_does_not_after_a_plain_write) {
  const Tensor base = make({4}, {0, 0, 0, 0});
  const Tensor view = toy::slice(base, 0, 2);
  toy::fill_inplace(base, 3);
  run_together([&] {
    EXPECT_FALSE(needs_grad(view));
    EXPECT_FALSE(requires_grad(view));
    EXPECT_TRUE(is_leaf(view));
  });
}

TEST_F(Threads, E24_backwards_add_up_in_a_retained_gradient) {
  const int rounds = effort(500, 50);
  const Tensor x = leaf({2}, {1, 2});
  const Tensor m = toy::scale(x, 2);
  retain_grad(m);
  const Tensor y = toy::sum(toy::scale(m, 3));
  run_together([&] {
    for (int i = 0; i < rounds; ++i) backward(std::array{y}, {}, kRetain);
  });
  EXPECT_EQ(grad_values(m), Values(2, 3.0 * kThreads * rounds));
  EXPECT_EQ(grad_values(x), Values(2, 6.0 * kThreads * rounds));
}

TEST_F(Threads, backwards_to_one_inner_tensor_add_up_once_each) {
  for (int round = 0; round < effort(100, 20); ++round) {
    const Tensor x = leaf({2}, {1, 2});
    const Tensor m = toy::scale(x, 2);
    const Tensor y = toy::sum(toy::scale(m, 3));
    run_together([&] { backward(std::array{y}, {}, kRetain, std::array{m}); });
    EXPECT_TRUE(retains_grad(m));
    EXPECT_EQ(grad_values(m), Values(2, 3.0 * kThreads));
  }
}

TEST_F(Threads, one_saved_graph_is_read_while_backwards_run_it) {
  const int rounds = effort(200, 30);
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = toy::mul(toy::exp(x), x);
  const NodePtr node = grad_fn(y);
  run_together([&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_EQ(node->saved_count(), 2U);
      EXPECT_EQ(values(node->saved(1)), (Values{1, 2}));
      EXPECT_EQ(node->saved_origin(1).kind, SavedTensor::Kind::kInput);
      backward(std::array{toy::sum(y)}, {}, kRetain);
    }
  });
  EXPECT_EQ(node->saved_count(), 2U);
}

TEST_F(Threads, hooks_of_one_tensor_come_and_go_while_backwards_run) {
  const int rounds = effort(200, 30);
  const Tensor x = leaf({1}, {1});
  const Tensor y = toy::scale(x, 2);
  std::atomic<int64_t> calls{0};
  const auto count = [&](const Tensor&) {
    ++calls;
    return Tensor();
  };
  add_tensor_hook(x, count);
  run_together([&] {
    for (int i = 0; i < rounds; ++i) {
      const int64_t id = hook_id(x, add_tensor_hook(x, count));
      const HookHandle of_result = add_tensor_hook(y, count);
      EXPECT_EQ(values(grad(std::array{y}, std::array{x}, {}, kRetain)[0]), (Values{2}));
      of_result.remove();
      EXPECT_TRUE(remove_hook(x, id));
      EXPECT_FALSE(remove_hook(x, id));
    }
  });
  // Its own two, and the one that stays.
  EXPECT_GE(calls, 3 * rounds * kThreads);
}

TEST_F(Threads, last_references_to_one_graph_go_on_different_threads) {
  for (int round = 0; round < effort(100, 20); ++round) {
    const Tensor x = leaf({1}, {1});
    Tensor shared = toy::scale(x, 2);
    std::array<Tensor, kThreads> ends;
    for (Tensor& end : ends) end = toy::mul(shared, shared);
    shared.reset();
    std::atomic<size_t> next{0};
    run_together([&] { ends[next++].reset(); });
  }
}

// Each thread gives the accumulator up and asks for it again while the others do.
TEST_F(Threads, accumulator_of_a_shared_leaf_comes_and_goes) {
  const int rounds = effort(2000, 200);
  const Tensor x = leaf({1}, {1});
  const int64_t before = live_nodes();
  run_together([&] {
    for (int round = 0; round < rounds; ++round) {
      { const Tensor dropped = toy::scale(x, 3); }
      const Tensor y = toy::scale(x, 2);
      const NodePtr held = grad_fn(y)->next_edge(0).node;
      EXPECT_EQ(gradient_edge(x).node, held);
      if (round % 4 == 0) backward(std::array{y});
    }
  });
  EXPECT_EQ(live_nodes(), before);
  EXPECT_EQ(grad_values(x), Values{2.0 * kThreads * (rounds / 4)});
}

// Ends duals of `make_one` on one thread while their level ends on the other. The other thread owns
// their memory and uses it again. Both go from the last to the first.
template <class MakeOne>
void end_duals_and_their_level(const MakeOne& make_one) {
  const Tensor tangent = make({1}, {1});
  for (int round = 0; round < effort(200, 30); ++round) {
    const int64_t level = enter_forward_level();
    std::vector<Tensor> duals;
    std::latch made(1);
    std::latch start(2);
    std::thread other([&] {
      for (int i = 0; i < 100; ++i) duals.push_back(make_one());
      made.count_down();
      std::vector<Tensor> others;
      start.arrive_and_wait();
      while (!duals.empty()) {
        // In every second round it follows the end of the level, else it does not wait for that.
        while (round % 2 == 0 && duals.back().has(kDualFlag)) {
        }
        duals.pop_back();
        others.push_back(make({1}, {2}));
      }
    });
    made.wait();
    for (const Tensor& each : duals) set_fitting_tangent(each, *t_forward_mode.level, tangent);
    start.arrive_and_wait();
    exit_forward_level(level);
    other.join();
    EXPECT_TRUE(owns_alone(tangent));
  }
}

// Leaves that require grad, so that their tangents have cells apart from their records.
TEST_F(Threads, duals_end_on_one_thread_while_their_level_ends_on_another) {
  end_duals_and_their_level([] { return leaf({1}, {1}); });
}
TEST_F(Threads, duals_with_one_block_end_while_their_level_ends_on_another_thread) {
  end_duals_and_their_level([] { return make({1}, {1}); });
}

// The thread of the level frees what is left of the duals, and makes new ones meanwhile.
TEST_F(Threads, duals_end_on_one_thread_while_another_uses_their_level) {
  const Tensor tangent = make({1}, {1});
  const int64_t number = enter_forward_level();
  ForwardLevel& level = *t_forward_mode.level;
  const auto add_dual = [&](std::vector<Tensor>& to, bool apart) {
    to.push_back(apart ? leaf({1}, {1}) : make({1}, {1}));
    set_fitting_tangent(to.back(), level, tangent);
  };
  for (int round = 0; round < effort(200, 30); ++round) {
    std::vector<Tensor> duals;
    for (int i = 0; i < 100; ++i) add_dual(duals, i % 3 == 0);
    std::latch start(2);
    std::thread other([&, taken = std::move(duals)]() mutable {
      start.arrive_and_wait();
      while (!taken.empty()) taken.pop_back();
    });
    start.arrive_and_wait();
    std::vector<Tensor> mine;
    for (int i = 0; i < 100; ++i) {
      add_dual(mine, i % 3 == 1);
      EXPECT_TRUE(tangent_of(mine.back(), level).is_same(tangent));
      if (i % 4 == 0) mine.erase(mine.begin());
    }
    other.join();
    mine.clear();
    EXPECT_TRUE(owns_alone(tangent));  // at once, not when the level ends
  }
  exit_forward_level(number);
}

// A tensor with tangents of two threads: each level ends without the other's.
TEST_F(Threads, levels_of_two_threads_end_while_a_tensor_has_tangents_of_both) {
  const Tensor tangent = make({1}, {1});
  for (int round = 0; round < effort(200, 30); ++round) {
    Tensor dual = make({1}, {1});
    const int64_t level = enter_forward_level();
    set_fitting_tangent(dual, *t_forward_mode.level, tangent);
    std::latch both(2);
    std::latch seen(2);
    std::thread other([&, shared = dual]() mutable {
      const int64_t inner = enter_forward_level();
      set_fitting_tangent(shared, *t_forward_mode.level, tangent);
      both.arrive_and_wait();
      EXPECT_TRUE(tangent_of(shared, *t_forward_mode.level).is_same(tangent));
      seen.arrive_and_wait();
      exit_forward_level(inner);
      shared.reset();
    });
    both.arrive_and_wait();
    EXPECT_TRUE(tangent_of(dual, *t_forward_mode.level).is_same(tangent));
    seen.arrive_and_wait();
    if (round % 2 == 0) dual.reset();
    exit_forward_level(level);
    other.join();
    EXPECT_FALSE(dual.defined() && dual.has(kDualFlag));
    dual.reset();
    EXPECT_TRUE(owns_alone(tangent));
  }
}

}  // namespace
}  // namespace tsr::test_threads
