/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * ShapeBase: tuples whose slices are of their own class. torch.Size derives from it, so that
 * `x.shape[0]` needs no frame of Python. */
#include "native.h"

static PyObject* shape_subscript(PyObject* self, PyObject* key) {
  PyObject* found = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  if (found == NULL || !PySlice_Check(key)) return found;
  PyObject* result = PyObject_CallOneArg((PyObject*)Py_TYPE(self), found);
  Py_DECREF(found);
  return result;
}

int tpy_make_shapes(PyObject* table) {
  PyType_Slot slots[] = {{Py_mp_subscript, shape_subscript}, {0, NULL}};
  PyType_Spec spec = {"tessera.ShapeBase", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpecWithBases(&spec, (PyObject*)&PyTuple_Type);
  const int good = type != NULL && PyDict_SetItemString(table, "ShapeBase", type) == 0;
  Py_XDECREF(type);
  return good;
}
