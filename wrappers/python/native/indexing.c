/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * tensor[index] and tensor[index] = value: from Python's brackets to items of the ABI. */
#include "native.h"
#include "redirect.h"

enum { TPY_MAX_ITEMS = 130 }; /* 64 axes, as many new axes, an ellipsis */

typedef struct {
  int32_t n_items, n_arrays;
  int64_t items[TPY_MAX_ITEMS * 4];
  tsr_tensor arrays[TPY_MAX_ITEMS];
  PyObject* keep[TPY_MAX_ITEMS]; /* owned: tensors made from lists and masks */
} tpy_index;

static void tpy_free_index(tpy_index* index) {
  for (int32_t i = 0; i < index->n_arrays; ++i) Py_XDECREF(index->keep[i]);
}

static int tpy_add_item(tpy_index* index, int64_t kind, int64_t start, int64_t stop, int64_t step) {
  if (index->n_items == TPY_MAX_ITEMS * 4) {
    PyErr_SetString(tpy.index_error, "too many indices");
    return 0;
  }
  int64_t* item = index->items + index->n_items;
  item[0] = kind;
  item[1] = start;
  item[2] = stop;
  item[3] = step;
  index->n_items += 4;
  return 1;
}

/* Takes over the reference to the tensor. */
static int tpy_add_array(tpy_index* index, PyObject* tensor) {
  if (!tpy_add_item(index, TSR_INDEX_KIND_ARRAY, 0, 0, 0)) {
    Py_DECREF(tensor);
    return 0;
  }
  index->keep[index->n_arrays] = tensor;
  index->arrays[index->n_arrays++] = tpy_handle(tensor);
  return 1;
}

/* A bound of a slice, clamped to 64 bits. */
static int tpy_bound(PyObject* object, int64_t* out) {
  *out = INT64_MIN;
  if (object == Py_None) return 1;
  if (!PyIndex_Check(object)) {
    PyErr_Format(tpy.type_error, "slice indices must be ints or None, got %s",
                 Py_TYPE(object)->tp_name);
    return 0;
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(object, NULL);
  if (value == -1 && PyErr_Occurred()) return 0;
  *out = value == PY_SSIZE_T_MIN ? PY_SSIZE_T_MIN + 1 : value;
  return 1;
}

static int tpy_add_slice(tpy_index* index, PyObject* slice) {
  PySliceObject* bounds = (PySliceObject*)slice;
  int64_t start, stop, step;
  return tpy_bound(bounds->start, &start) && tpy_bound(bounds->stop, &stop) &&
         tpy_bound(bounds->step, &step) &&
         tpy_add_item(index, TSR_INDEX_KIND_SLICE, start, stop, step);
}

static int tpy_add_integer(tpy_index* index, PyObject* object) {
  const Py_ssize_t value = PyNumber_AsSsize_t(object, tpy.index_error);
  if (value == -1 && PyErr_Occurred()) return 0;
  return tpy_add_item(index, TSR_INDEX_KIND_INTEGER, value, 0, 0);
}

/* A list of plain ints or bools as a tensor. NULL without an exception for other objects, which
 * to_index handles; NULL with an exception on failure. */
static PyObject* tpy_index_list(PyObject* item) {
  if (!PyList_CheckExact(item) || PyList_GET_SIZE(item) == 0) return NULL;
  tsr_info info = {sizeof info};
  PyObject* made = tpy_from_numbers(item, -1);
  if (made == NULL || !tpy_info(made, &info) || info.dtype == TSR_INT64 || info.dtype == TSR_BOOL)
    return made;
  Py_DECREF(made);
  return NULL;
}

static int tpy_add_any(tpy_index* index, PyObject* item) {
  if (PyLong_Check(item) && !PyBool_Check(item)) return tpy_add_integer(index, item);
  if (PySlice_Check(item)) return tpy_add_slice(index, item);
  if (item == Py_Ellipsis) return tpy_add_item(index, TSR_INDEX_KIND_ELLIPSIS, 0, 0, 0);
  if (item == Py_None) return tpy_add_item(index, TSR_INDEX_KIND_NEW_AXIS, 0, 0, 0);
  if (tpy_is_tensor(item)) return tpy_add_array(index, Py_NewRef(item));
  if (PyIndex_Check(item) && !PyBool_Check(item) && !PyObject_HasAttrString(item, "__len__")) {
    return tpy_add_integer(index, item); /* a NumPy integer */
  }
  PyObject* made = tpy_index_list(item);
  if (made == NULL && !PyErr_Occurred()) made = PyObject_CallOneArg(tpy.to_index, item);
  return made != NULL && tpy_add_array(index, made);
}

static int tpy_read_index(tpy_index* index, PyObject* key) {
  index->n_items = index->n_arrays = 0;
  if (!PyTuple_Check(key)) return tpy_add_any(index, key);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    if (!tpy_add_any(index, PyTuple_GET_ITEM(key, i))) return 0;
  }
  return 1;
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  tpy_index index;
  PyObject* result = NULL;
  if (tpy_read_index(&index, key)) {
    tsr_tensor out = NULL;
    tsr_status status;
    TPY_CALL(status, tsr_getitem(tpy_handle(self), index.items, index.n_items, index.arrays,
                                 index.n_arrays, &out));
    result = tpy_result_as(tpy_class_for(self, self), status, out);
  } else if (tpy_met_blank(&key, 1)) {
    result = tpy_redirect_call("getitem", "OO", self, key);
  }
  tpy_free_index(&index);
  return result;
}

static int tpy_store(PyObject* self, tpy_index* index, PyObject* value) {
  const tsr_tensor x = tpy_handle(self);
  PyObject* made = NULL;
  tsr_number number;
  tsr_status status;
  int found = TPY_NO_NUMBER;
  if (!tpy_is_tensor(value)) {
    found = tpy_sized_number(value, &number);
    if (found == TPY_ERROR) return 0;
  }
  const int64_t* items = index->items;
  const tsr_tensor* arrays = index->arrays;
  const int32_t n = index->n_items, m = index->n_arrays;
  if (found == TPY_NUMBER) {
    TPY_CALL(status, tsr_setitem_scalar_inplace(x, items, n, arrays, m, &number));
  } else {
    if (!tpy_is_tensor(value)) {
      made = value = PyObject_CallFunctionObjArgs(tpy.storable, value, self, NULL);
      if (made == NULL) return 0;
    }
    TPY_CALL(status, tsr_setitem_inplace(x, items, n, arrays, m, tpy_handle(value)));
  }
  Py_XDECREF(made);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

int tensor_ass_subscript(PyObject* self, PyObject* key, PyObject* value) {
  if (value == NULL) {
    PyErr_SetString(tpy.type_error, "elements of a tensor cannot be deleted");
    return -1;
  }
  tpy_index index;
  int good = tpy_read_index(&index, key) && tpy_store(self, &index, value);
  tpy_free_index(&index);
  PyObject* const given[] = {key, value};
  if (!good && tpy_met_blank(given, 2)) {
    PyObject* none = tpy_redirect_call("setitem", "OOO", self, key, value);
    good = none != NULL;
    Py_XDECREF(none);
  }
  return good ? 0 : -1;
}

Py_ssize_t tensor_length(PyObject* self) {
  tsr_info info;
  if (!tpy_info(self, &info)) return -1;
  if (info.ndim == 0) {
    PyErr_SetString(tpy.type_error, "len() of a 0-dim tensor");
    return -1;
  }
  return (Py_ssize_t)info.sizes[0];
}
