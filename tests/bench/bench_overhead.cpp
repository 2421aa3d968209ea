// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cost of one call in a C program: small ops with and without a node, backward for each node,
// large results, matmul compared with OpenBLAS alone. Links the shared library, as a program would.
#include <cblas.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/harness.h"
#include "tessera/tessera.h"

namespace {

using tsr::bench::Case;

constexpr int32_t kFloat32 = 0x00012002;

void check(tsr_status status) {
  if (status == TSR_OK) return;
  tsr_error_view view{};
  view.struct_size = sizeof view;
  if (tsr_error_last(&view) != TSR_OK) std::exit(1);
  std::fprintf(stderr, "failed: %.*s\n", static_cast<int>(view.message_len), view.message);
  std::exit(1);
}

tsr_tensor random_tensor(const std::vector<int64_t>& shape) {
  tsr_tensor t = nullptr;
  check(tsr_rand(shape.data(), static_cast<int32_t>(shape.size()), kFloat32, -1, -1, nullptr, &t));
  return t;
}

void small_ops(int64_t count) {
  tsr_tensor a = random_tensor({4});
  tsr_tensor b = random_tensor({4});
  tsr_tensor w = random_tensor({4});
  check(tsr_tensor_set_requires_grad(w, 1));
  const auto repeat = [&](const char* name, auto&& body) {
    tsr::bench::run(
        Case{.name = name, .shape = "[4]", .unit_of_work = "call", .count = count, .ours = [&] {
               for (int64_t i = 0; i < count; ++i) body();
             }});
  };
  repeat("add", [&] {
    tsr_tensor c;
    check(tsr_add(a, b, &c));
    tsr_tensor_release(c);
  });
  repeat("add_scalar", [&] {
    tsr_tensor c;
    check(tsr_add_scalar(a, TSR_F64(1.5), &c));
    tsr_tensor_release(c);
  });
  repeat("exp", [&] {
    tsr_tensor c;
    check(tsr_exp(a, &c));
    tsr_tensor_release(c);
  });
  repeat("add_out", [&] { check(tsr_add_out(a, b, a)); });
  repeat("add_with_node", [&] {
    tsr_tensor c;
    check(tsr_add(a, w, &c));
    tsr_tensor_release(c);
  });
  repeat("multiply_with_node", [&] {
    tsr_tensor c;
    check(tsr_multiply(a, w, &c));
    tsr_tensor_release(c);
  });
  for (tsr_tensor t : {a, b, w}) tsr_tensor_release(t);
}

// A chain of multiplications, forward and backward. Nothing is subtracted for the forward, which
// has its own case.
void chain(int64_t length) {
  tsr_tensor w = random_tensor({4});
  check(tsr_tensor_set_requires_grad(w, 1));
  tsr_tensor factor = random_tensor({4});
  const auto forward = [&] {
    tsr_tensor y = w;
    tsr_tensor_retain(y);
    for (int64_t i = 0; i < length; ++i) {
      tsr_tensor next;
      check(tsr_multiply(y, factor, &next));
      tsr_tensor_release(y);
      y = next;
    }
    return y;
  };
  std::vector<tsr_tensor> ready;
  constexpr int kRounds = 21;
  for (int i = 0; i < kRounds; ++i) ready.push_back(forward());
  tsr_tensor seed = nullptr;
  const int64_t four = 4;
  check(tsr_ones(&four, 1, kFloat32, -1, -1, &seed));
  size_t next = 0;
  tsr::bench::run(Case{.name = "backward",
                       .shape = "[4]",
                       .unit_of_work = "node",
                       .count = length,
                       .rounds = kRounds - 1,
                       .ours = [&] {
                         check(tsr_backward(&ready[next], 1, &seed, 1, nullptr, 0, 0));
                         tsr_tensor_release(ready[next++]);
                       }});
  tsr::bench::run(Case{.name = "chain_forward_backward",
                       .shape = "[4]",
                       .unit_of_work = "op",
                       .count = length,
                       .ours = [&] {
                         tsr_tensor y = forward();
                         check(tsr_backward(&y, 1, &seed, 1, nullptr, 0, 0));
                         tsr_tensor_release(y);
                       }});
  for (tsr_tensor t : {w, factor, seed}) tsr_tensor_release(t);
}

void large_add() {
  constexpr int64_t kNumel = 16 << 20;  // 64 MiB of float32
  tsr_tensor a = random_tensor({kNumel});
  tsr_tensor b = random_tensor({kNumel});
  tsr::bench::run(Case{.name = "fresh_add",
                       .shape = "64MiB",
                       .unit_of_work = "call",
                       .bytes = 3.0 * 4.0 * static_cast<double>(kNumel),
                       .threads = tsr_num_threads(),
                       .ours = [&] {
                         tsr_tensor c;
                         check(tsr_add(a, b, &c));
                         tsr_tensor_release(c);
                       }});
  tsr_tensor_release(a);
  tsr_tensor_release(b);
}

void matmul(int64_t n) {
  tsr_tensor a = random_tensor({n, n});
  tsr_tensor b = random_tensor({n, n});
  std::vector<float> x(static_cast<size_t>(n * n), 1.0F);
  std::vector<float> y(x);
  std::vector<float> z(x);
  const auto m = static_cast<int>(n);
  tsr::bench::run(Case{.name = "matmul",
                       .shape = std::to_string(n),
                       .unit_of_work = "call",
                       .threads = tsr_num_threads(),
                       .ours =
                           [&] {
                             tsr_tensor c;
                             check(tsr_matmul(a, b, &c));
                             tsr_tensor_release(c);
                           },
                       .peer =
                           [&] {
                             cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1.0F,
                                         x.data(), m, y.data(), m, 0.0F, z.data(), m);
                           },
                       .peer_name = "OpenBLAS"});
  tsr_tensor_release(a);
  tsr_tensor_release(b);
}

}  // namespace

int main() {
  small_ops(200000);
  chain(10000);
  large_add();
  for (const int64_t n : {256, 512, 1024, 2048}) matmul(n);
}
