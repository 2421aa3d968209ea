// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ops.h: one operator of each kind, in each form.
#include "client.h"

int main(void) {
  const int64_t axis = 0, two[2] = {2, 2};
  tsr_tensor x = counting(4), m = NULL, y = NULL, parts[4] = {NULL};
  float out[4];
  int32_t count = 0;
  OK(tsr_reshape(x, two, 2, -1, &m));
  OK(tsr_matmul(m, m, &y));
  OK(tsr_tensor_read(y, out, sizeof(out)));
  CHECK(out[0] == 7.0f && out[3] == 22.0f);
  OK(tsr_add_out(m, m, y));
  OK(tsr_multiply_inplace(y, m));
  OK(tsr_tensor_read(y, out, sizeof(out)));
  CHECK(out[3] == 32.0f);
  tsr_tensor_release(y);
  OK(tsr_sum(m, &axis, 1, 0, -1, &y));
  OK(tsr_tensor_read(y, out, 8));
  CHECK(out[0] == 4.0f && out[1] == 6.0f);
  OK(tsr_unstack(m, 0, parts, 4, &count));
  CHECK(count == 2);
  tsr_tensor_release_many(parts, count);
  tsr_tensor_release(y);
  tsr_tensor_release(m);
  tsr_tensor_release(x);
  CHECK(tsr_live_handles() == 0);
  return 0;
}
