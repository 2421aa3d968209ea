/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Tensors from Python's numbers and nested lists of them. Other data, for example NumPy numbers
 * within lists, are left to _interop.py. */
#include "native.h"

typedef struct {
  int32_t ndim;
  int kind; /* the widest kind of number, TPY_NO_NUMBER before the first */
  int64_t sizes[TPY_MAX_NEST];
} tpy_nest;

static inline int tpy_plain_kind(PyObject* object) {
  if (PyFloat_CheckExact(object)) return TSR_NUMBER_REAL;
  if (PyLong_CheckExact(object)) return TSR_NUMBER_INTEGER;
  if (PyBool_Check(object)) return TSR_NUMBER_BOOL;
  return PyComplex_CheckExact(object) ? TSR_NUMBER_COMPLEX : TPY_NO_NUMBER;
}

static inline int tpy_is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/* Finds the shape and the kind; returns 0, without an exception, if the data are not plain or not
 * regular. */
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

/* Returns 0 for a finite number that float32 cannot hold: NumPy converts it, with a warning. */
static inline int tpy_narrow(double value, float* out) {
  *out = (float)value;
  return !isinf(*out) || isinf(value);
}

/* Writes a number as an element; returns 0 if _interop.py must convert or refuse it. */
static int tpy_put(tsr_dtype dtype, char* at, PyObject* number) {
  int64_t whole = 0;
  double parts[2];
  switch (dtype) {
    case TSR_BOOL:
      if (!tpy_put_real(number, parts)) return 0;
      *(uint8_t*)at = parts[0] != 0;
      return 1;
    case TSR_UINT8:
      if (!tpy_put_int(number, 0, UINT8_MAX, &whole)) return 0;
      *(uint8_t*)at = (uint8_t)whole;
      return 1;
    case TSR_UINT16:
      if (!tpy_put_int(number, 0, UINT16_MAX, &whole)) return 0;
      *(uint16_t*)at = (uint16_t)whole;
      return 1;
    case TSR_UINT32:
      if (!tpy_put_int(number, 0, UINT32_MAX, &whole)) return 0;
      *(uint32_t*)at = (uint32_t)whole;
      return 1;
    case TSR_UINT64:
      return tpy_put_unsigned(number, (uint64_t*)at);
    case TSR_INT8:
      if (!tpy_put_int(number, INT8_MIN, INT8_MAX, &whole)) return 0;
      *(int8_t*)at = (int8_t)whole;
      return 1;
    case TSR_INT16:
      if (!tpy_put_int(number, INT16_MIN, INT16_MAX, &whole)) return 0;
      *(int16_t*)at = (int16_t)whole;
      return 1;
    case TSR_INT32:
      if (!tpy_put_int(number, INT32_MIN, INT32_MAX, &whole)) return 0;
      *(int32_t*)at = (int32_t)whole;
      return 1;
    case TSR_INT64:
      if (!tpy_put_int(number, INT64_MIN, INT64_MAX, &whole)) return 0;
      *(int64_t*)at = (int64_t)whole;
      return 1;
    case TSR_FLOAT32:
      return tpy_put_real(number, parts) && tpy_narrow(parts[0], (float*)at);
    case TSR_FLOAT64:
      return tpy_put_real(number, (double*)at);
    case TSR_COMPLEX64:
      return tpy_put_parts(number, parts) && tpy_narrow(parts[0], (float*)at) &&
             tpy_narrow(parts[1], (float*)at + 1);
    case TSR_COMPLEX128:
      return tpy_put_parts(number, (double*)at);
    default:
      return 0;
  }
}

/* Writes the numbers in order. Other threads may have changed the data since the scan, so
 * everything is checked again. */
static int tpy_fill(const tpy_nest* nest, PyObject* data, int32_t depth, tsr_dtype dtype,
                    char** at) {
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
  tsr_dtype real;
  if (tsr_default_dtype(&real) != TSR_OK) real = TSR_FLOAT32;
  switch (kind) {
    case TSR_NUMBER_BOOL:
      return TSR_BOOL;
    case TSR_NUMBER_INTEGER:
      return TSR_INT64;
    case TSR_NUMBER_COMPLEX:
      return real == TSR_FLOAT64 ? TSR_COMPLEX128 : TSR_COMPLEX64;
    default:
      return real;
  }
}

static int tpy_cpu_is_default(void) {
  tsr_device_type type = TSR_DEVICE_CPU;
  int32_t index = 0;
  return tsr_device_default(&type, &index) == TSR_OK && type == TSR_DEVICE_CPU;
}

/* A tensor with the numbers. NULL without an exception if NumPy must convert the data, with one on
 * failure. */
PyObject* tpy_from_numbers(PyObject* data, tsr_dtype dtype) {
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
  if (status == TSR_OK && (info.numel == 0 || tpy_fill(&nest, data, 0, dtype, &at)))
    return tpy_result(status, made);
  tsr_tensor_release(made);
  return status != TSR_OK ? tpy_fail(status) : NULL;
}

/* from_numbers(data, dtype or None): a tensor, or None if NumPy must convert the data. */
PyObject* py_from_numbers(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  tsr_dtype dtype = -1;
  if (nargs != 2)
    return PyErr_Format(PyExc_TypeError, "from_numbers() takes 2 arguments, got %zd", nargs);
  if (!tpy_dtype(NULL, 0, args[1], &dtype)) return NULL;
  PyObject* made = tpy_from_numbers(args[0], dtype);
  return made != NULL || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}
