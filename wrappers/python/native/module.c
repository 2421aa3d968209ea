/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Puts the types and the functions of the C parts into a dictionary of the Python layer. */
#include "native.h"

tpy_state tpy;

/* An attribute by a name that is made a string once. */
PyObject* tpy_attribute(PyObject* object, PyObject** cell, const char* name) {
  if (*cell == NULL && (*cell = PyUnicode_InternFromString(name)) == NULL) return NULL;
  return PyObject_GetAttr(object, *cell);
}

static PyObject* py_is_tensor(PyObject* self, PyObject* object) {
  (void)self;
  return PyBool_FromLong(tpy_is_tensor(object));
}

/* Python gives every class written in it to its collector. Nodes own no other Python object, so the
 * collector has nothing to find in them: without it they are made and freed faster. Must come
 * before the first object. */
static void tpy_leave_to_counting(PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HAVE_GC) || type->tp_free != PyObject_GC_Del ||
      type->tp_dictoffset != 0)
    return;
  type->tp_flags &= ~Py_TPFLAGS_HAVE_GC;
  type->tp_free = PyObject_Free;
}

/* Results are of this class, which adds neither attributes nor a finalizer to TensorBase: made
 * without being shown to the collector, and freed without Python's general way for classes.
 * Subclasses get that. */
static void tpy_make_light(PyTypeObject* type) {
  if (type->tp_dictoffset != 0 || type->tp_finalize != NULL ||
      type->tp_basicsize != sizeof(tpy_object))
    return;
  type->tp_alloc = tensor_alloc;
  type->tp_dealloc = tensor_dealloc;
}

/* register(name=object, ...): what C needs of the Python layer. `dtypes` maps bits to objects. */
static PyObject* py_register(PyObject* self, PyObject* args, PyObject* given) {
  (void)self;
  if (PyTuple_GET_SIZE(args) > 0 || given == NULL) {
    PyErr_SetString(PyExc_TypeError, "register() takes keywords");
    return NULL;
  }
  const struct {
    const char* name;
    PyObject** place;
  } places[] = {
      {"tensor", (PyObject**)&tpy.tensor},
      {"raise_status", &tpy.raise_status},
      {"number", &tpy.number},
      {"storable", &tpy.storable},
      {"to_dtype", &tpy.to_dtype},
      {"to_device", &tpy.to_device},
      {"make_device", &tpy.make_device},
      {"cpu", &tpy.cpu},
      {"device_class", &tpy.device_class},
      {"node", (PyObject**)&tpy.node},
      {"dtype_names", &tpy.dtype_names},
      {"to_index", &tpy.to_index},
      {"as_array", &tpy.as_array},
      {"no_array", &tpy.no_array},
      {"access_error", &tpy.access_error},
      {"type_error", &tpy.type_error},
      {"value_error", &tpy.value_error},
      {"index_error", &tpy.index_error},
      {"results", &tpy.results},
      {"ndarray", (PyObject**)&tpy.ndarray},
      {"from_ndarray", &tpy.from_ndarray},
  };
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
    PyObject* object = PyDict_GetItemString(given, places[i].name);
    if (object != NULL) *places[i].place = Py_NewRef(object);
  }
  PyObject* dtypes = PyDict_GetItemString(given, "dtypes");
  PyObject *bits, *dtype;
  for (Py_ssize_t at = 0; dtypes != NULL && PyDict_Next(dtypes, &at, &bits, &dtype);) {
    if (tpy.n_dtypes == TPY_MAX_DTYPES) break;
    tpy.dtype_bits[tpy.n_dtypes] = (tsr_dtype)PyLong_AsLong(bits);
    tpy.dtype_at[tpy_dtype_place(tpy.dtype_bits[tpy.n_dtypes])] = dtype;
    tpy.dtypes[tpy.n_dtypes++] = Py_NewRef(dtype);
  }
  if (PyErr_Occurred()) return NULL;
  tpy_make_light(tpy.tensor);
  tpy_leave_to_counting(tpy.node);
  Py_RETURN_NONE;
}

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

static PyMethodDef tpy_private[] = {
    {"register", (PyCFunction)(void (*)(void))py_register, METH_VARARGS | METH_KEYWORDS, NULL},
    {"object_at", py_object_at, METH_O, "The object at an address."},
    {"adopt", py_adopt, METH_O, "A tensor that takes over a handle."},
    {"add_hook", (PyCFunction)(void (*)(void))py_add_hook, METH_FASTCALL,
     "Adds a hook to a tensor."},
    {"queue_callback", py_queue_callback, METH_O,
     "Runs a callable when the backward has finished."},
    {"push_saved_hooks", py_push_saved_hooks, METH_VARARGS,
     "What nodes save goes through two callables."},
    {"pop_saved_hooks", py_pop_saved_hooks, METH_NOARGS, "Takes them off again."},
    {"attach_node", (PyCFunction)(void (*)(void))py_attach_node, METH_FASTCALL,
     "Makes tensors the results of a custom function."},
    {"needs_grad", py_needs_grad, METH_O, "Which arguments want gradients."},
    {"adopt_node", py_adopt_node, METH_O, "A node that takes over a reference."},
    {"saved_tensors", py_saved_tensors, METH_O, "What a node kept."},
    {"backward", (PyCFunction)(void (*)(void))py_backward, METH_FASTCALL,
     "Adds gradients to leaves."},
    {"grad", (PyCFunction)(void (*)(void))py_grad, METH_FASTCALL, "Gradients as a tuple."},
    {"remove_hook", (PyCFunction)(void (*)(void))py_remove_hook, METH_FASTCALL,
     "Removes a hook of a tensor."},
    {"is_grad_enabled", py_is_grad_enabled, METH_NOARGS,
     "Whether operations record on this thread."},
    {"is_inference_mode_enabled", py_is_inference_mode_enabled, METH_NOARGS,
     "Whether this thread is in inference mode."},
    {"from_numbers", (PyCFunction)(void (*)(void))py_from_numbers, METH_FASTCALL,
     "A tensor of plain numbers, or None."},
    {"arange", (PyCFunction)(void (*)(void))py_arange, METH_FASTCALL,
     "start, start + step, ... before stop."},
    {"is_tensor", py_is_tensor, METH_O, "Whether an object is a Tensor."},
    {"from_array", py_from_array, METH_O, "A tensor on the memory of a NumPy array, or None."},
    {"from_data", py_from_data, METH_VARARGS, "A tensor on memory that an object owns."},
    {"to_capsule", py_to_capsule, METH_VARARGS, "A DLPack capsule of a tensor."},
    {"from_capsule", py_from_capsule, METH_VARARGS, "A tensor on the memory of a DLPack capsule."},
    {NULL, NULL, 0, NULL},
};

static int tpy_add_functions(PyObject* table, PyMethodDef* defs) {
  for (; defs->ml_name != NULL; ++defs) {
    PyObject* function = PyCFunction_New(defs, NULL);
    if (function == NULL || PyDict_SetItemString(table, defs->ml_name, function) < 0) return 0;
    Py_DECREF(function);
  }
  return 1;
}

static int tpy_count_methods(const PyMethodDef* methods) {
  int count = 0;
  while (methods[count].ml_name != NULL) ++count;
  return count;
}

/* The methods by hand and those of ops in one table, which the type needs for its life. */
static PyMethodDef* tpy_all_methods(void) {
  const int own = tpy_count_methods(tensor_methods), ops = tpy_count_methods(tpy_methods);
  PyMethodDef* all = PyMem_Calloc((size_t)own + (size_t)ops + 1, sizeof *all);
  if (all == NULL) return (void)PyErr_NoMemory(), NULL;
  memcpy(all, tensor_methods, sizeof *all * (size_t)own);
  memcpy(all + own, tpy_methods, sizeof *all * (size_t)ops);
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
  slots[count++] = (PyType_Slot){Py_tp_methods, tpy_all_methods()};
  if (slots[count - 1].pfunc == NULL) return 0;
  slots[count] = (PyType_Slot){0, NULL};
  PyType_Spec spec = {"tessera.TensorBase", sizeof(tpy_object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  tpy.base = (PyTypeObject*)PyType_FromSpec(&spec);
  tpy.tensor = tpy.base;
  return tpy.base != NULL && tpy_add_exchange(tpy.base) &&
         PyDict_SetItemString(table, "TensorBase", (PyObject*)tpy.base) == 0;
}

/* Called through cffi, thus without the lock. `table` is the address of a dict. */
int32_t tpy_install(uintptr_t table_address) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject* table = (PyObject*)table_address;
  const int good = tpy_prepare_signatures() && tpy_make_type(table) && tpy_make_nodes(table) &&
                   tpy_make_modes(table) && tpy_make_devices(table) &&
                   tpy_add_functions(table, tpy_private) && tpy_add_functions(table, tpy_functions);
  if (!good) PyErr_WriteUnraisable(table);
  PyGILState_Release(lock);
  return good ? 0 : -1;
}
