/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Numbers of the host: Python's and NumPy's, as the numbers of the C ABI. */
#include "native.h"

static int tpy_large(PyObject* object, int sign, tsr_number* out) {
  if (sign > 0) {
    out->kind = TSR_NUMBER_UNSIGNED;
    out->integer = (int64_t)PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return TPY_NUMBER;
    PyErr_Clear();
  }
  out->kind = TSR_NUMBER_REAL;
  out->real = PyLong_AsDouble(object);
  if (out->real == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    out->real = sign * (double)INFINITY;
  }
  return TPY_LARGE;
}

int tpy_as_number(PyObject* object, tsr_number* out) {
  out->reserved = 0;
  if (PyFloat_Check(object)) {
    out->kind = TSR_NUMBER_REAL;
    out->real = PyFloat_AS_DOUBLE(object);
    return TPY_NUMBER;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    out->kind = PyBool_Check(object) ? TSR_NUMBER_BOOL : TSR_NUMBER_INTEGER;
    out->integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? tpy_large(object, overflow, out) : TPY_NUMBER;
  }
  if (PyComplex_Check(object)) {
    out->kind = TSR_NUMBER_COMPLEX;
    out->real = PyComplex_RealAsDouble(object);
    out->imaginary = PyComplex_ImagAsDouble(object);
    return TPY_NUMBER;
  }
  if (tpy_has_tensor_type(object) || Py_TYPE(object)->tp_as_number == NULL || tpy_is_array(object))
    return TPY_NO_NUMBER;
  PyObject* plain = PyObject_CallOneArg(tpy.number, object);
  if (plain == NULL) return TPY_ERROR;
  int found = TPY_NO_NUMBER;
  if (PyFloat_Check(plain) || PyLong_Check(plain) || PyComplex_Check(plain))
    found = tpy_as_number(plain, out);
  Py_DECREF(plain);
  return found;
}

int tpy_sized_number(PyObject* object, tsr_number* out) {
  const int found = tpy_as_number(object, out);
  if (found != TPY_LARGE) return found;
  PyErr_Format(tpy.value_error,
               "expected an int of 64 bits, got %R; pass a float for the nearest value", object);
  return TPY_ERROR;
}

/* A tensor in place of a number: its only element, which has no axis and no gradient to lose. */
static int tpy_element(const tpy_signature* sig, int i, PyObject* object, tsr_number* out) {
  tsr_info info = {sizeof info};
  if (!tpy_is_tensor(object) || tsr_tensor_info(tpy_handle(object), &info) != TSR_OK ||
      info.ndim != 0 || (tpy_wants_grad(object) && tsr_grad_mode()))
    return tpy_mismatch(sig, i, "a number or a 0-dim Tensor that does not require grad", object);
  PyObject* number = tensor_item(object, NULL);
  if (number == NULL) return 0;
  const int found = tpy_sized_number(number, out);
  Py_DECREF(number);
  return found == TPY_NUMBER;
}

int tpy_scalar(const tpy_signature* sig, int i, PyObject* object, const tsr_number* absent,
               tsr_number* out) {
  out->kind = 0;
  if (tpy_absent(object)) {
    if (absent != NULL) *out = *absent;
    return 1;
  }
  if (tpy_has_tensor_type(object)) return tpy_element(sig, i, object, out);
  const int found = tpy_sized_number(object, out);
  return found == TPY_NO_NUMBER ? tpy_mismatch(sig, i, "a number", object) : found == TPY_NUMBER;
}

int tpy_operand(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* tensor,
                tsr_number* number, unsigned* mask) {
  *tensor = NULL;
  number->kind = 0;
  if (tpy_absent(object)) return 1;
  if (tpy_is_tensor(object)) {
    *tensor = tpy_handle(object);
    return 1;
  }
  *mask |= 1u << i;
  const int found = tpy_sized_number(object, number);
  return found == TPY_NO_NUMBER ? tpy_mismatch(sig, i, "a Tensor or a number", object)
                                : found == TPY_NUMBER;
}

int tpy_no_tensor(const tpy_signature* sig) {
  PyErr_Format(tpy.type_error, "%s(): expected at least one Tensor, got numbers only", sig->name);
  return 0;
}

tsr_status tpy_between(tsr_tensor input, tsr_tensor low, const tsr_number* low_number,
                       tsr_tensor high, const tsr_number* high_number, tsr_tensor* out) {
  tsr_tensor above = NULL;
  tsr_status status;
  TPY_CALL(status, low != NULL ? tsr_clip(input, low, NULL, &above)
                               : tsr_clip_scalars(input, low_number, NULL, &above));
  if (status != TSR_OK) return status;
  TPY_CALL(status, high != NULL ? tsr_clip(above, NULL, high, out)
                                : tsr_clip_scalars(above, NULL, high_number, out));
  tsr_tensor_release(above);
  return status;
}

PyObject* tpy_written(PyTypeObject* type, tsr_status status, tsr_tensor made, tsr_tensor dst,
                      PyObject* given) {
  if (status != TSR_OK || dst == NULL) return tpy_result_as(type, status, made);
  TPY_CALL(status, tsr_clone_out(made, dst));
  tsr_tensor_release(made);
  return tpy_same(status, given);
}
