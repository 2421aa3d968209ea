// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cases of the instruction gate: each is a function that makes kCalls calls of the C ABI.
// tests/tools/check_instructions.py runs it under callgrind and compares the counts with
// instructions.json.
#include <cstdlib>
#include <initializer_list>

#include "tessera/tessera.h"

namespace {

constexpr int kCalls = 1000;
tsr_tensor g_a;
tsr_tensor g_b;
tsr_tensor g_leaf;
tsr_tensor g_ones;
tsr_tensor g_dual;

void check(tsr_status status) {
  if (status != TSR_OK) std::exit(1);
}

tsr_tensor ones() {
  const int64_t four = 4;
  tsr_tensor t = nullptr;
  check(tsr_ones(&four, 1, TSR_FLOAT32, -1, -1, &t));
  return t;
}

using Step = tsr_status (*)(tsr_tensor, tsr_tensor, tsr_tensor*);

tsr_tensor chain(Step step) {
  tsr_tensor y = g_leaf;
  tsr_tensor_retain(y);
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor next = nullptr;
    check(step(y, g_a, &next));
    tsr_tensor_release(y);
    y = next;
  }
  return y;
}

}  // namespace

extern "C" {

[[gnu::noinline]] void case_add() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_add(g_a, g_b, &c));
    tsr_tensor_release(c);
  }
}

[[gnu::noinline]] void case_add_scalar() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_add_scalar(g_a, TSR_F64(1.5), &c));
    tsr_tensor_release(c);
  }
}

[[gnu::noinline]] void case_exp() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_exp(g_a, &c));
    tsr_tensor_release(c);
  }
}

[[gnu::noinline]] void case_add_with_node() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_add(g_a, g_leaf, &c));
    tsr_tensor_release(c);
  }
}

// Forward mode: the value and its tangent.
[[gnu::noinline]] void case_dual_exp() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_exp(g_dual, &c));
    tsr_tensor_release(c);
  }
}

// A product whose factors both have a tangent.
[[gnu::noinline]] void case_dual_multiply() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_multiply(g_dual, g_dual, &c));
    tsr_tensor_release(c);
  }
}

[[gnu::noinline]] void case_dual_multiply_constant() {
  for (int i = 0; i < kCalls; ++i) {
    tsr_tensor c = nullptr;
    check(tsr_multiply(g_dual, g_a, &c));
    tsr_tensor_release(c);
  }
}

// One node for each call, with one kernel.
[[gnu::noinline]] void case_backward(tsr_tensor y) {
  check(tsr_backward(&y, 1, &g_ones, 1, nullptr, 0, 0));
}

// Nodes that pass the gradient on.
[[gnu::noinline]] void case_backward_without_kernels(tsr_tensor y) {
  check(tsr_backward(&y, 1, &g_ones, 1, nullptr, 0, 0));
}

[[gnu::noinline]] void case_free_graph(tsr_tensor y) {
  tsr_tensor_release(y);
}

[[gnu::noinline]] void case_tensor_info() {
  tsr_info info{};
  info.struct_size = sizeof info;
  for (int i = 0; i < kCalls; ++i) check(tsr_tensor_info(g_a, &info));
}

}  // extern "C"

int main() {
  check(tsr_set_num_threads(1));
  g_a = ones();
  g_b = ones();
  g_ones = ones();
  g_leaf = ones();
  check(tsr_tensor_set_requires_grad(g_leaf, 1));
  // The first round fills caches and free lists.
  for (int round = 0; round < 2; ++round) {
    int64_t level = 0;
    check(tsr_forward_enter(&level));
    check(tsr_make_dual(g_a, g_b, level, &g_dual));
    if (round == 1) {
      case_dual_exp();
      case_dual_multiply();
      case_dual_multiply_constant();
    } else {
      tsr_tensor c = nullptr;
      check(tsr_exp(g_dual, &c));
      tsr_tensor_release(c);
    }
    tsr_tensor_release(g_dual);
    check(tsr_forward_exit(level));
    tsr_tensor y = chain(tsr_multiply);
    tsr_tensor sum = chain(tsr_add);
    if (round == 1) {
      case_add();
      case_add_scalar();
      case_exp();
      case_add_with_node();
      case_backward(y);
      case_backward_without_kernels(sum);
      case_free_graph(y);
      case_tensor_info();
    } else {
      check(tsr_backward(&y, 1, &g_ones, 1, nullptr, 0, 0));
      check(tsr_backward(&sum, 1, &g_ones, 1, nullptr, 0, 0));
      tsr_tensor_release(y);
    }
    tsr_tensor_release(sum);
  }
  for (tsr_tensor t : {g_a, g_b, g_ones, g_leaf}) tsr_tensor_release(t);
}
