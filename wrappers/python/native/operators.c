/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The operators of tensors with numbers and arrays; two tensors are in native.h. */
#include "native.h"
#include "redirect.h"

static int tpy_is_whole(PyObject* tensor) {
  tsr_info info = {sizeof info};
  return tsr_tensor_info(tpy_handle(tensor), &info) == TSR_OK &&
         (tpy_is_integer(info.dtype) || info.dtype == TSR_BOOL);
}

/* One of the two operands is an array. */
static PyObject* tpy_operate_array(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !tpy_is_tensor(a);
  PyObject* made = tpy_array_operand(on_left ? a : b, tpy_wants_grad(on_left ? b : a));
  if (made == NULL) return NULL;
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status,
           op->tensors(tpy_handle(on_left ? made : a), tpy_handle(on_left ? b : made), &out));
  Py_DECREF(made);
  return tpy_result_as(tpy_class_for(a, b), status, out);
}

PyObject* tpy_operate_number(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !tpy_is_tensor(a);
  PyObject* tensor = on_left ? b : a;
  if (tpy_is_array(on_left ? a : b)) return tpy_operate_array(op, a, b);
  if (op->right == NULL) Py_RETURN_NOTIMPLEMENTED;
  tsr_number number;
  const int found = (op->compares ? tpy_as_number : tpy_sized_number)(on_left ? a : b, &number);
  if (found == TPY_ERROR) return NULL;
  if (found == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  if (found == TPY_LARGE && tpy_is_whole(tensor))
    number.real = copysign((double)INFINITY, number.real);
  const tsr_tensor x = tpy_handle(tensor);
  tsr_tensor out = NULL;
  tsr_status status;
  if (on_left && op->left != NULL) {
    TPY_CALL(status, op->left(&number, x, &out));
  } else {
    TPY_CALL(status, (on_left ? op->mirrored : op->right)(x, &number, &out));
  }
  return tpy_result_as(tpy_class_for(tensor, tensor), status, out);
}

PyObject* tpy_operate_weak(const tpy_operator* op, PyObject* a, PyObject* b) {
  if (tpy.kept != NULL && Py_TYPE(a) != Py_TYPE(b) && tpy_wants_calls(b) && !tpy_wants_calls(a))
    Py_RETURN_NOTIMPLEMENTED;
  tsr_tensor x = tpy_handle(a), y = tpy_handle(b), out = NULL, made;
  if (!tpy_weaken(&x, &y, &made)) return NULL;
  if (made != NULL && tpy_is_wide(op->tensors, tpy_handle(a), tpy_handle(b))) {
    tsr_tensor_release(made);
    return tpy_operate_wide(tpy_class_for(a, b), op->tensors, tpy_handle(a), tpy_handle(b));
  }
  tsr_status status;
  TPY_CALL(status, op->tensors(x, y, &out));
  PyObject* result = tpy_result_as(tpy_class_for(a, b), status, out);
  tsr_tensor_release(made);
  return result;
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
  if (tpy_has_tensor_type(b)) return tpy_redirect_call("inplace_operator", "OO", a, b);
  if (op->number == NULL) Py_RETURN_NOTIMPLEMENTED;
  tsr_number number;
  const int found = tpy_sized_number(b, &number);
  if (found == TPY_ERROR) return NULL;
  if (found == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  TPY_CALL(status, op->number(tpy_handle(a), &number));
  return tpy_same(status, a);
}
