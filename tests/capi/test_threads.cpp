// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Several threads that use the same handles at the same time: parameters and their gradients, a
// generator, memory lent by DLPack, the state of an optimizer.
#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "capi/dlpack.h"
#include "capi/optimizer_support.h"
#include "support/effort.h"

namespace test_threads {

using namespace tsr::test;

namespace {

constexpr int kThreads = 4;

// Runs work(number of the thread) on all threads, which begin together.
template <class Work>
void run_together(const Work& work) {
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST(Threads, parameters_of_one_layer_serve_all) {
  const Tensor weight = parameter(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor bias = parameter(TSR_FLOAT32, {2}, {1, -1});
  const int rounds = tsr::effort(100, 20);
  run_together([&](int t) {
    const double x = t + 1;
    const Tensor input(reals(TSR_FLOAT32, {1, 3}, {x, 0, 0}));
    for (int i = 0; i < rounds; ++i) {
      Tensor output;
      Tensor total;
      ok(tsr_linear(input, weight, bias, output.slot()));
      same(output, reals(TSR_FLOAT32, {1, 2}, {x + 1, 4 * x - 1}));
      ok(tsr_sum(output, nullptr, -1, 0, -1, total.slot()));
      const tsr_tensor root = total;
      ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
    }
  });
  const double sum = rounds * (1 + 2 + 3 + 4);
  Tensor grad;
  ok(tsr_tensor_grad(weight, grad.slot()));
  same(grad, reals(TSR_FLOAT32, {2, 3}, {sum, 0, 0, sum, 0, 0}));
}

// Each number of the stream is drawn once, by one of the threads.
TEST(Threads, one_generator_gives_each_number_once) {
  const int rounds = tsr::effort(200, 40);
  const int64_t shape[] = {4};
  const auto draw = [&](tsr_generator generator, int times) {
    std::vector<double> drawn;
    for (int i = 0; i < times; ++i) {
      Tensor numbers;
      ok(tsr_rand(shape, 1, TSR_FLOAT64, -1, -1, generator, numbers.slot()));
      for (const double number : values_of(numbers)) drawn.push_back(number);
    }
    return drawn;
  };
  tsr_generator together = nullptr;
  tsr_generator alone = nullptr;
  ok(tsr_generator_new(7, &together));
  ok(tsr_generator_new(7, &alone));
  std::vector<double> drawn[kThreads];
  run_together([&](int t) { drawn[t] = draw(together, rounds); });
  std::vector<double> all;
  for (const auto& each : drawn) all.insert(all.end(), each.begin(), each.end());
  std::vector<double> expected = draw(alone, kThreads * rounds);
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
  uint64_t seed = 0;
  uint64_t offset = 0;
  uint64_t expected_offset = 0;
  ok(tsr_generator_get_state(together, &seed, &offset));
  ok(tsr_generator_get_state(alone, &seed, &expected_offset));
  EXPECT_EQ(offset, expected_offset);
  tsr_generator_release(together);
  tsr_generator_release(alone);
}

TEST(Threads, memory_of_one_tensor_is_lent_to_all) {
  const int rounds = tsr::effort(200, 40);
  const Tensor shared(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  run_together([&](int) {
    for (int i = 0; i < rounds; ++i) {
      DLManagedTensorVersioned* lent = nullptr;
      ok(tsr_to_dlpack_versioned(shared, 1, 0, nullptr, &lent));
      Tensor back;
      ok(tsr_from_dlpack_versioned(lent, 0, back.slot()));
      Tensor doubled;
      ok(tsr_add(back, shared, doubled.slot()));
      same(doubled, reals(TSR_FLOAT32, {3}, {2, 4, 6}));
    }
  });
  same(shared, reals(TSR_FLOAT32, {3}, {1, 2, 3}));
}

// The consumers of one capsule: its owner lends the memory until the last of them is gone.
TEST(Threads, one_import_is_used_and_released_by_all) {
  for (int round = 0; round < tsr::effort(100, 20); ++round) {
    static std::atomic<int> deletions{0};
    deletions = 0;
    float data[] = {1, 2, 3};
    int64_t size = 3;
    DLManagedTensor managed = {};
    managed.dl_tensor.data = data;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 1;
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = &size;
    managed.deleter = [](DLManagedTensor*) { ++deletions; };
    tsr_tensor imported = nullptr;
    ok(tsr_from_dlpack(&managed, 0, &imported));
    for (int t = 1; t < kThreads; ++t) tsr_tensor_retain(imported);
    run_together([&](int) {
      {
        Tensor part;
        Tensor sum;
        ok(tsr_flip(imported, nullptr, -1, part.slot()));
        ok(tsr_add(part, imported, sum.slot()));
        same(sum, reals(TSR_FLOAT32, {3}, {4, 4, 4}));
      }
      tsr_tensor_release(imported);
    });
    EXPECT_EQ(deletions, 1);
  }
}

TEST(Threads, state_of_one_optimizer_is_read_by_all) {
  const Tensor param = parameter(TSR_FLOAT32, {2}, {1, 2});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_ADAM), {param});
  set_grad(param, reals(TSR_FLOAT32, {2}, {1, -1}));
  ok(tsr_optimizer_step(optimizer));
  const int rounds = tsr::effort(100, 20);
  run_together([&](int) {
    for (int i = 0; i < rounds; ++i) {
      tsr_buffer description = nullptr;
      tsr_buffer names = nullptr;
      tsr_tensor tensors[8] = {};
      int32_t count = 0;
      ok(tsr_optimizer_state(optimizer, &description, &names, tensors, 8, &count));
      EXPECT_EQ(count, 3);
      tsr_optimizer_options options = {};
      options.struct_size = sizeof(options);
      ok(tsr_optimizer_options_get(optimizer, 0, &options));
      EXPECT_EQ(options.kind, TSR_OPTIMIZER_ADAM);
      tsr_tensor_release_many(tensors, count);
      tsr_buffer_release(description);
      tsr_buffer_release(names);
    }
  });
}

}  // namespace test_threads
