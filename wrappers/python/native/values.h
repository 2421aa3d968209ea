/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Python's numbers and nested lists to tensors and back, and NumPy arrays to tensors. What is not plain here, for
 * example numbers of NumPy within lists, is left to _interop.py. */
#ifndef TESSERA_PY_VALUES_H
#define TESSERA_PY_VALUES_H

#include "callbacks.h"

/* ---- one element ---- */

static PyObject* tpy_element(tsr_dtype dtype, const char* at) {
  switch (dtype) {
    case TSR_BOOL: return PyBool_FromLong(*(const uint8_t*)at != 0);
    case TSR_UINT8: return PyLong_FromLong(*(const uint8_t*)at);
    case TSR_UINT16: return PyLong_FromLong(*(const uint16_t*)at);
    case TSR_UINT32: return PyLong_FromUnsignedLong(*(const uint32_t*)at);
    case TSR_UINT64: return PyLong_FromUnsignedLongLong(*(const uint64_t*)at);
    case TSR_INT8: return PyLong_FromLong(*(const int8_t*)at);
    case TSR_INT16: return PyLong_FromLong(*(const int16_t*)at);
    case TSR_INT32: return PyLong_FromLong(*(const int32_t*)at);
    case TSR_INT64: return PyLong_FromLongLong(*(const int64_t*)at);
    case TSR_FLOAT16: return PyFloat_FromDouble(PyFloat_Unpack2(at, PY_LITTLE_ENDIAN));
    case TSR_FLOAT32: return PyFloat_FromDouble((double)*(const float*)at);
    case TSR_FLOAT64: return PyFloat_FromDouble(*(const double*)at);
    case TSR_COMPLEX64: return PyComplex_FromDoubles((double)((const float*)at)[0], (double)((const float*)at)[1]);
    case TSR_COMPLEX128: return PyComplex_FromDoubles(((const double*)at)[0], ((const double*)at)[1]);
    default: break;
  }
  const uint32_t bits = (uint32_t)*(const uint16_t*)at << 16; /* bfloat16 */
  float value;
  memcpy(&value, &bits, sizeof value);
  return PyFloat_FromDouble((double)value);
}

static inline Py_ssize_t tpy_itemsize(tsr_dtype dtype) { return (dtype >> 8 & 0xff) / 8; }

/* ---- tolist ---- */

static PyObject* tpy_nested(const tsr_info* info, int32_t axis, const char* at) {
  if (axis == info->ndim) return tpy_element(info->dtype, at);
  const Py_ssize_t step = (Py_ssize_t)info->strides[axis] * tpy_itemsize(info->dtype);
  const int last = axis + 1 == info->ndim;
  PyObject* list = PyList_New((Py_ssize_t)info->sizes[axis]);
  for (int64_t i = 0; list != NULL && i < info->sizes[axis]; ++i, at += step) {
    PyObject* item = last ? tpy_element(info->dtype, at) : tpy_nested(info, axis + 1, at);
    if (item == NULL) Py_CLEAR(list);
    else PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

static PyObject* tensor_tolist(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (info.device_type != TSR_DEVICE_CPU) {
    PyObject* here = PyObject_CallMethod(self, "cpu", NULL);
    PyObject* list = here != NULL ? tensor_tolist(here, NULL) : NULL;
    Py_XDECREF(here);
    return list;
  }
  /* Making a list may run the collector and with it any code, which could change the memory. */
  const int collecting = PyGC_Disable();
  PyObject* list = tpy_nested(&info, 0, info.data);
  if (collecting) PyGC_Enable();
  return list;
}

/* ---- from numbers and nested sequences of them ---- */

#define TPY_MAX_NEST 32

typedef struct {
  int32_t ndim;
  int kind; /* the widest kind of number, TPY_NO_NUMBER before the first */
  int64_t sizes[TPY_MAX_NEST];
} tpy_nest;

static inline int tpy_plain_kind(PyObject* object) {
  if (PyFloat_CheckExact(object)) return TPY_F64;
  if (PyLong_CheckExact(object)) return TPY_I64;
  if (PyBool_Check(object)) return TPY_BOOL;
  return PyComplex_CheckExact(object) ? TPY_C128 : TPY_NO_NUMBER;
}

static inline int tpy_is_sequence(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

/* Finds the shape and the kind; 0 when the data are not plain or not regular, without an exception. */
static int tpy_scan(tpy_nest* nest, PyObject* data, int32_t depth) {
  if (!tpy_is_sequence(data)) {
    const int kind = tpy_plain_kind(data);
    if (kind == TPY_NO_NUMBER || depth != nest->ndim) return 0;
    if (kind > nest->kind) nest->kind = kind;
    return 1;
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(data);
  if (depth == nest->ndim) {
    if (nest->kind != TPY_NO_NUMBER || depth == TPY_MAX_NEST) return 0;
    nest->sizes[nest->ndim++] = count;
  }
  if (nest->sizes[depth] != count) return 0;
  PyObject** items = PySequence_Fast_ITEMS(data);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!tpy_scan(nest, items[i], depth + 1)) return 0;
  }
  return 1;
}

static inline int tpy_put_int(PyObject* number, int64_t low, int64_t high, int64_t* out) {
  int overflow = 0;
  if (!PyLong_Check(number)) return 0;
  *out = PyLong_AsLongLongAndOverflow(number, &overflow);
  return !overflow && *out >= low && *out <= high;
}

static inline int tpy_put_unsigned(PyObject* number, uint64_t* out) {
  if (!PyLong_Check(number)) return 0;
  *out = PyLong_AsUnsignedLongLong(number);
  if (*out != UINT64_MAX || !PyErr_Occurred()) return 1;
  PyErr_Clear();
  return 0;
}

static inline int tpy_put_real(PyObject* number, double* out) {
  if (PyFloat_CheckExact(number)) {
    *out = PyFloat_AS_DOUBLE(number);
    return 1;
  }
  int64_t whole = 0;
  if (!tpy_put_int(number, INT64_MIN, INT64_MAX, &whole)) return 0;
  *out = (double)whole;
  return 1;
}

static inline int tpy_put_parts(PyObject* number, double* parts) {
  parts[1] = 0;
  if (!PyComplex_CheckExact(number)) return tpy_put_real(number, parts);
  parts[0] = PyComplex_RealAsDouble(number);
  parts[1] = PyComplex_ImagAsDouble(number);
  return 1;
}

/* A finite number that float32 cannot hold is left to NumPy, which warns. */
static inline int tpy_narrow(double value, float* out) {
  *out = (float)value;
  return !isinf(*out) || isinf(value);
}

#define TPY_PUT_INT(type, low, high)                         \
  {                                                          \
    if (!tpy_put_int(number, (low), (high), &whole)) return 0; \
    *(type*)at = (type)whole;                                \
    return 1;                                                \
  }

/* Writes a number as an element; 0 when _interop.py should decide what it becomes, or refuse it. */
static int tpy_put(tsr_dtype dtype, char* at, PyObject* number) {
  int64_t whole = 0;
  double parts[2];
  switch (dtype) {
    case TSR_BOOL:
      if (!tpy_put_real(number, parts)) return 0;
      *(uint8_t*)at = parts[0] != 0;
      return 1;
    case TSR_UINT8: TPY_PUT_INT(uint8_t, 0, UINT8_MAX)
    case TSR_UINT16: TPY_PUT_INT(uint16_t, 0, UINT16_MAX)
    case TSR_UINT32: TPY_PUT_INT(uint32_t, 0, UINT32_MAX)
    case TSR_UINT64: return tpy_put_unsigned(number, (uint64_t*)at);
    case TSR_INT8: TPY_PUT_INT(int8_t, INT8_MIN, INT8_MAX)
    case TSR_INT16: TPY_PUT_INT(int16_t, INT16_MIN, INT16_MAX)
    case TSR_INT32: TPY_PUT_INT(int32_t, INT32_MIN, INT32_MAX)
    case TSR_INT64: TPY_PUT_INT(int64_t, INT64_MIN, INT64_MAX)
    case TSR_FLOAT32: return tpy_put_real(number, parts) && tpy_narrow(parts[0], (float*)at);
    case TSR_FLOAT64: return tpy_put_real(number, (double*)at);
    case TSR_COMPLEX64:
      return tpy_put_parts(number, parts) && tpy_narrow(parts[0], (float*)at) && tpy_narrow(parts[1], (float*)at + 1);
    case TSR_COMPLEX128: return tpy_put_parts(number, (double*)at);
    default: return 0;
  }
}

/* Writes the numbers in order. Other threads may have changed the data since the scan: all is checked again. */
static int tpy_fill(const tpy_nest* nest, PyObject* data, int32_t depth, tsr_dtype dtype, char** at) {
  if (depth == nest->ndim) {
    if (tpy_plain_kind(data) == TPY_NO_NUMBER || !tpy_put(dtype, *at, data)) return 0;
    *at += tpy_itemsize(dtype);
    return 1;
  }
  if (!tpy_is_sequence(data) || PySequence_Fast_GET_SIZE(data) != nest->sizes[depth]) return 0;
  PyObject** items = PySequence_Fast_ITEMS(data);
  for (int64_t i = 0; i < nest->sizes[depth]; ++i) {
    if (!tpy_fill(nest, items[i], depth + 1, dtype, at)) return 0;
  }
  return 1;
}

static tsr_dtype tpy_default_dtype(int kind) {
  switch (kind) {
    case TPY_BOOL: return TSR_BOOL;
    case TPY_I64: return TSR_INT64;
    case TPY_C128: return TSR_COMPLEX64;
    default: return TSR_FLOAT32;
  }
}

static int tpy_cpu_is_default(void) {
  tsr_device_type type = TSR_DEVICE_CPU;
  int32_t index = 0;
  return tsr_device_default(&type, &index) == TSR_OK && type == TSR_DEVICE_CPU;
}

/* A tensor with the numbers; NULL without an exception when the data are left to NumPy, with one on failure. */
static PyObject* tpy_from_numbers(PyObject* data, tsr_dtype dtype) {
  tpy_nest nest;
  nest.ndim = 0;
  nest.kind = TPY_NO_NUMBER;
  if (!tpy_scan(&nest, data, 0) || !tpy_cpu_is_default()) return NULL;
  if (dtype < 0) dtype = tpy_default_dtype(nest.kind);
  tsr_tensor made = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_empty(nest.sizes, nest.ndim, dtype, TSR_DEVICE_CPU, 0, &made));
  tsr_info info = {sizeof info};
  if (status == TSR_OK) status = tsr_tensor_info(made, &info);
  char* at = info.data;
  if (status == TSR_OK && (info.numel == 0 || tpy_fill(&nest, data, 0, dtype, &at))) return tpy_result(status, made);
  tsr_tensor_release(made);
  return status != TSR_OK ? tpy_fail(status) : NULL;
}

/* from_numbers(data, dtype or None): a tensor, or None when the data are left to NumPy. */
static PyObject* py_from_numbers(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  tsr_dtype dtype = -1;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "from_numbers() takes 2 arguments, got %zd", nargs);
  if (!tpy_dtype(NULL, 0, args[1], &dtype)) return NULL;
  PyObject* made = tpy_from_numbers(args[0], dtype);
  return made != NULL || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* ---- from NumPy arrays ---- */

/* What the capsule __array_struct__ of an array points to: version 3 of NumPy's array interface. */
typedef struct {
  int two, nd;
  char typekind;
  int itemsize, flags;
  Py_ssize_t *shape, *strides;
  void* data;
} tpy_array;

enum { TPY_ARRAY_NATIVE = 0x200, TPY_ARRAY_WRITEABLE = 0x400 };

static tsr_dtype tpy_array_dtype(const tpy_array* array) {
  if (!(array->flags & TPY_ARRAY_NATIVE)) return -1;
  const int size = array->itemsize;
  switch (array->typekind) {
    case 'b': return size == 1 ? TSR_BOOL : -1;
    case 'f': return size == 4 ? TSR_FLOAT32 : size == 8 ? TSR_FLOAT64 : size == 2 ? TSR_FLOAT16 : -1;
    case 'i': return size == 8 ? TSR_INT64 : size == 4 ? TSR_INT32 : size == 2 ? TSR_INT16 : size == 1 ? TSR_INT8 : -1;
    case 'u':
      return size == 1 ? TSR_UINT8 : size == 2 ? TSR_UINT16 : size == 4 ? TSR_UINT32 : size == 8 ? TSR_UINT64 : -1;
    case 'c': return size == 8 ? TSR_COMPLEX64 : size == 16 ? TSR_COMPLEX128 : -1;
    default: return -1;
  }
}

/* A tensor on the memory of an array; NULL without an exception for one that _interop.py must see. */
static PyObject* tpy_from_struct(PyObject* owner, const tpy_array* array) {
  const tsr_dtype dtype = tpy_array_dtype(array);
  if (dtype < 0 || array->nd > TPY_MAX_NEST) return NULL;
  int64_t sizes[TPY_MAX_NEST], strides[TPY_MAX_NEST];
  for (int i = 0; i < array->nd; ++i) {
    if (array->strides[i] % array->itemsize != 0) return NULL;
    sizes[i] = array->shape[i];
    strides[i] = array->strides[i] / array->itemsize;
  }
  const int32_t flags = array->flags & TPY_ARRAY_WRITEABLE ? 0 : TSR_FROM_DATA_READ_ONLY;
  tsr_tensor made = NULL;
  tsr_status status;
  void* user = Py_NewRef(owner);
  TPY_CALL(status, tsr_tensor_from_data(array->data, dtype, TSR_DEVICE_CPU, 0, sizes, array->nd, strides, array->nd,
                                        flags, user, tpy_drop, &made));
  return tpy_result(status, made);
}

/* from_array(ndarray): a tensor on its memory, or None. */
static PyObject* py_from_array(PyObject* self, PyObject* given) {
  (void)self;
  static PyObject* struct_name;
  PyObject* capsule = tpy_attribute(given, &struct_name, "__array_struct__");
  if (capsule == NULL) return NULL;
  const tpy_array* array = PyCapsule_GetPointer(capsule, NULL);
  PyObject* made = array != NULL ? tpy_from_struct(given, array) : NULL;
  Py_DECREF(capsule);
  return made != NULL || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* ---- numbers from tensors of one element ---- */

static PyObject* tensor_item(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (info.device_type == TSR_DEVICE_CPU && info.numel == 1) return tpy_element(info.dtype, info.data);
  return tpy_item(self, &info);
}

static int nb_bool(PyObject* self) {
  tsr_info info;
  if (!tpy_info(self, &info)) return -1;
  if (info.numel != 1) {
    PyObject* shape = tpy_int_tuple(info.sizes, info.ndim);
    if (shape == NULL) return -1;
    PyErr_Format(tpy.value_error, "the truth of a tensor of shape %R is ambiguous; use all() or any()", shape);
    Py_DECREF(shape);
    return -1;
  }
  PyObject* item = tensor_item(self, NULL);
  const int truth = item != NULL ? PyObject_IsTrue(item) : -1;
  Py_XDECREF(item);
  return truth;
}

/* The element as a number of this type. */
static PyObject* tpy_item_as(PyObject* self, const PyTypeObject* type, PyObject* (*convert)(PyObject*)) {
  PyObject* item = tensor_item(self, NULL);
  if (item == NULL || Py_TYPE(item) == type) return item;
  PyObject* number = convert(item);
  Py_DECREF(item);
  return number;
}

static PyObject* nb_float(PyObject* self) { return tpy_item_as(self, &PyFloat_Type, PyNumber_Float); }

static PyObject* nb_int(PyObject* self) { return tpy_item_as(self, &PyLong_Type, PyNumber_Long); }

static PyObject* nb_index(PyObject* self) {
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if ((info.dtype & 0xff) <= 1 && info.ndim == 0) return tensor_item(self, NULL);
  PyErr_SetString(tpy.type_error, "only 0-dim tensors of integers can be used as an index");
  return NULL;
}

/* ---- arange ---- */

static PyObject* tpy_arange(PyObject* const* ends, tsr_dtype dtype, int32_t type, int32_t index) {
  tsr_tensor out = NULL;
  tsr_status status;
  if (PyIndex_Check(ends[0]) && PyIndex_Check(ends[1]) && PyIndex_Check(ends[2])) {
    int64_t at[3];
    for (int i = 0; i < 3; ++i) {
      if (!tpy_as_int64(ends[i], at + i)) return NULL;
    }
    TPY_CALL(status, tsr_arange_int(at[0], at[1], at[2], dtype, type, index, &out));
  } else {
    double at[3];
    for (int i = 0; i < 3; ++i) {
      at[i] = PyFloat_AsDouble(ends[i]);
      if (at[i] == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        return PyErr_Format(tpy.type_error, "arange(): expected numbers, got %s", Py_TYPE(ends[i])->tp_name);
      }
    }
    TPY_CALL(status, tsr_arange(at[0], at[1], at[2], dtype, type, index, &out));
  }
  return tpy_result(status, out);
}

/* arange(start, stop, step, dtype or None, device or None): whole numbers count in int64. */
static PyObject* py_arange(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "arange() takes 5 arguments, got %zd", nargs);
  tsr_dtype dtype;
  int32_t type, index;
  if (!tpy_dtype(NULL, 0, args[3], &dtype) || !tpy_device(NULL, 0, args[4], &type, &index)) return NULL;
  PyObject* ends[3] = {NULL, NULL, NULL};
  int good = 1;
  for (int i = 0; good && i < 3; ++i) {
    ends[i] = TPY_IS_TENSOR(args[i]) ? tensor_item(args[i], NULL) : Py_NewRef(args[i]);
    good = ends[i] != NULL;
  }
  PyObject* made = good ? tpy_arange(ends, dtype, type, index) : NULL;
  for (int i = 0; i < 3; ++i) Py_XDECREF(ends[i]);
  return made;
}

static PyObject* py_is_tensor(PyObject* self, PyObject* object) {
  (void)self;
  return PyBool_FromLong(TPY_IS_TENSOR(object));
}

#endif
