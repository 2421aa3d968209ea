/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * A tour of tensors from C. The tours in C++, Python, Rust and Julia print the same lines. Each
 * stop runs in a scope, which releases the tensors made there. */
#include "common.h"

/* ---- printing ---- */

static const char* dtype_name(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_FLOAT32:
      return "float32";
    case TSR_FLOAT64:
      return "float64";
    case TSR_INT64:
      return "int64";
    default:
      return "another dtype";
  }
}

/* A line such as "row sums: float32 [2] = 6.0000 15.0000". */
static void show(const char* label, tsr_tensor tensor) {
  const tsr_info info = info_of(tensor);
  double values[16];
  tsr_tensor plain = NULL, doubles = NULL;
  int64_t i;
  if (info.numel > 16) {
    fprintf(stderr, "%s has more than 16 elements\n", label);
    exit(EXIT_FAILURE);
  }
  check(tsr_detach(tensor, &plain));
  check(tsr_astype(plain, TSR_FLOAT64, 1, &doubles));
  check(tsr_tensor_read(doubles, values, info.numel * (int64_t)sizeof(double)));
  printf("%s: %s [", label, dtype_name(info.dtype));
  for (i = 0; i < info.ndim; ++i) printf(i == 0 ? "%lld" : ", %lld", (long long)info.sizes[i]);
  printf("] =");
  for (i = 0; i < info.numel; ++i) printf(" %.4f", values[i]);
  printf("\n");
}

/* ---- making tensors of a few numbers ---- */

static tsr_tensor floats(const float* values, int32_t ndim, const int64_t* shape) {
  tsr_tensor tensor = NULL;
  check(tsr_empty(shape, ndim, TSR_FLOAT32, -1, -1, &tensor));
  check(tsr_tensor_write(tensor, values, info_of(tensor).nbytes));
  return tensor;
}

/* 1, 2, ..., count */
static tsr_tensor row_of(int64_t count) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  return floats(values, 1, &count);
}

static tsr_tensor leaf_of(int64_t count) {
  tsr_tensor leaf = row_of(count);
  check(tsr_tensor_set_requires_grad(leaf, 1));
  return leaf;
}

/* [[1, 2, 3], [4, 5, 6]] */
static tsr_tensor table(void) {
  const int64_t shape[2] = {2, 3};
  tsr_tensor made = NULL;
  check(tsr_reshape(row_of(6), shape, 2, -1, &made));
  return made;
}

/* ---- the stops ---- */

static void creation(void) {
  const int64_t two_by_three[2] = {2, 3}, two = 2, three = 3;
  tsr_tensor zeros = NULL, counted = NULL, spaced = NULL, filled = NULL, random = NULL;
  tsr_generator generator = NULL;
  check(tsr_zeros(two_by_three, 2, -1, -1, -1, &zeros));
  show("zeros", zeros);
  check(tsr_arange(TSR_I64(0), TSR_I64(5), TSR_I64(1), -1, -1, -1, &counted));
  show("counted", counted);
  check(tsr_linspace(TSR_I64(0), TSR_I64(1), 5, -1, 1, -1, -1, &spaced));
  show("spaced", spaced);
  check(tsr_full(&two, 1, TSR_F64(2.5), TSR_FLOAT64, -1, -1, &filled));
  show("filled", filled);
  show("numbers", table());
  check(tsr_generator_new(7, &generator));
  check(tsr_rand(&three, 1, -1, -1, -1, generator, &random));
  show("random", random);
  tsr_generator_release(generator);
}

static void views(void) {
  const int64_t shape[2] = {3, 4};
  const int64_t new_axis_then_0[8] = {TSR_INDEX_KIND_NEW_AXIS, 0, 0, 0,
                                      TSR_INDEX_KIND_INTEGER,  0, 0, 0};
  tsr_tensor counted = NULL, a = NULL, row = NULL, column = NULL, every_other = NULL, deeper = NULL,
             turned = NULL, above = NULL, chosen = NULL, first = NULL;
  check(tsr_arange(TSR_I64(0), TSR_I64(12), TSR_I64(1), -1, -1, -1, &counted));
  check(tsr_reshape(counted, shape, 2, -1, &a));
  check(tsr_select(a, 0, 1, &row));
  show("row", row);
  check(tsr_select(a, 1, 1, &column));
  show("column", column);
  check(tsr_slice(a, 1, tsr_none(), tsr_none(), 2, &every_other));
  show("every other", every_other);
  check(tsr_getitem_basic(a, new_axis_then_0, 8, &deeper));
  show("new axis", deeper);
  check(tsr_matrix_transpose(a, &turned));
  show("transposed", turned);
  check(tsr_greater_scalar(a, TSR_I64(7), &above));
  check(tsr_masked_select(a, above, &chosen));
  show("above seven", chosen);
  check(tsr_select(turned, 0, 0, &first));
  check(tsr_fill_inplace(first, TSR_I64(-1)));
  show("written through a view", a);
}

static void broadcasting(void) {
  const float row[3] = {0, 1, 2}, column[2] = {10, 20};
  const int64_t three = 3, two_by_one[2] = {2, 1}, last_axis = 1;
  tsr_tensor a = table(), tenfold = NULL, b = NULL, c = NULL, sums = NULL, turned = NULL,
             product = NULL, counted = NULL, halves = NULL;
  check(tsr_multiply_scalar(a, TSR_I64(10), &tenfold));
  check(tsr_add(tenfold, floats(row, 1, &three), &b));
  show("times ten plus a row", b);
  check(tsr_add(a, floats(column, 2, two_by_one), &c));
  show("plus a column", c);
  check(tsr_sum(a, &last_axis, 1, 0, -1, &sums));
  show("row sums", sums);
  check(tsr_matrix_transpose(a, &turned));
  check(tsr_matmul(a, turned, &product));
  show("matrix product", product);
  check(tsr_arange(TSR_I64(1), TSR_I64(4), TSR_I64(1), -1, -1, -1, &counted));
  check(tsr_divide_scalar(counted, TSR_I64(2), &halves));
  show("integers divided", halves);
}

static void in_place(void) {
  const float factors[3] = {1, 10, 100};
  const int64_t three = 3, from_1[4] = {TSR_INDEX_KIND_SLICE, 1, tsr_none(), tsr_none()};
  tsr_tensor a = row_of(3);
  tsr_tensor same = a;
  check(tsr_add_scalar_inplace(a, TSR_I64(1)));
  check(tsr_multiply_inplace(a, floats(factors, 1, &three)));
  show("seen by every reference", same);
  check(tsr_setitem_scalar_inplace(a, from_1, 4, NULL, 0, TSR_I64(0)));
  show("assigned to a part", a);
}

/* The gradient of an output of one element, for further differentiation. */
static tsr_tensor gradient_of(tsr_tensor output, tsr_tensor input) {
  tsr_tensor gradient = NULL;
  check(tsr_grad(&output, 1, NULL, 0, &input, 1, TSR_BACKWARD_CREATE_GRAPH, &gradient));
  return gradient;
}

static tsr_tensor sum_of(tsr_tensor x) {
  tsr_tensor sum = NULL;
  check(tsr_sum(x, NULL, -1, 0, -1, &sum));
  return sum;
}

static void autograd(void) {
  tsr_tensor x = leaf_of(3), cubes = NULL, y = NULL, first = NULL, doubled = NULL;
  int32_t recorded = 0, requires_grad = 0;
  check(tsr_pow_scalar(x, TSR_I64(3), &cubes));
  y = sum_of(cubes);
  show("sum of cubes", y);
  first = gradient_of(y, x);
  show("3 x^2", first);
  show("6 x", gradient_of(sum_of(first), x));
  check(tsr_grad_mode_set(0, &recorded));
  check(tsr_multiply_scalar(x, TSR_I64(2), &doubled));
  check(tsr_tensor_requires_grad(doubled, &requires_grad));
  printf("recorded without gradients: %s\n", requires_grad ? "yes" : "no");
  check(tsr_grad_mode_set(recorded, &recorded));
}

/* The result of a hook replaces the gradient. The library takes over its handle, also if a scope
 * owns it. */
static tsr_status double_gradient(void* user, tsr_tensor gradient, tsr_tensor* replacement) {
  (void)user;
  return tsr_multiply_scalar(gradient, TSR_I64(2), replacement);
}

static tsr_status refuse(void* user, tsr_tensor gradient, tsr_tensor* replacement) {
  (void)user, (void)gradient, (void)replacement;
  return tsr_error_raise(TSR_CALLBACK, "no gradient today", -1, NULL, NULL);
}

static tsr_status backward_of_squares(tsr_tensor x) {
  tsr_tensor squares = NULL, sum = NULL;
  check(tsr_square(x, &squares));
  sum = sum_of(squares);
  return tsr_backward(&sum, 1, NULL, 0, NULL, 0, 0);
}

static void hooks(void) {
  tsr_tensor x = leaf_of(2), gradient = NULL;
  int64_t doubling = 0, refusing = 0;
  check(tsr_tensor_hook_add(x, double_gradient, NULL, NULL, &doubling));
  check(backward_of_squares(x));
  check(tsr_tensor_grad(x, &gradient));
  show("doubled on the way", gradient);
  check(tsr_tensor_hook_remove(x, doubling));
  check(tsr_tensor_hook_add(x, refuse, NULL, NULL, &refusing));
  if (backward_of_squares(x) == TSR_CALLBACK) {
    tsr_error_view error = {0};
    error.struct_size = sizeof error;
    check(tsr_error_last(&error));
    printf("the hook's own error: %s\n", error.message);
  }
}

/* A cube with a custom derivative. Failures are passed to the caller. */
static tsr_status cube(void* user, tsr_node node, const tsr_tensor* inputs, int32_t n_inputs,
                       tsr_tensor* outputs, int32_t n_outputs) {
  tsr_status status = tsr_node_save(node, inputs, n_inputs);
  (void)user, (void)n_outputs;
  return status == TSR_OK ? tsr_pow_scalar(inputs[0], TSR_I64(3), &outputs[0]) : status;
}

static tsr_status cube_backward(void* user, tsr_node node, const tsr_tensor* grad_out,
                                int32_t n_grad_out, tsr_tensor* grad_in, int32_t n_grad_in) {
  tsr_tensor x = NULL, square = NULL, slope = NULL;
  tsr_status status = tsr_node_saved(node, 0, &x);
  (void)user, (void)n_grad_out, (void)n_grad_in;
  if (status == TSR_OK) status = tsr_square(x, &square);
  if (status == TSR_OK) status = tsr_multiply_scalar(square, TSR_I64(3), &slope);
  return status == TSR_OK ? tsr_multiply(slope, grad_out[0], &grad_in[0]) : status;
}

static void custom_function(void) {
  tsr_node_vtable table_of_cube = {0};
  tsr_tensor x = leaf_of(3), y = NULL, sum = NULL, gradient = NULL;
  table_of_cube.struct_size = sizeof table_of_cube;
  table_of_cube.forward = cube;
  table_of_cube.backward = cube_backward;
  check(tsr_function_apply("Cube", -1, &table_of_cube, NULL, &x, 1, 1, &y));
  sum = sum_of(y);
  check(tsr_backward(&sum, 1, NULL, 0, NULL, 0, 0));
  show("cubes", y);
  check(tsr_tensor_grad(x, &gradient));
  show("their gradient", gradient);
}

static void safetensors(void) {
  const char* path = "tensor_tour_c.safetensors";
  const int64_t two_by_two[2] = {2, 2};
  const char *json = NULL, *key = "\"made by\":", *value = NULL;
  char metadata[64];
  tsr_tensor tensors[2] = {NULL, NULL};
  tsr_archive archive = NULL;
  tsr_buffer buffer = NULL;
  int64_t length = 0;
  check(tsr_ones(two_by_two, 2, -1, -1, -1, &tensors[0]));
  check(tsr_arange(TSR_I64(0), TSR_I64(2), TSR_I64(1), -1, -1, -1, &tensors[1]));
  check(tsr_archive_save(path, -1, "[\"weight\",\"bias\"]", -1, tensors, 2,
                         "{\"made by\":\"the tour\"}", -1));
  archive = open_archive(path);
  show("bias", tensor_of(archive, "bias"));
  show("weight", tensor_of(archive, "weight"));
  /* The metadata is an object of texts in JSON; ours has one key. */
  check(tsr_archive_metadata(archive, &buffer));
  check(tsr_buffer_data(buffer, &json, &length));
  snprintf(metadata, sizeof metadata, "%.*s", (int)length, json);
  value = strstr(metadata, key);
  if (value != NULL) value = strchr(value + strlen(key), '"');
  if (value != NULL) printf("made by: %.*s\n", (int)strcspn(value + 1, "\""), value + 1);
  tsr_buffer_release(buffer);
  tsr_archive_release(archive);
  remove(path);
}

static void zero_copy(void) {
  float ours[4] = {1, 2, 3, 4};
  const int64_t two_by_two[2] = {2, 2};
  struct DLManagedTensor* managed = NULL;
  tsr_tensor x = NULL, again = NULL, row = NULL;
  check(tsr_tensor_from_data(ours, TSR_FLOAT32, TSR_DEVICE_CPU, 0, two_by_two, 2, NULL, -1, 0, NULL,
                             NULL, &x));
  check(tsr_add_scalar_inplace(x, TSR_I64(1)));
  ours[3] = 50;
  printf("our memory: %.4f %.4f %.4f %.4f\n", ours[0], ours[1], ours[2], ours[3]);
  show("the tensor on it", x);
  check(tsr_to_dlpack(x, 0, &managed));
  check(tsr_from_dlpack(managed, 0, &again));
  check(tsr_select(again, 0, 0, &row));
  check(tsr_zero_inplace(row));
  show("after a round trip through DLPack", x);
}

static void errors(void) {
  tsr_tensor a = table(), product = NULL;
  const tsr_status status = tsr_matmul(a, a, &product);
  tsr_error_view error = {0};
  error.struct_size = sizeof error;
  if (status == TSR_OK) return;
  check(tsr_error_last(&error));
  printf("%s: %s\n", tsr_status_name(status), error.message);
}

static void stop_at(const char* name, void (*visit)(void)) {
  tsr_scope scope = NULL;
  printf("-- %s\n", name);
  check(tsr_scope_begin(&scope));
  visit();
  check(tsr_scope_end(scope, NULL, 0));
}

int main(void) {
  stop_at("creation", creation);
  stop_at("views", views);
  stop_at("broadcasting", broadcasting);
  stop_at("in place", in_place);
  stop_at("autograd", autograd);
  stop_at("hooks", hooks);
  stop_at("custom function", custom_function);
  stop_at("safetensors", safetensors);
  stop_at("zero copy", zero_copy);
  stop_at("errors", errors);
  return tsr_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
