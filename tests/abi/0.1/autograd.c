// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// autograd.h: gradients, hooks, and a custom function with callbacks of the program's own.
#include "client.h"

static int drops = 0;
static void count_drop(void* user) {
  (void)user;
  ++drops;
}
static tsr_status twice(void* user, tsr_tensor grad, tsr_tensor* replacement) {
  (void)user;
  return tsr_add(grad, grad, replacement);
}
static tsr_status forward(void* user, tsr_node node, const tsr_tensor* in, int32_t n_in,
                          tsr_tensor* out, int32_t n_out) {
  (void)user;
  CHECK(n_in == 1 && n_out == 1);
  OK(tsr_node_save(node, in, 1));
  return tsr_square(in[0], &out[0]);
}
static tsr_status backward(void* user, tsr_node node, const tsr_tensor* grad, int32_t n_grad,
                           tsr_tensor* in, int32_t n_in) {
  tsr_tensor saved = NULL, scaled = NULL;
  (void)user;
  CHECK(n_grad == 1 && n_in == 1);
  OK(tsr_node_saved(node, 0, &saved));
  OK(tsr_multiply(grad[0], saved, &scaled));
  OK(tsr_add(scaled, scaled, &in[0]));
  tsr_tensor_release(saved);
  tsr_tensor_release(scaled);
  return TSR_OK;
}

int main(void) {
  tsr_tensor x = counting(3), y = NULL, loss = NULL, grad = NULL;
  tsr_node_vtable vtable = {sizeof(vtable)};
  float out[3];
  int64_t id = 0;
  vtable.forward = forward;
  vtable.backward = backward;
  vtable.drop = count_drop;
  OK(tsr_tensor_set_requires_grad(x, 1));
  OK(tsr_tensor_hook_add(x, twice, NULL, count_drop, &id));
  OK(tsr_function_apply("Square", -1, &vtable, &drops, &x, 1, 1, &y));
  OK(tsr_sum(y, NULL, -1, 0, -1, &loss));
  OK(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  OK(tsr_tensor_grad(x, &grad));
  OK(tsr_tensor_read(grad, out, sizeof(out)));
  CHECK(out[0] == 4.0f && out[2] == 12.0f);
  tsr_tensor_release(grad);
  tsr_tensor_release(loss);
  tsr_tensor_release(y);
  tsr_tensor_release(x);
  CHECK(drops == 2 && tsr_live_nodes() == 0);
  return 0;
}
