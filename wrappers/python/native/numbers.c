/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Numbers of the host: Python's and NumPy's, as the kinds of the C ABI. */
#include "native.h"

static int tpy_large(PyObject* object, int sign, tpy_number* out) {
  out->large = 1;
  out->re = PyLong_AsDouble(object);
  if (out->re == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    out->re = sign * (double)INFINITY;
  }
  return TPY_F64;
}

/* The kind of a number, TPY_NO_NUMBER for what is none, TPY_ERROR with an exception set. Those that
 * are stored or counted with must have 64 bits: see tpy_sized_number. */
int tpy_as_number(PyObject* object, tpy_number* out) {
  out->has = 1;
  out->large = 0;
  out->im = 0;
  if (PyFloat_Check(object)) {
    out->re = PyFloat_AS_DOUBLE(object);
    out->i = 0;
    return TPY_F64;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    out->i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return tpy_large(object, overflow, out);
    out->re = (double)out->i;
    return PyBool_Check(object) ? TPY_BOOL : TPY_I64;
  }
  if (PyComplex_Check(object)) {
    out->re = PyComplex_RealAsDouble(object);
    out->im = PyComplex_ImagAsDouble(object);
    return TPY_C128;
  }
  if (tpy_is_tensor(object) || Py_TYPE(object)->tp_as_number == NULL || tpy_is_array(object))
    return TPY_NO_NUMBER;
  PyObject* plain = PyObject_CallOneArg(tpy.number, object);
  if (plain == NULL) return TPY_ERROR;
  int kind = TPY_NO_NUMBER;
  if (PyFloat_Check(plain) || PyLong_Check(plain) || PyComplex_Check(plain))
    kind = tpy_as_number(plain, out);
  Py_DECREF(plain);
  return kind;
}

int tpy_sized_number(PyObject* object, tpy_number* out) {
  const int kind = tpy_as_number(object, out);
  if (kind == TPY_NO_NUMBER || kind == TPY_ERROR || !out->large) return kind;
  PyErr_Format(tpy.value_error, "expected an int of 64 bits, got %R; a float holds what is near it",
               object);
  return TPY_ERROR;
}

/* A required or optional number; *kind grows to the widest kind seen. */
int tpy_scalar(const tpy_signature* sig, int i, PyObject* object, tpy_number* out, int* kind) {
  memset(out, 0, sizeof *out);
  if (tpy_absent(object)) return 1;
  if (tpy_is_tensor(object)) return tpy_mismatch(sig, i, "a number", object);
  const int found = tpy_sized_number(object, out);
  if (found == TPY_ERROR) return 0;
  if (found == TPY_NO_NUMBER) return tpy_mismatch(sig, i, "a number", object);
  if (found > *kind) *kind = found;
  return 1;
}

/* A tensor or a number: *mask gets the bit of a number, *absent that of nothing. */
int tpy_operand(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* tensor,
                tpy_number* number, int* kind, unsigned* mask, unsigned* absent) {
  *tensor = NULL;
  memset(number, 0, sizeof *number);
  if (tpy_absent(object)) {
    *absent |= 1u << i;
    return 1;
  }
  if (tpy_is_tensor(object)) {
    *tensor = tpy_handle(object);
    return 1;
  }
  const int found = tpy_sized_number(object, number);
  if (found == TPY_ERROR) return 0;
  if (found == TPY_NO_NUMBER) return tpy_mismatch(sig, i, "a Tensor or a number", object);
  if (found > *kind) *kind = found;
  *mask |= 1u << i;
  return 1;
}

/* A bool number beside a bool tensor keeps bool, which no overload for integers would. */
int tpy_is_bool(PyObject* object) {
  tsr_info info = {sizeof info};
  return object != NULL && tpy_is_tensor(object) &&
         tsr_tensor_info(tpy_handle(object), &info) == TSR_OK && info.dtype == TSR_BOOL;
}

/* A 0-dim tensor in the place of a number, for calls that have no overload with that number. */
int tpy_lift(PyObject* object, PyObject* like, tsr_tensor* tensor, PyObject** keep) {
  *keep = PyObject_CallFunctionObjArgs(tpy.operand, object, like, NULL);
  if (*keep == NULL) return 0;
  *tensor = tpy_handle(*keep);
  return 1;
}

int tpy_no_kind(const tpy_signature* sig) {
  PyErr_Format(tpy.type_error, "%s(): this kind of number is not supported here", sig->name);
  return 0;
}

int tpy_no_tensor(const tpy_signature* sig) {
  PyErr_Format(tpy.type_error, "%s(): expected at least one Tensor, got numbers only", sig->name);
  return 0;
}
