/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The buffer protocol of tensors, and numpy() over it. */
#include "native.h"

/* The state of an exported buffer. The alias keeps the memory alive, even if an out= call gives
 * the tensor itself new memory while the buffer is in use. */
typedef struct {
  tsr_tensor alias;
  Py_ssize_t strides[]; /* in bytes */
} tpy_export;

/* The format letter of the struct module, as NumPy uses it; NULL for bfloat16, which has none. */
static const char* tpy_format(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_BOOL:
      return "?";
    case TSR_UINT8:
      return "B";
    case TSR_UINT16:
      return "H";
    case TSR_UINT32:
      return "I";
    case TSR_UINT64:
      return sizeof(long) == 8 ? "L" : "Q";
    case TSR_INT8:
      return "b";
    case TSR_INT16:
      return "h";
    case TSR_INT32:
      return "i";
    case TSR_INT64:
      return sizeof(long) == 8 ? "l" : "q";
    case TSR_FLOAT16:
      return "e";
    case TSR_FLOAT32:
      return "f";
    case TSR_FLOAT64:
      return "d";
    case TSR_COMPLEX64:
      return "Zf";
    case TSR_COMPLEX128:
      return "Zd";
    default:
      return NULL;
  }
}

/* NULL if the memory can be exported, else the reason why not. */
static const char* tpy_no_buffer(const tsr_info* info) {
  if ((info->flags & TSR_TENSOR_REQUIRES_GRAD) && tsr_grad_mode())
    return "the tensor requires grad; use .detach()";
  if (info->device_type != TSR_DEVICE_CPU) return "the tensor is not on the CPU; use .to('cpu')";
  return tpy_format(info->dtype) == NULL
             ? "no format for the elements of bfloat16; use .astype(tessera.float32)"
             : NULL;
}

static int tpy_buffer_refuse(const char* why) {
  PyErr_SetString(tpy.access_error != NULL ? tpy.access_error : PyExc_BufferError, why);
  return -1;
}

/* Whether the consumer's flags allow the layout of the tensor. */
static int tpy_buffer_fits(const Py_buffer* view, int flags) {
  const int strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) return PyBuffer_IsContiguous(view, 'C');
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) return PyBuffer_IsContiguous(view, 'F');
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS)
    return PyBuffer_IsContiguous(view, 'A');
  return strided || PyBuffer_IsContiguous(view, 'C');
}

static void tpy_end_export(tpy_export* export) {
  tsr_storage_give_back(export->alias);
  tsr_tensor_release(export->alias);
  PyMem_Free(export);
}

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  static char nowhere[16]; /* consumers need an address even for no elements */
  view->obj = NULL;
  tsr_info info;
  if (!tpy_info(self, &info)) return -1;
  const char* why = tpy_no_buffer(&info);
  if (why == NULL && (flags & PyBUF_WRITABLE) && (info.flags & TSR_TENSOR_READ_ONLY))
    why = "the memory is read-only";
  if (why != NULL) return tpy_buffer_refuse(why);
  if (!tpy_may_read(self)) return -1;
  tpy_export* export = PyMem_Malloc(sizeof *export + sizeof(Py_ssize_t) * (size_t)info.ndim);
  if (export == NULL) return PyErr_NoMemory(), -1;
  tsr_status status = tsr_detach(tpy_handle(self), &export->alias);
  if (status == TSR_OK) {
    info.struct_size = sizeof info;
    status = tsr_tensor_info(export->alias, &info);
    if (status == TSR_OK) status = tsr_storage_lend(export->alias);
    if (status != TSR_OK) tsr_tensor_release(export->alias);
  }
  if (status != TSR_OK) {
    PyMem_Free(export);
    tpy_fail(status);
    return -1;
  }
  const Py_ssize_t itemsize = tpy_itemsize(info.dtype);
  for (int32_t i = 0; i < info.ndim; ++i)
    export->strides[i] = (Py_ssize_t)info.strides[i] * itemsize;
  _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are lent as they are");
  view->buf = info.data != NULL ? info.data : nowhere;
  view->len = (Py_ssize_t)info.nbytes;
  view->readonly = (info.flags & TSR_TENSOR_READ_ONLY) != 0;
  view->itemsize = itemsize;
  view->format = (char*)tpy_format(info.dtype);
  view->ndim = info.ndim;
  view->shape = info.ndim > 0 ? (Py_ssize_t*)info.sizes : NULL;
  view->strides = info.ndim > 0 ? export->strides : NULL;
  view->suboffsets = NULL;
  view->internal = export;
  if (!tpy_buffer_fits(view, flags)) {
    tpy_end_export(export);
    return tpy_buffer_refuse("the memory is not contiguous; use .contiguous()");
  }
  if (!(flags & PyBUF_FORMAT)) view->format = NULL;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = NULL;
  if (!(flags & PyBUF_ND)) view->shape = NULL;
  view->obj = Py_NewRef(self);
  return 0;
}

void tensor_releasebuffer(PyObject* self, Py_buffer* view) {
  (void)self;
  tpy_end_export(view->internal);
}

/* numpy(): numpy.asarray takes the buffer. A tensor without one takes the slow path, which raises
 * the reason. */
PyObject* tensor_numpy(PyObject* self, PyObject* unused) {
  (void)unused;
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  return PyObject_CallOneArg(tpy_no_buffer(&info) == NULL ? tpy.as_array : tpy.no_array, self);
}
