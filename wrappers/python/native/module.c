/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The module tessera._core: types and functions put together, and what C needs of the Python layer.
 */
#include "redirect.h"
#include "rows.h"

#include <pthread.h>

tpy_state tpy;

/* Gets an attribute; the name becomes an interned string at the first call, kept in *cell. */
PyObject* tpy_attribute(PyObject* object, PyObject** cell, const char* name) {
  if (*cell == NULL && (*cell = PyUnicode_InternFromString(name)) == NULL) return NULL;
  return PyObject_GetAttr(object, *cell);
}

static PyObject* py_is_tensor(PyObject* self, PyObject* object) {
  (void)self;
  return PyBool_FromLong(tpy_has_tensor_type(object));
}

/* Python's cycle collector tracks the objects of every class that is written in Python. Generators
 * own no other Python object, so tracking them is useless.
 * Must be called before the first object is made. */
static void tpy_leave_to_counting(PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HAVE_GC) || type->tp_free != PyObject_GC_Del ||
      type->tp_dictoffset != 0)
    return;
  type->tp_flags &= ~Py_TPFLAGS_HAVE_GC;
  type->tp_free = PyObject_Free;
}

/* Results are of this class, which adds neither fields nor a finalizer to TensorBase. So they are
 * made untracked by the collector, and freed without the general deallocation of Python
 * classes. Subclasses use the general one. */
static void tpy_make_light(PyTypeObject* type) {
  if (type->tp_dictoffset != 0 || type->tp_finalize != NULL ||
      type->tp_basicsize != sizeof(tpy_object))
    return;
  type->tp_alloc = tensor_alloc;
  type->tp_dealloc = tensor_dealloc;
}

/* ---- register: objects of the Python layer that C uses ---- */

/* One name of register(): where the object is stored, and its required type, because C later uses
 * it as that type without a check. */
typedef struct {
  const char* name;
  void* place;         /* a pointer to an object or to a type: read and written as bytes */
  PyTypeObject* type;  /* an instance of it; NULL for any object */
  PyTypeObject** base; /* a subclass of it */
} tpy_entry;

static const tpy_entry entries[] = {
    {"tensor", &tpy.tensor, &PyType_Type, &tpy.base},
    {"dialect", &tpy.dialect, &PyType_Type, &tpy.tensor},
    {"shape", &tpy.shape, &PyType_Type, NULL},
    {"node", &tpy.node, &PyType_Type, &tpy.node},
    {"generator", &tpy.generator, &PyType_Type, &tpy.generator},
    {"ndarray", &tpy.ndarray, &PyType_Type, NULL},
    {"device_class", &tpy.device_class, &PyType_Type, NULL},
    {"error", &tpy.error, &PyType_Type, NULL},
    {"access_error", &tpy.access_error, &PyType_Type, NULL},
    {"type_error", &tpy.type_error, &PyType_Type, NULL},
    {"value_error", &tpy.value_error, &PyType_Type, NULL},
    {"index_error", &tpy.index_error, &PyType_Type, NULL},
    {"errors", &tpy.errors, &PyDict_Type, NULL},
    {"file_errors", &tpy.file_errors, &PyDict_Type, NULL},
    {"dtype_names", &tpy.dtype_names, &PyDict_Type, NULL},
    {"results", &tpy.results, &PyDict_Type, NULL},
    {"number", &tpy.number, NULL, NULL},
    {"storable", &tpy.storable, NULL, NULL},
    {"to_dtype", &tpy.to_dtype, NULL, NULL},
    {"to_device", &tpy.to_device, NULL, NULL},
    {"make_device", &tpy.make_device, NULL, NULL},
    {"cpu", &tpy.cpu, NULL, NULL},
    {"to_index", &tpy.to_index, NULL, NULL},
    {"as_array", &tpy.as_array, NULL, NULL},
    {"no_array", &tpy.no_array, NULL, NULL},
    {"from_ndarray", &tpy.from_ndarray, NULL, NULL},
    {"kept", &tpy.kept, &PyDict_Type, NULL},
    {"override", &tpy.override, NULL, NULL},
    {"redirect", &tpy.redirect, NULL, NULL},
};

static int tpy_register_dtypes(PyObject* dtypes) {
  PyObject *bits, *dtype;
  for (Py_ssize_t at = 0; PyDict_Next(dtypes, &at, &bits, &dtype);) {
    if (tpy.n_dtypes == TPY_MAX_DTYPES)
      return PyErr_SetString(PyExc_SystemError, "too many dtypes"), 0;
    tpy.dtype_bits[tpy.n_dtypes] = (tsr_dtype)PyLong_AsLong(bits);
    tpy.dtype_at[tpy_dtype_place(tpy.dtype_bits[tpy.n_dtypes])] = dtype;
    tpy.dtypes[tpy.n_dtypes++] = Py_NewRef(dtype);
  }
  return !PyErr_Occurred();
}

static int tpy_register_one(PyObject* name, PyObject* object) {
  if (PyUnicode_CompareWithASCIIString(name, "dtypes") == 0 && PyDict_Check(object) &&
      tpy.n_dtypes == 0) {
    return tpy_register_dtypes(object);
  }
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i) {
    const tpy_entry* entry = entries + i;
    if (PyUnicode_CompareWithASCIIString(name, entry->name) != 0) continue;
    const int is_base =
        entry->base == NULL || PyObject_IsSubclass(object, (PyObject*)*entry->base) == 1;
    PyObject* before = NULL;
    memcpy(&before, entry->place, sizeof before);
    const int is_first =
        before == NULL || (entry->base != NULL && before == (PyObject*)*entry->base);
    if (!is_first || !is_base || (entry->type != NULL && !PyObject_TypeCheck(object, entry->type)))
      break;
    Py_INCREF(object);
    memcpy(entry->place, &object, sizeof object);
    if (object == (PyObject*)tpy.tensor) tpy_make_light(tpy.tensor);
    if (object == (PyObject*)tpy.dialect) {
      tpy_make_light(tpy.dialect);
      if (!tpy_take_attributes(tpy.dialect)) return 0;
    }
    if (object == (PyObject*)tpy.generator) tpy_leave_to_counting(tpy.generator);
    return 1;
  }
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "register(): %U is no name, known already, or of another type",
                 name);
  return 0;
}

/* register(name=object, ...): each name at most once. */
static PyObject* py_register(PyObject* self, PyObject* args, PyObject* given) {
  (void)self;
  if (PyTuple_GET_SIZE(args) > 0 || given == NULL) {
    PyErr_SetString(PyExc_TypeError, "register() takes keywords");
    return NULL;
  }
  PyObject *name, *object;
  for (Py_ssize_t at = 0; PyDict_Next(given, &at, &name, &object);) {
    if (!tpy_register_one(name, object)) return NULL;
  }
  Py_RETURN_NONE;
}

/* calling(change): counts calls through cffi that use graphs: Note [What the collector sees]. */
static PyObject* py_calling(PyObject* self, PyObject* change) {
  (void)self;
  tpy.running += PyObject_IsTrue(change) == 1 ? 1 : -1;
  Py_RETURN_NONE;
}

/* The threads of the parent that were inside the library do not exist in the child. */
static void tpy_after_fork(void) {
  tpy.running = 0;
}

/* ---- the module ---- */

static PyMethodDef tpy_private[] = {
    {"register", (PyCFunction)(void (*)(void))py_register, METH_VARARGS | METH_KEYWORDS, NULL},
    {"check", py_check, METH_O,
     "check(status)\n--\n\nRaises the exception of a call of C unless its status is 0."},
    {"lend", (PyCFunction)(void (*)(void))py_lend, METH_FASTCALL,
     "Writes the handle of an object into a cell."},
    {"adopt", (PyCFunction)(void (*)(void))py_adopt, METH_FASTCALL,
     "An object that takes over the handle in a cell."},
    {"lend_all", (PyCFunction)(void (*)(void))py_lend_all, METH_FASTCALL,
     "Writes the handles of Tensors into cells."},
    {"adopt_all", (PyCFunction)(void (*)(void))py_adopt_all, METH_FASTCALL,
     "Tensors that take over the handles in cells."},
    {"is_same", (PyCFunction)(void (*)(void))py_is_same, METH_FASTCALL,
     "Whether two Tensors are one tensor."},
    {"add_hook", (PyCFunction)(void (*)(void))py_add_hook, METH_FASTCALL,
     "Adds a hook to a tensor."},
    {"calling", py_calling, METH_O, "Counts a call that cffi makes."},
    {"add_node_hook", (PyCFunction)(void (*)(void))py_add_node_hook, METH_FASTCALL,
     "Adds a hook to a node."},
    {"add_multi_hook", (PyCFunction)(void (*)(void))py_add_multi_hook, METH_FASTCALL,
     "Adds one hook to several tensors."},
    {"gradient_edge", py_gradient_edge, METH_O, "Where the gradient of a tensor goes."},
    {"backward_edges", (PyCFunction)(void (*)(void))py_backward_edges, METH_FASTCALL,
     "As backward, up to edges."},
    {"grad_edges", (PyCFunction)(void (*)(void))py_grad_edges, METH_FASTCALL,
     "Gradients at edges as a tuple."},
    {"queue_callback", py_queue_callback, METH_O,
     "Runs a callable when the backward has finished."},
    {"push_saved_hooks", py_push_saved_hooks, METH_VARARGS,
     "What nodes save goes through two callables."},
    {"pop_saved_hooks", py_pop_saved_hooks, METH_NOARGS, "Takes them off again."},
    {"begin_checkpoint", (PyCFunction)(void (*)(void))py_begin_checkpoint, METH_FASTCALL,
     "What nodes save is computed again by a callable."},
    {"attach_node", (PyCFunction)(void (*)(void))py_attach_node, METH_FASTCALL,
     "Makes tensors the results of a custom function."},
    {"needs_grad", py_needs_grad, METH_O, "Which arguments want gradients."},
    {"saved_tensors", py_saved_tensors, METH_O, "What a node kept."},
    {"run_node", (PyCFunction)(void (*)(void))py_run_node, METH_FASTCALL,
     "The derivative of one node as a tuple."},
    {"set_saved_hooks", py_set_saved_hooks, METH_VARARGS,
     "One tensor that a node saved goes through two callables."},
    {"set_metadata", py_set_metadata, METH_VARARGS, "Stores an object in a node."},
    {"metadata_object", py_metadata_object, METH_VARARGS, "The object stored in a node."},
    {"set_anomaly", py_set_anomaly, METH_O, "Sets the anomaly mode."},
    {"plug_allocator", py_plug_allocator, METH_VARARGS, "Plugs an allocator in."},
    {"set_host_stack", py_set_host_stack, METH_O, "Gives the library Python's call stacks."},
    {"backward", (PyCFunction)(void (*)(void))py_backward, METH_FASTCALL,
     "Adds gradients to leaves."},
    {"grad", (PyCFunction)(void (*)(void))py_grad, METH_FASTCALL, "Gradients as a tuple."},
    {"remove_hook", (PyCFunction)(void (*)(void))py_remove_hook, METH_FASTCALL, "Removes a hook."},
    {"is_grad_enabled", py_is_grad_enabled, METH_NOARGS,
     "Whether operations record on this thread."},
    {"is_inference_mode_enabled", py_is_inference_mode_enabled, METH_NOARGS,
     "Whether this thread is in inference mode."},
    {"has_other_leaves", (PyCFunction)(void (*)(void))py_has_other_leaves, METH_FASTCALL,
     "Whether a graph reaches leaves beside those given."},
    {"blank", py_blank, METH_O, "An object without a handle, of a subclass of Tensor."},
    {"redirect_random", py_redirect_random, METH_O,
     "Sets whether draws of this thread are redirected; returns whether they were."},
    {"from_numbers", (PyCFunction)(void (*)(void))py_from_numbers, METH_FASTCALL,
     "A tensor of plain numbers, or None."},
    {"arange", (PyCFunction)(void (*)(void))py_arange, METH_FASTCALL,
     "start, start + step, ... before stop."},
    {"is_tensor", py_is_tensor, METH_O, "Whether an object is a Tensor."},
    {"from_array", py_from_array, METH_O, "A tensor on the memory of a NumPy array, or None."},
    {"from_buffer", (PyCFunction)(void (*)(void))py_from_buffer, METH_FASTCALL,
     "A tensor on memory that an object lends."},
    {"convert", (PyCFunction)(void (*)(void))py_convert, METH_FASTCALL,
     "A tensor with another dtype or device."},
    {"to_capsule", py_to_capsule, METH_VARARGS, "A DLPack capsule of a tensor."},
    {"from_capsule", py_from_capsule, METH_VARARGS, "A tensor on the memory of a DLPack capsule."},
    {NULL, NULL, 0, NULL},
};

/* Adds functions with self = NULL: tpy_parse takes any other self for a tensor. No name may occur
 * twice. */
static int tpy_add_functions(PyObject* table, PyMethodDef* defs) {
  for (; defs->ml_name != NULL; ++defs) {
    PyObject* function = PyCFunction_New(defs, NULL);
    if (function == NULL || PyDict_GetItemString(table, defs->ml_name) != NULL) {
      Py_XDECREF(function);
      return PyErr_Format(PyExc_SystemError, "two functions are named %s", defs->ml_name), 0;
    }
    const int failed = PyDict_SetItemString(table, defs->ml_name, function) < 0;
    Py_DECREF(function);
    if (failed) return 0;
  }
  return 1;
}

/* ---- functions and methods of ops ---- */

/* An entry for an op under one of its names: its text is kept for ever, as the entry itself. */
static int tpy_define(PyMethodDef* entry, const tpy_op* op, tpy_fast call, const char* name,
                      size_t length) {
  const size_t rest = strlen(op->doc);
  char* text = PyMem_Malloc(length + 1 + length + rest + 1);
  if (text == NULL) return (void)PyErr_NoMemory(), 0;
  memcpy(text, name, length);
  text[length] = '\0';
  char* doc = memcpy(text + length + 1, name, length);
  memcpy(doc + length, op->doc, rest + 1);
  *entry = (PyMethodDef){text, (PyCFunction)(tpy_function)call, METH_FASTCALL | METH_KEYWORDS, doc};
  return 1;
}

/* The names of an op's function or methods, parted by '|', or NULL. */
static const char* tpy_names(const tpy_op* op, int functions) {
  return !functions ? op->methods : op->is_function ? op->row->sig.name : NULL;
}

/* The functions of all ops, or their methods behind those of `own`; ends with an empty entry. */
static PyMethodDef* tpy_define_all(int functions, const PyMethodDef* own) {
  size_t kept = 0, room = 1;
  for (; own != NULL && own[kept].ml_name != NULL; ++kept) ++room;
  for (const tpy_op* op = tpy_ops; op->row != NULL; ++op) {
    for (const char* at = tpy_names(op, functions); at != NULL; at = strchr(at + 1, '|')) ++room;
  }
  PyMethodDef* all = PyMem_Calloc(room, sizeof *all);
  if (all == NULL) return (void)PyErr_NoMemory(), NULL;
  if (own != NULL) memcpy(all, own, sizeof *all * kept);
  PyMethodDef* next = all + kept;
  for (const tpy_op* op = tpy_ops; op->row != NULL; ++op) {
    const char* name = tpy_names(op, functions);
    while (name != NULL) {
      const char* bar = strchr(name, '|');
      const size_t length = bar != NULL ? (size_t)(bar - name) : strlen(name);
      if (!tpy_define(next++, op, tpy_overload(op, functions), name, length)) return NULL;
      name = bar != NULL ? bar + 1 : NULL;
    }
  }
  return all;
}

static const PyType_Slot tensor_slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_new, tensor_new},
    {Py_tp_hash, tensor_hash},
    {Py_tp_traverse, tensor_traverse},
    {Py_tp_clear, tensor_clear},
    {Py_tp_getset, tensor_getset},
    {Py_tp_members, tensor_members},
    {Py_mp_subscript, tensor_subscript},
    {Py_mp_ass_subscript, tensor_ass_subscript},
    {Py_mp_length, tensor_length},
    {Py_sq_length, tensor_length}, /* NumPy reads lists of what is a sequence */
    {Py_sq_item, tensor_at},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
    {Py_tp_doc, (void*)"A tensor as the C ABI knows it; tessera.Tensor adds the rest."},
    {Py_nb_bool, nb_bool},
    {Py_nb_float, nb_float},
    {Py_nb_int, nb_int},
    {Py_nb_index, nb_index},
};

static int tpy_make_type(PyObject* table) {
  enum { OWN = sizeof tensor_slots / sizeof tensor_slots[0], ROOM = 64 };
  PyType_Slot slots[OWN + ROOM];
  memcpy(slots, tensor_slots, sizeof tensor_slots);
  int count = OWN;
  for (const PyType_Slot* slot = tpy_number_slots; slot->slot != 0; ++slot) {
    if (count == OWN + ROOM - 2) return PyErr_SetString(PyExc_SystemError, "too many operators"), 0;
    slots[count++] = *slot;
  }
  slots[count++] = (PyType_Slot){Py_tp_methods, tpy_define_all(0, tensor_methods)};
  if (slots[count - 1].pfunc == NULL) return 0;
  slots[count] = (PyType_Slot){0, NULL};
  PyType_Spec spec = {"tessera.TensorBase", sizeof(tpy_object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  tpy.base = (PyTypeObject*)PyType_FromSpec(&spec);
  tpy.tensor = tpy.base;
  return tpy.base != NULL && tpy_add_exchange(tpy.base) &&
         PyDict_SetItemString(table, "TensorBase", (PyObject*)tpy.base) == 0;
}

static int tpy_prepare_rows(void) {
  for (const tpy_op* op = tpy_ops; op->row != NULL; ++op) {
    if (!tpy_prepare(&op->row->sig)) return 0;
  }
  return 1;
}

static int tpy_add_ops(PyObject* table) {
  PyMethodDef* functions = tpy_define_all(1, NULL);
  return functions != NULL && tpy_add_functions(table, functions);
}

static struct PyModuleDef tpy_module = {PyModuleDef_HEAD_INIT, "tessera._core",
                                        "The C parts of the package.", -1, NULL};

PyMODINIT_FUNC PyInit__core(void) {  // NOLINT(readability-identifier-naming)
  pthread_atfork(NULL, NULL, tpy_after_fork);
  PyObject* module = PyModule_Create(&tpy_module);
  if (module == NULL) return NULL;
  PyObject* table = PyModule_GetDict(module);
  if (tpy_prepare_rows() && tpy_find_overloaded() && tpy_make_type(table) &&
      tpy_make_nodes(table) && tpy_make_modes(table) && tpy_make_devices(table) &&
      tpy_make_generators(table) && tpy_make_shapes(table) &&
      tpy_add_functions(table, tpy_private) && tpy_add_ops(table)) {
    return module;
  }
  Py_DECREF(module);
  return NULL;
}
