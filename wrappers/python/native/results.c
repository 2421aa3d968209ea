/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Handles as Python objects: tensors, nodes, lists of results as tuples, plain and with names. */
#include "native.h"

/* Takes over the reference to a node; None for NULL. */
PyObject* tpy_wrap_node(tsr_node node) {
  if (node == NULL) Py_RETURN_NONE;
  PyObject* self = tpy.node->tp_alloc(tpy.node, 0);
  if (self == NULL)
    tsr_node_release(node);
  else
    ((tpy_held*)self)->handle = node;
  return self;
}

/* Like tpy_result, for functions that may return their own input: the result is then the same
 * Python object. */
PyObject* tpy_result_alias(tsr_status status, tsr_tensor handle, PyObject* input) {
  if (status == TSR_OK && handle == tpy_handle(input)) {
    tsr_tensor_release(handle);
    return Py_NewRef(input);
  }
  return tpy_result_as(tpy_class_for(input, input), status, handle);
}

PyObject* tpy_borrow(tsr_tensor handle) {
  if (handle == NULL) Py_RETURN_NONE;
  tsr_tensor_retain(handle);
  return tpy_wrap_as(tpy.tensor, handle);
}

/* Fills a new tuple with tensors of the class that take over the handles. `result` is NULL if
 * making the tuple failed. */
static PyObject* tpy_fill_tuple(PyTypeObject* type, PyObject* result, tsr_tensor* handles,
                                int32_t count) {
  for (int32_t k = 0; k < count; ++k) {
    PyObject* item = result != NULL ? tpy_result_as(type, TSR_OK, handles[k]) : NULL;
    if (item == NULL) {
      tsr_tensor_release_many(handles + k + (result != NULL), count - k - (result != NULL));
      Py_CLEAR(result);
      return NULL;
    }
    PyTuple_SET_ITEM(result, k, item);
  }
  return result;
}

PyObject* tpy_tuple_of(PyTypeObject* type, tsr_tensor* handles, int32_t count) {
  return tpy_fill_tuple(type, PyTuple_New(count), handles, count);
}

/* An empty named tuple of an op. */
static PyObject* tpy_new_named(const char* op, int32_t count) {
  PyTypeObject* type = (PyTypeObject*)PyDict_GetItemString(tpy.results, op);
  if (type != NULL) return type->tp_alloc(type, count);
  PyErr_Format(PyExc_RuntimeError, "%s() has no type of results", op);
  return NULL;
}

/* The results of an op of several: a named tuple of tensors that take over the handles. */
PyObject* tpy_named_of(PyTypeObject* type, tsr_status status, const char* op, tsr_tensor* handles,
                       int32_t count) {
  return status != TSR_OK ? tpy_fail(status)
                          : tpy_fill_tuple(type, tpy_new_named(op, count), handles, count);
}

/* The same with the tensors that were given as out=. */
PyObject* tpy_named_same(tsr_status status, const char* op, PyObject* outs, int32_t count) {
  if (status != TSR_OK) return tpy_fail(status);
  PyObject* result = tpy_new_named(op, count);
  for (int32_t k = 0; result != NULL && k < count; ++k) {
    PyObject* item = PySequence_GetItem(outs, k);
    if (item == NULL)
      Py_CLEAR(result);
    else
      PyTuple_SET_ITEM(result, k, item);
  }
  return result;
}
