/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * arange: its dtype depends on the kinds of the Python numbers. */
#include "native.h"

/* Reads a bound or step: an object with __index__ is an integer. Returns 0 with an exception
 * set. */
static int tpy_end(PyObject* object, tsr_number* out) {
  out->reserved = 0;
  if (PyIndex_Check(object)) {
    out->kind = TSR_NUMBER_INTEGER;
    return tpy_as_int64(object, &out->integer);
  }
  out->kind = TSR_NUMBER_REAL;
  out->real = PyFloat_AsDouble(object);
  if (out->real != -1.0 || !PyErr_Occurred()) return 1;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
  PyErr_Clear();
  PyErr_Format(tpy.type_error, "arange(): expected numbers, got %s", Py_TYPE(object)->tp_name);
  return 0;
}

static PyObject* tpy_arange(PyObject* const* ends, tsr_dtype dtype, int32_t type, int32_t index) {
  tsr_number at[3];
  for (int i = 0; i < 3; ++i) {
    if (!tpy_end(ends[i], at + i)) return NULL;
  }
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_arange(at, at + 1, at + 2, dtype, type, index, &out));
  return tpy_result(status, out);
}

/* arange(start, stop, step, dtype or None, device or None): integers give int64. */
PyObject* py_arange(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (nargs != 5)
    return PyErr_Format(PyExc_TypeError, "arange() takes 5 arguments, got %zd", nargs);
  tsr_dtype dtype;
  int32_t type, index;
  if (!tpy_dtype(NULL, 0, args[3], &dtype) || !tpy_device(NULL, 0, args[4], &type, &index))
    return NULL;
  PyObject* ends[3] = {NULL, NULL, NULL};
  int good = 1;
  for (int i = 0; good && i < 3; ++i) {
    ends[i] = tpy_is_tensor(args[i]) ? tensor_item(args[i], NULL) : Py_NewRef(args[i]);
    good = ends[i] != NULL;
  }
  PyObject* made = good ? tpy_arange(ends, dtype, type, index) : NULL;
  for (int i = 0; i < 3; ++i) Py_XDECREF(ends[i]);
  return made;
}
