// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A client of a later version, in which every struct with a struct_size has got two more fields,
// `grown`. This library zeroes the fields that it does not know when it fills a struct, and refuses
// what asks for them when it reads one.
#include "client.h"

static tsr_status backward(void* user, tsr_node node, const tsr_tensor* grad, int32_t n_grad,
                           tsr_tensor* in, int32_t n_in) {
  (void)user;
  (void)node;
  (void)n_grad;
  (void)n_in;
  tsr_tensor_retain(grad[0]);
  in[0] = grad[0];
  return TSR_OK;
}

int main(void) {
  tsr_tensor x = counting(2);
  tsr_node node = NULL;
  tsr_info info;
  tsr_error_view view;
  tsr_memory_stats stats;
  tsr_node_vtable vtable;
  memset(&info, 0xAA, sizeof(info));
  memset(&view, 0xAA, sizeof(view));
  memset(&stats, 0xAA, sizeof(stats));
  memset(&vtable, 0, sizeof(vtable));
  info.struct_size = sizeof(info);
  view.struct_size = sizeof(view);
  stats.struct_size = sizeof(stats);
  vtable.struct_size = sizeof(vtable);
  OK(tsr_tensor_info(x, &info));
  CHECK(info.numel == 2 && info.grown[0] == 0 && info.grown[1] == 0 &&
        info.struct_size == sizeof(info));
  OK(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &stats));
  CHECK(stats.allocated.all.current >= 1 && stats.grown[0] == 0 && stats.grown[1] == 0);
  OK(tsr_tensor_set_requires_grad(x, 1));
  vtable.backward = backward;
  vtable.grown[1] = 1; /* asks for something that this library cannot do */
  CHECK(tsr_node_create("Later", -1, &vtable, NULL, &x, 1, &node) == TSR_ABI && node == NULL);
  OK(tsr_error_last(&view));
  CHECK(view.code == TSR_ABI && view.grown[0] == 0 && view.grown[1] == 0);
  vtable.grown[1] = 0; /* the default, as if the field were not there */
  OK(tsr_node_create("Later", -1, &vtable, NULL, &x, 1, &node));
  tsr_node_release(node);
  tsr_tensor_release(x);
  return 0;
}
