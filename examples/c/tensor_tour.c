/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * A tour of tensors from C: memory of our own without a copy, operators, views, gradients, errors.
 */
#include "common.h"

static void print(const char* label, tsr_tensor tensor) {
  tsr_info info = {0};
  tsr_tensor doubles = NULL;
  double values[16];
  int64_t i;
  info.struct_size = sizeof info;
  check(tsr_tensor_info(tensor, &info));
  check(tsr_astype(tensor, TSR_FLOAT64, 1, &doubles));
  check(tsr_tensor_read(doubles, values, info.numel * (int64_t)sizeof(double)));
  printf("%-22s shape (", label);
  for (i = 0; i < info.ndim; ++i) printf(i == 0 ? "%lld" : ", %lld", (long long)info.sizes[i]);
  printf("):");
  for (i = 0; i < info.numel; ++i) printf(" %g", values[i]);
  printf("\n");
  tsr_tensor_release(doubles);
}

int main(void) {
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  tsr_tensor x = NULL, turned = NULL, product = NULL, shifted = NULL, loss = NULL, gradient = NULL,
             wrong = NULL;
  tsr_error_view error = {0};
  tsr_status status;

  printf("tessera %s\n", tsr_version_string());

  /* Our array becomes a tensor without a copy: writing the one is writing the other. */
  check(tsr_tensor_from_data(numbers, TSR_FLOAT32, TSR_DEVICE_CPU, 0, shape, 2, NULL, -1, 0, NULL,
                             NULL, &x));
  print("ours", x);
  check(tsr_add_f64_inplace(x, 0.5));
  printf("%-22s %g\n", "our array now starts", numbers[0]);

  /* A transposed view shares the memory; matmul reads it as it is. */
  check(tsr_matrix_transpose(x, &turned));
  print("transposed", turned);
  check(tsr_matmul(x, turned, &product));
  print("x times its transpose", product);

  /* d/dw of the sum of w² is 2w. */
  check(tsr_clone(x, &shifted));
  check(tsr_tensor_set_requires_grad(shifted, 1));
  {
    tsr_tensor squared = NULL;
    check(tsr_square(shifted, &squared));
    check(tsr_sum(squared, NULL, -1, 0, -1, &loss));
    tsr_tensor_release(squared);
  }
  check(tsr_backward(&loss, 1, NULL, 0, NULL, 0, 0));
  check(tsr_tensor_grad(shifted, &gradient));
  print("gradient", gradient);

  /* A mistake is a status and a sentence, never a crash. */
  status = tsr_matmul(x, x, &wrong);
  error.struct_size = sizeof error;
  check(tsr_error_last(&error));
  printf("%-22s %s: %s\n", "a mistake", tsr_status_name(status), error.message);

  {
    const tsr_tensor all[6] = {x, turned, product, shifted, loss, gradient};
    tsr_tensor_release_many(all, 6);
  }
  return status == TSR_SHAPE ? 0 : 1;
}
