/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The type TensorBase: lifetime of the handle, metadata. */
#include "native.h"
#include "redirect.h"

/* ---- lifetime ---- */

/* Removes a tensor from the users of its gradient's object. Neither of the two owns the other: a
 * reference would keep the memory of a gradient alive after the library released it. */
static void tpy_forget_grad(tpy_object* user) {
  if (user->grad == NULL) return;
  *user->place = user->next;
  if (user->next != NULL) user->next->place = user->place;
  user->grad = NULL;
}

void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  tpy_forget_grad((tpy_object*)self);
  while (((tpy_object*)self)->users != NULL) tpy_forget_grad(((tpy_object*)self)->users);
  if (((tpy_object*)self)->weakrefs != NULL) PyObject_ClearWeakRefs(self);
  Py_CLEAR(((tpy_object*)self)->attributes);
  tsr_tensor_release(tpy_handle(self));
  type->tp_free(self);
  Py_DECREF(type);
}

/* ---- the collector ----
 * A tensor refers to Python objects only through the library: the callables of its hooks, and those
 * of its graph; one of the dialect also by attributes that a program gave it. Most tensors have
 * none, so the collector tracks a tensor only once it gets one, and those with a graph that are
 * made while the library holds any callable; otherwise a tensor costs the collector nothing. */

PyObject* tensor_alloc(PyTypeObject* type, Py_ssize_t count) {
  (void)count;
  PyObject* self = (PyObject*)PyObject_GC_New(tpy_object, type);
  if (self != NULL)
    memset((char*)self + sizeof(PyObject), 0, sizeof(tpy_object) - sizeof(PyObject));
  return self;
}

void tpy_show_to_collector(PyObject* tensor) {
  if (!PyObject_GC_IsTracked(tensor)) PyObject_GC_Track(tensor);
}

void tpy_show_recorded(PyObject* tensor) {
  if (tpy_wants_grad(tensor)) tpy_show_to_collector(tensor);
}

void tpy_visit_user(void* arg, void* user, tsr_drop_fn drop) {
  tpy_visitor* visitor = arg;
  if (drop == tpy_drop_callable && visitor->result == 0)
    visitor->result = visitor->visit(user, visitor->arg);
}

/* Note [What the collector sees]
 * The library reports callables only if this object's reference is the last one. The collector asks
 * twice, to subtract references and to find what can be reached, and must get the same answer. A
 * thread that is inside the library, without the interpreter's lock, may take references of its own
 * between the two. So nothing is visited while any thread is: `running` cannot change in between,
 * because that needs the lock, which the collector holds. What is garbage then is found next time.
 */
int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  tpy_visitor visitor = {visit, arg, 0};
  if (tpy_handle(self) == NULL || tpy.running > 0) return 0;
  const tsr_status status = tsr_tensor_traverse(tpy_handle(self), tpy_visit_user, &visitor);
  return status == TSR_OK ? visitor.result : 0;
}

/* Called by the collector for an unreachable object. */
int tensor_clear(PyObject* self) {
  tsr_tensor handle = tpy_handle(self);
  ((tpy_object*)self)->handle = NULL;
  tsr_tensor_release(handle);
  return 0;
}

/* ---- attributes of a program's own ----
 * Only classes that are written in Python have them: Python's own functions for the collector visit
 * and clear the dict of such a class, since TensorBase has no place for one. */

static int tensor_setattro(PyObject* self, PyObject* name, PyObject* value) {
  if (PyObject_GenericSetAttr(self, name, value) < 0) return -1;
  if (((tpy_object*)self)->attributes != NULL) tpy_show_to_collector(self);
  return 0;
}

static PyObject* tensor_get_dict(PyObject* self, void* closure) {
  PyObject* attributes = PyObject_GenericGetDict(self, closure);
  if (attributes != NULL) tpy_show_to_collector(self);
  return attributes;
}

static PyGetSetDef tensor_dict = {"__dict__", tensor_get_dict, PyObject_GenericSetDict,
                                  "Attributes that the program gave this object.", NULL};

int tpy_take_attributes(PyTypeObject* type) {
  PyObject* entry = PyDescr_NewGetSet(type, &tensor_dict);
  if (entry == NULL) return 0;
  const int failed = PyDict_SetItemString(type->tp_dict, "__dict__", entry);
  Py_DECREF(entry);
  type->tp_dictoffset = offsetof(tpy_object, attributes);
  type->tp_setattro = tensor_setattro;
  PyType_Modified(type);
  return failed == 0;
}

/* Class(tensor): another Python object, of this class, for the same tensor. */
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* other = NULL;
  if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", type->tp_name);
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "O", &other)) return NULL;
  if (!tpy_is_tensor(other)) {
    if (tpy_has_tensor_type(other)) return tpy_redirect_call("new", "OO", type, other);
    PyErr_Format(tpy.type_error,
                 "expected a Tensor, got %s; tessera.tensor(data) makes one from data",
                 Py_TYPE(other)->tp_name);
    return NULL;
  }
  tsr_tensor_retain(tpy_handle(other));
  return tpy_wrap_as(type, tpy_handle(other));
}

/* _rebind(tensor): the object stands for that tensor from now on, as all of its names do. */
PyObject* tensor_rebind(PyObject* self, PyObject* other) {
  if (!tpy_is_tensor(other)) {
    PyErr_Format(tpy.type_error, "_rebind(): expected a Tensor, got %s", Py_TYPE(other)->tp_name);
    return NULL;
  }
  tpy_object* object = (tpy_object*)self;
  const tsr_tensor before = object->handle;
  tsr_tensor_retain(tpy_handle(other));
  tpy_forget_grad(object); /* what object is whose gradient was said of the tensor before */
  while (object->users != NULL) tpy_forget_grad(object->users);
  object->handle = tpy_handle(other);
  tpy_show_recorded(self);
  tsr_tensor_release(before);
  Py_RETURN_NONE;
}

Py_hash_t tensor_hash(PyObject* self) {
  return (Py_hash_t)((size_t)self >> 4);
}

/* ---- metadata ---- */

int tpy_wants_grad(PyObject* object) {
  tsr_info info = {sizeof info};
  return tpy_is_tensor(object) && tsr_tensor_info(tpy_handle(object), &info) == TSR_OK &&
         (info.flags & TSR_TENSOR_REQUIRES_GRAD) != 0;
}

int tpy_info(PyObject* self, tsr_info* info) {
  info->struct_size = sizeof *info;
  const tsr_status status = tsr_tensor_info(tpy_handle(self), info);
  if (status == TSR_OK) return 1;
  if (tpy_handle(self) == NULL) return tpy_blank_info(self, info);
  tpy_fail(status);
  return 0;
}

/* Fills a new tuple; NULL if making it failed. */
static PyObject* tpy_fill_ints(PyObject* tuple, const int64_t* values, int32_t count) {
  for (int32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (value == NULL)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, value);
  }
  return tuple;
}

PyObject* tpy_int_tuple(const int64_t* values, int32_t count) {
  return tpy_fill_ints(PyTuple_New(count), values, count);
}

/* The sizes of the axes, as a shape of the dialect for its tensors. */
static PyObject* tpy_shape(PyObject* self, const tsr_info* info) {
  PyTypeObject* type = tpy.shape;
  if (type == NULL || !tpy_of_dialect(self)) return tpy_int_tuple(info->sizes, info->ndim);
  return tpy_fill_ints(type->tp_alloc(type, info->ndim), info->sizes, info->ndim);
}

PyObject* tpy_find_dtype(tsr_dtype bits) {
  PyObject* dtype = tpy.dtype_at[tpy_dtype_place(bits)];
  if (dtype != NULL) return Py_NewRef(dtype);
  PyErr_Format(PyExc_RuntimeError, "unknown dtype bits %x", (unsigned)bits);
  return NULL;
}

PyObject* tensor_get(PyObject* self, tpy_get which) {
  tsr_info info;
  if (!tpy_info(self, &info)) return NULL;
  switch (which) {
    case TPY_GET_SHAPE:
      return tpy_shape(self, &info);
    case TPY_GET_STRIDES:
      return tpy_int_tuple(info.strides, info.ndim);
    case TPY_GET_NDIM:
      return PyLong_FromLong(info.ndim);
    case TPY_GET_SIZE:
      return PyLong_FromLongLong(info.numel);
    case TPY_GET_NBYTES:
      return PyLong_FromLongLong(info.nbytes);
    case TPY_GET_OFFSET:
      return PyLong_FromLongLong(info.storage_offset);
    case TPY_GET_DATA:
      if (!tpy_may_read(self)) return NULL;
      return PyLong_FromVoidPtr(info.data);
    case TPY_GET_REQUIRES_GRAD:
      return PyBool_FromLong(info.flags & TSR_TENSOR_REQUIRES_GRAD);
    case TPY_GET_CONTIGUOUS:
      return PyBool_FromLong(info.flags & TSR_TENSOR_CONTIGUOUS);
    case TPY_GET_READ_ONLY:
      return PyBool_FromLong(info.flags & TSR_TENSOR_READ_ONLY);
    case TPY_GET_INFERENCE:
      return PyBool_FromLong(info.flags & TSR_TENSOR_INFERENCE);
    case TPY_GET_VIEW:
      return PyBool_FromLong(info.flags & TSR_TENSOR_VIEW);
    case TPY_GET_DTYPE:
      return tpy_find_dtype(info.dtype);
    case TPY_GET_DTYPE_BITS:
      return PyLong_FromLong(info.dtype);
    default:
      break;
  }
  if (info.device_type == TSR_DEVICE_CPU && tpy.cpu != NULL) return Py_NewRef(tpy.cpu);
  return PyObject_CallFunction(tpy.make_device, "ii", (int)info.device_type,
                               (int)info.device_index);
}

int tensor_set_requires_grad(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  const int truth = value != NULL ? PyObject_IsTrue(value) : 0;
  if (truth < 0) return -1;
  const tsr_status status = tsr_tensor_set_requires_grad(tpy_handle(self), truth);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK ? 0 : -1;
}

/* The object that stands for the gradient is the same as long as somebody holds it and the
 * gradient is the same tensor. An object that is being destroyed (its count is 0) must not be
 * returned. */
static PyObject* tpy_cached_grad(PyObject* self, tsr_tensor grad) {
  PyObject* object = (PyObject*)((tpy_object*)self)->grad;
  return object != NULL && tpy_handle(object) == grad && Py_REFCNT(object) > 0 ? Py_NewRef(object)
                                                                               : NULL;
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

/* None, with a warning when a backward can never store a gradient in the tensor. */
static PyObject* tpy_no_grad(PyObject* self) {
  int32_t leaf = 1, retains = 1;
  tsr_status status = tsr_tensor_is_leaf(tpy_handle(self), &leaf);
  if (status == TSR_OK && leaf == 0) status = tsr_tensor_retains_grad(tpy_handle(self), &retains);
  if (status != TSR_OK) return tpy_fail(status);
  if (retains == 0 &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "grad: the tensor is no leaf, so a backward stores no gradient in it; to keep "
                   "its gradient, call retain_grad() before the backward",
                   1) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* tensor_get_grad(PyObject* self, void* closure) {
  (void)closure;
  tsr_tensor grad = NULL;
  const tsr_status status = tsr_tensor_grad(tpy_handle(self), &grad);
  if (status != TSR_OK) return tpy_fail(status);
  if (grad == NULL) return tpy_no_grad(self);
  PyObject* object = tpy_cached_grad(self, grad);
  if (object != NULL) {
    tsr_tensor_release(grad);
    return object;
  }
  object = tpy_wrap_as(tpy_class_for(self, self), grad);
  if (object != NULL) tpy_cache_grad(self, object);
  return object;
}

static int tensor_set_grad(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  tsr_tensor grad = NULL;
  if (!tpy_absent(value)) {
    if (!tpy_is_tensor(value)) {
      PyErr_Format(tpy.type_error, "grad: expected a Tensor or None, got %s",
                   Py_TYPE(value)->tp_name);
      return -1;
    }
    grad = tpy_handle(value);
  }
  const tsr_status status = tsr_tensor_set_grad(tpy_handle(self), grad);
  if (status != TSR_OK) return tpy_fail(status), -1;
  if (grad != NULL) tpy_cache_grad(self, value);
  return 0;
}

static PyObject* tensor_get_grad_fn(PyObject* self, void* closure) {
  (void)closure;
  tsr_node node = NULL;
  const tsr_status status = tsr_tensor_grad_fn(tpy_handle(self), &node);
  if (status != TSR_OK) return tpy_fail(status);
  tpy_show_to_collector(self); /* the node may get hooks */
  return tpy_wrap_node(node);
}

static PyObject* tensor_get_base(PyObject* self, void* closure) {
  (void)closure;
  tsr_tensor base = NULL;
  const tsr_status status = tsr_tensor_base(tpy_handle(self), &base);
  if (status != TSR_OK) return tpy_fail(status);
  if (base == NULL) Py_RETURN_NONE;
  return tpy_wrap_as(tpy_class_for(self, self), base);
}

static PyObject* tensor_get_is_leaf(PyObject* self, void* closure) {
  (void)closure;
  int32_t value = 0;
  const tsr_status status = tsr_tensor_is_leaf(tpy_handle(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyBool_FromLong(value);
}

static PyObject* tensor_get_retains_grad(PyObject* self, void* closure) {
  (void)closure;
  int32_t value = 0;
  const tsr_status status = tsr_tensor_retains_grad(tpy_handle(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyBool_FromLong(value);
}

static PyObject* tensor_get_version(PyObject* self, void* closure) {
  (void)closure;
  int64_t value = 0;
  const tsr_status status = tsr_tensor_version(tpy_handle(self), &value);
  return status != TSR_OK ? tpy_fail(status) : PyLong_FromLongLong(value);
}

static int tensor_set_data(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  if (value == NULL || !tpy_is_tensor(value)) {
    PyErr_Format(tpy.type_error, "data: expected a Tensor, got %s",
                 value ? Py_TYPE(value)->tp_name : "nothing");
    return -1;
  }
  const tsr_status status = tsr_tensor_set_data(tpy_handle(self), tpy_handle(value));
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK ? 0 : -1;
}

/* The closure of an attribute points to its entry here. */
static char tensor_gets[TPY_GET_COUNT];

static PyObject* tensor_get_closure(PyObject* self, void* closure) {
  return tensor_get(self, (tpy_get)((char*)closure - tensor_gets));
}

PyGetSetDef tensor_getset[] = {
    {"shape", tensor_get_closure, NULL, "Sizes of the axes.", tensor_gets + TPY_GET_SHAPE},
    {"_strides", tensor_get_closure, NULL, "Strides of the axes, in elements.",
     tensor_gets + TPY_GET_STRIDES},
    {"ndim", tensor_get_closure, NULL, "Number of axes.", tensor_gets + TPY_GET_NDIM},
    {"size", tensor_get_closure, NULL, "Number of elements.", tensor_gets + TPY_GET_SIZE},
    {"nbytes", tensor_get_closure, NULL, "Bytes of all elements.", tensor_gets + TPY_GET_NBYTES},
    {"_offset", tensor_get_closure, NULL, "Offset of the first element in its storage.",
     tensor_gets + TPY_GET_OFFSET},
    {"_data_address", tensor_get_closure, NULL, "Address of the first element.",
     tensor_gets + TPY_GET_DATA},
    {"_contiguous", tensor_get_closure, NULL, "Row-major without gaps.",
     tensor_gets + TPY_GET_CONTIGUOUS},
    {"_read_only", tensor_get_closure, NULL, "The memory must not be written.",
     tensor_gets + TPY_GET_READ_ONLY},
    {"_inference", tensor_get_closure, NULL, "Made in inference mode.",
     tensor_gets + TPY_GET_INFERENCE},
    {"_view", tensor_get_closure, NULL, "A view that autograd tracks.", tensor_gets + TPY_GET_VIEW},
    {"dtype", tensor_get_closure, NULL, "Type of the elements.", tensor_gets + TPY_GET_DTYPE},
    {"_dtype_bits", tensor_get_closure, NULL, "The dtype as the C ABI numbers it.",
     tensor_gets + TPY_GET_DTYPE_BITS},
    {"device", tensor_get_closure, NULL, "Where the memory is.", tensor_gets + TPY_GET_DEVICE},
    {"requires_grad", tensor_get_closure, tensor_set_requires_grad,
     "Whether gradients reach this tensor.", tensor_gets + TPY_GET_REQUIRES_GRAD},
    {"grad", tensor_get_grad, tensor_set_grad, "The accumulated gradient, or None.", NULL},
    {"data", tensor_get_data, tensor_set_data,
     "The same memory without history; writes to it go unnoticed by autograd. Assigning gives the "
     "tensor the memory, shape, "
     "dtype and device of another one.",
     NULL},
    {"grad_fn", tensor_get_grad_fn, NULL, "The node that computed this tensor, or None.", NULL},
    {"base", tensor_get_base, NULL,
     "The tensor into whose memory autograd knows this view to look, or None.", NULL},
    {"is_leaf", tensor_get_is_leaf, NULL, "Whether the tensor has no history.", NULL},
    {"retains_grad", tensor_get_retains_grad, NULL, "Whether a backward keeps its gradient.", NULL},
    {"_version", tensor_get_version, NULL, "How often the memory was changed in place.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(tpy_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
