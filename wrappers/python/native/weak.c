/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Operands of a dialect without axes: Note [Weak operands] in native.h. */
#include "native.h"

/* The kinds of numbers in the order in which they are promoted. */
static int tpy_category(tsr_dtype dtype) {
  switch (tpy_kind_of(dtype)) {
    case TPY_KIND_BOOL:
      return 0;
    case TPY_KIND_SIGNED:
    case TPY_KIND_UNSIGNED:
      return 1;
    case TPY_KIND_COMPLEX:
      return 3;
    default:
      return 2;
  }
}

static int tpy_is_half(tsr_dtype dtype) {
  return dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16;
}

int tpy_is_wide(tpy_binary call, tsr_tensor a, tsr_tensor b) {
  if (call != tsr_multiply && call != tsr_divide) return 0;
  tsr_info first = {sizeof first}, second = {sizeof second};
  if (tsr_tensor_info(a, &first) != TSR_OK || tsr_tensor_info(b, &second) != TSR_OK) return 0;
  return second.ndim == 0 && tpy_is_half(first.dtype) &&
         (second.dtype == TSR_FLOAT32 || second.dtype == TSR_FLOAT64);
}

static tsr_status tpy_compute_wide(tpy_binary call, tsr_tensor a, tsr_tensor b, tsr_tensor* out) {
  tsr_info info = {sizeof info};
  tsr_tensor x = NULL, y = NULL, made = NULL;
  tsr_status status = tsr_tensor_info(a, &info);
  if (status == TSR_OK) status = tsr_astype(a, TSR_FLOAT32, 0, &x);
  if (status == TSR_OK) status = tsr_astype(b, TSR_FLOAT32, 0, &y);
  if (status == TSR_OK) status = call(x, y, &made);
  if (status == TSR_OK) status = tsr_astype(made, info.dtype, 0, out);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  tsr_tensor_release(made);
  return status;
}

PyObject* tpy_operate_wide(PyTypeObject* type, tpy_binary call, tsr_tensor a, tsr_tensor b) {
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, tpy_compute_wide(call, a, b, &out));
  return tpy_result_as(type, status, out);
}

int tpy_weaken(tsr_tensor* a, tsr_tensor* b, tsr_tensor* made) {
  tsr_info first = {sizeof first}, second = {sizeof second};
  *made = NULL;
  if (tsr_tensor_info(*a, &first) != TSR_OK || tsr_tensor_info(*b, &second) != TSR_OK) return 1;
  if (first.dtype == second.dtype || (first.ndim == 0) == (second.ndim == 0)) return 1;
  tsr_tensor* const weak = first.ndim == 0 ? a : b;
  const tsr_dtype from = first.ndim == 0 ? first.dtype : second.dtype;
  const tsr_dtype strong = first.ndim == 0 ? second.dtype : first.dtype;
  tsr_dtype to = strong;
  if (tpy_category(from) > tpy_category(strong)) {
    /* Only the size of the real and the imaginary part is the other operand's. */
    if (from != TSR_COMPLEX128 || tpy_category(strong) != 2 || strong == TSR_FLOAT64) return 1;
    to = TSR_COMPLEX64;
  }
  tsr_status status;
  TPY_CALL(status, tsr_astype(*weak, to, 0, made));
  if (status != TSR_OK) return tpy_fail(status), 0;
  *weak = *made;
  return 1;
}
