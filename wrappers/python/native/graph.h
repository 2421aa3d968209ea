/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the sources declare of callbacks, hooks, the graph, modes and devices. A part of native.h,
 * which includes it. */
#ifndef TPY_GRAPH_H
#define TPY_GRAPH_H

/* ---- callbacks.c: Python callables and Python memory inside the library ---- */

/* The first and the last line of every callback, which the library may call on any thread without
 * the interpreter's lock. `lock` belongs to the pair; code between them may use Python. */
#define TPY_ENTER                                                     \
  int tpy_inside __attribute__((cleanup(tpy_stay_when_unwound))) = 1; \
  PyGILState_STATE lock = PyGILState_Ensure()
#define TPY_LEAVE (PyGILState_Release(lock), tpy_inside = 0)

void tpy_stay_when_unwound(const int* inside);
/* Every user pointer that the library gets is an owned PyObject*; this function releases it. May
 * be called on any thread, without the interpreter's lock. */
void tpy_drop(void* user);
/* The same for callables, which the collector follows; tpy_keep makes the pointer. */
void* tpy_keep(PyObject* object);
void tpy_drop_callable(void* user);
typedef struct {
  visitproc visit;
  void* arg;
  int result;
} tpy_visitor;
void tpy_visit_user(void* arg, void* user, tsr_drop_fn drop);
/* A tuple; None for NULL. */
PyObject* tpy_borrow_all(const tsr_tensor* handles, int32_t count);
/* Converts a callback's result to an owned handle, None to NULL; 0 for any other object. */
int tpy_give(PyObject* object, tsr_tensor* out, const char* who);
PyObject* py_add_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_remove_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_queue_callback(PyObject* self, PyObject* callback);

/* ---- node_hooks.c: hooks on nodes and on several tensors, edges of the graph ---- */

PyObject* py_add_node_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_add_multi_hook(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_gradient_edge(PyObject* self, PyObject* tensor);
PyObject* py_backward_edges(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_grad_edges(PyObject* self, PyObject* const* args, Py_ssize_t nargs);

/* ---- door.c: handles to and from cffi ---- */

/* A handle goes through a cell, a pointer in memory that cffi made and knows the type of. None is
 * ever a number or read out of an object that is not of our types; lists cross in one call. */
PyObject* py_lend(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_adopt(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_lend_all(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_adopt_all(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_is_same(PyObject* self, PyObject* const* args, Py_ssize_t nargs);

/* ---- graph.c, function.c, saved_hooks.c, modes.c, device.c, generator.c: autograd, devices,
 * random numbers ---- */

/* Make NodeBase, ModeBase, DeviceBase and GeneratorBase, and put them into the module's dict. */
int tpy_make_nodes(PyObject* table);
int tpy_make_modes(PyObject* table);
int tpy_make_devices(PyObject* table);
int tpy_make_generators(PyObject* table);
int tpy_make_shapes(PyObject* table);
/* Slots of the types that hold a handle (tpy_held): equality and hash are those of the handle. */
PyObject* held_compare(PyObject* self, PyObject* other, int which);
Py_hash_t held_hash(PyObject* self);
extern PyMemberDef held_members[];
/* Reads arguments as sequences of tensors, None as NULL; the caller always frees the lists. */
int tpy_read_lists(PyObject* const* args, int count, tpy_tensors* lists);
void tpy_free_lists(tpy_tensors* lists, int count);
/* Raises unless a private function got as many arguments as it takes. */
int tpy_count_arguments(const char* name, Py_ssize_t nargs, Py_ssize_t wanted);
PyObject* py_saved_tensors(PyObject* self, PyObject* node);
PyObject* py_run_node(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_set_metadata(PyObject* self, PyObject* args);
PyObject* py_metadata_object(PyObject* self, PyObject* args);
PyObject* py_set_anomaly(PyObject* self, PyObject* mode);

/* host_stack.c: the call stacks of Python. */
PyObject* py_set_host_stack(PyObject* self, PyObject* folder);

/* plugged_allocator.c: allocators of shared libraries. */
PyObject* py_plug_allocator(PyObject* self, PyObject* args);
PyObject* py_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_grad(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_has_other_leaves(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_needs_grad(PyObject* self, PyObject* given);
PyObject* py_attach_node(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_push_saved_hooks(PyObject* self, PyObject* args);
PyObject* py_set_saved_hooks(PyObject* self, PyObject* args);
PyObject* py_pop_saved_hooks(PyObject* self, PyObject* unused);
PyObject* py_begin_checkpoint(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_is_grad_enabled(PyObject* self, PyObject* unused);
PyObject* py_is_inference_mode_enabled(PyObject* self, PyObject* unused);

#endif
