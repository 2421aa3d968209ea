/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Tensors on the memory of NumPy arrays and of other objects of Python. */
#include "native.h"

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
    case 'b':
      return size == 1 ? TSR_BOOL : -1;
    case 'f':
      return size == 4 ? TSR_FLOAT32 : size == 8 ? TSR_FLOAT64 : size == 2 ? TSR_FLOAT16 : -1;
    case 'i':
      return size == 8   ? TSR_INT64
             : size == 4 ? TSR_INT32
             : size == 2 ? TSR_INT16
             : size == 1 ? TSR_INT8
                         : -1;
    case 'u':
      return size == 1   ? TSR_UINT8
             : size == 2 ? TSR_UINT16
             : size == 4 ? TSR_UINT32
             : size == 8 ? TSR_UINT64
                         : -1;
    case 'c':
      return size == 8 ? TSR_COMPLEX64 : size == 16 ? TSR_COMPLEX128 : -1;
    default:
      return -1;
  }
}

/* A tensor on the memory of an array; NULL without an exception for one that _interop.py must see.
 */
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
  TPY_CALL(status, tsr_tensor_from_data(array->data, dtype, TSR_DEVICE_CPU, 0, sizes, array->nd,
                                        strides, array->nd, flags, user, tpy_drop, &made));
  return tpy_result(status, made);
}

/* from_array(ndarray): a tensor on its memory, or None. */
PyObject* py_from_array(PyObject* self, PyObject* given) {
  (void)self;
  static PyObject* struct_name;
  PyObject* capsule = tpy_attribute(given, &struct_name, "__array_struct__");
  if (capsule == NULL) return NULL;
  const tpy_array* array = PyCapsule_GetPointer(capsule, NULL);
  PyObject* made = array != NULL ? tpy_from_struct(given, array) : NULL;
  Py_DECREF(capsule);
  return made != NULL || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* A tensor of the elements of an array. What the backward may need is copied: nobody counts the
 * writes to an array. */
PyObject* tpy_array_operand(PyObject* array, int recorded) {
  return PyObject_CallFunctionObjArgs(tpy.from_ndarray, array,
                                      recorded && tsr_grad_mode() ? Py_True : Py_False, NULL);
}

/* from_data(owner, address, dtype bits, shape, strides or None, flags): a tensor that keeps owner.
 */
PyObject* py_from_data(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *owner, *address, *shape, *strides;
  int bits = 0, flags = 0;
  if (!PyArg_ParseTuple(args, "OOiOOi", &owner, &address, &bits, &shape, &strides, &flags))
    return NULL;
  static const char* const names[] = {"shape", "strides"};
  static PyObject* keys[2 * TPY_MAX_ALIASES];
  static const tpy_signature sig = {"from_data", 2, 2, 2, -1, names, keys};
  if (keys[0] == NULL && !tpy_prepare(&sig)) return NULL;
  void* data = PyLong_AsVoidPtr(address);
  if (data == NULL && PyErr_Occurred()) return NULL;
  tpy_list sizes, steps;
  steps.at = steps.room;
  tsr_tensor out = NULL;
  tsr_status status = TSR_OK;
  const int good = tpy_ints(&sig, 0, shape, &sizes) && tpy_ints(&sig, 1, strides, &steps);
  if (good) {
    void* user = Py_NewRef(owner);
    TPY_CALL(status, tsr_tensor_from_data(data, bits, TSR_DEVICE_CPU, 0, sizes.at, sizes.n,
                                          steps.at, steps.n, flags, user, tpy_drop, &out));
  }
  tpy_free_list(&sizes);
  tpy_free_list(&steps);
  return good ? tpy_result(status, out) : NULL;
}
