/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Loads the backend of backend.cpp and differentiates w * exp(x) on its device.
 * Usage: use_backend <path of the backend's library> */
#include <math.h>

#include "../c/common.h"

#define EXTENSION TSR_DEVICE_SIMULATED, 0 /* the device type that DLPack leaves to extensions */

/* A tensor of three numbers on the extension's device. */
static tsr_tensor on_device(float first, float second, float third) {
  float numbers[3];
  const int64_t shape[1] = {3};
  tsr_tensor tensor = NULL;
  numbers[0] = first;
  numbers[1] = second;
  numbers[2] = third;
  check(tsr_empty(shape, 1, TSR_FLOAT32, EXTENSION, &tensor));
  check(tsr_tensor_write(tensor, numbers, sizeof numbers));
  return tensor;
}

int main(int count, char** arguments) {
  tsr_tensor x, w, ones, power = NULL, y = NULL, grad = NULL, sum = NULL;
  float found[3];
  tsr_error_view error = {0};
  int i;
  if (count != 2) {
    fprintf(stderr, "usage: use_backend <library>\n");
    return EXIT_FAILURE;
  }
  check(tsr_plugin_load(arguments[1], -1));

  x = on_device(0.0f, 0.5f, 1.0f);
  w = on_device(1.0f, 2.0f, 3.0f);
  ones = on_device(1.0f, 1.0f, 1.0f);
  check(tsr_tensor_set_requires_grad(x, 1));
  check(tsr_exp(x, &power));
  check(tsr_multiply(w, power, &y));
  check(tsr_grad(&y, 1, &ones, 1, &x, 1, 0, &grad)); /* runs on the device, too */
  check(tsr_tensor_read(grad, found, sizeof found));
  for (i = 0; i < 3; ++i) {
    const double expected = (i + 1) * exp(0.5 * i);
    printf("d/dx w exp(x) = %.4f, expected %.4f\n", (double)found[i], expected);
    if (fabs((double)found[i] - expected) > 1e-5 * expected) return EXIT_FAILURE;
  }

  /* A call of something that the backend does not implement fails and has no other effect. */
  if (tsr_add(x, w, &sum) != TSR_NOT_IMPLEMENTED) return EXIT_FAILURE;
  error.struct_size = sizeof error;
  check(tsr_error_last(&error));
  printf("%.*s\n", (int)error.message_len, error.message);

  tsr_tensor_release(x);
  tsr_tensor_release(w);
  tsr_tensor_release(ones);
  tsr_tensor_release(power);
  tsr_tensor_release(y);
  tsr_tensor_release(grad);
  return EXIT_SUCCESS;
}
