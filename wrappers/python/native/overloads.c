/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Names with a second meaning that follows from the arguments: view(dtype) beside view(shape),
 * where(condition) beside where(condition, input, other), and split(sizes) beside split(size). Each
 * takes the place of the op's own
 * function where the tables are made and passes every other call on. */
#include "rows.h"

static tpy_fast view_shape, view_dtype, where_three, nonzero, split_evenly, split_sizes;

static int tpy_is_dtype(PyObject* object) {
  for (int k = 0; k < tpy.n_dtypes; ++k) {
    if (tpy.dtypes[k] == object) return 1;
  }
  return 0;
}

/* `self` is the first argument of a method, and no tensor for a function. */
static Py_ssize_t tpy_given(PyObject* self, Py_ssize_t nargs) {
  return nargs + (self != NULL && tpy_has_tensor_type(self));
}

static PyObject* py_view_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  const int bytes = kwnames == NULL && nargs > 0 && tpy_given(self, nargs) == 2 &&
                    !PyLong_Check(args[nargs - 1]) && !PyTuple_Check(args[nargs - 1]) &&
                    tpy_is_dtype(args[nargs - 1]);
  return (bytes ? view_dtype : view_shape)(self, args, nargs, kwnames);
}

static PyObject* py_where_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  const int positions = kwnames == NULL && tpy_given(self, nargs) == 1;
  return (positions ? nonzero : where_three)(self, args, nargs, kwnames);
}

static PyObject* py_split_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  const Py_ssize_t second = self != NULL && tpy_has_tensor_type(self) ? 0 : 1;
  const int listed = nargs > second && (PyList_Check(args[second]) || PyTuple_Check(args[second]));
  return (listed ? split_sizes : split_evenly)(self, args, nargs, kwnames);
}

static tpy_fast tpy_function_of(const char* name) {
  for (const tpy_op* op = tpy_ops; op->row != NULL; ++op) {
    if (op->is_function && strcmp(op->row->sig.name, name) == 0) return op->call;
  }
  PyErr_Format(PyExc_SystemError, "native/overloads.c: there is no op %s", name);
  return NULL;
}

int tpy_find_overloaded(void) {
  return (view_shape = tpy_function_of("view")) != NULL &&
         (view_dtype = tpy_function_of("view_dtype")) != NULL &&
         (where_three = tpy_function_of("where")) != NULL &&
         (nonzero = tpy_function_of("nonzero")) != NULL &&
         (split_evenly = tpy_function_of("split")) != NULL &&
         (split_sizes = tpy_function_of("split_with_sizes")) != NULL;
}

tpy_fast tpy_overload(const tpy_op* op, int is_function) {
  if (op->call == view_shape) return py_view_any;
  if (op->call == split_evenly) return py_split_any;
  if (is_function && op->call == where_three) return py_where_any;
  return op->call;
}
