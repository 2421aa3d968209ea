/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Operations on objects without a handle, which go to a Python function: Note [Objects without a
 * handle]. */
#include "redirect.h"

#include <stdarg.h>

static int tpy_lacks_handle(PyObject* object) {
  return tpy_has_tensor_type(object) && tpy_handle(object) == NULL;
}

/* -1 at a list that is nested deeper than an argument can be, which may contain itself. */
static int tpy_find_blank(PyObject* items, int depth) {
  if (depth > TPY_MAX_NEST) return -1;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items, i);
    const int found = PyTuple_Check(item) || PyList_Check(item) ? tpy_find_blank(item, depth + 1)
                                                                : tpy_lacks_handle(item);
    if (found != 0) return found;
  }
  return 0;
}

int tpy_is_blank(PyObject* object) {
  if (object == NULL) return 0;
  if (!PyTuple_Check(object) && !PyList_Check(object)) return tpy_lacks_handle(object);
  return tpy_find_blank(object, 1) > 0;
}

int tpy_met_blank(PyObject* const* objects, Py_ssize_t count) {
  if (tpy.redirect == NULL) return 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!tpy_is_blank(objects[i])) continue;
    PyErr_Clear();
    return 1;
  }
  return 0;
}

static PyObject* tpy_call_with(PyObject* function, const tpy_signature* sig,
                               PyObject* const* slots) {
  PyObject* arguments = PyDict_New();
  int good = arguments != NULL;
  for (int i = 0; good && i < sig->n; ++i) {
    if (slots[i] != NULL)
      good = PyDict_SetItem(arguments, sig->keys[i * TPY_MAX_ALIASES], slots[i]) == 0;
  }
  PyObject* result = good ? PyObject_CallFunction(function, "sO", sig->name, arguments) : NULL;
  Py_XDECREF(arguments);
  return result;
}

PyObject* tpy_redirect(const tpy_signature* sig, PyObject* const* slots) {
  return tpy_call_with(tpy.redirect, sig, slots);
}

PyTypeObject* tpy_kept_class(PyObject* a, PyObject* b) {
  PyObject* const objects[] = {a, b};
  PyTypeObject* found = tpy.tensor;
  for (int i = 0; i < 2; ++i) {
    PyTypeObject* type = Py_TYPE(objects[i]);
    if (!tpy_of_dialect(objects[i])) continue;
    if (type != tpy.dialect && PyDict_GetItem(tpy.kept, (PyObject*)type) != NULL) return type;
    found = tpy.dialect;
  }
  return found;
}

int tpy_wants_calls(PyObject* object) {
  return PyDict_GetItem(tpy.kept, (PyObject*)Py_TYPE(object)) == Py_True;
}

int tpy_overridden(const tpy_signature* sig, PyObject* const* slots, PyObject** result) {
  *result = tpy.override != NULL ? tpy_call_with(tpy.override, sig, slots) : NULL;
  if (*result == NULL) return PyErr_Occurred() != NULL;
  if (*result != Py_NotImplemented) return 1;
  Py_CLEAR(*result);
  return 0;
}

PyObject* tpy_override_failed(const tpy_signature* sig, PyObject* const* slots) {
  PyObject *type, *value, *trace, *result;
  PyErr_Fetch(&type, &value, &trace);
  if (tpy_overridden(sig, slots, &result)) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return result;
  }
  PyErr_Restore(type, value, trace);
  return NULL;
}

PyObject* tpy_redirect_call(const char* name, const char* format, ...) {
  va_list list;
  va_start(list, format);
  PyObject* arguments = Py_VaBuildValue(format, list);
  va_end(list);
  if (arguments == NULL || tpy.redirect == NULL) {
    Py_XDECREF(arguments);
    if (!PyErr_Occurred()) PyErr_SetString(tpy.type_error, "a tensor without a handle");
    return NULL;
  }
  PyObject* result = PyObject_CallFunction(tpy.redirect, "sO", name, arguments);
  Py_DECREF(arguments);
  return result;
}

static _Thread_local int tpy_random;

int tpy_redirects_random(void) {
  return tpy_random;
}

PyObject* py_redirect_random(PyObject* self, PyObject* value) {
  (void)self;
  const int before = tpy_random, truth = PyObject_IsTrue(value);
  if (truth < 0) return NULL;
  tpy_random = truth;
  return PyBool_FromLong(before);
}

/* blank(type): the type must be a subclass of Tensor, not Tensor itself. */
PyObject* py_blank(PyObject* self, PyObject* type) {
  (void)self;
  if (!PyType_Check(type) || type == (PyObject*)tpy.tensor || type == (PyObject*)tpy.base ||
      type == (PyObject*)tpy.dialect || !PyType_IsSubtype((PyTypeObject*)type, tpy.base)) {
    return PyErr_Format(tpy.type_error, "blank(): expected a subclass of Tensor");
  }
  return ((PyTypeObject*)type)->tp_alloc((PyTypeObject*)type, 0);
}

/* redirect("whole", (tensor,)) gives a tensor with a handle and how many axes it has in front; the
 * first tensor keeps it. */
int tpy_blank_info(PyObject* self, tsr_info* info) {
  PyObject* found = tpy_redirect_call("whole", "(O)", self);
  PyObject* whole = NULL;
  int extra = 0;
  int good = found != NULL && PyArg_ParseTuple(found, "Oi", &whole, &extra) &&
             tpy_is_tensor(whole) && tpy_info(whole, info);
  Py_XDECREF(found);
  if (!good || extra < 0 || extra > info->ndim) {
    if (!PyErr_Occurred()) PyErr_SetString(tpy.type_error, "a tensor without a handle");
    return 0;
  }
  info->ndim -= extra;
  info->sizes += extra;
  info->strides += extra;
  info->numel = 1;
  int contiguous = 1;
  for (int32_t i = info->ndim - 1; i >= 0; --i) {
    contiguous = contiguous && (info->sizes[i] == 1 || info->strides[i] == info->numel);
    info->numel *= info->sizes[i];
  }
  info->nbytes = info->numel * tpy_itemsize(info->dtype);
  if (!contiguous) info->flags &= ~TSR_TENSOR_CONTIGUOUS;
  return 1;
}

PyObject* tpy_blank_converted(PyObject* self, tsr_dtype dtype, int32_t type, int32_t index,
                              int copy) {
  PyObject* wanted = dtype < 0 ? Py_NewRef(Py_None) : tpy_find_dtype(dtype);
  PyObject* device = type < 0 ? Py_NewRef(Py_None)
                              : PyObject_CallFunction(tpy.make_device, "ii", (int)type, (int)index);
  PyObject* result = wanted != NULL && device != NULL
                         ? tpy_redirect_call("convert", "OOOi", self, wanted, device, copy)
                         : NULL;
  Py_XDECREF(wanted);
  Py_XDECREF(device);
  return result;
}
