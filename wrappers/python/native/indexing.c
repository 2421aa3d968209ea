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

/* Note [Integers before lists]
 * Beside an index that is a tensor or a list, NumPy and the library take an integer as one more of
 * these: what they select together comes first if a slice, an ellipsis or a new axis separates
 * them. PyTorch takes the axes of integers away before, and so does a dialect: x[0, :, [1, 2]] is
 * x[0][:, [1, 2]]. Only indices that are so separated take these two steps. */

/* An axis index that is an integer: of an item, or of a tensor of integers without axes. */
static int tpy_is_single(const int64_t* item, const tsr_info* array) {
  if (item[0] == TSR_INDEX_KIND_INTEGER) return 1;
  return item[0] == TSR_INDEX_KIND_ARRAY && array->ndim == 0 && tpy_is_integer(array->dtype);
}

/* Leaves out an ellipsis that takes none of `ndim` axes: in PyTorch it does not separate the
 * indices beside it, in NumPy and the library it does. 0 with an exception set. */
static int tpy_drop_empty_ellipsis(tpy_index* index, int32_t ndim) {
  int32_t axes = 0, place = -1, at = 0;
  for (int i = 0; i < index->n_items; i += 4) {
    const int64_t kind = index->items[i];
    tsr_info array;
    if (kind == TSR_INDEX_KIND_ARRAY && !tpy_info(index->keep[at++], &array)) return 0;
    if (kind == TSR_INDEX_KIND_ELLIPSIS) {
      if (place >= 0) return 1; /* the library refuses two */
      place = i;
    } else if (kind == TSR_INDEX_KIND_ARRAY && array.dtype == TSR_BOOL) {
      axes += array.ndim;
    } else if (kind != TSR_INDEX_KIND_NEW_AXIS) {
      ++axes;
    }
  }
  if (place < 0 || axes != ndim) return 1;
  index->n_items -= 4;
  memmove(index->items + place, index->items + place + 4,
          sizeof(int64_t) * (size_t)(index->n_items - place));
  return 1;
}

/* Fills the two steps; what they keep belongs to `whole`. 1 if there are two, 0 if not, -1 with an
 * exception set. */
static int tpy_split_index(const tpy_index* whole, tpy_index* first, tpy_index* rest) {
  tsr_info arrays[TPY_MAX_ITEMS];
  int begin = -1, end = 0, singles = 0, chosen = 0;
  for (int i = 0; i < whole->n_arrays; ++i) {
    if (!tpy_info(whole->keep[i], arrays + i)) return -1;
  }
  const tsr_info* array = arrays;
  for (int i = 0; i < whole->n_items / 4; ++i) {
    const int64_t* item = whole->items + 4 * i;
    const int is_array = item[0] == TSR_INDEX_KIND_ARRAY;
    if (!is_array && item[0] != TSR_INDEX_KIND_INTEGER) continue;
    singles += tpy_is_single(item, array);
    array += is_array;
    if (begin < 0) begin = i;
    end = i + 1;
    ++chosen;
  }
  if (singles == 0 || singles == chosen || chosen == end - begin) return 0;
  first->n_items = first->n_arrays = rest->n_items = rest->n_arrays = 0;
  int at = 0;
  for (int i = 0; i < whole->n_items / 4; ++i) {
    const int64_t* item = whole->items + 4 * i;
    const int is_array = item[0] == TSR_INDEX_KIND_ARRAY;
    if (tpy_is_single(item, arrays + at)) {
      PyObject* number = is_array ? tensor_item(whole->keep[at], NULL) : NULL;
      const int good = is_array ? number != NULL && tpy_add_integer(first, number)
                                : tpy_add_item(first, item[0], item[1], item[2], item[3]);
      Py_XDECREF(number);
      if (!good) return -1;
    } else {
      /* In the first step each axis that the item takes is left as it is. */
      int axes = item[0] == TSR_INDEX_KIND_NEW_AXIS ? 0 : 1;
      if (is_array && arrays[at].dtype == TSR_BOOL) axes = arrays[at].ndim;
      if (item[0] == TSR_INDEX_KIND_ELLIPSIS) {
        if (!tpy_add_item(first, item[0], 0, 0, 0)) return -1;
        axes = 0;
      }
      while (axes-- > 0) {
        if (!tpy_add_item(first, TSR_INDEX_KIND_SLICE, INT64_MIN, INT64_MIN, INT64_MIN)) return -1;
      }
      if (!tpy_add_item(rest, item[0], item[1], item[2], item[3])) return -1;
      if (is_array) rest->arrays[rest->n_arrays++] = whole->arrays[at];
    }
    at += is_array;
  }
  return 1;
}

/* Note [Tensors for integers]
 * x[i] of a tensor of integers without axes is a copy in NumPy and the library; PyTorch takes it
 * for the integer, so that x[i] is a view and x[i].fill_(0) writes to x. So does a dialect, except
 * for uint8, which was bool once. Where a value cannot be read, as in the recording of a program
 * and in vmap, the index stays a tensor. */
static void tpy_read_integers(tpy_index* index) {
  int32_t kept = 0, at = 0;
  for (int i = 0; i < index->n_items / 4; ++i) {
    int64_t* item = index->items + 4 * i;
    if (item[0] != TSR_INDEX_KIND_ARRAY) continue;
    const tsr_tensor array = index->arrays[at];
    PyObject* owner = index->keep[at++];
    tsr_info info = {sizeof info};
    tsr_number value = {0};
    tsr_status status = TSR_INVALID_ARGUMENT;
    if (array != NULL && tsr_tensor_info(array, &info) == TSR_OK && info.ndim == 0 &&
        tpy_is_integer(info.dtype) && info.dtype != TSR_UINT8) {
      TPY_CALL(status, tsr_tensor_item(array, &value));
    }
    if (status == TSR_OK) {
      item[0] = TSR_INDEX_KIND_INTEGER;
      item[1] = value.integer;
      Py_DECREF(owner);
    } else {
      index->arrays[kept] = array;
      index->keep[kept++] = owner;
    }
  }
  index->n_arrays = kept;
}

/* The part of a tensor of the dialect that the first step selects, or the tensor itself, as a new
 * reference; `index` becomes the index of the result. NULL with an exception set. */
static PyObject* tpy_first_step(PyObject* self, tpy_index** index, tpy_index* rest) {
  if ((*index)->n_arrays == 0 || tpy_class_for(self, self) == tpy.tensor) return Py_NewRef(self);
  tsr_info info;
  tpy_read_integers(*index);
  if (!tpy_info(self, &info) || !tpy_drop_empty_ellipsis(*index, info.ndim)) return NULL;
  tpy_index first;
  const int split = tpy_split_index(*index, &first, rest);
  if (split < 0) return NULL;
  if (split == 0) return Py_NewRef(self);
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_getitem(tpy_handle(self), first.items, first.n_items, NULL, 0, &out));
  *index = rest;
  return tpy_result_as(tpy_class_for(self, self), status, out);
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  tpy_index index, rest, *step = &index;
  PyObject* result = NULL;
  if (tpy_read_index(&index, key)) {
    PyObject* part = tpy_first_step(self, &step, &rest);
    if (part != NULL) {
      tsr_tensor out = NULL;
      tsr_status status;
      TPY_CALL(status, tsr_getitem(tpy_handle(part), step->items, step->n_items, step->arrays,
                                   step->n_arrays, &out));
      result = tpy_result_as(tpy_class_for(self, self), status, out);
      Py_DECREF(part);
    }
  } else if (tpy_met_blank(&key, 1)) {
    result = tpy_redirect_call("getitem", "OO", self, key);
  }
  tpy_free_index(&index);
  return result;
}

static int tpy_store(PyObject* self, const tpy_index* index, PyObject* value) {
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
  tpy_index index, rest, *step = &index;
  int good = tpy_read_index(&index, key);
  if (good) {
    PyObject* part = tpy_first_step(self, &step, &rest);
    good = part != NULL && tpy_store(part, step, value);
    Py_XDECREF(part);
  }
  tpy_free_index(&index);
  PyObject* const given[] = {key, value};
  if (!good && tpy_met_blank(given, 2)) {
    PyObject* none = tpy_redirect_call("setitem", "OOO", self, key, value);
    good = none != NULL;
    Py_XDECREF(none);
  }
  return good ? 0 : -1;
}

PyObject* tensor_at(PyObject* self, Py_ssize_t index) {
  PyObject* key = PyLong_FromSsize_t(index);
  PyObject* item = key == NULL ? NULL : tensor_subscript(self, key);
  Py_XDECREF(key);
  return item;
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
