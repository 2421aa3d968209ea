/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Hooks on nodes and on several tensors; edges of the graph as inputs of backward and grad. */
#include "native.h"

/* ---- what hooks return ---- */

/* Takes the result of a hook that may replace `count` gradients: None keeps them, a Tensor is that
 * of a node with one, a tuple has an entry for each, None for no gradient. */
static int tpy_give_all(PyObject* back, int32_t count, tsr_tensor* places, int32_t* replaced) {
  if (back == Py_None) return 1;
  if (tpy_is_tensor(back) && count == 1) return *replaced = 1, tpy_give(back, places, "a hook");
  if (!PyTuple_Check(back) || PyTuple_GET_SIZE(back) != count) {
    PyErr_Format(tpy.type_error,
                 "a hook of a node: expected None or a tuple of %d gradients, got %s", (int)count,
                 Py_TYPE(back)->tp_name);
    return 0;
  }
  for (int32_t i = 0; i < count; ++i) {
    if (tpy_give(PyTuple_GET_ITEM(back, i), places + i, "the result of a hook of a node")) continue;
    for (int32_t k = 0; k < i; ++k) {
      tsr_tensor_release(places[k]);
      places[k] = NULL;
    }
    return 0;
  }
  *replaced = 1;
  return 1;
}

static tsr_status tpy_prehook(void* user, const tsr_tensor* grads, int32_t n_grads,
                              tsr_tensor* replacements, int32_t* replaced) {
  TPY_ENTER;
  tsr_status status = TSR_OK;
  PyObject* given = tpy_borrow_all(grads, n_grads);
  PyObject* back = given != NULL ? PyObject_CallOneArg((PyObject*)user, given) : NULL;
  if (back == NULL || !tpy_give_all(back, n_grads, replacements, replaced))
    status = tpy_hand_over();
  Py_XDECREF(given);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

static tsr_status tpy_posthook(void* user, const tsr_tensor* results, int32_t n_results,
                               const tsr_tensor* grads, int32_t n_grads, tsr_tensor* replacements,
                               int32_t* replaced) {
  TPY_ENTER;
  tsr_status status = TSR_OK;
  PyObject* made = tpy_borrow_all(results, n_results);
  PyObject* given = tpy_borrow_all(grads, n_grads);
  PyObject* back = made != NULL && given != NULL
                       ? PyObject_CallFunctionObjArgs((PyObject*)user, made, given, NULL)
                       : NULL;
  if (back == NULL || !tpy_give_all(back, n_results, replacements, replaced))
    status = tpy_hand_over();
  Py_XDECREF(made);
  Py_XDECREF(given);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

/* ---- hooks on nodes ---- */

static int tpy_node_and_callable(PyObject* node, PyObject* callback) {
  if (PyObject_TypeCheck(node, tpy.node) && PyCallable_Check(callback)) return 1;
  return PyErr_SetString(tpy.type_error, "expected a Node and a callable"), 0;
}

/* add_node_hook(node, callable, after) -> id */
PyObject* py_add_node_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("add_node_hook", nargs, 3)) return NULL;
  const int after = PyObject_IsTrue(args[2]);
  if (after < 0 || !tpy_node_and_callable(args[0], args[1])) return NULL;
  const tsr_node node = ((tpy_held*)args[0])->handle;
  int64_t id = 0;
  tsr_status status;
  void* user = tpy_keep(args[1]);
  if (after) {
    TPY_CALL(status, tsr_node_posthook_add(node, tpy_posthook, user, tpy_drop_callable, &id));
  } else {
    TPY_CALL(status, tsr_node_prehook_add(node, tpy_prehook, user, tpy_drop_callable, &id));
  }
  return status == TSR_OK ? PyLong_FromLongLong(id) : tpy_fail(status);
}

/* ---- hooks on several tensors ---- */

static tsr_status tpy_multi_hook(void* user, const tsr_tensor* grads, int32_t n_grads) {
  TPY_ENTER;
  PyObject* given = tpy_borrow_all(grads, n_grads);
  PyObject* back = given != NULL ? PyObject_CallOneArg((PyObject*)user, given) : NULL;
  const tsr_status status = back != NULL ? TSR_OK : tpy_hand_over();
  Py_XDECREF(given);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

/* The same with the one gradient that there is. */
static tsr_status tpy_any_hook(void* user, const tsr_tensor* grads, int32_t n_grads) {
  while (n_grads > 1 && *grads == NULL) ++grads, --n_grads;
  TPY_ENTER;
  PyObject* given = tpy_borrow(*grads);
  PyObject* back = given != NULL ? PyObject_CallOneArg((PyObject*)user, given) : NULL;
  const tsr_status status = back != NULL ? TSR_OK : tpy_hand_over();
  Py_XDECREF(given);
  Py_XDECREF(back);
  TPY_LEAVE;
  return status;
}

static void tpy_retain_callable(void* user) {
  TPY_ENTER;
  tpy_keep((PyObject*)user);
  TPY_LEAVE;
}

/* add_multi_hook(tensors, callable, mode) -> id. Each tensor owns a reference to the callable, so
 * that the collector can count them. */
PyObject* py_add_multi_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("add_multi_hook", nargs, 3)) return NULL;
  const long mode = PyLong_AsLong(args[2]);
  if (PyErr_Occurred()) return NULL;
  if (!PyCallable_Check(args[1])) {
    PyErr_SetString(tpy.type_error, "expected Tensors and a callable");
    return NULL;
  }
  tpy_tensors list;
  PyObject* result = NULL;
  if (tpy_read_lists(args, 1, &list)) {
    tsr_multi_hook_vtable table;
    memset(&table, 0, sizeof table);
    table.struct_size = sizeof table;
    table.mode = (tsr_multi_hook_mode)mode;
    table.run = mode == TSR_MULTI_HOOK_ANY ? tpy_any_hook : tpy_multi_hook;
    table.retain = tpy_retain_callable;
    table.drop = tpy_drop_callable;
    int64_t id = 0;
    tsr_status status;
    void* user = tpy_keep(args[1]);
    TPY_CALL(status, tsr_multi_hook_add(list.at, list.n, &table, user, &id));
    result = status == TSR_OK ? PyLong_FromLongLong(id) : tpy_fail(status);
    PyObject* items = status == TSR_OK ? PySequence_Fast(args[0], "") : NULL;
    for (Py_ssize_t i = 0; items != NULL && i < PySequence_Fast_GET_SIZE(items); ++i) {
      tpy_show_to_collector(PySequence_Fast_GET_ITEM(items, i));
    }
    Py_XDECREF(items);
  }
  tpy_free_lists(&list, 1);
  return result;
}

/* ---- edges ---- */

/* gradient_edge(tensor) -> (node, output) */
PyObject* py_gradient_edge(PyObject* self, PyObject* given) {
  (void)self;
  if (!tpy_is_tensor(given)) {
    return PyErr_Format(tpy.type_error, "expected a Tensor, got %s", Py_TYPE(given)->tp_name);
  }
  tsr_node node = NULL;
  int64_t output = 0;
  const tsr_status status = tsr_tensor_gradient_edge(tpy_handle(given), &node, &output);
  if (status != TSR_OK) return tpy_fail(status);
  tpy_show_to_collector(given); /* the node may get hooks */
  PyObject* object = tpy_wrap_node(node);
  return object != NULL ? Py_BuildValue("NL", object, (long long)output) : NULL;
}

/* Edges as C wants them: borrowed handles of nodes, and numbers. */
typedef struct {
  int32_t n;
  tsr_node* nodes;
  int64_t* numbers;
} tpy_edges;

static void tpy_free_edges(tpy_edges* edges) {
  PyMem_Free(edges->nodes);
  PyMem_Free(edges->numbers);
}

/* Reads a list of tuples (node, output). */
static int tpy_read_edges(PyObject* given, tpy_edges* edges) {
  *edges = (tpy_edges){0, NULL, NULL};
  if (!PyList_Check(given)) return PyErr_SetString(tpy.type_error, "expected a list of edges"), 0;
  const Py_ssize_t count = PyList_GET_SIZE(given);
  edges->nodes = PyMem_Calloc((size_t)count + 1, sizeof *edges->nodes);
  edges->numbers = PyMem_Calloc((size_t)count + 1, sizeof *edges->numbers);
  if (edges->nodes == NULL || edges->numbers == NULL) return PyErr_NoMemory(), 0;
  edges->n = (int32_t)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *edge = PyList_GET_ITEM(given, i), *node = NULL;
    long long output = 0;
    if (!PyTuple_Check(edge) || !PyArg_ParseTuple(edge, "O!L", tpy.node, &node, &output)) return 0;
    edges->nodes[i] = ((tpy_held*)node)->handle;
    edges->numbers[i] = output;
  }
  return 1;
}

/* backward_edges(roots, gradients, edges, flags) */
PyObject* py_backward_edges(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("backward_edges", nargs, 4)) return NULL;
  tpy_tensors lists[2];
  tpy_edges edges = {0, NULL, NULL};
  const int32_t flags = (int32_t)PyLong_AsLong(args[3]);
  tsr_status status = TSR_OK;
  const int good =
      tpy_read_lists(args, 2, lists) && !PyErr_Occurred() && tpy_read_edges(args[2], &edges);
  if (good) {
    TPY_CALL(status, tsr_backward_edges(lists[0].at, lists[0].n, lists[1].at, lists[1].n,
                                        edges.nodes, edges.n, edges.numbers, edges.n, flags));
  }
  tpy_free_edges(&edges);
  tpy_free_lists(lists, 2);
  if (!good) return NULL;
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* grad_edges(outputs, gradients, edges, flags) -> tuple of tensors and Nones */
PyObject* py_grad_edges(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("grad_edges", nargs, 4)) return NULL;
  tpy_tensors lists[2];
  tpy_edges edges = {0, NULL, NULL};
  const int32_t flags = (int32_t)PyLong_AsLong(args[3]);
  PyObject* result = NULL;
  tsr_tensor* made = NULL;
  if (tpy_read_lists(args, 2, lists) && !PyErr_Occurred() && tpy_read_edges(args[2], &edges)) {
    made = PyMem_Calloc((size_t)edges.n + 1, sizeof(tsr_tensor));
    if (made == NULL) PyErr_NoMemory();
  }
  if (made != NULL) {
    tsr_status status;
    TPY_CALL(status, tsr_grad_edges(lists[0].at, lists[0].n, lists[1].at, lists[1].n, edges.nodes,
                                    edges.n, edges.numbers, edges.n, flags, made));
    result = status == TSR_OK ? tpy_tuple_of(tpy.tensor, made, edges.n) : tpy_fail(status);
  }
  PyMem_Free(made);
  tpy_free_edges(&edges);
  tpy_free_lists(lists, 2);
  return result;
}
