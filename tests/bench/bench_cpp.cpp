// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cost of one call in a C++ program: the cases of bench_overhead.cpp through tessera.hpp.
#include <tessera/tessera.hpp>
#include <vector>

#include "bench/harness.h"

namespace {

using tessera::Tensor;
using tsr::bench::Case;
using tsr::bench::keep;

void small_ops(int64_t count) {
  Tensor a = tessera::rand({4});
  const Tensor b = tessera::rand({4});
  Tensor w = tessera::rand({4}).requires_grad_();
  const auto repeat = [&](const char* name, auto&& body) {
    tsr::bench::run(
        Case{.name = name, .shape = "[4]", .unit_of_work = "call", .count = count, .ours = [&] {
               for (int64_t i = 0; i < count; ++i) body();
             }});
  };
  repeat("add", [&] { keep((a + b).handle()); });
  repeat("add_scalar", [&] { keep((a + 1.5).handle()); });
  repeat("exp", [&] { keep(a.exp().handle()); });
  repeat("add_out", [&] { add_out(a, a, b); });
  repeat("add_with_node", [&] { keep((a + w).handle()); });
  repeat("multiply_with_node", [&] { keep((a * w).handle()); });
}

void chain(int64_t length) {
  constexpr int kRounds = 21;
  const Tensor w = tessera::rand({4}).requires_grad_();
  const Tensor factor = tessera::rand({4});
  const Tensor seed = tessera::ones({4});
  const auto forward = [&] {
    Tensor y = w;
    for (int64_t i = 0; i < length; ++i) y = y * factor;
    return y;
  };
  std::vector<Tensor> ready;
  for (int i = 0; i < kRounds; ++i) ready.push_back(forward());
  tsr::bench::run(Case{.name = "backward",
                       .shape = "[4]",
                       .unit_of_work = "node",
                       .count = length,
                       .rounds = kRounds - 1,
                       .ours = [&] {
                         ready.back().backward(seed);
                         ready.pop_back();
                       }});
  tsr::bench::run(Case{.name = "chain_forward_backward",
                       .shape = "[4]",
                       .unit_of_work = "op",
                       .count = length,
                       .ours = [&] { forward().backward(seed); }});
}

}  // namespace

int main() {
  small_ops(200000);
  chain(10000);
}
