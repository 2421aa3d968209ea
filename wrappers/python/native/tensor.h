/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The type TensorBase: life of the handle, metadata, the values of one-element tensors. */
#ifndef TESSERA_PY_TENSOR_H
#define TESSERA_PY_TENSOR_H

#include "arguments.h"

/* ---- life ---- */

/* Takes a tensor out of the users of its gradient's object. Neither of the two owns the other: a reference would keep
 * the memory of a gradient that the library has let go. */
static void tpy_forget_grad(tpy_object* user) {
  if (user->grad == NULL) return;
  *user->place = user->next;
  if (user->next != NULL) user->next->place = user->place;
  user->grad = NULL;
}

static void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  tpy_forget_grad((tpy_object*)self);
  while (((tpy_object*)self)->users != NULL) tpy_forget_grad(((tpy_object*)self)->users);
  if (((tpy_object*)self)->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  tsr_tensor_release(TPY_HANDLE(self));
  type->tp_free(self);
  Py_DECREF(type);
}

/* ---- the collector ----
 * A tensor leads to Python objects only by way of the library: the callables of its hooks and of custom functions. Most
 * have none, so that a tensor is shown to the collector when it gets one; until then it costs the collector nothing. */

static PyObject* tensor_alloc(PyTypeObject* type, Py_ssize_t count) {
  (void)count;
  PyObject* self = (PyObject*)PyObject_GC_New(tpy_object, type);
  if (self != NULL) memset((char*)self + sizeof(PyObject), 0, sizeof(tpy_object) - sizeof(PyObject));
  return self;
}

static void tpy_show_to_collector(PyObject* tensor) {
  if (!PyObject_GC_IsTracked(tensor)) PyObject_GC_Track(tensor);
}

static void tpy_drop(void* user);

typedef struct {
  visitproc visit;
  void* arg;
  int result;
} tpy_visitor;

static void tpy_visit_user(void* arg, void* user, tsr_drop_fn drop) {
  tpy_visitor* visitor = arg;
  if (drop == tpy_drop && visitor->result == 0) visitor->result = visitor->visit(user, visitor->arg);
}

/* The library calls back only when this object's reference is the last one. */
static int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  tpy_visitor visitor = {visit, arg, 0};
  if (TPY_HANDLE(self) != NULL) (void)tsr_tensor_traverse(TPY_HANDLE(self), tpy_visit_user, &visitor);
  return visitor.result;
}

/* Of an object that nobody can reach any more. */
static int tensor_clear(PyObject* self) {
  tsr_tensor handle = TPY_HANDLE(self);
  TPY_HANDLE(self) = NULL;
  tsr_tensor_release(handle);
  return 0;
}

/* Class(tensor): another Python object, of this class, for the same tensor. */
static PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* other = NULL;
  if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", type->tp_name);
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "O", &other)) return NULL;
  if (!TPY_IS_TENSOR(other)) {
    PyErr_Format(tpy.type_error, "expected a Tensor, got %s; tessera.tensor(data) makes one from data",
                 Py_TYPE(other)->tp_name);
    return NULL;
  }
  tsr_tensor_retain(TPY_HANDLE(other));
  return tpy_wrap_as(type, TPY_HANDLE(other));
}

static Py_hash_t tensor_hash(PyObject* self) { return (Py_hash_t)((size_t)self >> 4); }

/* ---- metadata ---- */

static int tpy_info(PyObject* self, tsr_info* info) {
  info->struct_size = sizeof *info;
  const tsr_status status = tsr_tensor_info(TPY_HANDLE(self), info);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

static PyObject* tpy_int_tuple(const int64_t* values, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (value == NULL) Py_CLEAR(tuple);
    else PyTuple_SET_ITEM(tuple, i, value);
  }
  return tuple;
}

enum {
  GET_SHAPE, GET_STRIDES, GET_NDIM, GET_SIZE, GET_NBYTES, GET_OFFSET, GET_DATA, GET_REQUIRES_GRAD,
  GET_CONTIGUOUS, GET_READ_ONLY, GET_INFERENCE, GET_VIEW, GET_DTYPE, GET_DTYPE_BITS, GET_DEVICE
};

static PyObject* tpy_find_dtype(tsr_dtype bits) {
  PyObject* dtype = tpy.dtype_at[tpy_dtype_place(bits)];
  if (dtype != NULL) return Py_NewRef(dtype);
  PyErr_Format(PyExc_RuntimeError, "unknown dtype bits %x", (unsigned)bits);
  return NULL;
}

static PyObject* tensor_get(PyObject* self, void* closure) {
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  switch ((intptr_t)closure) {
    case GET_SHAPE: return tpy_int_tuple(info.sizes, info.ndim);
    case GET_STRIDES: return tpy_int_tuple(info.strides, info.ndim);
    case GET_NDIM: return PyLong_FromLong(info.ndim);
    case GET_SIZE: return PyLong_FromLongLong(info.numel);
    case GET_NBYTES: return PyLong_FromLongLong(info.nbytes);
    case GET_OFFSET: return PyLong_FromLongLong(info.storage_offset);
    case GET_DATA: return PyLong_FromVoidPtr(info.data);
    case GET_REQUIRES_GRAD: return PyBool_FromLong(info.flags & TSR_TENSOR_REQUIRES_GRAD);
    case GET_CONTIGUOUS: return PyBool_FromLong(info.flags & TSR_TENSOR_CONTIGUOUS);
    case GET_READ_ONLY: return PyBool_FromLong(info.flags & TSR_TENSOR_READ_ONLY);
    case GET_INFERENCE: return PyBool_FromLong(info.flags & TSR_TENSOR_INFERENCE);
    case GET_VIEW: return PyBool_FromLong(info.flags & TSR_TENSOR_VIEW);
    case GET_DTYPE: return tpy_find_dtype(info.dtype);
    case GET_DTYPE_BITS: return PyLong_FromLong(info.dtype);
    default: break;
  }
  if (info.device_type == TSR_DEVICE_CPU && tpy.cpu != NULL) return Py_NewRef(tpy.cpu);
  return PyObject_CallFunction(tpy.make_device, "ii", (int)info.device_type, (int)info.device_index);
}

static int tensor_set_requires_grad(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  const int truth = value != NULL ? PyObject_IsTrue(value) : 0;
  if (truth < 0) return -1;
  const tsr_status status = tsr_tensor_set_requires_grad(TPY_HANDLE(self), truth);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK ? 0 : -1;
}

/* The object that stands for the gradient is the same as long as somebody holds it and the gradient is the same tensor.
 * An object that is on its way out (its count is 0) must not come back. */
static PyObject* tpy_cached_grad(PyObject* self, tsr_tensor grad) {
  PyObject* object = (PyObject*)((tpy_object*)self)->grad;
  return object != NULL && TPY_HANDLE(object) == grad && Py_REFCNT(object) > 0 ? Py_NewRef(object) : NULL;
}

static void tpy_cache_grad(PyObject* self, PyObject* object) {
  tpy_object *user = (tpy_object*)self, *grad = (tpy_object*)object;
  tpy_forget_grad(user);
  user->grad = grad;
  user->next = grad->users;
  user->place = &grad->users;
  if (user->next != NULL) user->next->place = &user->next;
  grad->users = user;
}

static PyObject* tensor_get_grad(PyObject* self, void* closure) {
  (void)closure;
  tsr_tensor grad = NULL;
  const tsr_status status = tsr_tensor_grad(TPY_HANDLE(self), &grad);
  if (status != TSR_OK) return tpy_fail(status);
  if (grad == NULL) Py_RETURN_NONE;
  PyObject* object = tpy_cached_grad(self, grad);
  if (object != NULL) {
    tsr_tensor_release(grad);
    return object;
  }
  object = tpy_wrap_as(tpy.tensor, grad);
  if (object != NULL) tpy_cache_grad(self, object);
  return object;
}

static int tensor_set_grad(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  tsr_tensor grad = NULL;
  if (!tpy_absent(value)) {
    if (!TPY_IS_TENSOR(value)) {
      PyErr_Format(tpy.type_error, "grad: expected a Tensor or None, got %s", Py_TYPE(value)->tp_name);
      return -1;
    }
    grad = TPY_HANDLE(value);
  }
  const tsr_status status = tsr_tensor_set_grad(TPY_HANDLE(self), grad);
  if (status != TSR_OK) return tpy_fail(status), -1;
  if (grad != NULL) tpy_cache_grad(self, value);
  return 0;
}

static PyObject* tensor_get_grad_fn(PyObject* self, void* closure) {
  (void)closure;
  tsr_node node = NULL;
  const tsr_status status = tsr_tensor_grad_fn(TPY_HANDLE(self), &node);
  if (status != TSR_OK) return tpy_fail(status);
  return tpy_wrap_node(node);
}

static PyObject* tensor_get_is_leaf(PyObject* self, void* closure) {
  (void)closure;
  int32_t value = 0;
  const tsr_status status = tsr_tensor_is_leaf(TPY_HANDLE(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyBool_FromLong(value);
}

static PyObject* tensor_get_retains_grad(PyObject* self, void* closure) {
  (void)closure;
  int32_t value = 0;
  const tsr_status status = tsr_tensor_retains_grad(TPY_HANDLE(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyBool_FromLong(value);
}

static PyObject* tensor_get_version(PyObject* self, void* closure) {
  (void)closure;
  int64_t value = 0;
  const tsr_status status = tsr_tensor_version(TPY_HANDLE(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyLong_FromLongLong(value);
}

static PyObject* tensor_get_address(PyObject* self, void* closure) {
  (void)closure;
  return PyLong_FromVoidPtr(TPY_HANDLE(self));
}

static PyObject* tensor_get_data(PyObject* self, void* closure); /* in methods.h */

static int tensor_set_data(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  if (value == NULL || !TPY_IS_TENSOR(value)) {
    PyErr_Format(tpy.type_error, "data: expected a Tensor, got %s", value ? Py_TYPE(value)->tp_name : "nothing");
    return -1;
  }
  const tsr_status status = tsr_tensor_set_data(TPY_HANDLE(self), TPY_HANDLE(value));
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK ? 0 : -1;
}

#define TPY_GETTER(name, which, doc) {name, tensor_get, NULL, doc, (void*)(intptr_t)(which)}
static PyGetSetDef tensor_getset[] = {
    TPY_GETTER("shape", GET_SHAPE, "Sizes of the axes."),
    TPY_GETTER("_strides", GET_STRIDES, "Strides of the axes, in elements."),
    TPY_GETTER("ndim", GET_NDIM, "Number of axes."),
    TPY_GETTER("size", GET_SIZE, "Number of elements."),
    TPY_GETTER("nbytes", GET_NBYTES, "Bytes of all elements."),
    TPY_GETTER("_offset", GET_OFFSET, "Offset of the first element in its storage."),
    TPY_GETTER("_data_address", GET_DATA, "Address of the first element."),
    TPY_GETTER("_contiguous", GET_CONTIGUOUS, "Row-major without gaps."),
    TPY_GETTER("_read_only", GET_READ_ONLY, "The memory must not be written."),
    TPY_GETTER("_inference", GET_INFERENCE, "Made in inference mode."),
    TPY_GETTER("_view", GET_VIEW, "A view that autograd tracks."),
    TPY_GETTER("dtype", GET_DTYPE, "Type of the elements."),
    TPY_GETTER("_dtype_bits", GET_DTYPE_BITS, "The dtype as the C ABI numbers it."),
    TPY_GETTER("device", GET_DEVICE, "Where the memory is."),
    {"requires_grad", tensor_get, tensor_set_requires_grad, "Whether gradients reach this tensor.",
     (void*)(intptr_t)GET_REQUIRES_GRAD},
    {"grad", tensor_get_grad, tensor_set_grad, "The accumulated gradient, or None.", NULL},
    {"data", tensor_get_data, tensor_set_data,
     "The same memory without history; writes to it go unnoticed by autograd. Assigning gives the tensor the memory, shape, "
     "dtype and device of another one.", NULL},
    {"grad_fn", tensor_get_grad_fn, NULL, "The node that computed this tensor, or None.", NULL},
    {"is_leaf", tensor_get_is_leaf, NULL, "Whether the tensor has no history.", NULL},
    {"retains_grad", tensor_get_retains_grad, NULL, "Whether a backward keeps its gradient.", NULL},
    {"_version", tensor_get_version, NULL, "How often the memory was changed in place.", NULL},
    {"_address", tensor_get_address, NULL, "The handle as a number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(tpy_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* ---- values ---- */

/* By way of the library, which brings the value from any device. */
static PyObject* tpy_item(PyObject* self, const tsr_info* info) {
  const int code = info->dtype & 0xff;
  tsr_status status;
  if (code == 2 || code == 4) {
    double value = 0;
    TPY_CALL(status, tsr_tensor_item_f64(TPY_HANDLE(self), &value));
    return status != TSR_OK ? tpy_fail(status) : PyFloat_FromDouble(value);
  }
  if (code == 5) {
    double real = 0, imag = 0;
    TPY_CALL(status, tsr_tensor_item_c128(TPY_HANDLE(self), &real, &imag));
    return status != TSR_OK ? tpy_fail(status) : PyComplex_FromDoubles(real, imag);
  }
  int64_t value = 0;
  TPY_CALL(status, tsr_tensor_item_i64(TPY_HANDLE(self), &value));
  if (status != TSR_OK) return tpy_fail(status);
  if (code == 6) return PyBool_FromLong(value != 0);
  return code == 1 ? PyLong_FromUnsignedLongLong((uint64_t)value) : PyLong_FromLongLong(value);
}

/* ---- numbers: one table per operator, filled by the generated code ---- */

typedef struct {
  tsr_status (*f64)(tsr_tensor, double, tsr_tensor*);
  tsr_status (*i64)(tsr_tensor, int64_t, tsr_tensor*);
  tsr_status (*c128)(tsr_tensor, double, double, tsr_tensor*);
  tsr_status (*boolean)(tsr_tensor, int32_t, tsr_tensor*);
} tpy_right;

typedef struct {
  tsr_status (*f64)(double, tsr_tensor, tsr_tensor*);
  tsr_status (*i64)(int64_t, tsr_tensor, tsr_tensor*);
  tsr_status (*c128)(double, double, tsr_tensor, tsr_tensor*);
} tpy_left;

typedef struct {
  tsr_status (*tensors)(tsr_tensor, tsr_tensor, tsr_tensor*);
  tpy_right right; /* tensor, number */
  tpy_left left;   /* number, tensor; empty when the operator does not care about the order */
  int commutes;
} tpy_operator;

typedef struct {
  tsr_status (*tensors)(tsr_tensor, tsr_tensor);
  tsr_status (*f64)(tsr_tensor, double);
  tsr_status (*i64)(tsr_tensor, int64_t);
  tsr_status (*c128)(tsr_tensor, double, double);
} tpy_inplace_operator;

#define TPY_TRY(kind_, fn, ...)                    \
  if (kind <= (kind_) && (fn) != NULL) {           \
    TPY_CALL(status, fn(__VA_ARGS__));             \
    return tpy_result(status, out);                \
  }

/* Comparisons have a right answer for every int: any beyond 64 bits is above or below all integers of a tensor. */
static inline int tpy_compares(const tpy_operator* op) {
  return op->tensors == tsr_equal || op->tensors == tsr_not_equal || op->tensors == tsr_less ||
         op->tensors == tsr_less_equal || op->tensors == tsr_greater || op->tensors == tsr_greater_equal;
}

static int tpy_is_whole(PyObject* tensor) {
  tsr_info info = {sizeof info};
  return tsr_tensor_info(TPY_HANDLE(tensor), &info) == TSR_OK && ((info.dtype & 0xff) <= 1 || info.dtype == TSR_BOOL);
}

/* One of the two is an array. */
static PyObject* tpy_operate_array(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !TPY_IS_TENSOR(a);
  PyObject* made = tpy_array_operand(on_left ? a : b, tpy_wants_grad(on_left ? b : a));
  if (made == NULL) return NULL;
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, op->tensors(TPY_HANDLE(on_left ? made : a), TPY_HANDLE(on_left ? b : made), &out));
  Py_DECREF(made);
  return tpy_result(status, out);
}

static PyObject* tpy_operate_number(const tpy_operator* op, PyObject* a, PyObject* b) {
  const int on_left = !TPY_IS_TENSOR(a);
  PyObject* tensor = on_left ? b : a;
  if (tpy_is_array(on_left ? a : b)) return tpy_operate_array(op, a, b);
  tpy_number number;
  const int kind = (tpy_compares(op) ? tpy_as_number : tpy_sized_number)(on_left ? a : b, &number);
  if (kind == TPY_ERROR) return NULL;
  if (kind == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  if (number.large && tpy_is_whole(tensor)) number.re = copysign((double)INFINITY, number.re);
  const tsr_tensor x = TPY_HANDLE(tensor);
  tsr_tensor out = NULL;
  tsr_status status;
  if (kind == TPY_BOOL && op->right.boolean == NULL && tpy_is_bool(tensor)) {
    ; /* lifted below */
  } else if (!on_left || op->commutes) {
    if (kind == TPY_BOOL) TPY_TRY(TPY_BOOL, op->right.boolean, x, (int32_t)number.i, &out);
    TPY_TRY(TPY_I64, op->right.i64, x, number.i, &out);
    TPY_TRY(TPY_F64, op->right.f64, x, number.re, &out);
    TPY_TRY(TPY_C128, op->right.c128, x, number.re, number.im, &out);
  } else {
    TPY_TRY(TPY_I64, op->left.i64, number.i, x, &out);
    TPY_TRY(TPY_F64, op->left.f64, number.re, x, &out);
    TPY_TRY(TPY_C128, op->left.c128, number.re, number.im, x, &out);
  }
  PyObject* keep = NULL;
  tsr_tensor lifted = NULL;
  if (!tpy_lift(on_left ? a : b, tensor, &lifted, &keep)) return NULL;
  TPY_CALL(status, op->tensors(on_left ? lifted : x, on_left ? x : lifted, &out));
  Py_DECREF(keep);
  return tpy_result(status, out);
}

static inline PyObject* tpy_operate(const tpy_operator* op, PyObject* a, PyObject* b) {
  if (!TPY_IS_TENSOR(a) || !TPY_IS_TENSOR(b)) return tpy_operate_number(op, a, b);
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, op->tensors(TPY_HANDLE(a), TPY_HANDLE(b), &out));
  return tpy_result(status, out);
}

static PyObject* tpy_operate_inplace(const tpy_inplace_operator* op, PyObject* a, PyObject* b) {
  tsr_status status;
  if (TPY_IS_TENSOR(b)) {
    TPY_CALL(status, op->tensors(TPY_HANDLE(a), TPY_HANDLE(b)));
    return tpy_same(status, a);
  }
  if (tpy_is_array(b)) {
    PyObject* made = tpy_array_operand(b, tpy_wants_grad(a));
    PyObject* result = made != NULL ? tpy_operate_inplace(op, a, made) : NULL;
    Py_XDECREF(made);
    return result;
  }
  tpy_number number;
  const int kind = tpy_sized_number(b, &number);
  if (kind == TPY_ERROR) return NULL;
  if (kind == TPY_NO_NUMBER) Py_RETURN_NOTIMPLEMENTED;
  const int lifts = kind == TPY_BOOL && tpy_is_bool(a);
  if (!lifts && kind <= TPY_I64 && op->i64 != NULL) {
    TPY_CALL(status, op->i64(TPY_HANDLE(a), number.i));
  } else if (!lifts && kind <= TPY_F64 && op->f64 != NULL) {
    TPY_CALL(status, op->f64(TPY_HANDLE(a), number.re));
  } else if (!lifts && op->c128 != NULL) {
    TPY_CALL(status, op->c128(TPY_HANDLE(a), number.re, number.im));
  } else {
    PyObject* keep = NULL;
    tsr_tensor lifted = NULL;
    if (!tpy_lift(b, a, &lifted, &keep)) return NULL;
    TPY_CALL(status, op->tensors(TPY_HANDLE(a), lifted));
    Py_DECREF(keep);
  }
  return tpy_same(status, a);
}

static inline PyObject* tpy_operate_unary(tsr_status (*op)(tsr_tensor, tsr_tensor*), PyObject* a) {
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, op(TPY_HANDLE(a), &out));
  return tpy_result(status, out);
}

#endif
