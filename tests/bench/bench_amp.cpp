// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What mixed precision costs beside its casts, in a C program: a call with autocast off, on with
// nothing to cast, on with a weight whose cast is kept; and the unscaling of gradients beside the
// step that follows.
#include <cstdlib>
#include <vector>

#include "bench/harness.h"
#include "tessera/tessera.h"

namespace {

using tsr::bench::Case;

void check(tsr_status status) {
  if (status != TSR_OK) std::exit(1);
}

tsr_tensor ones(const std::vector<int64_t>& shape, tsr_dtype dtype) {
  tsr_tensor t = nullptr;
  check(tsr_ones(shape.data(), static_cast<int32_t>(shape.size()), dtype, -1, -1, &t));
  return t;
}

void products(int64_t count) {
  tsr_tensor x = ones({2, 2}, TSR_BFLOAT16), y = ones({2, 2}, TSR_BFLOAT16);
  tsr_tensor weight = ones({2, 2}, TSR_FLOAT32);
  check(tsr_tensor_set_requires_grad(weight, 1));
  const auto repeat = [&](const char* name, tsr_tensor other) {
    tsr::bench::run(
        Case{.name = name, .shape = "[2, 2]", .unit_of_work = "call", .count = count, .ours = [&] {
               for (int64_t i = 0; i < count; ++i) {
                 tsr_tensor product = nullptr;
                 check(tsr_matmul(x, other, &product));
                 tsr_tensor_release(product);
               }
             }});
  };
  tsr_autocast_state state{}, before{};
  state.struct_size = before.struct_size = sizeof state;
  check(tsr_autocast_get(TSR_DEVICE_CPU, &state));
  tsr_tensor cast = nullptr;  // what the region makes of the weight
  check(tsr_astype(weight, TSR_BFLOAT16, 0, &cast));
  repeat("matmul", y);
  repeat("matmul_with_node", cast);
  state.enabled = 1;
  check(tsr_autocast_begin(&state, &before));
  repeat("matmul_in_region", y);
  repeat("matmul_in_region_of_kept_weight", weight);
  check(tsr_autocast_end(&before));
  for (tsr_tensor t : {x, y, weight, cast}) tsr_tensor_release(t);
}

void gradients(int64_t count, const std::vector<int64_t>& shape, const char* text) {
  std::vector<tsr_tensor> params;
  for (int64_t i = 0; i < count; ++i) {
    tsr_tensor param = ones(shape, TSR_FLOAT32), grad = ones(shape, TSR_FLOAT32);
    check(tsr_tensor_set_requires_grad(param, 1));
    check(tsr_tensor_set_grad(param, grad));
    tsr_tensor_release(grad);
    params.push_back(param);
  }
  tsr_optimizer_options options{};
  options.struct_size = sizeof options;
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAMW, &options));
  tsr_optimizer optimizer = nullptr;
  check(tsr_optimizer_new(&options, params.data(), static_cast<int32_t>(count), &optimizer));
  tsr_grad_scaler_state numbers{};
  numbers.struct_size = sizeof numbers;
  check(tsr_grad_scaler_defaults(&numbers));
  numbers.scale = 1;
  tsr_grad_scaler scaler = nullptr;
  check(tsr_grad_scaler_new(&numbers, &scaler));
  tsr_tensor loss = ones({}, TSR_FLOAT32), scaled = nullptr;
  check(tsr_grad_scaler_scale(scaler, loss, &scaled));
  const auto repeat = [&](const char* name, auto&& body) {
    tsr::bench::run(
        Case{.name = name, .shape = text, .unit_of_work = "iteration", .count = 1, .ours = body});
  };
  repeat("step", [&] { check(tsr_optimizer_step(optimizer)); });
  repeat("unscale_and_update", [&] {
    check(tsr_grad_scaler_unscale(scaler, optimizer));
    check(tsr_grad_scaler_update(scaler, 0, 0));
  });
  tsr_grad_scaler_release(scaler);
  tsr_optimizer_release(optimizer);
  for (tsr_tensor t : params) tsr_tensor_release(t);
  for (tsr_tensor t : {loss, scaled}) tsr_tensor_release(t);
}

}  // namespace

int main() {
  check(tsr_set_num_threads(1));
  products(10000);
  gradients(100, {64}, "100 x [64]");
  gradients(20, {512, 512}, "20 x [512, 512]");
}
