/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Handles to and from cffi, for tessera.capi. */
#include "native.h"

/* The classes of objects that own a handle, by the numbers that adopt() takes. */
static PyTypeObject* tpy_owner_class(PyObject* number) {
  PyTypeObject* const known[] = {tpy.tensor, tpy.node, tpy.generator};
  const long kind = PyLong_AsLong(number);
  if (kind >= 0 && kind < (long)(sizeof known / sizeof known[0])) return known[kind];
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "adopt(): unknown kind");
  return NULL;
}

/* Opens memory that must hold exactly `count` pointers; released with PyBuffer_Release. */
static int tpy_open_cells(PyObject* cells, Py_ssize_t count, Py_buffer* view) {
  if (PyObject_GetBuffer(cells, view, PyBUF_WRITABLE) < 0) return 0;
  if (view->len == count * (Py_ssize_t)sizeof(void*)) return 1;
  PyBuffer_Release(view);
  PyErr_Format(PyExc_TypeError, "expected the memory of %zd pointer%s", count,
               count == 1 ? "" : "s");
  return 0;
}

/* lend(owner, cell): writes the handle of a Tensor, Node or Generator into the cell. The owner
 * keeps its reference. */
PyObject* py_lend(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("lend", nargs, 2)) return NULL;
  const void* handle = NULL;
  if (tpy_is_tensor(args[0])) {
    handle = tpy_handle(args[0]);
  } else if (PyObject_TypeCheck(args[0], tpy.node) || PyObject_TypeCheck(args[0], tpy.generator)) {
    handle = ((tpy_held*)args[0])->handle;
  } else {
    return PyErr_Format(tpy.type_error, "handle(): expected a Tensor, Node or Generator, got %s",
                        Py_TYPE(args[0])->tp_name);
  }
  Py_buffer view;
  if (!tpy_open_cells(args[1], 1, &view)) return NULL;
  memcpy(view.buf, &handle, sizeof handle);
  PyBuffer_Release(&view);
  Py_RETURN_NONE;
}

/* adopt(kind, cell): an object that takes over the handle in the cell, which is empty
 * afterwards; None for an empty cell. */
PyObject* py_adopt(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("adopt", nargs, 2)) return NULL;
  PyTypeObject* type = tpy_owner_class(args[0]);
  Py_buffer view;
  if (type == NULL || !tpy_open_cells(args[1], 1, &view)) return NULL;
  void* handle = NULL;
  memcpy(&handle, view.buf, sizeof handle);
  PyObject* made = handle != NULL ? type->tp_alloc(type, 0) : Py_NewRef(Py_None);
  if (handle != NULL && made != NULL) {
    if (type == tpy.tensor)
      ((tpy_object*)made)->handle = handle;
    else
      ((tpy_held*)made)->handle = handle;
    memset(view.buf, 0, sizeof handle);
  }
  PyBuffer_Release(&view);
  return made;
}

/* lend_all(tensors, cells): writes the handles of a list of Tensors, which keep their references.
 */
PyObject* py_lend_all(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("lend_all", nargs, 2)) return NULL;
  if (!PyList_CheckExact(args[0])) return PyErr_Format(PyExc_TypeError, "expected a list");
  const Py_ssize_t count = PyList_GET_SIZE(args[0]);
  Py_buffer view;
  if (!tpy_open_cells(args[1], count, &view)) return NULL;
  const void** cells = view.buf;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GET_ITEM(args[0], i);
    if (!tpy_is_tensor(item)) {
      PyErr_Format(tpy.type_error, "expected Tensors, got %s", Py_TYPE(item)->tp_name);
      break;
    }
    cells[i] = tpy_handle(item);
  }
  PyBuffer_Release(&view);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* adopt_all(count, cells): a list of Tensors that take over the handles in the cells, which are
 * empty afterwards. After a failure the cells that are not empty still have their handles. */
PyObject* py_adopt_all(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("adopt_all", nargs, 2)) return NULL;
  const Py_ssize_t count = PyLong_AsSsize_t(args[0]);
  Py_buffer view;
  if ((count == -1 && PyErr_Occurred()) || !tpy_open_cells(args[1], count, &view)) return NULL;
  void** cells = view.buf;
  PyObject* list = PyList_New(count);
  for (Py_ssize_t i = 0; list != NULL && i < count; ++i) {
    PyObject* made = cells[i] != NULL ? tpy.tensor->tp_alloc(tpy.tensor, 0) : Py_NewRef(Py_None);
    if (made == NULL) {
      Py_CLEAR(list);
      break;
    }
    if (cells[i] != NULL) ((tpy_object*)made)->handle = cells[i];
    cells[i] = NULL;
    PyList_SET_ITEM(list, i, made);
  }
  PyBuffer_Release(&view);
  return list;
}

/* is_same(a, b): whether two Tensors are one tensor of the library. */
PyObject* py_is_same(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("is_same", nargs, 2)) return NULL;
  if (!tpy_is_tensor(args[0]) || !tpy_is_tensor(args[1])) {
    return PyErr_Format(tpy.type_error, "is_same(): expected two Tensors");
  }
  return PyBool_FromLong(tpy_handle(args[0]) == tpy_handle(args[1]));
}

/* ---- common to all types that hold a handle ---- */

PyMemberDef held_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(tpy_held, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyObject* held_compare(PyObject* self, PyObject* other, int which) {
  if ((which != Py_EQ && which != Py_NE) || !PyObject_TypeCheck(other, Py_TYPE(self)))
    Py_RETURN_NOTIMPLEMENTED;
  const int same = ((tpy_held*)self)->handle == ((tpy_held*)other)->handle;
  return PyBool_FromLong(same == (which == Py_EQ));
}

Py_hash_t held_hash(PyObject* self) {
  return (Py_hash_t)((uintptr_t)((tpy_held*)self)->handle >> 4);
}
