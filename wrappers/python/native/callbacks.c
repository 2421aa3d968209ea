/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Python callables that the library calls: hooks, final callbacks, and the function that drops
 * them. */
#include <unistd.h>

#include "native.h"

/* When the interpreter shuts down while other threads run, Python ends each of them at its next
 * request for the lock, by unwinding its stack. The unwinding cannot pass the frames of the
 * library that called us: the process would abort. So the thread waits here for the rest of the
 * process; Python 3.14 makes such threads hang in the same way. Needs -fexceptions. */
void tpy_stay_when_unwound(const int* inside) {
  while (*inside) pause();
}

/* Every user pointer is an owned PyObject*; this function releases it. After the interpreter is
 * gone it leaks. */
void tpy_drop(void* user) {
  if (user == NULL || !Py_IsInitialized()) return;
  TPY_ENTER;
  Py_DECREF((PyObject*)user);
  TPY_LEAVE;
}

void* tpy_keep(PyObject* object) {
  ++tpy.callables;
  return Py_NewRef(object);
}

void tpy_drop_callable(void* user) {
  if (user == NULL || !Py_IsInitialized()) return;
  TPY_ENTER;
  --tpy.callables;
  Py_DECREF((PyObject*)user);
  TPY_LEAVE;
}

PyObject* tpy_borrow_all(const tsr_tensor* handles, int32_t count) {
  PyObject* tensors = PyTuple_New(count);
  for (int32_t i = 0; tensors != NULL && i < count; ++i) {
    PyObject* tensor = tpy_borrow(handles[i]);
    if (tensor == NULL)
      Py_CLEAR(tensors);
    else
      PyTuple_SET_ITEM(tensors, i, tensor);
  }
  return tensors;
}

/* Converts the result of a callback to an owned handle; None becomes NULL. Returns 0 for any other
 * object. */
int tpy_give(PyObject* object, tsr_tensor* out, const char* who) {
  *out = NULL;
  if (object == Py_None) return 1;
  if (!tpy_is_tensor(object)) {
    PyErr_Format(tpy.type_error, "%s: expected a Tensor or None, got %s", who,
                 Py_TYPE(object)->tp_name);
    return 0;
  }
  tsr_tensor_retain(tpy_handle(object));
  *out = tpy_handle(object);
  return 1;
}

static tsr_status tpy_hook(void* user, tsr_tensor grad, tsr_tensor* replacement) {
  TPY_ENTER;
  tsr_status status = TSR_OK;
  PyObject* given = tpy_borrow(grad);
  PyObject* back = given != NULL ? PyObject_CallOneArg((PyObject*)user, given) : NULL;
  if (back == NULL || !tpy_give(back, replacement, "the result of a hook"))
    status = tpy_hand_over();
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

/* add_hook(tensor, callable, kind) -> id; kind 0: gradient hook, 1: after accumulation. */
PyObject* py_add_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (nargs != 3)
    return PyErr_Format(PyExc_TypeError, "add_hook() takes 3 arguments, got %zd", nargs);
  PyObject *tensor = args[0], *callback = args[1];
  const long kind = PyLong_AsLong(args[2]);
  if (kind == -1 && PyErr_Occurred()) return NULL;
  if (!tpy_is_tensor(tensor) || !PyCallable_Check(callback)) {
    PyErr_SetString(tpy.type_error, "expected a Tensor and a callable");
    return NULL;
  }
  int64_t id = 0;
  tsr_status status;
  void* user = tpy_keep(callback);
  if (kind == 0) {
    TPY_CALL(status,
             tsr_tensor_hook_add(tpy_handle(tensor), tpy_hook, user, tpy_drop_callable, &id));
  } else {
    TPY_CALL(status, tsr_tensor_accumulate_hook_add(tpy_handle(tensor), tpy_accumulate_hook, user,
                                                    tpy_drop_callable, &id));
  }
  if (status != TSR_OK) return tpy_fail(status);
  tpy_show_to_collector(tensor);
  return PyLong_FromLongLong(id);
}

PyObject* py_queue_callback(PyObject* self, PyObject* callback) {
  (void)self;
  tsr_status status;
  void* user = tpy_keep(callback);
  TPY_CALL(status, tsr_backward_queue(tpy_final, user, tpy_drop_callable));
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* remove_hook(tensor, id); None in place of the tensor for a hook of a node or of several tensors
 */
PyObject* py_remove_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("remove_hook", nargs, 2)) return NULL;
  const int64_t id = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  tsr_status status;
  if (args[0] == Py_None) {
    TPY_CALL(status, tsr_hook_remove(id));
  } else if (tpy_is_tensor(args[0])) {
    TPY_CALL(status, tsr_tensor_hook_remove(tpy_handle(args[0]), id));
  } else {
    return PyErr_Format(PyExc_TypeError, "remove_hook() takes a Tensor");
  }
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}
