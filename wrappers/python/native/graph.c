/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Nodes of the graph as Python objects, backward and grad. */
#include "native.h"
#include "redirect.h"

/* ---- nodes ---- */

static void node_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (((tpy_held*)self)->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  tsr_node_release(((tpy_held*)self)->handle);
  type->tp_free(self);
  Py_DECREF(type);
}

/* As tensor_traverse: Note [What the collector sees]. */
static int node_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const tsr_node node = ((tpy_held*)self)->handle;
  tpy_visitor visitor = {visit, arg, 0};
  if (node == NULL || tpy.running > 0) return 0;
  const tsr_status status = tsr_node_traverse(node, tpy_visit_user, &visitor);
  return status == TSR_OK ? visitor.result : 0;
}

static int node_clear(PyObject* self) {
  const tsr_node node = ((tpy_held*)self)->handle;
  ((tpy_held*)self)->handle = NULL;
  tsr_node_release(node);
  return 0;
}

int tpy_make_nodes(PyObject* table) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, node_dealloc},
      {Py_tp_traverse, node_traverse},
      {Py_tp_clear, node_clear},
      {Py_tp_members, held_members},
      {Py_tp_richcompare, held_compare},
      {Py_tp_hash, held_hash},
      {0, NULL},
  };
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                         Py_TPFLAGS_DISALLOW_INSTANTIATION;
  PyType_Spec spec = {"tessera.NodeBase", sizeof(tpy_held), 0, flags, slots};
  tpy.node = (PyTypeObject*)PyType_FromSpec(&spec);
  return tpy.node != NULL && PyDict_SetItemString(table, "NodeBase", (PyObject*)tpy.node) == 0;
}

/* saved_tensors(node): the tensors that a node saved for the backward. */
PyObject* py_saved_tensors(PyObject* self, PyObject* given) {
  (void)self;
  if (!PyObject_TypeCheck(given, tpy.node)) {
    return PyErr_Format(tpy.type_error, "saved_tensors(): expected a Node, got %s",
                        Py_TYPE(given)->tp_name);
  }
  const tsr_node node = ((tpy_held*)given)->handle;
  int64_t count = 0;
  tsr_status status = tsr_node_saved_count(node, &count);
  if (status != TSR_OK) return tpy_fail(status);
  PyObject* found = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; found != NULL && i < count; ++i) {
    tsr_tensor saved = NULL;
    TPY_CALL(status, tsr_node_saved(node, i, &saved));
    PyObject* item = tpy_result(status, saved);
    if (item == NULL)
      Py_CLEAR(found);
    else
      PyTuple_SET_ITEM(found, (Py_ssize_t)i, item);
  }
  return found;
}

/* ---- metadata ---- */

/* set_metadata(node, key, value): a str is stored as text, which every language reads. */
PyObject* py_set_metadata(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *node, *name, *value;
  if (!PyArg_ParseTuple(args, "O!UO", tpy.node, &node, &name, &value)) return NULL;
  Py_ssize_t key_size = 0;
  const char* key = PyUnicode_AsUTF8AndSize(name, &key_size);
  if (key == NULL) return NULL;
  const tsr_node handle = ((tpy_held*)node)->handle;
  tsr_status status;
  if (PyUnicode_Check(value)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == NULL) return NULL;
    TPY_CALL(status, tsr_node_metadata_set(handle, key, key_size, text, size));
  } else {
    void* object = Py_NewRef(value);
    TPY_CALL(status, tsr_node_metadata_set_object(handle, key, key_size, object, tpy_drop));
  }
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* metadata_object(node, key): the Python object stored there, or NotImplemented. The lock of the
 * interpreter is kept: another thread that removes the object needs it for that. */
PyObject* py_metadata_object(PyObject* self, PyObject* args) {
  (void)self;
  PyObject *node, *name;
  if (!PyArg_ParseTuple(args, "O!U", tpy.node, &node, &name)) return NULL;
  Py_ssize_t key_size = 0;
  const char* key = PyUnicode_AsUTF8AndSize(name, &key_size);
  if (key == NULL) return NULL;
  void* object = NULL;
  tsr_drop_fn drop = NULL;
  const tsr_status status =
      tsr_node_metadata_object(((tpy_held*)node)->handle, key, key_size, &object, &drop);
  if (status != TSR_OK) return tpy_fail(status);
  return Py_NewRef(object != NULL && drop == tpy_drop ? (PyObject*)object : Py_NotImplemented);
}

/* ---- anomaly mode ---- */

/* set_anomaly(mode) -> the previous mode of this thread. */
PyObject* py_set_anomaly(PyObject* self, PyObject* mode) {
  (void)self;
  const long wanted = PyLong_AsLong(mode);
  if (wanted == -1 && PyErr_Occurred()) return NULL;
  int32_t previous = 0;
  const tsr_status status = tsr_anomaly_mode_set((int32_t)wanted, &previous);
  if (status != TSR_OK) return tpy_fail(status);
  return PyLong_FromLong(previous);
}

/* ---- lists of tensors ---- */

static const tpy_parameter graph_parameters[] = {{.names = "tensors", .kind = TPY_TENSORS}};
static PyObject* graph_keys[TPY_MAX_ALIASES];
static const tpy_signature graph_signature = {"autograd",       1,         1, 1, -1, 0,
                                              graph_parameters, graph_keys};

/* Reads the first arguments as sequences of tensors, None as NULL. The caller frees the lists,
 * also after a failure. */
int tpy_read_lists(PyObject* const* args, int count, tpy_tensors* lists) {
  int good = graph_keys[0] != NULL || tpy_prepare(&graph_signature);
  for (int i = 0; i < count; ++i) {
    lists[i].n = 0;
    lists[i].at = lists[i].room;
    lists[i].items = NULL;
    good = good && tpy_tensor_list(&graph_signature, 0, args[i], 1, lists + i);
  }
  return good;
}

void tpy_free_lists(tpy_tensors* lists, int count) {
  for (int i = 0; i < count; ++i) tpy_free_tensors(lists + i);
}

int tpy_count_arguments(const char* name, Py_ssize_t nargs, Py_ssize_t wanted) {
  if (nargs != wanted)
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", name, wanted, nargs);
  return nargs == wanted;
}

/* backward(roots, gradients, inputs, flags) */
PyObject* py_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("backward", nargs, 4)) return NULL;
  tpy_tensors lists[3];
  const int32_t flags = (int32_t)PyLong_AsLong(args[3]);
  tsr_status status = TSR_OK;
  const int good = tpy_read_lists(args, 3, lists) && !PyErr_Occurred();
  if (good) {
    TPY_CALL(status, tsr_backward(lists[0].at, lists[0].n, lists[1].at, lists[1].n, lists[2].at,
                                  lists[2].n, flags));
  }
  tpy_free_lists(lists, 3);
  if (!good) return tpy_met_blank(args, 3) ? tpy_redirect_call("backward", "()") : NULL;
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}

/* grad(outputs, gradients, inputs, flags) -> tuple of tensors and Nones */
PyObject* py_grad(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("grad", nargs, 4)) return NULL;
  tpy_tensors lists[3];
  const int32_t flags = (int32_t)PyLong_AsLong(args[3]);
  PyObject* result = NULL;
  tsr_tensor* made = NULL;
  if (tpy_read_lists(args, 3, lists) && !PyErr_Occurred()) {
    made = PyMem_Calloc((size_t)lists[2].n, sizeof(tsr_tensor));
    if (made == NULL) PyErr_NoMemory();
  }
  if (made != NULL) {
    tsr_status status;
    TPY_CALL(status, tsr_grad(lists[0].at, lists[0].n, lists[1].at, lists[1].n, lists[2].at,
                              lists[2].n, flags, made));
    result = status == TSR_OK ? tpy_tuple_of(tpy.tensor, made, lists[2].n) : tpy_fail(status);
  }
  PyMem_Free(made);
  tpy_free_lists(lists, 3);
  return result == NULL && tpy_met_blank(args, 3) ? tpy_redirect_call("backward", "()") : result;
}

/* run_node(node, gradients) -> tuple of tensors and Nones */
PyObject* py_run_node(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("run_node", nargs, 2)) return NULL;
  if (!PyObject_TypeCheck(args[0], tpy.node)) {
    return PyErr_Format(tpy.type_error, "run_node(): expected a Node, got %s",
                        Py_TYPE(args[0])->tp_name);
  }
  const tsr_node node = ((tpy_held*)args[0])->handle;
  int64_t count = 0;
  const tsr_status counted = tsr_node_next_count(node, &count);
  if (counted != TSR_OK) return tpy_fail(counted);
  tpy_tensors grads;
  PyObject* result = NULL;
  tsr_tensor* made = NULL;
  if (tpy_read_lists(args + 1, 1, &grads)) {
    made = PyMem_Calloc((size_t)count, sizeof(tsr_tensor));
    if (made == NULL) PyErr_NoMemory();
  }
  if (made != NULL) {
    tsr_status status;
    TPY_CALL(status, tsr_node_run(node, grads.at, grads.n, (int32_t)count, made));
    result = status == TSR_OK ? tpy_tuple_of(tpy.tensor, made, (int32_t)count) : tpy_fail(status);
  }
  PyMem_Free(made);
  tpy_free_lists(&grads, 1);
  return result;
}

/* ---- the leaves that a graph reaches ---- */

/* Whether the node belongs to a leaf that is not among those known; -1 on failure. */
static int tpy_is_other_leaf(tsr_node node, const tpy_tensors* known) {
  tsr_tensor leaf = NULL;
  const tsr_status status = tsr_node_variable(node, &leaf);
  if (status != TSR_OK) return tpy_fail(status), -1;
  int other = leaf != NULL;
  for (int32_t i = 0; i < known->n; ++i) other = other && leaf != known->at[i];
  tsr_tensor_release(leaf);
  return other;
}

/* Puts a node that was not seen before on the stack, which takes over the reference. */
static int tpy_push_node(PyObject* seen, PyObject* stack, tsr_node node) {
  if (node == NULL) return 1;
  PyObject* key = PyLong_FromVoidPtr(node);
  const int known = key != NULL ? PySet_Contains(seen, key) : -1;
  PyObject* owner = known == 0 && PySet_Add(seen, key) == 0 ? tpy_wrap_node(node) : NULL;
  if (owner == NULL && (known != 0 || PyErr_Occurred())) tsr_node_release(node);
  const int good = known == 1 || (owner != NULL && PyList_Append(stack, owner) == 0);
  Py_XDECREF(owner);
  Py_XDECREF(key);
  return good;
}

static int tpy_push_next(PyObject* seen, PyObject* stack, tsr_node node) {
  int64_t count = 0, output = 0;
  tsr_status status = tsr_node_next_count(node, &count);
  for (int64_t i = 0; status == TSR_OK && i < count; ++i) {
    tsr_node next = NULL;
    status = tsr_node_next(node, i, &next, &output);
    if (status == TSR_OK && !tpy_push_node(seen, stack, next)) return 0;
  }
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

/* Takes nodes from the stack until one is a leaf that is not known: 1, 0 if there is none, -1 on
 * failure. */
static int tpy_search(PyObject* seen, PyObject* stack, const tpy_tensors* known) {
  while (PyList_GET_SIZE(stack) > 0) {
    const Py_ssize_t last = PyList_GET_SIZE(stack) - 1;
    PyObject* owner = Py_NewRef(PyList_GET_ITEM(stack, last));
    int found = PyList_SetSlice(stack, last, last + 1, NULL) < 0
                    ? -1
                    : tpy_is_other_leaf(((tpy_held*)owner)->handle, known);
    if (found == 0 && !tpy_push_next(seen, stack, ((tpy_held*)owner)->handle)) found = -1;
    Py_DECREF(owner);
    if (found != 0) return found;
  }
  return 0;
}

/* has_other_leaves(outputs, leaves): whether the graph of the outputs reaches further leaves. */
PyObject* py_has_other_leaves(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  if (!tpy_count_arguments("has_other_leaves", nargs, 2)) return NULL;
  tpy_tensors lists[2];
  PyObject *seen = PySet_New(NULL), *stack = PyList_New(0);
  int found = tpy_read_lists(args, 2, lists) && seen != NULL && stack != NULL ? 0 : -1;
  for (int32_t i = 0; found == 0 && i < lists[0].n; ++i) {
    tsr_node node = NULL;
    const tsr_status status = tsr_tensor_grad_fn(lists[0].at[i], &node);
    if (status != TSR_OK) tpy_fail(status);
    found = status == TSR_OK && tpy_push_node(seen, stack, node) ? 0 : -1;
  }
  if (found == 0) found = tpy_search(seen, stack, lists + 1);
  Py_XDECREF(seen);
  Py_XDECREF(stack);
  tpy_free_lists(lists, 2);
  return found < 0 ? NULL : PyBool_FromLong(found);
}
