/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Custom functions: nodes whose backward is a Python callable. */
#include "native.h"

/* user: callable (node, tuple of gradients or None) -> tuple, one entry per input. */
static tsr_status tpy_node_backward(void* user, tsr_node node, const tsr_tensor* grad_out,
                                    int32_t n_out, tsr_tensor* grad_in, int32_t n_in) {
  TPY_ENTER;
  PyObject* back = NULL;
  PyObject* grads = tpy_borrow_all(grad_out, n_out);
  int good = grads != NULL;
  tsr_node_retain(node);
  PyObject* owner = tpy_wrap_node(node);
  if (good && owner != NULL)
    back = PyObject_CallFunctionObjArgs((PyObject*)user, owner, grads, NULL);
  good = back != NULL && PyTuple_Check(back) && PyTuple_GET_SIZE(back) == n_in;
  int32_t given = 0;
  for (; good && given < n_in; ++given) {
    good =
        tpy_give(PyTuple_GET_ITEM(back, given), grad_in + given, "a gradient of a custom function");
  }
  tsr_status status = TSR_OK;
  if (!good) {
    for (int32_t i = 0; i < given; ++i) {
      tsr_tensor_release(grad_in[i]);
      grad_in[i] = NULL;
    }
    if (!PyErr_Occurred())
      PyErr_Format(tpy.value_error, "expected a tuple of %d gradients", (int)n_in);
    status = tpy_hand_over();
  }
  Py_XDECREF(owner);
  Py_XDECREF(grads);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

/* user: has a method push(tuple of tangents or None) -> tuple, one entry per output. */
static tsr_status tpy_node_jvp(void* user, tsr_node node, const tsr_tensor* tangents,
                               int32_t n_tangents, tsr_tensor* results, int32_t n_results) {
  (void)node;
  TPY_ENTER;
  PyObject* found = NULL;
  PyObject* given = PyTuple_New(n_tangents);
  int good = given != NULL;
  for (int32_t i = 0; good && i < n_tangents; ++i) {
    PyObject* tangent = tpy_borrow(tangents[i]);
    good = tangent != NULL;
    if (good) PyTuple_SET_ITEM(given, i, tangent);
  }
  if (good) found = PyObject_CallMethod((PyObject*)user, "push", "(O)", given);
  good = found != NULL && PyTuple_Check(found) && PyTuple_GET_SIZE(found) == n_results;
  int32_t done = 0;
  for (; good && done < n_results; ++done) {
    good =
        tpy_give(PyTuple_GET_ITEM(found, done), results + done, "a tangent of a custom function");
  }
  tsr_status status = TSR_OK;
  if (!good) {
    for (int32_t i = 0; i < done; ++i) {
      tsr_tensor_release(results[i]);
      results[i] = NULL;
    }
    if (!PyErr_Occurred())
      PyErr_Format(tpy.value_error, "expected a tuple of %d tangents", (int)n_results);
    status = tpy_hand_over();
  }
  Py_XDECREF(given);
  Py_XDECREF(found);
  TPY_LEAVE;
  return status;
}

/* needs_grad(arguments) -> tuple of bools: which arguments are tensors that autograd would
 * record. */
PyObject* py_needs_grad(PyObject* self, PyObject* given) {
  (void)self;
  const int recording = tsr_grad_mode();
  if (!PyTuple_Check(given)) return PyErr_Format(PyExc_TypeError, "needs_grad() takes a tuple");
  PyObject* needs = PyTuple_New(PyTuple_GET_SIZE(given));
  for (Py_ssize_t i = 0; needs != NULL && i < PyTuple_GET_SIZE(given); ++i) {
    PyObject* item = PyTuple_GET_ITEM(given, i);
    tsr_info info = {sizeof info};
    if (recording && tpy_is_tensor(item)) {
      if (!tpy_info(item, &info)) Py_CLEAR(needs);
    }
    if (needs != NULL)
      PyTuple_SET_ITEM(needs, i, PyBool_FromLong(info.flags & TSR_TENSOR_REQUIRES_GRAD));
  }
  return needs;
}

static tsr_status tpy_finish_node(tsr_node node, const tpy_tensors* dirty,
                                  const tpy_tensors* constant, const tpy_tensors* saved,
                                  const tpy_tensors* outputs) {
  tsr_status status = TSR_OK;
  if (dirty->n > 0) status = tsr_node_mark_dirty(node, dirty->at, dirty->n);
  if (status == TSR_OK && constant->n > 0)
    status = tsr_node_mark_non_differentiable(node, constant->at, constant->n);
  if (status == TSR_OK && saved->n > 0) status = tsr_node_save(node, saved->at, saved->n);
  return status == TSR_OK ? tsr_node_attach(node, outputs->at, outputs->n) : status;
}

/* attach_node(inputs, dirty, constant, saved, outputs, name, callable, flags): makes a new node;
 * the outputs become its results. Bit 30 of the flags: the callable also has a jvp. */
PyObject* py_attach_node(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("attach_node", nargs, 8)) return NULL;
  const char* name = PyUnicode_AsUTF8(args[5]);
  const uint32_t flags = (uint32_t)PyLong_AsLong(args[7]);
  if (PyErr_Occurred()) return NULL;
  tpy_tensors lists[5];
  PyObject* result = NULL;
  if (tpy_read_lists(args, 5, lists)) {
    tsr_node node = NULL;
    tsr_status status;
    tsr_node_vtable table;
    memset(&table, 0, sizeof table);
    table.struct_size = sizeof table;
    table.flags = flags & ~(1U << 30);
    table.backward = tpy_node_backward;
    if ((flags & (1U << 30)) != 0) table.jvp = tpy_node_jvp;
    table.drop = tpy_drop_callable;
    void* user = tpy_keep(args[6]);
    TPY_CALL(status, tsr_node_create(name, -1, &table, user, lists[0].at, lists[0].n, &node));
    if (status == TSR_OK)
      TPY_CALL(status, tpy_finish_node(node, lists + 1, lists + 2, lists + 3, lists + 4));
    result = status == TSR_OK ? Py_NewRef(Py_None) : tpy_fail(status);
    tsr_node_release(node);
    for (Py_ssize_t i = 0; PyList_Check(args[4]) && i < PyList_GET_SIZE(args[4]); ++i) {
      tpy_show_to_collector(PyList_GET_ITEM(args[4], i));
    }
  }
  tpy_free_lists(lists, 5);
  return result;
}
