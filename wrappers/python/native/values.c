/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Elements as Python numbers: item(), tolist(), bool(), int(), float(). */
#include "native.h"

/* ---- one element ---- */

static PyObject* tpy_element(tsr_dtype dtype, const char* at) {
  switch (dtype) {
    case TSR_BOOL:
      return PyBool_FromLong(*(const uint8_t*)at != 0);
    case TSR_UINT8:
      return PyLong_FromLong(*(const uint8_t*)at);
    case TSR_UINT16:
      return PyLong_FromLong(*(const uint16_t*)at);
    case TSR_UINT32:
      return PyLong_FromUnsignedLong(*(const uint32_t*)at);
    case TSR_UINT64:
      return PyLong_FromUnsignedLongLong(*(const uint64_t*)at);
    case TSR_INT8:
      return PyLong_FromLong(*(const int8_t*)at);
    case TSR_INT16:
      return PyLong_FromLong(*(const int16_t*)at);
    case TSR_INT32:
      return PyLong_FromLong(*(const int32_t*)at);
    case TSR_INT64:
      return PyLong_FromLongLong(*(const int64_t*)at);
    case TSR_FLOAT16:
      return PyFloat_FromDouble(PyFloat_Unpack2(at, PY_LITTLE_ENDIAN));
    case TSR_FLOAT32:
      return PyFloat_FromDouble((double)*(const float*)at);
    case TSR_FLOAT64:
      return PyFloat_FromDouble(*(const double*)at);
    case TSR_COMPLEX64:
      return PyComplex_FromDoubles((double)((const float*)at)[0], (double)((const float*)at)[1]);
    case TSR_COMPLEX128:
      return PyComplex_FromDoubles(((const double*)at)[0], ((const double*)at)[1]);
    default:
      break;
  }
  const uint32_t bits = (uint32_t) * (const uint16_t*)at << 16; /* bfloat16 */
  float value;
  memcpy(&value, &bits, sizeof value);
  return PyFloat_FromDouble((double)value);
}

/* ---- tolist ---- */

static PyObject* tpy_nested(const tsr_info* info, int32_t axis, const char* at) {
  if (axis == info->ndim) return tpy_element(info->dtype, at);
  const Py_ssize_t step = (Py_ssize_t)info->strides[axis] * tpy_itemsize(info->dtype);
  const int last = axis + 1 == info->ndim;
  PyObject* list = PyList_New((Py_ssize_t)info->sizes[axis]);
  for (int64_t i = 0; list != NULL && i < info->sizes[axis]; ++i, at += step) {
    PyObject* item = last ? tpy_element(info->dtype, at) : tpy_nested(info, axis + 1, at);
    if (item == NULL)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

/* A recording of a program refuses reads of the host; this one goes around the functions that do.
 */
int tpy_may_read(PyObject* self) {
  const void* data;
  const tsr_status status =
      tsr_program_recording() ? tsr_tensor_data(tpy_handle(self), &data) : TSR_OK;
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

PyObject* tensor_tolist(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (info.device_type != TSR_DEVICE_CPU) {
    PyObject* here = PyObject_CallMethod(self, "cpu", NULL);
    PyObject* list = here != NULL ? tensor_tolist(here, NULL) : NULL;
    Py_XDECREF(here);
    return list;
  }
  if (!tpy_may_read(self)) return NULL;
  /* Making a list may run the collector and with it any code, which could change the memory. */
  const int collecting = PyGC_Disable();
  PyObject* list = tpy_nested(&info, 0, info.data);
  if (collecting) PyGC_Enable();
  return list;
}

/* ---- numbers from tensors of one element ---- */

/* Through the library, which copies the value from any device. */
static PyObject* tpy_item(PyObject* self, const tsr_info* info) {
  tsr_number value;
  tsr_status status;
  TPY_CALL(status, tsr_tensor_item(tpy_handle(self), &value));
  if (status != TSR_OK) return tpy_fail(status);
  switch (value.kind) {
    case TSR_NUMBER_BOOL:
      return PyBool_FromLong(value.integer != 0);
    case TSR_NUMBER_REAL:
      return PyFloat_FromDouble(value.real);
    case TSR_NUMBER_COMPLEX:
      return PyComplex_FromDoubles(value.real, value.imaginary);
    default:
      return info->dtype == TSR_UINT64 ? PyLong_FromUnsignedLongLong((uint64_t)value.integer)
                                       : PyLong_FromLongLong(value.integer);
  }
}

PyObject* tensor_item(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (info.device_type == TSR_DEVICE_CPU && info.numel == 1 && !tsr_program_recording())
    return tpy_element(info.dtype, info.data);
  return tpy_item(self, &info);
}

int nb_bool(PyObject* self) {
  tsr_info info;
  if (!tpy_info(self, &info)) return -1;
  if (info.numel != 1) {
    PyObject* shape = tpy_int_tuple(info.sizes, info.ndim);
    if (shape == NULL) return -1;
    PyErr_Format(tpy.value_error,
                 "the truth of a tensor of shape %R is ambiguous; use all() or any()", shape);
    Py_DECREF(shape);
    return -1;
  }
  PyObject* item = tensor_item(self, NULL);
  const int truth = item != NULL ? PyObject_IsTrue(item) : -1;
  Py_XDECREF(item);
  return truth;
}

/* The element as a number of this type. */
static PyObject* tpy_item_as(PyObject* self, const PyTypeObject* type,
                             PyObject* (*convert)(PyObject*)) {
  PyObject* item = tensor_item(self, NULL);
  if (item == NULL || Py_TYPE(item) == type) return item;
  PyObject* number = convert(item);
  Py_DECREF(item);
  return number;
}

PyObject* nb_float(PyObject* self) {
  return tpy_item_as(self, &PyFloat_Type, PyNumber_Float);
}

PyObject* nb_int(PyObject* self) {
  return tpy_item_as(self, &PyLong_Type, PyNumber_Long);
}

PyObject* nb_index(PyObject* self) {
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (tpy_is_integer(info.dtype) && info.ndim == 0) return tensor_item(self, NULL);
  PyErr_SetString(tpy.type_error, "only 0-dim tensors of integers can be used as an index");
  return NULL;
}
