// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The valid arguments of a call with one invalid argument; releases everything at its end.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "capi/abi_support.h"
#include "capi/dlpack.h"
#include "capi/example_support.h"

namespace tsr::test {

struct Fixture {
  Fixture() { tensors[0] = leaf(1); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    tsr_tensor_release_many(slots, 4);
    tsr_tensor_release(tensors[0]);
    tsr_error_release(error);
    tsr_buffer_release(buffer);
    tsr_buffer_release(second_buffer);
    tsr_generator_release(generator);
    tsr_node_release(node);
    if (scope != nullptr) ok(tsr_scope_end(scope, nullptr, 0));
    while (tsr_saved_hooks_pop() == TSR_OK) {  // what the call has pushed
    }
    tsr_archive_release(archive);
    tsr_stream_release(stream);
    tsr_event_release(event);
    for (tsr_stream made : streams) tsr_stream_release(made);
    for (tsr_event made : events) tsr_event_release(made);
    for (tsr_archive made : archives) tsr_archive_release(made);
    tsr_optimizer_release(optimizer);
    for (tsr_optimizer made : optimizers) tsr_optimizer_release(made);
    tsr_program_release(program);
    for (tsr_program made : programs) tsr_program_release(made);
    ok(tsr_program_record_cancel());
    tsr_grad_scaler_release(grad_scaler);
    for (tsr_grad_scaler made : scalers) tsr_grad_scaler_release(made);
    tsr_data_parallel_release(data_parallel);
    for (tsr_data_parallel made : parallels) tsr_data_parallel_release(made);
    tsr_sharded_optimizer_release(sharded_optimizer);
    for (tsr_sharded_optimizer made : sharded_optimizers) tsr_sharded_optimizer_release(made);
    tsr_work_release(work);
    for (tsr_work made : works) tsr_work_release(made);
    tsr_group_release(group);
    for (tsr_group made : groups) tsr_group_release(made);
    tsr_profiler_release(profiler);
    for (tsr_profiler made : profilers) tsr_profiler_release(made);
    for (tsr_node made : nodes) tsr_node_release(made);
    for (tsr_error made : errors) tsr_error_release(made);
    for (tsr_buffer made : buffers) tsr_buffer_release(made);
    for (tsr_generator made : generators) tsr_generator_release(made);
    if (DLManagedTensor != nullptr) DLManagedTensor->deleter(DLManagedTensor);
    if (DLManagedTensorVersioned != nullptr)
      DLManagedTensorVersioned->deleter(DLManagedTensorVersioned);
  }

  tsr_node make_node() { return nodes.emplace_back(custom_node(tensors[0], &node_drops)); }
  const tsr_node* list_of(tsr_node made) {
    listed_nodes[0] = made;
    return listed_nodes;
  }
  tsr_profiler make_profiler() { return profilers.emplace_back(recorded_profiler()); }
  tsr_error make_error() {
    tsr_error made = nullptr;
    ok(tsr_error_set(TSR_VALUE, "a test", -1, nullptr, nullptr));
    ok(tsr_error_take(&made));
    return errors.emplace_back(made);
  }
  tsr_buffer make_buffer() {
    tsr_buffer made = nullptr;
    ok(tsr_memory_stats_json(TSR_DEVICE_CPU, 0, &made));
    return buffers.emplace_back(made);
  }
  tsr_generator make_generator() {
    tsr_generator made = nullptr;
    ok(tsr_generator_new(1, &made));
    return generators.emplace_back(made);
  }
  tsr_stream make_stream() {
    tsr_stream made = nullptr;
    ok(tsr_stream_create(TSR_DEVICE_CPU, 0, &made));
    return streams.emplace_back(made);
  }
  tsr_event make_event() {
    tsr_event made = nullptr;
    ok(tsr_event_create(TSR_DEVICE_CPU, 0, &made));
    return events.emplace_back(made);
  }
  tsr_archive make_archive() { return archives.emplace_back(example_archive()); }
  tsr_program make_program() { return programs.emplace_back(example_program()); }
  const tsr_program* list_of(tsr_program made) {
    listed_programs[0] = made;
    return listed_programs;
  }
  tsr_optimizer make_optimizer() { return optimizers.emplace_back(example_optimizer(tensors[0])); }
  tsr_grad_scaler make_grad_scaler() { return scalers.emplace_back(example_scaler()); }
  // A call that waits for a message that nobody sends ends soon.
  tsr_group make_group() { return groups.emplace_back(group_with_timeout(0.2)); }
  tsr_data_parallel make_data_parallel() {
    return parallels.emplace_back(example_data_parallel(tensors[0]));
  }
  tsr_sharded_optimizer make_sharded_optimizer() {
    return sharded_optimizers.emplace_back(example_sharded_optimizer(tensors[0]));
  }
  tsr_work make_work() {
    tsr_work made = nullptr;
    ok(tsr_group_barrier(make_group(), &made));
    return works.emplace_back(made);
  }
  tsr_scope make_scope() {
    ok(tsr_scope_begin(&scope));
    return scope;
  }
  struct DLManagedTensor* make_DLManagedTensor() {
    const Tensor plain(reals(TSR_FLOAT32, {2}, {1, 2}));
    ok(tsr_to_dlpack(plain, 0, &DLManagedTensor));
    return DLManagedTensor;
  }
  struct DLManagedTensorVersioned* make_DLManagedTensorVersioned() {
    const Tensor plain(reals(TSR_FLOAT32, {2}, {1, 2}));
    ok(tsr_to_dlpack_versioned(plain, 1, 0, nullptr, &DLManagedTensorVersioned));
    return DLManagedTensorVersioned;
  }
  // A struct with this struct_size at the end of a page of zeros; all other fields are zero, except
  // a kind that must be valid.
  template <class T>
  T* sized(uint32_t size = sizeof(T)) {
    pages.push_back(std::make_unique<int64_t[]>(1024));
    auto* value = reinterpret_cast<T*>(pages.back().get());
    if constexpr (requires { value->struct_size; }) value->struct_size = size;
    if constexpr (std::is_same_v<T, tsr_optimizer_options>) value->kind = TSR_OPTIMIZER_SGD;
    if constexpr (std::is_same_v<T, tsr_data_parallel_options>) {
      value->bucket_bytes = value->first_bucket_bytes = 1;
      value->reduce_dtype = -1;
    }
    if constexpr (std::is_same_v<T, tsr_autocast_state>) {
      value->device_type = TSR_DEVICE_CPU;
      value->dtype = TSR_BFLOAT16;
    }
    return value;
  }

  tsr_tensor tensors[2] = {};
  tsr_tensor slots[4] = {};
  int64_t ones[2] = {1, 1};
  int32_t i32 = 0;
  int64_t i64 = 0;
  uint64_t u64 = 0;
  double f64 = 0;
  tsr_number number{};
  const void* pointer = nullptr;
  void* mutable_pointer = nullptr;
  const char* text = nullptr;
  alignas(8) char bytes[64] = {};
  int drops = 0, node_drops = 0;
  tsr_drop_fn drop = nullptr;
  tsr_error error = nullptr;
  tsr_buffer buffer = nullptr;
  tsr_buffer second_buffer = nullptr;
  tsr_generator generator = nullptr;
  tsr_node node = nullptr;
  tsr_scope scope = nullptr;
  tsr_archive archive = nullptr;
  std::vector<tsr_archive> archives;
  tsr_program program = nullptr;
  tsr_program listed_programs[1] = {};
  std::vector<tsr_program> programs;
  tsr_optimizer optimizer = nullptr;
  std::vector<tsr_optimizer> optimizers;
  tsr_grad_scaler grad_scaler = nullptr;
  std::vector<tsr_grad_scaler> scalers;
  tsr_group group = nullptr;
  std::vector<tsr_group> groups;
  tsr_data_parallel data_parallel = nullptr;
  std::vector<tsr_data_parallel> parallels;
  tsr_sharded_optimizer sharded_optimizer = nullptr;
  std::vector<tsr_sharded_optimizer> sharded_optimizers;
  tsr_work work = nullptr;
  std::vector<tsr_work> works;
  tsr_profiler profiler = nullptr;
  std::vector<tsr_profiler> profilers;
  struct DLManagedTensor* DLManagedTensor = nullptr;
  struct DLManagedTensorVersioned* DLManagedTensorVersioned = nullptr;
  tsr_stream stream = nullptr;
  tsr_event event = nullptr;
  std::vector<tsr_stream> streams;
  std::vector<tsr_event> events;
  std::vector<tsr_node> nodes;
  tsr_node listed_nodes[1] = {};
  std::vector<tsr_error> errors;
  std::vector<tsr_buffer> buffers;
  std::vector<tsr_generator> generators;
  std::vector<std::unique_ptr<int64_t[]>> pages;  // one for each struct of a call
};

}  // namespace tsr::test
