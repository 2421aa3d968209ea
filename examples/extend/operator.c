/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * An operator from outside the library: softplus(x) = log(1 + exp(x)) with a loop of our own and
 * its derivative, sigmoid(x). The derivative is written with functions of the library, so that it
 * can be differentiated again. */
#include <math.h>

#include "../c/common.h"

/* Runs without recording. Computes the output and saves what the derivative needs. */
static tsr_status softplus_forward(void* user, tsr_node node, const tsr_tensor* inputs,
                                   int32_t n_inputs, tsr_tensor* outputs, int32_t n_outputs) {
  tsr_tensor dense = NULL, result = NULL;
  const void* from = NULL;
  void* to = NULL;
  tsr_info info = {0};
  tsr_status status;
  int64_t i;
  (void)user, (void)n_inputs, (void)n_outputs;
  info.struct_size = sizeof info;
  status = tsr_contiguous(
      inputs[0], &dense); /* a view may have any strides; the loop needs contiguous elements */
  if (status == TSR_OK) status = tsr_tensor_info(dense, &info);
  if (status == TSR_OK && info.dtype != TSR_FLOAT64) {
    /* A failure of ours: its status and text reach the caller of tsr_function_apply. */
    status = tsr_error_raise(TSR_DTYPE, "softplus: expected float64", -1, NULL, NULL);
  }
  if (status == TSR_OK) status = tsr_empty_like(dense, -1, -1, -1, &result);
  if (status == TSR_OK) status = tsr_tensor_data(dense, &from);
  if (status == TSR_OK) status = tsr_tensor_mutable_data(result, &to);
  if (status == TSR_OK) {
    for (i = 0; i < info.numel; ++i) {
      const double x = ((const double*)from)[i];
      ((double*)to)[i] = (x > 0 ? x : 0) + log1p(exp(-fabs(x))); /* never overflows */
    }
    status = tsr_node_save(node, inputs, 1);
  }
  if (status == TSR_OK)
    outputs[0] = result; /* consumed on success */
  else
    tsr_tensor_release(result);
  tsr_tensor_release(dense);
  return status;
}

/* grad_in = grad_out * sigmoid(x) */
static tsr_status softplus_backward(void* user, tsr_node node, const tsr_tensor* grad_out,
                                    int32_t n_grad_out, tsr_tensor* grad_in, int32_t n_grad_in) {
  tsr_tensor x = NULL, slope = NULL;
  tsr_status status;
  (void)user, (void)n_grad_out, (void)n_grad_in;
  status = tsr_node_saved(node, 0, &x);
  if (status == TSR_OK) status = tsr_sigmoid(x, &slope);
  if (status == TSR_OK) status = tsr_multiply(grad_out[0], slope, &grad_in[0]);
  tsr_tensor_release(x);
  tsr_tensor_release(slope);
  return status;
}

static tsr_status softplus(tsr_tensor input, tsr_tensor* out) {
  tsr_node_vtable vtable = {0};
  vtable.struct_size = sizeof vtable;
  vtable.forward = softplus_forward;
  vtable.backward = softplus_backward;
  return tsr_function_apply("Softplus", -1, &vtable, NULL, &input, 1, 1, out);
}

/* x of one number, its softplus, and the first two derivatives. */
static void derivatives(double at, tsr_number found[3]) {
  tsr_tensor x = NULL, y = NULL, first = NULL, second = NULL;
  check(tsr_empty(NULL, 0, TSR_FLOAT64, TSR_DEVICE_CPU, 0, &x));
  check(tsr_tensor_write(x, &at, sizeof at));
  check(tsr_tensor_set_requires_grad(x, 1));
  check(softplus(x, &y));
  check(tsr_grad(&y, 1, NULL, 0, &x, 1, TSR_BACKWARD_CREATE_GRAPH, &first));
  check(tsr_grad(&first, 1, NULL, 0, &x, 1, 0, &second));
  check(tsr_tensor_item(y, &found[0]));
  check(tsr_tensor_item(first, &found[1]));
  check(tsr_tensor_item(second, &found[2]));
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  tsr_tensor_release(first);
  tsr_tensor_release(second);
}

int main(void) {
  const double points[4] = {-30, -0.5, 2, 800};
  const int64_t shape[1] = {2};
  tsr_tensor wrong = NULL, result = NULL;
  int i, k;
  for (i = 0; i < 4; ++i) {
    const double x = points[i], slope = 1 / (1 + exp(-x));
    const double expected[3] = {(x > 0 ? x : 0) + log1p(exp(-fabs(x))), slope, slope * (1 - slope)};
    tsr_number found[3];
    derivatives(x, found);
    printf("softplus(%g) = %.6g, slope %.6g, curvature %.6g\n", x, found[0].real, found[1].real,
           found[2].real);
    for (k = 0; k < 3; ++k) {
      if (fabs(found[k].real - expected[k]) > 1e-12 * (1 + fabs(expected[k]))) return EXIT_FAILURE;
    }
  }
  check(tsr_empty(shape, 1, TSR_INT64, TSR_DEVICE_CPU, 0, &wrong));
  if (softplus(wrong, &result) != TSR_DTYPE || result != NULL) return EXIT_FAILURE;
  tsr_tensor_release(wrong);
  return EXIT_SUCCESS;
}
