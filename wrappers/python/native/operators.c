/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The operators of tensors with numbers and arrays; two tensors are in native.h. */
#include "native.h"

/* Comparisons have a right answer for every int: any beyond 64 bits is above or below all integers
 * of a tensor. */
static inline int tpy_compares(const tpy_operator* op) {
  return op->tensors == tsr_equal || op->tensors == tsr_not_equal || op->tensors == tsr_less ||
         op->tensors == tsr_less_equal || op->tensors == tsr_greater ||
         op->tensors == tsr_greater_equal;
}

static int tpy_is_whole(PyObject* tensor) {
  tsr_info info = {sizeof info};
  return tsr_tensor_info(tpy_handle(tensor), &info) == TSR_OK &&
         ((info.dtype & 0xff) <= 1 || info.dtype == TSR_BOOL);
}

/* One of the two is an array. */
static PyObject* tpy_operate_array(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !tpy_is_tensor(a);
  PyObject* made = tpy_array_operand(on_left ? a : b, tpy_wants_grad(on_left ? b : a));
  if (made == NULL) return NULL;
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status,
           op->tensors(tpy_handle(on_left ? made : a), tpy_handle(on_left ? b : made), &out));
  Py_DECREF(made);
  return tpy_result(status, out);
}

/* Calls the function for the narrowest kind of number that holds this one; 0 when there is none. */
static int tpy_call_right(const tpy_right* fn, tsr_tensor x, int kind, const tpy_number* number,
                          tsr_status* status, tsr_tensor* out) {
  if (kind == TPY_BOOL && fn->boolean != NULL) {
    TPY_CALL(*status, fn->boolean(x, (int32_t)number->i, out));
  } else if (kind <= TPY_I64 && fn->i64 != NULL) {
    TPY_CALL(*status, fn->i64(x, number->i, out));
  } else if (kind <= TPY_F64 && fn->f64 != NULL) {
    TPY_CALL(*status, fn->f64(x, number->re, out));
  } else if (fn->c128 != NULL) {
    TPY_CALL(*status, fn->c128(x, number->re, number->im, out));
  } else {
    return 0;
  }
  return 1;
}

static int tpy_call_left(const tpy_left* fn, int kind, const tpy_number* number, tsr_tensor x,
                         tsr_status* status, tsr_tensor* out) {
  if (kind <= TPY_I64 && fn->i64 != NULL) {
    TPY_CALL(*status, fn->i64(number->i, x, out));
  } else if (kind <= TPY_F64 && fn->f64 != NULL) {
    TPY_CALL(*status, fn->f64(number->re, x, out));
  } else if (fn->c128 != NULL) {
    TPY_CALL(*status, fn->c128(number->re, number->im, x, out));
  } else {
    return 0;
  }
  return 1;
}

PyObject* tpy_operate_number(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !tpy_is_tensor(a);
  PyObject* tensor = on_left ? b : a;
  if (tpy_is_array(on_left ? a : b)) return tpy_operate_array(op, a, b);
  tpy_number number;
  const int kind = (tpy_compares(op) ? tpy_as_number : tpy_sized_number)(on_left ? a : b, &number);
  if (kind == TPY_ERROR) return NULL;
  if (kind == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  if (number.large && tpy_is_whole(tensor)) number.re = copysign((double)INFINITY, number.re);
  const tsr_tensor x = tpy_handle(tensor);
  tsr_tensor out = NULL;
  tsr_status status;
  const int lifts = kind == TPY_BOOL && op->right.boolean == NULL && tpy_is_bool(tensor);
  const int found = lifts ? 0
                    : !on_left || op->commutes
                        ? tpy_call_right(&op->right, x, kind, &number, &status, &out)
                        : tpy_call_left(&op->left, kind, &number, x, &status, &out);
  if (found) return tpy_result(status, out);
  PyObject* keep = NULL;
  tsr_tensor lifted = NULL;
  if (!tpy_lift(on_left ? a : b, tensor, &lifted, &keep)) return NULL;
  TPY_CALL(status, op->tensors(on_left ? lifted : x, on_left ? x : lifted, &out));
  Py_DECREF(keep);
  return tpy_result(status, out);
}

PyObject* tpy_operate_inplace(const tpy_inplace_operator* op, PyObject* a, PyObject* b) {
  tsr_status status;
  if (tpy_is_tensor(b)) {
    TPY_CALL(status, op->tensors(tpy_handle(a), tpy_handle(b)));
    return tpy_same(status, a);
  }
  if (tpy_is_array(b)) {
    PyObject* made = tpy_array_operand(b, tpy_wants_grad(a));
    PyObject* result = made != NULL ? tpy_operate_inplace(op, a, made) : NULL;
    Py_XDECREF(made);
    return result;
  }
  tpy_number number;
  const int kind = tpy_sized_number(b, &number);
  if (kind == TPY_ERROR) return NULL;
  if (kind == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  const int lifts = kind == TPY_BOOL && tpy_is_bool(a);
  if (!lifts && kind <= TPY_I64 && op->i64 != NULL) {
    TPY_CALL(status, op->i64(tpy_handle(a), number.i));
  } else if (!lifts && kind <= TPY_F64 && op->f64 != NULL) {
    TPY_CALL(status, op->f64(tpy_handle(a), number.re));
  } else if (!lifts && op->c128 != NULL) {
    TPY_CALL(status, op->c128(tpy_handle(a), number.re, number.im));
  } else {
    PyObject* keep = NULL;
    tsr_tensor lifted = NULL;
    if (!tpy_lift(b, a, &lifted, &keep)) return NULL;
    TPY_CALL(status, op->tensors(tpy_handle(a), lifted));
    Py_DECREF(keep);
  }
  return tpy_same(status, a);
}
