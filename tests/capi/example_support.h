/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Helpers that the examples of the schema use besides the library. */
#ifndef TESSERA_TESTS_EXAMPLE_SUPPORT_H_
#define TESSERA_TESTS_EXAMPLE_SUPPORT_H_

#include <stdio.h>
#include <string.h>

#include "tessera/tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

struct example {
  const char* name;
  void (*run)(void);
};
extern const struct example kExamples[];
extern const int kExampleCount;

/* Report a failed expectation to the test that runs the example. */
void example_check(int condition, const char* text, int line);
void example_ok(tsr_status status, const char* text, int line);

#define CHECK(condition) example_check((condition) ? 1 : 0, #condition, __LINE__)
#define CHECK_OK(call) example_ok((call), #call, __LINE__)
#define CHECK_FAILS(code, call) \
  example_check((call) == (code), #call " fails with " #code, __LINE__)

tsr_tensor f32_vector(int64_t n); /* 1, 2, ..., n */
tsr_tensor i64_vector(int64_t n);
tsr_tensor leaf(int64_t n);     /* as f32_vector, requires grad */
tsr_tensor wrapped(int* drops); /* on memory whose drop adds 1 to *drops */
tsr_node exp_node(void);        /* the node of exp(leaf) */
tsr_node custom_node(tsr_tensor input, int* drops);
tsr_archive example_archive(void); /* "weight", as f32_vector(3); metadata made: here */
tsr_optimizer example_optimizer(tsr_tensor param);                 /* SGD with the rate 0.5 */
tsr_grad_scaler example_scaler(void);                              /* with the scale 8 */
tsr_group example_group(void);                                     /* of one thread */
tsr_group group_with_timeout(double seconds);                      /* the same */
tsr_data_parallel example_data_parallel(tsr_tensor param);         /* in a group of one thread */
tsr_sharded_optimizer example_sharded_optimizer(tsr_tensor param); /* of example_optimizer */
tsr_profiler example_profiler(void);       /* of everything, without a schedule */
tsr_profiler recorded_profiler(void);      /* the same, with a recording of an exp */
tsr_program example_program(void);         /* exp(x), of two elements */
tsr_program example_program_of(int64_t n); /* the same of n elements */
int64_t numel(tsr_tensor tensor);
double item(tsr_tensor tensor, int64_t index); /* of float32 or int64 */
int64_t live_tensors(void);

void count_drop(void* user);                               /* adds 1 to *(int*)user */
void count_visit(void* arg, void* user, tsr_drop_fn drop); /* adds 1 to *(int64_t*)arg */
void ignore_log(void* user, tsr_log_level level, const char* component, const char* message,
                int64_t message_len);
void ignore_trace(void* user, const tsr_trace_event* event);
void count_trace(void* user, const tsr_trace_event* event); /* adds 1 to *(int*)user */
tsr_status ignore_hook(void* user, tsr_tensor grad, tsr_tensor* replacement);
tsr_status ignore_accumulate(void* user, tsr_tensor leaf);
tsr_status ignore_accumulate_hook(void* user, tsr_tensor leaf);
tsr_status ignore_final(void* user);
tsr_status ignore_profile_ready(void* user, tsr_profiler profiler);
tsr_status count_profile(void* user, tsr_profiler profiler); /* adds 1 to *(int*)user */
tsr_status example_host_stack(void* user, char* text, int64_t capacity, int64_t* length); /* "h" */
void ignore_out_of_memory(void* user, const tsr_memory_event* event);
tsr_status ignore_node_prehook(void* user, const tsr_tensor* grads, int32_t n_grads,
                               tsr_tensor* replacements, int32_t* replaced);
tsr_status ignore_node_posthook(void* user, const tsr_tensor* results, int32_t n_results,
                                const tsr_tensor* grads, int32_t n_grads, tsr_tensor* replacements,
                                int32_t* replaced);
/* Adds 50 to *(int*)user for each gradient. */
tsr_status count_multi_hook(void* user, const tsr_tensor* grads, int32_t n_grads);
tsr_status ignore_checkpoint_run(void* user, const tsr_tensor* inputs, int32_t n_inputs);
tsr_status run_exp(void* user, const tsr_tensor* inputs, int32_t n_inputs); /* exp(inputs[0]) */
tsr_pressure_action ignore_pressure(void* user, const tsr_memory_event* event);
/* The payload is the tensor itself, retained. */
tsr_status keep_packed(void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop);
tsr_status give_packed(void* user, void* payload, tsr_tensor* tensor);
/* malloc and free. */
tsr_status take_memory(void* user, int32_t device_index, int64_t nbytes, int64_t alignment,
                       void* stream, void** block);
void give_memory(void* user, int32_t device_index, void* block, int64_t nbytes, void* stream);
tsr_status double_forward(void* user, tsr_node node, const tsr_tensor* inputs, int32_t n_inputs,
                          tsr_tensor* outputs, int32_t n_outputs);
tsr_status double_backward(void* user, tsr_node node, const tsr_tensor* grad_out,
                           int32_t n_grad_out, tsr_tensor* grad_in, int32_t n_grad_in);

#ifdef __cplusplus
}
#endif

#endif
