/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An external C program that uses a device "cuda": adds 1 and 1 there, or prints why it cannot. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void) {
  const int64_t one = 1;
  tsr_number value;
  tsr_tensor x = NULL, y = NULL;
  if (tsr_ones(&one, 1, -1, TSR_DEVICE_CUDA, 0, &x) || tsr_add(x, x, &y) ||
      tsr_tensor_item(y, &value)) {
    tsr_error_view error = {0};
    error.struct_size = sizeof error;
    if (tsr_error_last(&error) == TSR_OK) puts(error.message);
    return 1;
  }
  printf("%g\n", value.real);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  return 0;
}
