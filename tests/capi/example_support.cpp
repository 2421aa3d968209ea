// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/example_support.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "capi/abi_support.h"

using tsr::test::ok;

namespace {

std::vector<double> counted(int64_t n) {
  std::vector<double> values;
  for (int64_t i = 1; i <= n; ++i) values.push_back(static_cast<double>(i));
  return values;
}

template <class T>
double item_as(tsr_tensor tensor, int64_t index) {
  std::vector<T> values(static_cast<size_t>(numel(tensor)));
  ok(tsr_tensor_read(tensor, values.data(), static_cast<int64_t>(values.size() * sizeof(T))));
  return static_cast<double>(values.at(static_cast<size_t>(index)));
}

}  // namespace

extern "C" {

void example_check(int condition, const char* text, int line) {
  EXPECT_TRUE(condition) << text << " (examples.c:" << line << ")";
}

void example_ok(tsr_status status, const char* text, int line) {
  if (status == TSR_OK) return;
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  const bool known = tsr_error_last(&view) == TSR_OK;
  ADD_FAILURE() << text << ": " << tsr_status_name(status) << ": " << (known ? view.message : "")
                << " (examples.c:" << line << ")";
}

tsr_tensor f32_vector(int64_t n) {
  return tsr::test::Tensor(tsr::test::reals(TSR_FLOAT32, {n}, counted(n))).detach();
}
tsr_tensor i64_vector(int64_t n) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= n; ++i) values.push_back(i);
  return tsr::test::Tensor(tsr::test::ints(TSR_INT64, {n}, values)).detach();
}
tsr_tensor leaf(int64_t n) {
  tsr_tensor tensor = f32_vector(n);
  ok(tsr_tensor_set_requires_grad(tensor, 1));
  return tensor;
}
tsr_tensor wrapped(int* drops) {
  static float data[2] = {1, 2};
  const int64_t shape[1] = {2};
  tsr_tensor tensor = nullptr;
  ok(tsr_tensor_from_data(data, TSR_FLOAT32, TSR_DEVICE_CPU, 0, shape, 1, nullptr, -1, 0, drops,
                          count_drop, &tensor));
  return tensor;
}
tsr_node exp_node(void) {
  tsr_tensor x = leaf(2);
  tsr_tensor y = nullptr;
  tsr_node node = nullptr;
  ok(tsr_exp(x, &y));
  ok(tsr_tensor_grad_fn(y, &node));
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  return node;
}
tsr_archive example_archive() {
  const char* path = "example_archive.safetensors";
  tsr_tensor t = f32_vector(3);
  ok(tsr_archive_save(path, -1, "[\"weight\"]", -1, &t, 1, "{\"made\": \"here\"}", -1));
  tsr_tensor_release(t);
  tsr_archive archive = nullptr;
  ok(tsr_archive_open(path, -1, &archive));
  remove(path);
  return archive;
}

tsr_node custom_node(tsr_tensor input, int* drops) {
  tsr_node_vtable vtable = {};
  vtable.struct_size = sizeof(vtable);
  vtable.backward = double_backward;
  vtable.drop = count_drop;
  tsr_node node = nullptr;
  ok(tsr_node_create("Custom", -1, &vtable, drops, &input, 1, &node));
  return node;
}
tsr_program example_program_of(int64_t n) {
  tsr_tensor x = f32_vector(n);
  tsr_tensor y = nullptr;
  tsr_program program = nullptr;
  CHECK_OK(tsr_program_record_begin(&x, 1, nullptr, 0, nullptr, 0, nullptr, 0));
  CHECK_OK(tsr_exp(x, &y));
  CHECK_OK(tsr_program_record_end(&y, 1, nullptr, 0, &program));
  tsr_tensor_release(y);
  tsr_tensor_release(x);
  return program;
}

tsr_program example_program(void) {
  return example_program_of(2);
}

tsr_optimizer example_optimizer(tsr_tensor param) {
  tsr_optimizer_options options = {};
  options.struct_size = sizeof(options);
  tsr_optimizer optimizer = nullptr;
  CHECK_OK(tsr_optimizer_defaults(TSR_OPTIMIZER_SGD, &options));
  options.lr = 0.5;
  CHECK_OK(tsr_optimizer_new(&options, &param, 1, &optimizer));
  return optimizer;
}

tsr_grad_scaler example_scaler() {
  tsr_grad_scaler_state state = {};
  state.struct_size = sizeof(state);
  tsr_grad_scaler scaler = nullptr;
  CHECK_OK(tsr_grad_scaler_defaults(&state));
  state.scale = 8;
  CHECK_OK(tsr_grad_scaler_new(&state, &scaler));
  return scaler;
}

tsr_group example_group() {
  return group_with_timeout(60);
}
tsr_group group_with_timeout(double seconds) {
  tsr_group_options options = {};
  options.struct_size = sizeof(options);
  options.size = 1;
  options.timeout = seconds;
  tsr_group group = nullptr;
  CHECK_OK(tsr_group_init("threads", -1, "example_group", -1, &options, &group));
  return group;
}

tsr_data_parallel example_data_parallel(tsr_tensor param) {
  tsr_data_parallel_options options = {};
  options.struct_size = sizeof(options);
  ok(tsr_data_parallel_defaults(&options));
  tsr_group group = example_group();
  tsr_data_parallel parallel = nullptr;
  ok(tsr_data_parallel_new(group, &param, 1, nullptr, 0, &options, &parallel));
  tsr_group_release(group);
  return parallel;
}
tsr_sharded_optimizer example_sharded_optimizer(tsr_tensor param) {
  tsr_group group = example_group();
  tsr_optimizer optimizer = example_optimizer(param);
  tsr_sharded_optimizer sharded = nullptr;
  ok(tsr_optimizer_shard(optimizer, group, &sharded));
  tsr_optimizer_release(optimizer);
  tsr_group_release(group);
  return sharded;
}

int64_t numel(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  return info.numel;
}
double item(tsr_tensor tensor, int64_t index) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  return info.dtype == TSR_INT64 ? item_as<int64_t>(tensor, index) : item_as<float>(tensor, index);
}
int64_t live_tensors(void) {
  return tsr_live_handles();
}

void count_drop(void* user) {
  ++*static_cast<int*>(user);
}
void count_visit(void* arg, void* user, tsr_drop_fn drop) {
  if (user != nullptr && drop == count_drop) ++*static_cast<int64_t*>(arg);
}
void ignore_trace(void*, const tsr_trace_event*) {}
void count_trace(void* user, const tsr_trace_event*) {
  ++*static_cast<int*>(user);
}

void ignore_log(void*, tsr_log_level, const char*, const char*, int64_t) {}
tsr_status ignore_hook(void*, tsr_tensor, tsr_tensor*) {
  return TSR_OK;
}
tsr_status ignore_accumulate(void*, tsr_tensor) {
  return TSR_OK;
}
tsr_status ignore_accumulate_hook(void*, tsr_tensor) {
  return TSR_OK;
}
tsr_status ignore_final(void*) {
  return TSR_OK;
}
tsr_status ignore_profile_ready(void*, tsr_profiler) {
  return TSR_OK;
}
tsr_status count_profile(void* user, tsr_profiler) {
  ++*static_cast<int*>(user);
  return TSR_OK;
}
tsr_profiler example_profiler(void) {
  tsr_profiler_options options = {};
  options.struct_size = sizeof(options);
  tsr_profiler profiler = nullptr;
  ok(tsr_profiler_new(&options, nullptr, nullptr, nullptr, &profiler));
  return profiler;
}
tsr_profiler recorded_profiler(void) {
  tsr_profiler profiler = example_profiler();
  tsr_tensor x = f32_vector(3), y = nullptr;
  ok(tsr_profiler_start(profiler));
  ok(tsr_exp(x, &y));
  ok(tsr_profiler_stop(profiler));
  tsr_tensor_release(y);
  tsr_tensor_release(x);
  return profiler;
}
tsr_status example_host_stack(void*, char* text, int64_t capacity, int64_t* length) {
  if (capacity > 0) *text = 'h';
  *length = capacity > 0 ? 1 : 0;
  return TSR_OK;
}
void ignore_out_of_memory(void*, const tsr_memory_event*) {}
tsr_status ignore_node_prehook(void*, const tsr_tensor*, int32_t, tsr_tensor*, int32_t*) {
  return TSR_OK;
}
tsr_status ignore_node_posthook(void*, const tsr_tensor*, int32_t, const tsr_tensor*, int32_t,
                                tsr_tensor*, int32_t*) {
  return TSR_OK;
}
tsr_status count_multi_hook(void* user, const tsr_tensor* grads, int32_t n_grads) {
  for (int32_t i = 0; i < n_grads; ++i) *static_cast<int*>(user) += grads[i] != nullptr ? 50 : 0;
  return TSR_OK;
}
tsr_status ignore_checkpoint_run(void*, const tsr_tensor*, int32_t) {
  return TSR_OK;
}
tsr_status run_exp(void*, const tsr_tensor* inputs, int32_t) {
  tsr_tensor out = nullptr;
  const tsr_status status = tsr_exp(inputs[0], &out);
  tsr_tensor_release(out);
  return status;
}
tsr_pressure_action ignore_pressure(void*, const tsr_memory_event*) {
  return TSR_PRESSURE_NOTHING;
}
tsr_status keep_packed(void*, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
  tsr_tensor_retain(tensor);
  *payload = tensor;
  *drop = [](void* kept) { tsr_tensor_release(static_cast<tsr_tensor>(kept)); };
  return TSR_OK;
}
tsr_status give_packed(void*, void* payload, tsr_tensor* tensor) {
  *tensor = static_cast<tsr_tensor>(payload);
  tsr_tensor_retain(*tensor);
  return TSR_OK;
}
tsr_status take_memory(void*, int32_t, int64_t nbytes, int64_t alignment, void*, void** block) {
  const int64_t rounded = (nbytes + alignment - 1) / alignment * alignment;
  *block = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded));
  return *block == nullptr ? TSR_OUT_OF_MEMORY : TSR_OK;
}
void give_memory(void*, int32_t, void* block, int64_t, void*) {
  std::free(block);
}
tsr_status double_forward(void*, tsr_node, const tsr_tensor* inputs, int32_t, tsr_tensor* outputs,
                          int32_t) {
  return tsr_add(inputs[0], inputs[0], &outputs[0]);
}
tsr_status double_backward(void*, tsr_node, const tsr_tensor* grad_out, int32_t,
                           tsr_tensor* grad_in, int32_t) {
  return tsr_add(grad_out[0], grad_out[0], &grad_in[0]);
}

}  // extern "C"
