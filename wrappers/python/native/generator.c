/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The type GeneratorBase: makes and releases a generator's handle. _random.py has the rest. */
#include "native.h"

/* Class(seed=0): any int; its low 64 bits are used. Class(generator): another object for it. */
static PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"seed", NULL};
  PyObject *seed = NULL, *whole = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &seed)) return NULL;
  if (seed != NULL && PyObject_TypeCheck(seed, tpy.generator)) {
    PyObject* same = type->tp_alloc(type, 0);
    if (same == NULL) return NULL;
    ((tpy_held*)same)->handle = ((tpy_held*)seed)->handle;
    tsr_generator_retain(((tpy_held*)same)->handle);
    return same;
  }
  if (seed != NULL && !PyIndex_Check(seed)) {
    return PyErr_Format(tpy.type_error, "seed: expected an int, got %s", Py_TYPE(seed)->tp_name);
  }
  if (seed != NULL && (whole = PyNumber_Index(seed)) == NULL) return NULL;
  const uint64_t bits = whole != NULL ? PyLong_AsUnsignedLongLongMask(whole) : 0;
  Py_XDECREF(whole);
  PyObject* self = type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  tsr_generator made = NULL;
  const tsr_status status = tsr_generator_new(bits, &made);
  ((tpy_held*)self)->handle = made;
  if (status == TSR_OK) return self;
  Py_DECREF(self);
  return tpy_fail(status);
}

static void generator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (((tpy_held*)self)->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  tsr_generator_release(((tpy_held*)self)->handle);
  type->tp_free(self);
  Py_DECREF(type);
}

int tpy_make_generators(PyObject* table) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, generator_dealloc},
      {Py_tp_new, generator_new},
      {Py_tp_members, held_members},
      {0, NULL},
  };
  PyType_Spec spec = {"tessera.GeneratorBase", sizeof(tpy_held), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  tpy.generator = (PyTypeObject*)PyType_FromSpec(&spec);
  return tpy.generator != NULL &&
         PyDict_SetItemString(table, "GeneratorBase", (PyObject*)tpy.generator) == 0;
}
