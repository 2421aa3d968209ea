/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Python callables and Python memory inside the library: hooks, custom functions, borrowed buffers. */
#ifndef TESSERA_PY_CALLBACKS_H
#define TESSERA_PY_CALLBACKS_H

#include <unistd.h>

#include "tensor.h"

/* When the interpreter goes down while other threads run, Python ends each of them where it next asks for the lock, by
 * unwinding its stack. That cannot pass the frames of the library that called us: the process would abort. So the
 * thread stays here for the rest of the process, as Python 3.14 lets it stay where it is. Needs -fexceptions. */
static void tpy_stay_when_unwound(const int* inside) {
  while (*inside) pause();
}

/* The first and the last line of every callback; `lock` is of the pair, whatever is between may run Python. */
#define TPY_ENTER                                                              \
  int tpy_inside __attribute__((cleanup(tpy_stay_when_unwound))) = 1;          \
  PyGILState_STATE lock = PyGILState_Ensure()
#define TPY_LEAVE (PyGILState_Release(lock), tpy_inside = 0)

/* Every user pointer is an owned PyObject*; this gives it back. After the interpreter is gone it leaks. */
static void tpy_drop(void* user) {
  if (user == NULL || !Py_IsInitialized()) return;
  TPY_ENTER;
  Py_DECREF((PyObject*)user);
  TPY_LEAVE;
}

/* Hands the exception in flight to the library, which gives it back where the outer call fails. */
static tsr_status tpy_hand_over(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  PyObject* text = PyObject_Str(value);
  if (text == NULL) PyErr_Clear();
  const char* message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
  if (message == NULL) PyErr_Clear();
  if (message == NULL) message = "a Python callback failed";
  const tsr_status kept = tsr_error_set(TSR_CALLBACK, message, -1, value, tpy_drop);
  Py_XDECREF(text);
  return kept == TSR_OK ? TSR_CALLBACK : kept;
}

static PyObject* tpy_borrow(tsr_tensor handle) {
  if (handle == NULL) Py_RETURN_NONE;
  tsr_tensor_retain(handle);
  return tpy_wrap_as(tpy.tensor, handle);
}

/* What a callback returned becomes an owned handle; None becomes NULL. Returns 0 for what is no tensor. */
static int tpy_give(PyObject* object, tsr_tensor* out, const char* who) {
  *out = NULL;
  if (object == Py_None) return 1;
  if (!TPY_IS_TENSOR(object)) {
    PyErr_Format(tpy.type_error, "%s: expected a Tensor or None, got %s", who, Py_TYPE(object)->tp_name);
    return 0;
  }
  tsr_tensor_retain(TPY_HANDLE(object));
  *out = TPY_HANDLE(object);
  return 1;
}

static tsr_status tpy_hook(void* user, tsr_tensor grad, tsr_tensor* replacement) {
  TPY_ENTER;
  tsr_status status = TSR_OK;
  PyObject* given = tpy_borrow(grad);
  PyObject* back = given != NULL ? PyObject_CallOneArg((PyObject*)user, given) : NULL;
  if (back == NULL || !tpy_give(back, replacement, "the result of a hook")) status = tpy_hand_over();
  Py_XDECREF(given);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

static tsr_status tpy_accumulate_hook(void* user, tsr_tensor leaf) {
  tsr_tensor unused = NULL;
  const tsr_status status = tpy_hook(user, leaf, &unused);
  tsr_tensor_release(unused);
  return status;
}

static tsr_status tpy_final(void* user) {
  TPY_ENTER;
  PyObject* back = PyObject_CallNoArgs((PyObject*)user);
  const tsr_status status = back != NULL ? TSR_OK : tpy_hand_over();
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

/* user: callable (address of the node, tuple of gradients or None) -> tuple, one entry per input. */
static tsr_status tpy_node_backward(void* user, tsr_node node, const tsr_tensor* grad_out, int32_t n_out,
                                    tsr_tensor* grad_in, int32_t n_in) {
  TPY_ENTER;
  PyObject* back = NULL;
  PyObject* grads = PyTuple_New(n_out);
  int good = grads != NULL;
  for (int32_t i = 0; good && i < n_out; ++i) {
    PyObject* grad = tpy_borrow(grad_out[i]);
    good = grad != NULL;
    if (good) PyTuple_SET_ITEM(grads, i, grad);
  }
  if (good) back = PyObject_CallFunction((PyObject*)user, "NO", PyLong_FromVoidPtr(node), grads);
  good = back != NULL && PyTuple_Check(back) && PyTuple_GET_SIZE(back) == n_in;
  int32_t given = 0;
  for (; good && given < n_in; ++given) {
    good = tpy_give(PyTuple_GET_ITEM(back, given), grad_in + given, "a gradient of a custom function");
  }
  tsr_status status = TSR_OK;
  if (!good) {
    for (int32_t i = 0; i < given; ++i) {
      tsr_tensor_release(grad_in[i]);
      grad_in[i] = NULL;
    }
    if (!PyErr_Occurred()) PyErr_Format(tpy.value_error, "expected a tuple of %d gradients", (int)n_in);
    status = tpy_hand_over();
  }
  Py_XDECREF(grads);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

/* ---- functions of the private module table ---- */

static PyObject* py_object_at(PyObject* self, PyObject* address) {
  (void)self;
  PyObject* object = PyLong_AsVoidPtr(address);
  if (object == NULL && PyErr_Occurred()) return NULL;
  return Py_NewRef(object != NULL ? object : Py_None);
}

/* adopt(address): a tensor that takes over a handle. */
static PyObject* py_adopt(PyObject* self, PyObject* address) {
  (void)self;
  tsr_tensor handle = PyLong_AsVoidPtr(address);
  if (handle == NULL && PyErr_Occurred()) return NULL;
  return tpy_result(TSR_OK, handle);
}

/* add_hook(tensor, callable, kind) -> id; kind 0: gradient hook, 1: after accumulation. */
static PyObject* py_add_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "add_hook() takes 3 arguments, got %zd", nargs);
  PyObject *tensor = args[0], *callback = args[1];
  const long kind = PyLong_AsLong(args[2]);
  if (kind == -1 && PyErr_Occurred()) return NULL;
  if (!TPY_IS_TENSOR(tensor) || !PyCallable_Check(callback)) {
    PyErr_SetString(tpy.type_error, "expected a Tensor and a callable");
    return NULL;
  }
  int64_t id = 0;
  tsr_status status;
  void* user = Py_NewRef(callback);
  if (kind == 0) {
    TPY_CALL(status, tsr_tensor_hook_add(TPY_HANDLE(tensor), tpy_hook, user, tpy_drop, &id));
  } else {
    TPY_CALL(status, tsr_tensor_accumulate_hook_add(TPY_HANDLE(tensor), tpy_accumulate_hook, user, tpy_drop, &id));
  }
  if (status != TSR_OK) return tpy_fail(status);
  tpy_show_to_collector(tensor);
  return PyLong_FromLongLong(id);
}

static PyObject* py_queue_callback(PyObject* self, PyObject* callback) {
  (void)self;
  tsr_status status;
  void* user = Py_NewRef(callback);
  TPY_CALL(status, tsr_backward_queue(tpy_final, user, tpy_drop));
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* from_data(owner, address, dtype bits, shape, strides or None, flags): a tensor that keeps owner. */
static PyObject* py_from_data(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *owner, *address, *shape, *strides;
  int bits = 0, flags = 0;
  if (!PyArg_ParseTuple(args, "OOiOOi", &owner, &address, &bits, &shape, &strides, &flags)) return NULL;
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
    TPY_CALL(status, tsr_tensor_from_data(data, bits, TSR_DEVICE_CPU, 0, sizes.at, sizes.n, steps.at,
                                          steps.n, flags, user, tpy_drop, &out));
  }
  tpy_free_list(&sizes);
  tpy_free_list(&steps);
  return good ? tpy_result(status, out) : NULL;
}

#endif
