// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cost of differentiation for each op, from C, on tensors of 4 elements: recording, backward,
// freeing; for short and long chains, and on two threads at once.
#include <array>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "tessera/tessera.h"

namespace tsr::bench {
namespace {

constexpr int64_t kFour = 4;

void must(tsr_status status) {
  if (status != TSR_OK) std::abort();
}

tsr_tensor ones(bool requires_grad, std::vector<int64_t> shape = {kFour}) {
  tsr_tensor result = nullptr;
  must(tsr_ones(shape.data(), static_cast<int32_t>(shape.size()), TSR_FLOAT32, -1, -1, &result));
  must(tsr_tensor_set_requires_grad(result, requires_grad ? 1 : 0));
  return result;
}

using Step = tsr_status (*)(tsr_tensor, tsr_tensor, tsr_tensor*);

// out = step(... step(first, other) ..., other), `length` times.
tsr_tensor chain(Step step, tsr_tensor first, tsr_tensor other, int64_t length) {
  tsr_tensor current = first;
  tsr_tensor_retain(current);
  for (int64_t i = 0; i < length; ++i) {
    tsr_tensor next = nullptr;
    must(step(current, other, &next));
    tsr_tensor_release(current);
    current = next;
  }
  return current;
}

Case per_node(const char* name, int64_t length) {
  Case result;
  result.name = name;
  result.shape = "4 x f32, chain of " + std::to_string(length);
  result.unit_of_work = "op";
  result.count = length;
  result.rounds = length < 10'000 ? 2000 : 5;
  return result;
}

void run_chain(const char* name, Step step, tsr_tensor leaf, tsr_tensor other, int64_t length) {
  const std::string text(name);
  Case forward = per_node((text + ", recorded, and freed").c_str(), length);
  forward.ours = [=] { tsr_tensor_release(chain(step, leaf, other, length)); };
  run(forward);
  Case both = per_node((text + ", recorded, backward, and freed").c_str(), length);
  both.ours = [=] {
    tsr_tensor root = chain(step, leaf, other, length);
    must(tsr_backward(&root, 1, &other, 1, nullptr, 0, 0));
    tsr_tensor_release(root);
  };
  run(both);
  tsr_tensor root = nullptr;
  Case alone = per_node((text + ", backward, and freed").c_str(), length);
  alone.prepare = [&] { root = chain(step, leaf, other, length); };
  alone.ours = [&] {
    must(tsr_backward(&root, 1, &other, 1, nullptr, 0, 0));
    tsr_tensor_release(root);
  };
  run(alone);
  Case freed = per_node((text + ", freed").c_str(), length);
  freed.prepare = alone.prepare;
  freed.ours = [&] { tsr_tensor_release(root); };
  run(freed);
  Case again = per_node((text + ", backward of a retained graph").c_str(), length);
  root = chain(step, leaf, other, length);
  again.ours = [&] {
    must(tsr_backward(&root, 1, &other, 1, nullptr, 0, TSR_BACKWARD_RETAIN_GRAPH));
  };
  run(again);
  tsr_tensor_release(root);
}

double seconds_of_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct PerNode {
  double wall,
      processor;  // seconds; processor time of the thread, which other load does not change
};

// What every thread does again and again: a chain, its backward, its end.
struct Work {
  const char* name;
  Step step;
  std::vector<int64_t> shape;
  int64_t length;
  int rounds;
};

// What a node costs while so many threads run backwards of chains of their own.
PerNode cost_on(int threads, const Work& work) {
  std::atomic<int> waiting{threads};
  std::vector<PerNode> sums(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  for (PerNode& sum : sums) {
    workers.emplace_back([&] {
      tsr_tensor leaf = ones(true, work.shape);
      tsr_tensor constant = ones(false, work.shape);
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      sum = {-seconds_of_clock(CLOCK_MONOTONIC), -seconds_of_clock(CLOCK_THREAD_CPUTIME_ID)};
      for (int i = 0; i < work.rounds; ++i) {
        tsr_tensor root = chain(work.step, leaf, constant, work.length);
        must(tsr_backward(&root, 1, &constant, 1, nullptr, 0, 0));
        tsr_tensor_release(root);
      }
      sum.wall += seconds_of_clock(CLOCK_MONOTONIC);
      sum.processor += seconds_of_clock(CLOCK_THREAD_CPUTIME_ID);
      tsr_tensor_release(leaf);
      tsr_tensor_release(constant);
    });
  }
  for (std::thread& worker : workers) worker.join();
  PerNode mean{};
  const double nodes = static_cast<double>(work.rounds) * static_cast<double>(work.length);
  for (const PerNode& sum : sums) {
    mean.wall += sum.wall / (threads * nodes);
    mean.processor += sum.processor / (threads * nodes);
  }
  return mean;
}

// How much more two threads do than one. The figure of the processor time shows what they cost each
// other (shared cache lines, locks that spin), also where other programs use the processors.
void scaling(const Work& work) {
  cost_on(1, work);
  const PerNode one = cost_on(1, work);
  const PerNode two = cost_on(2, work);
  std::printf(
      "{\"name\": \"%s\", \"threads\": 2, \"ns_alone\": %.1f, \"ns_of_two\": %.1f, "
      "\"by_wall_clock\": %.3f, \"by_processor_time\": %.3f}\n",
      work.name, one.processor * 1e9, two.processor * 1e9, 2 * one.wall / two.wall,
      2 * one.processor / two.processor);
}

// Kernels on one thread each: two threads that run backwards already use both processors.
void scalings() {
  if (!is_chosen("scaling")) return;
  const int32_t before = tsr_num_threads();
  must(tsr_set_num_threads(1));
  scaling({"scaling: 1000 products of 4", tsr_multiply, {kFour}, 1000, 1000});
  scaling({"scaling: 300 sums of 4", tsr_add, {kFour}, 300, 5000});
  scaling({"scaling: 300 products of 1000", tsr_multiply, {1000}, 300, 2000});
  scaling({"scaling: 100 products of 65536", tsr_multiply, {65536}, 100, 100});
  scaling({"scaling: 20 matrix products of 256", tsr_matmul, {256, 256}, 20, 25});
  must(tsr_set_num_threads(before));
}

}  // namespace
}  // namespace tsr::bench

int main() {
  using namespace tsr::bench;
  tsr_tensor leaf = ones(true);
  tsr_tensor constant = ones(false);
  for (const int64_t length : {int64_t{100}, int64_t{1'000'000}}) {
    Case plain = per_node("add, no grad", length);
    plain.ours = [=] { tsr_tensor_release(chain(tsr_add, constant, constant, length)); };
    run(plain);
    run_chain("add", tsr_add, leaf, constant, length);
    run_chain("multiply", tsr_multiply, leaf, constant, length);
  }
  tsr_tensor_release(leaf);
  tsr_tensor_release(constant);
  scalings();
  return 0;
}
