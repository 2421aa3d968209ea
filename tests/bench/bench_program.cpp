// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A chain of 30 small operators, and a training step of a small network: the calls of a C program,
// and the same calls as a program.
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

// 32 samples of 16 numbers through a hidden layer of 32 to 4, with Adam.
class Network {
 public:
  Network() {
    const int64_t shapes[4][2] = {{16, 32}, {1, 32}, {32, 4}, {1, 4}};
    for (int i = 0; i < 4; ++i) {
      tsr_tensor drawn = nullptr;
      check(tsr_rand(shapes[i], 2, TSR_FLOAT32, -1, -1, nullptr, &drawn));
      check(tsr_multiply_scalar(drawn, TSR_F64(0.1), &params_[i]));
      check(tsr_tensor_set_requires_grad(params_[i], 1));
      tsr_tensor_release(drawn);
    }
    tsr_optimizer_options options = {};
    options.struct_size = sizeof options;
    check(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAM, &options));
    check(tsr_optimizer_new(&options, params_, 4, &optimizer_));
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network() {
    tsr_optimizer_release(optimizer_);
    for (const tsr_tensor param : params_) tsr_tensor_release(param);
  }

  tsr_tensor step(tsr_tensor x, tsr_tensor y) const {
    tsr_tensor at[8] = {};
    check(tsr_optimizer_zero_grad(optimizer_, 1));
    check(tsr_matmul(x, params_[0], &at[0]));
    check(tsr_add(at[0], params_[1], &at[1]));
    check(tsr_relu(at[1], &at[2]));
    check(tsr_matmul(at[2], params_[2], &at[3]));
    check(tsr_add(at[3], params_[3], &at[4]));
    check(tsr_subtract(at[4], y, &at[5]));
    check(tsr_multiply(at[5], at[5], &at[6]));
    check(tsr_mean(at[6], nullptr, -1, 0, -1, &at[7]));
    check(tsr_backward(&at[7], 1, nullptr, 0, nullptr, 0, 0));
    check(tsr_optimizer_step(optimizer_));
    tsr_tensor loss = nullptr;
    check(tsr_detach(at[7], &loss));
    for (const tsr_tensor each : at) tsr_tensor_release(each);
    return loss;
  }

 private:
  tsr_tensor params_[4] = {};
  tsr_optimizer optimizer_ = nullptr;
};

}  // namespace

extern "C" {

[[gnu::noinline]] void case_step_calls(const Network& network, tsr_tensor x, tsr_tensor y,
                                       int64_t count) {
  for (int64_t i = 0; i < count; ++i) tsr_tensor_release(network.step(x, y));
}

[[gnu::noinline]] void case_step_program(tsr_program program, const tsr_tensor* inputs,
                                         int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    tsr_tensor loss = nullptr;
    int32_t outputs = 0;
    check(tsr_program_run(program, inputs, 2, &loss, 1, &outputs));
    tsr_tensor_release(loss);
  }
}

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

namespace {

template <class Body>
void repeat(const char* name, const char* shape, const char* unit, int64_t count, Body body) {
  tsr::bench::run(
      Case{.name = name, .shape = shape, .unit_of_work = unit, .count = count, .ours = body});
}

void measure_steps() {
  const Network network, recorded;
  const int64_t x_shape[2] = {32, 16}, y_shape[2] = {32, 4};
  tsr_tensor inputs[2] = {};
  check(tsr_rand(x_shape, 2, TSR_FLOAT32, -1, -1, nullptr, &inputs[0]));
  check(tsr_rand(y_shape, 2, TSR_FLOAT32, -1, -1, nullptr, &inputs[1]));
  tsr_program program = nullptr;
  check(tsr_program_record_begin(inputs, 2, nullptr, 0, nullptr, 0, nullptr, 0));
  tsr_tensor loss = recorded.step(inputs[0], inputs[1]);
  check(tsr_program_record_end(&loss, 1, nullptr, 0, &program));
  tsr_tensor_release(loss);
  case_step_program(program, inputs, 4);
  constexpr int64_t kCount = 1000;
  repeat("step by calls", "16-32-4", "step", kCount,
         [&] { case_step_calls(network, inputs[0], inputs[1], kCount); });
  repeat("step as a program", "16-32-4", "step", kCount,
         [&] { case_step_program(program, inputs, kCount); });
  tsr_program_release(program);
  for (const tsr_tensor input : inputs) tsr_tensor_release(input);
}

}  // namespace

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
  repeat("calls", "[4]", "op", kCount * kOps, [&] { case_calls(x, kCount); });
  repeat("program", "[4]", "op", kCount * kOps, [&] { case_program(program, x, kCount); });
  tsr_program_release(program);
  tsr_tensor_release(x);
  measure_steps();
}
