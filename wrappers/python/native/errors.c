/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Failed calls as exceptions. */
#include "native.h"

/* Raises the exception of a status; returns NULL. */
PyObject* tpy_fail(tsr_status status) {
  PyObject* none = PyObject_CallFunction(tpy.raise_status, "i", (int)status);
  Py_XDECREF(none);
  if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "tessera status %d", (int)status);
  return NULL;
}
