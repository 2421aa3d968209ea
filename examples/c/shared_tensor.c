/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Opens a tensor that another process shares, prints its sum and adds 1 to each element.
 *
 * Usage: shared_tensor PLACE NBYTES COUNT, where PLACE is a name (/tessera-...) or fd:NUMBER of an
 * inherited file descriptor. */
#include "common.h"

int main(int argc, char** argv) {
  tsr_shared_handle handle = {0};
  const int64_t one[1] = {1};
  tsr_number step = {TSR_NUMBER_INTEGER, 0, 1, 0.0, 0.0};
  tsr_tensor shared = NULL, sum = NULL;
  int64_t count[1];
  float value = 0.0f;
  if (argc != 4) {
    fprintf(stderr, "usage: shared_tensor PLACE NBYTES COUNT\n");
    return EXIT_FAILURE;
  }
  handle.struct_size = sizeof handle;
  handle.fd = strncmp(argv[1], "fd:", 3) == 0 ? atoi(argv[1] + 3) : -1;
  handle.name = handle.fd < 0 ? argv[1] : NULL;
  handle.nbytes = atoll(argv[2]);
  count[0] = atoll(argv[3]);
  check(tsr_tensor_from_shared(&handle, 0, count, 1, one, 1, TSR_FLOAT32, &shared));
  check(tsr_sum(shared, NULL, -1, 0, -1, &sum));
  check(tsr_tensor_read(sum, &value, sizeof value));
  printf("sum %.1f\n", value);
  check(tsr_add_scalar_inplace(shared, &step));
  tsr_tensor_release(sum);
  tsr_tensor_release(shared);
  return EXIT_SUCCESS;
}
