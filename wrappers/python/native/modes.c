/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The type ModeBase: context managers that set whether a thread records. _modes.py defines the
 * modes and their use as decorators. */
#include "native.h"

enum { TPY_NO_GRAD, TPY_ENABLE_GRAD, TPY_INFERENCE, TPY_SET_GRAD, TPY_KINDS };

typedef struct {
  PyObject_HEAD char* before; /* what to restore, the innermost block last */
  Py_ssize_t depth, room;
  int kind, mode;
  int switched; /* the constructor switched the mode, not a with block */
} tpy_mode;

static int tpy_mode_set(const tpy_mode* self, int value, int32_t* before) {
  const tsr_status status = self->kind == TPY_INFERENCE ? tsr_inference_mode_set(value, before)
                                                        : tsr_grad_mode_set(value, before);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

/* A block of inference_mode(False) records whatever is around it, as PyTorch's does. Bit 1 of what
 * is kept is whether the thread recorded; it is set back before inference mode is, which takes it
 * for what to go back to. */
static int tpy_mode_records(const tpy_mode* self) {
  return self->kind == TPY_INFERENCE && !self->mode;
}

static int tpy_grad_mode_set(int value, int32_t* before) {
  const tsr_status status = tsr_grad_mode_set(value, before);
  if (status != TSR_OK) tpy_fail(status);
  return status == TSR_OK;
}

static int tpy_mode_push(tpy_mode* self) {
  if (self->depth == self->room) {
    const Py_ssize_t room = self->room != 0 ? 2 * self->room : 8;
    char* more = PyMem_Realloc(self->before, (size_t)room);
    if (more == NULL) return PyErr_NoMemory(), 0;
    self->before = more;
    self->room = room;
  }
  int32_t before = 0;
  if (!tpy_mode_set(self, self->mode, &before)) return 0;
  if (tpy_mode_records(self)) {
    int32_t recorded = 0;
    if (!tpy_grad_mode_set(1, &recorded)) return 0;
    before |= recorded << 1;
  }
  self->before[self->depth++] = (char)before;
  return 1;
}

static int tpy_mode_pop(tpy_mode* self) {
  int32_t unused = 0;
  if (self->depth == 0) {
    PyErr_SetString(PyExc_RuntimeError, "a mode is left that was not entered");
    return 0;
  }
  const int before = self->before[--self->depth];
  if (tpy_mode_records(self) && !tpy_grad_mode_set(before >> 1, &unused)) return 0;
  return tpy_mode_set(self, before & 1, &unused);
}

static tpy_mode* tpy_mode_make(PyTypeObject* type, int kind, int mode) {
  tpy_mode* self = (tpy_mode*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->kind = kind;
  self->mode = mode;
  return self;
}

/* The argument `mode` of a kind that takes one; the others take none. */
static int tpy_mode_argument(const char* name, int kind, PyObject* args, PyObject* kwargs,
                             PyObject** mode) {
  static char* names[] = {"mode", NULL};
  const Py_ssize_t given = PyTuple_GET_SIZE(args) + (kwargs != NULL ? PyDict_GET_SIZE(kwargs) : 0);
  *mode = kind == TPY_NO_GRAD ? Py_False : Py_True;
  if (given == 0 && kind != TPY_SET_GRAD) return 1;
  if (kind == TPY_INFERENCE || kind == TPY_SET_GRAD) {
    return PyArg_ParseTupleAndKeywords(args, kwargs, kind == TPY_SET_GRAD ? "O" : "|O", names,
                                       mode);
  }
  PyErr_Format(PyExc_TypeError, "%s() takes no arguments but a function to decorate", name);
  return 0;
}

/* mode(...); if the only argument is a function, returns it decorated. */
static PyObject* mode_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static PyObject* tag_name;
  PyObject* tag = tpy_attribute((PyObject*)type, &tag_name, "_kind");
  if (tag == NULL) return NULL;
  const long number = PyLong_AsLong(tag);
  Py_DECREF(tag);
  if (PyErr_Occurred()) return NULL;
  if (number < 0 || number >= TPY_KINDS) {
    return PyErr_Format(tpy.type_error, "%s._kind: expected a mode, got %ld", type->tp_name,
                        number);
  }
  const int kind = (int)number;
  PyObject* first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
  PyObject* mode = Py_True;
  const int decorates = first != NULL && PyCallable_Check(first);
  if (decorates && kind == TPY_SET_GRAD) {
    return PyErr_Format(tpy.type_error, "%s(): expected a bool, got %s", type->tp_name,
                        Py_TYPE(first)->tp_name);
  }
  if (decorates)
    mode = kind == TPY_NO_GRAD ? Py_False : Py_True;
  else if (!tpy_mode_argument(type->tp_name, kind, args, kwargs, &mode))
    return NULL;
  const int truth = PyObject_IsTrue(mode);
  PyObject* self = truth >= 0 ? (PyObject*)tpy_mode_make(type, kind, truth) : NULL;
  if (self == NULL) return NULL;
  PyObject* result = self;
  if (decorates) {
    result = PyObject_CallOneArg(self, first);
  } else if (kind == TPY_SET_GRAD) {
    if (!tpy_mode_push((tpy_mode*)self))
      result = NULL;
    else
      ((tpy_mode*)self)->switched = 1;
  }
  if (result != self) Py_DECREF(self);
  return result;
}

static void mode_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyMem_Free(((tpy_mode*)self)->before);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject* mode_enter(PyObject* object, PyObject* unused) {
  (void)unused;
  tpy_mode* self = (tpy_mode*)object;
  if (self->switched)
    self->switched = 0;
  else if (!tpy_mode_push(self))
    return NULL;
  return Py_NewRef(object);
}

static PyObject* mode_exit(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)args;
  (void)nargs;
  if (!tpy_mode_pop((tpy_mode*)self)) return NULL;
  Py_RETURN_NONE;
}

/* A new mode of this kind, not yet entered, for one call of a decorated function. */
static PyObject* mode_again(PyObject* self, PyObject* unused) {
  (void)unused;
  return (PyObject*)tpy_mode_make(Py_TYPE(self), ((tpy_mode*)self)->kind, ((tpy_mode*)self)->mode);
}

/* Restores the mode that was set before the constructor switched it. */
static PyObject* mode_undo(PyObject* self, PyObject* unused) {
  (void)unused;
  const int switched = ((tpy_mode*)self)->switched;
  ((tpy_mode*)self)->switched = 0;
  if (switched && !tpy_mode_pop((tpy_mode*)self)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* mode_get_mode(PyObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(((tpy_mode*)self)->mode);
}

static PyMethodDef mode_methods[] = {
    {"__enter__", mode_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))mode_exit, METH_FASTCALL, NULL},
    {"_again", mode_again, METH_NOARGS, "A fresh mode of this kind."},
    {"_undo", mode_undo, METH_NOARGS, "Takes back what the making switched."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef mode_getset[] = {
    {"mode", mode_get_mode, NULL, "What the mode switches to.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int tpy_make_modes(PyObject* table) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, mode_dealloc},
      {Py_tp_new, mode_new},
      {Py_tp_methods, mode_methods},
      {Py_tp_getset, mode_getset},
      {0, NULL},
  };
  PyType_Spec spec = {"tessera.ModeBase", sizeof(tpy_mode), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  const int good = type != NULL && PyDict_SetItemString(table, "ModeBase", type) == 0;
  Py_XDECREF(type);
  return good;
}

PyObject* py_is_grad_enabled(PyObject* self, PyObject* unused) {
  (void)self;
  (void)unused;
  return PyBool_FromLong(tsr_grad_mode());
}

PyObject* py_is_inference_mode_enabled(PyObject* self, PyObject* unused) {
  (void)self;
  (void)unused;
  return PyBool_FromLong(tsr_inference_mode());
}
