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

enum { TPY_ARRAY_ALIGNED = 0x100, TPY_ARRAY_NATIVE = 0x200, TPY_ARRAY_WRITEABLE = 0x400 };

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

/* A tensor on the memory of an array; NULL without an exception for an array that _interop.py must
 * handle. */
static PyObject* tpy_from_struct(PyObject* owner, const tpy_array* array) {
  const tsr_dtype dtype = tpy_array_dtype(array);
  if (dtype < 0 || array->two != 2 || array->nd > TPY_MAX_AXES) return NULL;
  int64_t sizes[TPY_MAX_AXES], strides[TPY_MAX_AXES];
  int empty = 0;
  for (int i = 0; i < array->nd; ++i) empty = empty || array->shape[i] == 0;
  if (!(array->flags & TPY_ARRAY_ALIGNED) && !empty) return NULL;
  for (int i = 0; i < array->nd; ++i) {
    if (array->strides[i] % array->itemsize != 0 && !empty) return NULL;
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
  if (!tpy_is_array(given)) {
    return PyErr_Format(tpy.type_error, "from_array(): expected a numpy.ndarray, got %s",
                        Py_TYPE(given)->tp_name);
  }
  PyObject* capsule = tpy_attribute(given, &struct_name, "__array_struct__");
  if (capsule == NULL) return NULL;
  const tpy_array* array = PyCapsule_GetPointer(capsule, NULL);
  PyObject* made = array != NULL ? tpy_from_struct(given, array) : NULL;
  Py_DECREF(capsule);
  return made != NULL || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* A tensor of the elements of an array. If the backward may need them, they are copied: writes to
 * an array raise no version. */
PyObject* tpy_array_operand(PyObject* array, int recorded) {
  return PyObject_CallFunctionObjArgs(tpy.from_ndarray, array,
                                      recorded && tsr_grad_mode() ? Py_True : Py_False, NULL);
}

/* The number of bytes of the elements; -1 if they cannot fit into memory. */
static int64_t tpy_count_bytes(const int64_t* sizes, int32_t ndim, int64_t itemsize) {
  int64_t bytes = itemsize;
  for (int32_t i = 0; i < ndim; ++i) {
    if (sizes[i] < 0 || (sizes[i] > 0 && bytes > INT64_MAX / sizes[i])) return -1;
    bytes *= sizes[i];
  }
  return bytes;
}

/* A row-major tensor in the memory of a view; the tensor keeps the view alive. */
static PyObject* tpy_from_view(PyObject* view, tsr_dtype dtype, const tpy_list* sizes,
                               int64_t offset) {
  const Py_buffer* memory = PyMemoryView_GET_BUFFER(view);
  const int64_t wanted = tpy_count_bytes(sizes->at, sizes->n, tpy_itemsize(dtype));
  const int64_t there = offset >= 0 && offset < memory->len ? (int64_t)memory->len - offset : 0;
  if (wanted < 0 || wanted > there || !PyBuffer_IsContiguous(memory, 'C')) {
    PyErr_Format(tpy.value_error, "expected at least %lld contiguous bytes from %lld on, got %lld",
                 (long long)wanted, (long long)offset, (long long)there);
    return NULL;
  }
  const int32_t flags = memory->readonly ? TSR_FROM_DATA_READ_ONLY : 0;
  char* data = wanted > 0 ? (char*)memory->buf + offset : NULL;
  tsr_tensor made = NULL;
  tsr_status status;
  void* user = Py_NewRef(view);
  TPY_CALL(status, tsr_tensor_from_data(data, dtype, TSR_DEVICE_CPU, 0, sizes->at, sizes->n, NULL,
                                        -1, flags, user, tpy_drop, &made));
  return tpy_result(status, made);
}

/* from_buffer(owner, dtype, shape, offset): a tensor on the bytes of an object with the buffer
 * protocol. */
PyObject* py_from_buffer(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  static const tpy_parameter parameters[] = {{.names = "buffer", .kind = TPY_TENSOR},
                                             {.names = "dtype", .kind = TPY_DTYPE},
                                             {.names = "shape", .kind = TPY_INTS},
                                             {.names = "offset", .kind = TPY_INT64}};
  static PyObject* keys[4 * TPY_MAX_ALIASES];
  static const tpy_signature sig = {"frombuffer", 4, 4, 4, -1, 0, parameters, keys};
  if (!tpy_count_arguments("from_buffer", nargs, 4) || (keys[0] == NULL && !tpy_prepare(&sig)))
    return NULL;
  tsr_dtype dtype = -1;
  int64_t offset = 0;
  tpy_list sizes;
  if (!tpy_dtype(&sig, 1, args[1], &dtype) || !tpy_int64(&sig, 3, args[3], 0, &offset)) return NULL;
  PyObject* made = NULL;
  if (tpy_ints(&sig, 2, args[2], &sizes)) {
    PyObject* view = PyMemoryView_FromObject(args[0]);
    if (view != NULL) made = tpy_from_view(view, dtype, &sizes, offset);
    Py_XDECREF(view);
  }
  tpy_free_list(&sizes);
  return made;
}
