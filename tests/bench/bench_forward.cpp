// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cost of forward mode: an op with one dual input beside the op alone, on one thread, by the
// processor time of the best of several rounds. Grad mode is on, as in a program that has not
// thought about it.
#include <ctime>
#include <functional>
#include <string>

#include "bench/harness.h"
#include "tessera/tessera.hpp"

namespace tsr::bench {
namespace {

using namespace tessera;
using Function = std::function<Tensor(const Tensor&)>;

double seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of_calls(const Function& function, const Tensor& input, int64_t calls) {
  const double begin = seconds_now();
  for (int64_t i = 0; i < calls; ++i) keep(function(input).handle());
  return seconds_now() - begin;
}

void compare(const std::string& name, const Tensor& input, const Function& function) {
  constexpr double kRound = 2e-3;
  constexpr int kRounds = 25;
  if (!is_chosen(name)) return;
  const DualLevel level;
  const Tensor dual = make_dual(input, ones_like(input));
  int64_t calls = 1;
  while (seconds_of_calls(function, input, calls) < kRound) calls *= 2;
  double plain = 1e9;
  double both = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    plain = std::min(plain, seconds_of_calls(function, input, calls));
    both = std::min(both, seconds_of_calls(function, dual, calls));
  }
  const double each = 1e9 / static_cast<double>(calls);
  std::printf("{\"name\": \"%s\", \"ns\": %.0f, \"ns_with_tangent\": %.0f, \"ratio\": %.2f}\n",
              name.c_str(), plain * each, both * each, both / plain);
}

void elementwise(int64_t count) {
  const Tensor x = rand({count});
  const Tensor c = rand({count});
  const auto named = [&](const char* op) { return op + (" " + std::to_string(count)); };
  compare(named("exp"), x, [](const Tensor& t) { return t.exp(); });
  compare(named("sin"), x, [](const Tensor& t) { return t.sin(); });
  compare(named("tanh"), x, [](const Tensor& t) { return t.tanh(); });
  compare(named("add constant"), x, [&](const Tensor& t) { return t + c; });
  compare(named("multiply constant"), x, [&](const Tensor& t) { return t * c; });
  compare(named("divide by constant"), x, [&](const Tensor& t) { return t / c; });
  compare(named("sum"), x, [](const Tensor& t) { return t.sum(); });
  compare(named("multiply two"), x, [](const Tensor& t) { return t * t; });
  compare(named("softmax"), x.reshape({-1, count < 1000 ? count : 100}),
          [](const Tensor& t) { return softmax(t, -1); });
}

void layers() {
  for (const int64_t n : {4, 64, 512}) {
    const Tensor w = rand({n, n});
    compare("matmul " + std::to_string(n), rand({n, n}),
            [&](const Tensor& t) { return matmul(t, w); });
  }
  const Tensor kernel = rand({16, 8, 3, 3});
  compare("conv2d 4x8x32x32", rand({4, 8, 32, 32}),
          [&](const Tensor& t) { return conv2d(t, kernel); });
  const Tensor row = rand({256});
  compare("layer_norm 64x256", rand({64, 256}),
          [&](const Tensor& t) { return layer_norm(t, {256}, row, row); });
  const Tensor channel = rand({8});
  compare("group_norm 8x8x16x16", rand({8, 8, 16, 16}),
          [&](const Tensor& t) { return group_norm(t, 2, channel, channel); });
  const Tensor q = rand({4, 4, 64, 32});
  compare("attention 4x4x64x32", q,
          [&](const Tensor& t) { return scaled_dot_product_attention(t, q, q); });
  compare("attention of itself", q,
          [&](const Tensor& t) { return scaled_dot_product_attention(t, t, t); });
  const Tensor classes = zeros({64}, kInt64);
  compare("cross_entropy 64x100", rand({64, 100}),
          [&](const Tensor& t) { return cross_entropy(t, classes); });
  const Tensor w1 = rand({256, 256});
  const Tensor b1 = rand({256});
  const Tensor w2 = rand({256, 256});
  for (const int64_t n : {4, 256}) {
    compare("perceptron " + std::to_string(n), rand({n, 256}),
            [&](const Tensor& t) { return linear(linear(t, w1, b1).tanh(), w2); });
  }
}

}  // namespace
}  // namespace tsr::bench

int main() {
  tessera::check(tsr_set_num_threads(1));
  for (const int64_t count : {4, 1000, 100000, 1000000}) tsr::bench::elementwise(count);
  tsr::bench::layers();
}
