/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Methods of tensors that are not ops: metadata under PyTorch's names, conversions,
 * requires_grad. */
#include "native.h"
#include "redirect.h"

/* ---- metadata ---- */

static PyObject* tensor_element_size(PyObject* self, PyObject* unused) {
  tsr_info info;
  (void)unused;
  return tpy_info(self, &info) ? PyLong_FromSsize_t(tpy_itemsize(info.dtype)) : NULL;
}

static PyObject* tensor_is_floating_point(PyObject* self, PyObject* unused) {
  tsr_info info;
  (void)unused;
  if (!tpy_info(self, &info)) return NULL;
  return PyBool_FromLong(tpy_kind_of(info.dtype) == TPY_KIND_FLOAT ||
                         tpy_kind_of(info.dtype) == TPY_KIND_BFLOAT);
}

static PyObject* tensor_is_complex(PyObject* self, PyObject* unused) {
  tsr_info info;
  (void)unused;
  return tpy_info(self, &info) ? PyBool_FromLong(tpy_kind_of(info.dtype) == TPY_KIND_COMPLEX)
                               : NULL;
}

/* Attributes that PyTorch has as methods. */
static PyObject* tensor_dim(PyObject* self, PyObject* unused) {
  (void)unused;
  return tensor_get(self, TPY_GET_NDIM);
}

static PyObject* tensor_numel(PyObject* self, PyObject* unused) {
  (void)unused;
  return tensor_get(self, TPY_GET_SIZE);
}

static PyObject* tensor_storage_offset(PyObject* self, PyObject* unused) {
  (void)unused;
  return tensor_get(self, TPY_GET_OFFSET);
}

static PyObject* tensor_data_ptr(PyObject* self, PyObject* unused) {
  (void)unused;
  return tensor_get(self, TPY_GET_DATA);
}

static PyObject* tensor_is_contiguous(PyObject* self, PyObject* unused) {
  (void)unused;
  return tensor_get(self, TPY_GET_CONTIGUOUS);
}

/* The only argument of a method, by position or by `name`; `absent` if it is not given, NULL with
 * an exception for any other argument. */
static PyObject* tpy_only(const char* function, const char* name, PyObject* const* args,
                          Py_ssize_t nargs, PyObject* kwnames, PyObject* absent) {
  const Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
  if (nargs + named > 1) {
    return PyErr_Format(PyExc_TypeError, "%s(): takes at most 1 argument, got %zd", function,
                        nargs + named);
  }
  if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), name) != 0) {
    return PyErr_Format(PyExc_TypeError, "%s(): unexpected keyword argument '%U'", function,
                        PyTuple_GET_ITEM(kwnames, 0));
  }
  return nargs + named == 1 ? args[0] : absent;
}

static PyObject* tensor_stride(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames) {
  PyObject* axis = tpy_only("stride", "axis", args, nargs, kwnames, Py_None);
  tsr_info info;
  if (axis == NULL || !tpy_info(self, &info)) return NULL;
  PyObject* strides = tpy_int_tuple(info.strides, info.ndim);
  if (axis == Py_None || strides == NULL) return strides;
  PyObject* stride = PyObject_GetItem(strides, axis);
  Py_DECREF(strides);
  return stride;
}

static PyObject* tensor_switch_grad(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                    PyObject* kwnames) {
  PyObject* value = tpy_only("requires_grad_", "requires_grad", args, nargs, kwnames, Py_True);
  if (value == NULL || tensor_set_requires_grad(self, value, NULL) < 0) return NULL;
  return Py_NewRef(self);
}

static PyObject* tensor_contiguous(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  if (info.flags & TSR_TENSOR_CONTIGUOUS) return Py_NewRef(self);
  if (tpy_handle(self) == NULL) return tpy_redirect_call("contiguous", "(O)", self);
  return tpy_operate_unary(tsr_contiguous, self);
}

static void tpy_drop_tensor(void* tensor) {
  tsr_tensor_release((tsr_tensor)tensor);
}

/* Another tensor on the memory of `plain`; takes over `plain`. For devices by DLPack, which
 * handles streams. */
static tsr_status tpy_share(tsr_tensor plain, const tsr_info* info, tsr_tensor* made) {
  if (info->device_type == TSR_DEVICE_CPU) {
    const int32_t flags = info->flags & TSR_TENSOR_READ_ONLY ? TSR_FROM_DATA_READ_ONLY : 0;
    return tsr_tensor_from_data(info->data, info->dtype, TSR_DEVICE_CPU, 0, info->sizes, info->ndim,
                                info->strides, info->ndim, flags, plain, tpy_drop_tensor, made);
  }
  struct DLManagedTensorVersioned* managed = NULL;
  tsr_status status = tsr_to_dlpack_versioned(plain, 1, 0, NULL, &managed);
  tsr_tensor_release(plain);
  if (status != TSR_OK) return status;
  status = tsr_from_dlpack_versioned(managed, 0, made);
  if (status != TSR_OK) ((tpy_versioned*)managed)->deleter((tpy_versioned*)managed);
  return status;
}

/* The attribute `data`: another tensor on the same memory; autograd's version check ignores writes
 * to it. */
PyObject* tensor_get_data(PyObject* self, void* closure) {
  (void)closure;
  tsr_tensor plain = NULL, made = NULL;
  tsr_info info = {sizeof info};
  tsr_status status = tsr_detach(tpy_handle(self), &plain);
  if (status == TSR_OK) {
    status = tsr_tensor_info(plain, &info);
    if (status == TSR_OK)
      TPY_CALL(status, tpy_share(plain, &info, &made));
    else
      tsr_tensor_release(plain);
  }
  return tpy_result_as(tpy_class_for(self, self), status, made);
}

/* ---- conversions ---- */

/* Whether a conversion may copy. */
enum { TPY_MAY_COPY = -1, TPY_NEVER_COPY = 0, TPY_MUST_COPY = 1 };

/* Whether the tensor already has this dtype and device; an argument of -1 means any. Returns -1 on
 * failure. */
static int tpy_fits(PyObject* self, tsr_dtype dtype, int32_t type, int32_t index) {
  tsr_info info;
  if (!tpy_info(self, &info)) return -1;
  const int there = type < 0 || (type == info.device_type && index == info.device_index);
  return there && (dtype < 0 || dtype == info.dtype);
}

static PyObject* tpy_move(PyObject* self, tsr_dtype dtype, int32_t type, int32_t index, int copy,
                          int non_blocking) {
  const int fits = tpy_fits(self, dtype, type, index);
  if (fits < 0) return NULL;
  if (fits && !copy) return Py_NewRef(self);
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_to(tpy_handle(self), type, index, dtype, copy, non_blocking, &out));
  if (status != TSR_OK && tpy_handle(self) == NULL) {
    const int may = copy ? TPY_MUST_COPY : TPY_MAY_COPY;  // to() copies where it has to
    return tpy_blank_converted(self, dtype, type, index, may);
  }
  return tpy_result_alias(status, out, self);
}

static PyObject* tpy_convert(PyObject* self, tsr_dtype dtype, int32_t type, int32_t index,
                             int copy) {
  const int fits = tpy_fits(self, dtype, type, index);
  if (fits < 0) return NULL;
  if (fits && copy != TPY_MUST_COPY) return Py_NewRef(self);
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_asarray(tpy_handle(self), dtype, type, index, copy, &out));
  if (status != TSR_OK && tpy_handle(self) == NULL)
    return tpy_blank_converted(self, dtype, type, index, copy);
  return tpy_result_alias(status, out, self);
}

/* convert(tensor, dtype or None, device or None, copy or None) */
PyObject* py_convert(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("convert", nargs, 4)) return NULL;
  tsr_dtype dtype;
  int32_t type, index;
  if (!tpy_has_tensor_type(args[0]))
    return PyErr_Format(tpy.type_error, "convert(): expected a Tensor");
  if (!tpy_dtype(NULL, 0, args[1], &dtype) || !tpy_device(NULL, 0, args[2], &type, &index))
    return NULL;
  const int copy = args[3] == Py_None ? TPY_MAY_COPY : PyObject_IsTrue(args[3]);
  if (PyErr_Occurred()) return NULL;
  return tpy_convert(args[0], dtype, type, index, copy);
}

static PyObject* tensor_to_float(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_FLOAT32, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_double(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_FLOAT64, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_half(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_FLOAT16, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_bfloat16(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_BFLOAT16, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_int(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_INT32, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_short(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_INT16, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_char(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_INT8, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_byte(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_UINT8, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_long(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_INT64, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_to_bool(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, TSR_BOOL, -1, -1, TPY_MAY_COPY);
}

static PyObject* tensor_cpu(PyObject* self, PyObject* unused) {
  (void)unused;
  return tpy_convert(self, -1, TSR_DEVICE_CPU, 0, TPY_MAY_COPY);
}

/* The arguments of to(); borrowed references. */
typedef struct {
  PyObject *dtype, *device, *like;
  int copy, non_blocking;
} tpy_target;

static int tpy_to_positional(tpy_target* to, PyObject* item) {
  if (tpy_has_tensor_type(item)) {
    to->like = item;
  } else if (PyBool_Check(item)) {
    to->copy = item == Py_True;
  } else if (PyObject_TypeCheck(item, (PyTypeObject*)tpy.device_class)) {
    to->device = item;
  } else if (PyUnicode_Check(item)) {
    const int known = PyDict_Contains(tpy.dtype_names, item);
    if (known < 0) return 0;
    *(known ? &to->dtype : &to->device) = item;
  } else if (item != Py_None) {
    to->dtype = item;
  }
  return 1;
}

static int tpy_to_keyword(tpy_target* to, PyObject* name, PyObject* value) {
  if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
    to->dtype = value;
  } else if (PyUnicode_CompareWithASCIIString(name, "device") == 0) {
    to->device = value;
  } else if (PyUnicode_CompareWithASCIIString(name, "copy") == 0) {
    to->copy = PyObject_IsTrue(value);
  } else if (PyUnicode_CompareWithASCIIString(name, "non_blocking") == 0) {
    to->non_blocking = PyObject_IsTrue(value);
  } else {
    PyErr_Format(PyExc_TypeError, "to(): unexpected keyword argument '%U'", name);
    return 0;
  }
  return to->copy >= 0 && to->non_blocking >= 0;
}

/* to(dtype, device, tensor or copy in any order; dtype=, device=, copy=, non_blocking=). */
static PyObject* tensor_to(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  tpy_target to = {NULL, NULL, NULL, 0, 0};
  const Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    if (!tpy_to_keyword(&to, PyTuple_GET_ITEM(kwnames, i), args[nargs + i])) return NULL;
  }
  tsr_dtype dtype = -1;
  int32_t type = -1, index = -1;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (!tpy_to_positional(&to, args[i])) return NULL;
  }
  if (to.like != NULL) {
    tsr_info info;
    if (!tpy_info(to.like, &info)) return NULL;
    dtype = info.dtype;
    type = info.device_type;
    index = info.device_index;
  }
  if (!tpy_absent(to.dtype) && !tpy_dtype(NULL, 0, to.dtype, &dtype)) return NULL;
  if (!tpy_absent(to.device) && !tpy_device(NULL, 0, to.device, &type, &index)) return NULL;
  return tpy_move(self, dtype, type, index, to.copy, to.non_blocking);
}

static PyObject* tensor_pin_memory(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                   PyObject* kwnames) {
  PyObject* device = tpy_only("pin_memory", "device", args, nargs, kwnames, Py_None);
  int32_t type = -1, index = -1;
  tsr_tensor out = NULL;
  tsr_status status;
  if (device == NULL) return NULL;
  if (device != Py_None && !tpy_device(NULL, 0, device, &type, &index)) return NULL;
  TPY_CALL(status, tsr_tensor_pin_memory(tpy_handle(self), type, index, &out));
  return tpy_result_alias(status, out, self);
}

static PyObject* tensor_is_pinned(PyObject* self, PyObject* unused) {
  (void)unused;
  int32_t pinned = 0;
  const tsr_status status = tsr_tensor_is_pinned(tpy_handle(self), &pinned);
  if (status != TSR_OK) return tpy_fail(status);
  return PyBool_FromLong(pinned);
}

/* A name in this table takes precedence over the method of an op. */
PyMethodDef tensor_methods[] = {
    {"item", tensor_item, METH_NOARGS, "The value of a tensor of one element."},
    {"numpy", tensor_numpy, METH_NOARGS, "A NumPy array on the same memory."},
    {"tolist", tensor_tolist, METH_NOARGS, "Nested lists of Python numbers."},
    {"dim", tensor_dim, METH_NOARGS, "Number of axes."},
    {"ndimension", tensor_dim, METH_NOARGS, "Number of axes."},
    {"numel", tensor_numel, METH_NOARGS, "Number of elements."},
    {"nelement", tensor_numel, METH_NOARGS, "Number of elements."},
    {"element_size", tensor_element_size, METH_NOARGS, "Bytes of an element."},
    {"storage_offset", tensor_storage_offset, METH_NOARGS,
     "Offset of the first element in its storage."},
    {"data_ptr", tensor_data_ptr, METH_NOARGS, "Address of the first element."},
    {"is_contiguous", tensor_is_contiguous, METH_NOARGS, "Row-major without gaps."},
    {"is_floating_point", tensor_is_floating_point, METH_NOARGS,
     "Whether the dtype is a floating one."},
    {"is_complex", tensor_is_complex, METH_NOARGS, "Whether the dtype is a complex one."},
    {"contiguous", tensor_contiguous, METH_NOARGS,
     "The tensor itself when it is row-major, else a row-major copy."},
    {"stride", (PyCFunction)(void (*)(void))tensor_stride, METH_FASTCALL | METH_KEYWORDS,
     "stride($self, axis=None)\n--\n\nStrides in elements: of all axes, or of one."},
    {"requires_grad_", (PyCFunction)(void (*)(void))tensor_switch_grad,
     METH_FASTCALL | METH_KEYWORDS,
     "requires_grad_($self, requires_grad=True)\n--\n\nSets requires_grad; returns the tensor."},
    {"to", (PyCFunction)(void (*)(void))tensor_to, METH_FASTCALL | METH_KEYWORDS,
     "to($self, *args, dtype=None, device=None, copy=False, non_blocking=False)\n--\n\n"
     "The tensor with another dtype, on another device, or like another tensor."},
    {"_rebind", tensor_rebind, METH_O, "Makes this object one of another tensor."},
    {"pin_memory", (PyCFunction)(void (*)(void))tensor_pin_memory, METH_FASTCALL | METH_KEYWORDS,
     "pin_memory($self, device=None)\n--\n\n"
     "The tensor in pinned memory, from which the device copies on its own (non_blocking=True)."},
    {"is_pinned", tensor_is_pinned, METH_NOARGS,
     "Whether the tensor lies in memory of pin_memory()."},
    {"float", tensor_to_float, METH_NOARGS, "The tensor as float32."},
    {"double", tensor_to_double, METH_NOARGS, "The tensor as float64."},
    {"half", tensor_to_half, METH_NOARGS, "The tensor as float16."},
    {"bfloat16", tensor_to_bfloat16, METH_NOARGS, "The tensor as bfloat16."},
    {"int", tensor_to_int, METH_NOARGS, "The tensor as int32."},
    {"short", tensor_to_short, METH_NOARGS, "The tensor as int16."},
    {"char", tensor_to_char, METH_NOARGS, "The tensor as int8."},
    {"byte", tensor_to_byte, METH_NOARGS, "The tensor as uint8."},
    {"long", tensor_to_long, METH_NOARGS, "The tensor as int64."},
    {"bool", tensor_to_bool, METH_NOARGS, "The tensor as bool."},
    {"cpu", tensor_cpu, METH_NOARGS, "The tensor on the host."},
    {NULL, NULL, 0, NULL},
};
