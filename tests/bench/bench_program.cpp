// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A chain of 30 small operators: the calls of a C program, and the same calls as a program.
#include <cstdio>
#include <cstdlib>

#include "bench/harness.h"
#include "tessera/tessera.h"

namespace {

using tsr::bench::Case;

constexpr int kOps = 30;

void check(tsr_status status) {
  if (status == TSR_OK) return;
  tsr_error_view view{};
  view.struct_size = sizeof view;
  if (tsr_error_last(&view) != TSR_OK) std::exit(1);
  std::fprintf(stderr, "failed: %.*s\n", static_cast<int>(view.message_len), view.message);
  std::exit(1);
}

// Additions, products and functions in turn; gives a new reference.
tsr_tensor chain(tsr_tensor x) {
  tsr_tensor y = x;
  tsr_tensor_retain(y);
  for (int i = 0; i < kOps; ++i) {
    tsr_tensor next = nullptr;
    check(i % 3 == 0   ? tsr_add(y, x, &next)
          : i % 3 == 1 ? tsr_tanh(y, &next)
                       : tsr_multiply(y, x, &next));
    tsr_tensor_release(y);
    y = next;
  }
  return y;
}

}  // namespace

extern "C" {

[[gnu::noinline]] void case_calls(tsr_tensor x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) tsr_tensor_release(chain(x));
}

[[gnu::noinline]] void case_program(tsr_program program, tsr_tensor x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    tsr_tensor y = nullptr;
    int32_t outputs = 0;
    check(tsr_program_run(program, &x, 1, &y, 1, &outputs));
    tsr_tensor_release(y);
  }
}

}  // extern "C"

int main() {
  check(tsr_set_num_threads(1));
  const int64_t four = 4;
  constexpr int64_t kCount = 1000;
  tsr_tensor x = nullptr;
  check(tsr_rand(&four, 1, TSR_FLOAT32, -1, -1, nullptr, &x));
  tsr_program program = nullptr;
  check(tsr_program_record_begin(&x, 1, nullptr, 0, nullptr, 0, nullptr, 0));
  tsr_tensor y = chain(x);
  check(tsr_program_record_end(&y, 1, nullptr, 0, &program));
  tsr_tensor_release(y);
  case_program(program, x, 3);
  const auto repeat = [&](const char* name, auto body) {
    tsr::bench::run(Case{
        .name = name, .shape = "[4]", .unit_of_work = "op", .count = kCount * kOps, .ours = [&] {
          body();
        }});
  };
  repeat("calls", [&] { case_calls(x, kCount); });
  repeat("program", [&] { case_program(program, x, kCount); });
  tsr_program_release(program);
  tsr_tensor_release(x);
}
