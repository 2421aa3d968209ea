/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * arange, whose dtype depends on Python's kinds of numbers. */
#include "native.h"

static PyObject* tpy_arange(PyObject* const* ends, tsr_dtype dtype, int32_t type, int32_t index) {
  tsr_tensor out = NULL;
  tsr_status status;
  if (PyIndex_Check(ends[0]) && PyIndex_Check(ends[1]) && PyIndex_Check(ends[2])) {
    int64_t at[3];
    for (int i = 0; i < 3; ++i) {
      if (!tpy_as_int64(ends[i], at + i)) return NULL;
    }
    TPY_CALL(status, tsr_arange_int(at[0], at[1], at[2], dtype, type, index, &out));
  } else {
    double at[3];
    for (int i = 0; i < 3; ++i) {
      at[i] = PyFloat_AsDouble(ends[i]);
      if (at[i] == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        return PyErr_Format(tpy.type_error, "arange(): expected numbers, got %s",
                            Py_TYPE(ends[i])->tp_name);
      }
    }
    TPY_CALL(status, tsr_arange(at[0], at[1], at[2], dtype, type, index, &out));
  }
  return tpy_result(status, out);
}

/* arange(start, stop, step, dtype or None, device or None): whole numbers count in int64. */
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
