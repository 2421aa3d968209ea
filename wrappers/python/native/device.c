/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The type DeviceBase: equality of devices, fast for identical objects, which is the usual case.
 * _device.py has the rest. */
#include "native.h"

/* == and !=; for different objects the method _same of the class decides. */
static PyObject* device_compare(PyObject* self, PyObject* other, int which) {
  if (which != Py_EQ && which != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (self == other) return PyBool_FromLong(which == Py_EQ);
  PyObject* same = PyObject_CallMethod(self, "_same", "O", other);
  const int truth = same != NULL ? PyObject_IsTrue(same) : -1;
  Py_XDECREF(same);
  return truth < 0 ? NULL : PyBool_FromLong(truth == (which == Py_EQ));
}

int tpy_make_devices(PyObject* table) {
  PyType_Slot slots[] = {{Py_tp_richcompare, device_compare}, {0, NULL}};
  PyType_Spec spec = {"tessera.DeviceBase", sizeof(PyObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  const int good = type != NULL && PyDict_SetItemString(table, "DeviceBase", type) == 0;
  Py_XDECREF(type);
  return good;
}
