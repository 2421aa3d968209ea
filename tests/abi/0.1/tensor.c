// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// tensor.h: handles, metadata, memory of the caller, scopes.
#include "client.h"

static int drops = 0;
static void count_drop(void* user) {
  (void)user;
  ++drops;
}

int main(void) {
  float memory[6] = {1, 2, 3, 4, 5, 6}, copy[6];
  const int64_t shape[2] = {2, 3};
  tsr_tensor t = NULL, kept = NULL;
  tsr_info info = {sizeof(info)};
  tsr_scope scope = NULL;
  OK(tsr_tensor_from_data(memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, shape, 2, NULL, -1, 0, NULL,
                          count_drop, &t));
  OK(tsr_tensor_info(t, &info));
  CHECK(info.ndim == 2 && info.sizes[1] == 3 && info.strides[0] == 3 && info.nbytes == 24 &&
        info.data == memory);
  OK(tsr_tensor_read(t, copy, sizeof(copy)));
  CHECK(copy[5] == 6.0f);
  OK(tsr_scope_begin(&scope));
  OK(tsr_exp(t, &kept));
  OK(tsr_scope_end(scope, &kept, 1));
  tsr_tensor_retain(kept);
  tsr_tensor_release(kept);
  tsr_tensor_release(kept);
  tsr_tensor_release(t);
  CHECK(drops == 1 && tsr_live_handles() == 0);
  return 0;
}
