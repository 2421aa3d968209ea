// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cost of differentiation for each op, from C, on tensors of 4 elements: recording, backward,
// freeing.
#include <array>
#include <cstdlib>
#include <vector>

#include "bench/harness.h"
#include "tessera/tessera.h"

namespace tsr::bench {
namespace {

constexpr int64_t kFour = 4;

void must(tsr_status status) {
  if (status != TSR_OK) std::abort();
}

tsr_tensor ones(bool requires_grad) {
  tsr_tensor result = nullptr;
  must(tsr_ones(&kFour, 1, TSR_FLOAT32, -1, 0, &result));
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
  Case again = per_node((text + ", backward alone").c_str(), length);
  tsr_tensor root = chain(step, leaf, other, length);
  again.ours = [=] {
    must(tsr_backward(&root, 1, &other, 1, nullptr, 0, TSR_BACKWARD_RETAIN_GRAPH));
  };
  run(again);
  tsr_tensor_release(root);
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
  return 0;
}
