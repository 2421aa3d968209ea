/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * What the C parts of the extension share: the Python object of a tensor, the state, the call macro. */
#ifndef TESSERA_PY_MODULE_H
#define TESSERA_PY_MODULE_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>
#include <tessera/tessera.h>

/* A Python tensor owns one reference to its handle, for its whole life. */
typedef struct tpy_object {
  PyObject_HEAD
  tsr_tensor handle;
  PyObject* weakrefs;
  struct tpy_object* grad;   /* the object that grad gave last, while it lives; not owned */
  struct tpy_object* users;  /* the first of those that have this one as their grad */
  struct tpy_object* next;   /* among the users of `grad` */
  struct tpy_object** place; /* what points to this one there */
} tpy_object;

/* A Python node owns one reference to its handle. */
typedef struct {
  PyObject_HEAD
  tsr_node node;
  PyObject* weakrefs;
} tpy_node;

#define TPY_MAX_DTYPES 32
#define TPY_DTYPE_PLACES 64 /* 8 kinds, 8 sizes */

/* Objects of the Python layer that C calls or makes; filled once by register(). */
static struct {
  PyTypeObject* base;     /* TensorBase, made here */
  PyTypeObject* tensor;   /* the class of results */
  PyObject* raise_status; /* (status) raises the exception of this thread's error record */
  PyObject* number;       /* (object) gives a Python number, or NotImplemented */
  PyObject* operand;      /* (number, tensor) gives a 0-dim tensor to stand for the number */
  PyObject* to_dtype;     /* (object) gives a dtype */
  PyObject* to_device;    /* (object) gives a device: any pair (type, index) */
  PyObject* make_device;  /* (type, index) gives a device */
  PyObject* cpu;          /* the device of the host */
  PyObject* device_class; /* the class of devices */
  PyObject* dtype_names;  /* dict: name of a dtype -> dtype */
  PyObject* to_index;     /* (object) gives a tensor of integers or bools */
  PyTypeObject* node;     /* NodeBase, made here; Node once that is registered */
  PyObject* as_array;     /* (buffer) gives a NumPy array on its memory */
  PyObject* no_array;     /* (tensor) raises why it cannot be a NumPy array */
  PyObject* access_error; /* the exception of memory that cannot be lent */
  PyObject* type_error;   /* those of wrong types, values, indices: errors of the library and Python's at once */
  PyObject* value_error;
  PyObject* index_error;
  PyObject* results;      /* dict: name of an op -> named tuple of its results */
  PyTypeObject* ndarray;  /* numpy.ndarray */
  PyObject* from_ndarray; /* (array, whether to copy) gives a tensor of its elements */
  int n_dtypes;
  tsr_dtype dtype_bits[TPY_MAX_DTYPES];
  PyObject* dtypes[TPY_MAX_DTYPES];
  PyObject* dtype_at[TPY_DTYPE_PLACES]; /* the same by tpy_dtype_place */
} tpy;

/* Kind and size of a dtype as one small number. */
static inline unsigned tpy_dtype_place(tsr_dtype bits) {
  const unsigned size = (unsigned)bits >> 8 & 0xff;
  return ((unsigned)bits & 7) << 3 | (unsigned)(size >= 128 ? 7 : size >= 64 ? 6 : size >= 32 ? 5 : size >= 16 ? 4 : 3);
}

/* An attribute by a name that is made a string once. */
static PyObject* tpy_attribute(PyObject* object, PyObject** cell, const char* name) {
  if (*cell == NULL && (*cell = PyUnicode_InternFromString(name)) == NULL) return NULL;
  return PyObject_GetAttr(object, *cell);
}

#define TPY_IS_TENSOR(o) (Py_TYPE(o) == tpy.tensor || PyObject_TypeCheck((o), tpy.base))
#define TPY_HANDLE(o) (((tpy_object*)(o))->handle)

static inline int tpy_is_array(PyObject* object) { return PyObject_TypeCheck(object, tpy.ndarray); }

/* The library runs with the lock released: other threads go on, and callbacks take it again. */
#define TPY_CALL(status, call)                  \
  do {                                          \
    PyThreadState* tpy_save = PyEval_SaveThread(); \
    (status) = (call);                          \
    PyEval_RestoreThread(tpy_save);             \
  } while (0)

/* Raises the exception of a status; returns NULL. */
static PyObject* tpy_fail(tsr_status status) {
  PyObject* none = PyObject_CallFunction(tpy.raise_status, "i", (int)status);
  Py_XDECREF(none);
  if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "tessera status %d", (int)status);
  return NULL;
}

/* Takes over the handle; on failure to make the object, releases it. */
static PyObject* tpy_wrap_as(PyTypeObject* type, tsr_tensor handle) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == NULL) {
    tsr_tensor_release(handle);
    return NULL;
  }
  TPY_HANDLE(self) = handle;
  return self;
}

/* Takes over the reference to a node; None for none. */
static PyObject* tpy_wrap_node(tsr_node node) {
  if (node == NULL) Py_RETURN_NONE;
  PyObject* self = tpy.node->tp_alloc(tpy.node, 0);
  if (self == NULL) tsr_node_release(node);
  else ((tpy_node*)self)->node = node;
  return self;
}

/* The result of a call: a tensor that takes over the handle, or the exception of the status. */
static inline PyObject* tpy_result(tsr_status status, tsr_tensor handle) {
  if (status != TSR_OK) return tpy_fail(status);
  if (handle == NULL) Py_RETURN_NONE;
  return tpy_wrap_as(tpy.tensor, handle);
}

/* As tpy_result, for functions that may hand back their own input: that stays one Python object. */
static inline PyObject* tpy_result_alias(tsr_status status, tsr_tensor handle, PyObject* input) {
  if (status == TSR_OK && handle == TPY_HANDLE(input)) {
    tsr_tensor_release(handle);
    return Py_NewRef(input);
  }
  return tpy_result(status, handle);
}

/* The result of an in-place or out= call: the tensor that was written. */
static inline PyObject* tpy_same(tsr_status status, PyObject* object) {
  if (status != TSR_OK) return tpy_fail(status);
  return Py_NewRef(object);
}

/* ---- NumPy arrays ---- */

static int tpy_wants_grad(PyObject* object) {
  tsr_info info = {sizeof info};
  return TPY_IS_TENSOR(object) && tsr_tensor_info(TPY_HANDLE(object), &info) == TSR_OK &&
         (info.flags & TSR_TENSOR_REQUIRES_GRAD) != 0;
}

/* A tensor of the elements of an array. What the backward may need is copied: nobody counts the writes to an array. */
static PyObject* tpy_array_operand(PyObject* array, int recorded) {
  return PyObject_CallFunctionObjArgs(tpy.from_ndarray, array, recorded && tsr_grad_mode() ? Py_True : Py_False, NULL);
}

#endif
