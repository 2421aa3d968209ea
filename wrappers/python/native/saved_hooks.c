/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Saved-tensor hooks: Python callables decide how the tensors that nodes save are kept, or compute
 * them again. */
#include "native.h"

/* user: the tuple (pack, unpack). The payload is whatever pack returned, owned by the graph. */
static tsr_status tpy_pack(void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
  TPY_ENTER;
  PyObject* given = tpy_borrow(tensor);
  PyObject* packed =
      given != NULL ? PyObject_CallOneArg(PyTuple_GET_ITEM((PyObject*)user, 0), given) : NULL;
  const tsr_status status = packed != NULL ? TSR_OK : tpy_hand_over();
  *payload = packed;
  *drop = tpy_drop_callable;
  tpy.callables += packed != NULL;
  Py_XDECREF(given);
  TPY_LEAVE;
  return status;
}

static tsr_status tpy_unpack(void* user, void* payload, tsr_tensor* tensor) {
  TPY_ENTER;
  PyObject* back = PyObject_CallOneArg(PyTuple_GET_ITEM((PyObject*)user, 1), (PyObject*)payload);
  tsr_status status = TSR_OK;
  if (back == NULL || !tpy_give(back, tensor, "the result of the unpack hook"))
    status = tpy_hand_over();
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

static int tpy_are_hooks(PyObject* pack, PyObject* unpack) {
  const int good = PyCallable_Check(pack) && PyCallable_Check(unpack);
  if (!good) PyErr_SetString(tpy.type_error, "expected two callables, pack and unpack");
  return good;
}

static tsr_saved_hooks_vtable tpy_hooks_table(void) {
  tsr_saved_hooks_vtable table;
  memset(&table, 0, sizeof table);
  table.struct_size = sizeof table;
  table.pack = tpy_pack;
  table.unpack = tpy_unpack;
  table.drop = tpy_drop_callable;
  return table;
}

/* push_saved_hooks(pack, unpack) */
PyObject* py_push_saved_hooks(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return NULL;
  if (!tpy_are_hooks(pack, unpack)) return NULL;
  const tsr_saved_hooks_vtable table = tpy_hooks_table();
  const tsr_status status = tsr_saved_hooks_push(&table, tpy_keep(args));
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* set_saved_hooks(node, index, pack, unpack): hooks for one of the tensors that a node saved. */
PyObject* py_set_saved_hooks(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *node, *pack, *unpack;
  Py_ssize_t index = 0;
  if (!PyArg_ParseTuple(args, "O!nOO", tpy.node, &node, &index, &pack, &unpack)) return NULL;
  if (!tpy_are_hooks(pack, unpack)) return NULL;
  PyObject* hooks = PyTuple_Pack(2, pack, unpack);
  if (hooks == NULL) return NULL;
  const tsr_saved_hooks_vtable table = tpy_hooks_table();
  tsr_status status;
  void* user = tpy_keep(hooks);
  Py_DECREF(hooks);
  TPY_CALL(status, tsr_node_saved_hooks_set(((tpy_held*)node)->handle, index, &table, user));
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

PyObject* py_pop_saved_hooks(PyObject* self, PyObject* unused) {
  (void)self;
  (void)unused;
  const tsr_status status = tsr_saved_hooks_pop();
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* ---- Checkpoints ---- */

/* user: a callable that gets the inputs of a function and runs it again. */
static tsr_status tpy_run_again(void* user, const tsr_tensor* inputs, int32_t n_inputs) {
  TPY_ENTER;
  PyObject* given = PyTuple_New(n_inputs);
  for (int32_t i = 0; given != NULL && i < n_inputs; ++i) {
    PyObject* input = tpy_borrow(inputs[i]);
    if (input == NULL)
      Py_CLEAR(given);
    else
      PyTuple_SET_ITEM(given, i, input);
  }
  PyObject* done = given != NULL ? PyObject_Call((PyObject*)user, given, NULL) : NULL;
  const tsr_status status = done != NULL ? TSR_OK : tpy_hand_over();
  Py_XDECREF(done);
  Py_XDECREF(given);
  TPY_LEAVE;
  return status;
}

/* begin_checkpoint(function, tensors, flags) */
PyObject* py_begin_checkpoint(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("begin_checkpoint", nargs, 3)) return NULL;
  const long flags = PyLong_AsLong(args[2]);
  if (flags == -1 && PyErr_Occurred()) return NULL;
  tpy_tensors inputs;
  const int read = tpy_read_lists(args + 1, 1, &inputs);
  tsr_status status = TSR_OK;
  if (read) {
    status = tsr_checkpoint_begin(inputs.at, inputs.n, tpy_run_again, Py_NewRef(args[0]), tpy_drop,
                                  (int32_t)flags);
  }
  tpy_free_lists(&inputs, 1);
  if (!read) return NULL;
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}
