// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// random.h: the same seed gives the same numbers.
#include "client.h"

int main(void) {
  const int64_t n = 8;
  tsr_generator generator = NULL;
  tsr_tensor x = NULL, y = NULL;
  float a[8], b[8];
  uint64_t seed = 0, offset = 0;
  OK(tsr_generator_new(7, &generator));
  OK(tsr_rand(&n, 1, TSR_FLOAT32, -1, -1, generator, &x));
  OK(tsr_generator_get_state(generator, &seed, &offset));
  CHECK(seed == 7 && offset > 0);
  OK(tsr_generator_seed(generator, 7));
  OK(tsr_rand(&n, 1, TSR_FLOAT32, -1, -1, generator, &y));
  OK(tsr_tensor_read(x, a, sizeof(a)));
  OK(tsr_tensor_read(y, b, sizeof(b)));
  CHECK(memcmp(a, b, sizeof(a)) == 0 && a[0] != a[1]);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  tsr_generator_release(generator);
  return 0;
}
