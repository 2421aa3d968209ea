/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * From Python arguments to C parameters; every error names the function and the argument. */
#ifndef TESSERA_PY_ARGUMENTS_H
#define TESSERA_PY_ARGUMENTS_H

#include "results.h"

#define TPY_MAX_ALIASES 4
#define TPY_INLINE_LIST 8

/* One Python function: its parameters in order, `out` among them. */
typedef struct {
  const char* name;
  int n;            /* parameters */
  int n_positional; /* how many of them may come by position */
  int n_required;
  int vararg;              /* a list that may be spread over the positions from its own on, or -1 */
  const char* const* names; /* names of one parameter, the first one canonical, parted by '|' */
  PyObject** keys;          /* n * TPY_MAX_ALIASES interned strings */
  unsigned tensors;         /* bits of the parameters that are tensors, and read */
} tpy_signature;

static int tpy_prepare(const tpy_signature* sig) {
  for (int i = 0; i < sig->n; ++i) {
    const char* at = sig->names[i];
    for (int alias = 0; alias < TPY_MAX_ALIASES && at != NULL; ++alias) {
      const char* bar = strchr(at, '|');
      PyObject* key = PyUnicode_FromStringAndSize(at, bar ? bar - at : (Py_ssize_t)strlen(at));
      if (key == NULL) return 0;
      PyUnicode_InternInPlace(&key);
      sig->keys[i * TPY_MAX_ALIASES + alias] = key;
      at = bar ? bar + 1 : NULL;
    }
  }
  return 1;
}

static const char* tpy_name(const tpy_signature* sig, int i) {
  return PyUnicode_AsUTF8(sig->keys[i * TPY_MAX_ALIASES]);
}

static int tpy_find(const tpy_signature* sig, PyObject* key) {
  const int count = sig->n * TPY_MAX_ALIASES;
  for (int i = 0; i < count; ++i) {
    if (sig->keys[i] == key) return i / TPY_MAX_ALIASES;
  }
  for (int i = 0; i < count; ++i) {
    if (sig->keys[i] != NULL && PyUnicode_Compare(sig->keys[i], key) == 0) return i / TPY_MAX_ALIASES;
  }
  return -1;
}

static int tpy_parse_keywords(const tpy_signature* sig, PyObject* const* values, PyObject* kwnames,
                              PyObject** slots) {
  const Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    const int i = tpy_find(sig, key);
    if (i < 0) {
      PyErr_Format(PyExc_TypeError, "%s(): unexpected keyword argument '%U'", sig->name, key);
      return 0;
    }
    if (slots[i] != NULL) {
      PyErr_Format(PyExc_TypeError, "%s(): argument '%s' given twice", sig->name, tpy_name(sig, i));
      return 0;
    }
    slots[i] = values[k];
  }
  return 1;
}

/* ---- NumPy arrays beside tensors ---- */

/* Puts tensors in the place of arrays, when there is a tensor beside them; the last slot keeps them. */
static int tpy_take_arrays(const tpy_signature* sig, PyObject** slots) {
  int beside = 0, recorded = 0;
  for (int i = 0; i < sig->n; ++i) {
    if (!(sig->tensors >> i & 1) || slots[i] == NULL || !TPY_IS_TENSOR(slots[i])) continue;
    beside = 1;
    recorded = recorded || tpy_wants_grad(slots[i]);
  }
  for (int i = 0; beside && i < sig->n; ++i) {
    if (!(sig->tensors >> i & 1) || slots[i] == NULL || !tpy_is_array(slots[i])) continue;
    PyObject* made = tpy_array_operand(slots[i], recorded);
    PyObject* kept = made != NULL ? PyTuple_Pack(2, made, slots[sig->n] != NULL ? slots[sig->n] : Py_None) : NULL;
    slots[i] = made; /* borrowed from the tuple */
    Py_XDECREF(made);
    if (kept == NULL) return 0;
    Py_XSETREF(slots[sig->n], kept);
  }
  return 1;
}

/* Fills slots (sig->n + 1 of them) with borrowed references, absent ones with NULL. The last slot
 * owns the tuple of a spread list and what stands for arrays: release it with Py_XDECREF after the call. `self` is the first
 * argument of a method, a module or NULL otherwise. */
static int tpy_parse(const tpy_signature* sig, PyObject* self, PyObject* const* args,
                     Py_ssize_t nargs, PyObject* kwnames, PyObject** slots) {
  memset(slots, 0, sizeof(PyObject*) * (size_t)(sig->n + 1));
  const int first = self != NULL && TPY_IS_TENSOR(self);
  if (first) slots[0] = self;
  Py_ssize_t given = nargs + first;
  if (sig->vararg >= 0 && given > sig->vararg + 1 && PyIndex_Check(args[sig->vararg - first]) &&
      PyIndex_Check(args[sig->vararg + 1 - first])) {
    const Py_ssize_t begin = sig->vararg - first;
    PyObject* spread = PyTuple_New(nargs - begin);
    if (spread == NULL) return 0;
    for (Py_ssize_t i = begin; i < nargs; ++i) PyTuple_SET_ITEM(spread, i - begin, Py_NewRef(args[i]));
    slots[sig->vararg] = slots[sig->n] = spread;
    given = sig->vararg;
  } else if (given > sig->n_positional) {
    PyErr_Format(PyExc_TypeError, "%s(): takes at most %d positional arguments, got %zd", sig->name,
                 sig->n_positional, given);
    return 0;
  }
  for (Py_ssize_t i = first; i < given; ++i) slots[i] = args[i - first];
  if (kwnames != NULL && !tpy_parse_keywords(sig, args + nargs, kwnames, slots)) goto failed;
  for (int i = 0; i < sig->n_required; ++i) {
    if (slots[i] == NULL) {
      PyErr_Format(PyExc_TypeError, "%s(): missing argument '%s' (position %d)", sig->name,
                   tpy_name(sig, i), i + 1);
      goto failed;
    }
  }
  for (unsigned left = sig->tensors, i = 0; left != 0; left >>= 1, ++i) {
    if (!(left & 1) || slots[i] == NULL || Py_TYPE(slots[i]) == tpy.tensor || !tpy_is_array(slots[i])) continue;
    if (!tpy_take_arrays(sig, slots)) goto failed;
    break;
  }
  return 1;
failed:
  Py_CLEAR(slots[sig->n]);
  return 0;
}

static int tpy_mismatch(const tpy_signature* sig, int i, const char* expected, PyObject* got) {
  PyErr_Format(tpy.type_error, "%s(): argument '%s' (position %d): expected %s, got %s", sig->name,
               tpy_name(sig, i), i + 1, expected, Py_TYPE(got)->tp_name);
  return 0;
}

/* As tpy_mismatch, for what Python could not read; exceptions that are no TypeErrors come through. */
static int tpy_unreadable(const tpy_signature* sig, int i, const char* expected, PyObject* got) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
  PyErr_Clear();
  return tpy_mismatch(sig, i, expected, got);
}

static inline int tpy_absent(PyObject* object) { return object == NULL || object == Py_None; }

/* ---- One converter per type of the schema. They return 1, or 0 with an exception set. ---- */

static inline int tpy_tensor(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* out) {
  if (!TPY_IS_TENSOR(object)) return tpy_mismatch(sig, i, "a Tensor", object);
  *out = TPY_HANDLE(object);
  return 1;
}

static inline int tpy_optional_tensor(const tpy_signature* sig, int i, PyObject* object,
                                      tsr_tensor* out) {
  *out = NULL;
  return tpy_absent(object) || tpy_tensor(sig, i, object, out);
}

static int tpy_bool(const tpy_signature* sig, int i, PyObject* object, int32_t absent, int32_t* out) {
  *out = absent;
  if (object == NULL || (object == Py_None && absent == -1)) return 1;
  if (!PyBool_Check(object) && !PyLong_Check(object)) return tpy_mismatch(sig, i, "a bool", object);
  const int truth = PyObject_IsTrue(object);
  *out = truth;
  return truth >= 0;
}

static int tpy_too_large(PyObject* number) {
  PyErr_Format(tpy.value_error, "expected an int of 64 bits, got %R", number);
  return 0;
}

static int tpy_as_int64(PyObject* object, int64_t* out) {
  int overflow = 0;
  if (PyLong_CheckExact(object)) {
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow || tpy_too_large(object);
  }
  PyObject* index = PyNumber_Index(object);
  if (index == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
    PyErr_Clear();
    PyErr_Format(tpy.type_error, "expected an int, got %s", Py_TYPE(object)->tp_name);
    return 0;
  }
  *out = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow) tpy_too_large(index);
  Py_DECREF(index);
  return !overflow;
}

static int tpy_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent, int64_t* out) {
  *out = absent;
  if (object == NULL) return 1;
  if (!PyIndex_Check(object)) return tpy_mismatch(sig, i, "an int", object);
  return tpy_as_int64(object, out);
}

/* None is "absent" in the ABI, which may differ from the default. */
static int tpy_optional_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent, int64_t* out) {
  if (object != Py_None) return tpy_int64(sig, i, object, absent, out);
  *out = INT64_MIN;
  return 1;
}

static int tpy_f64(const tpy_signature* sig, int i, PyObject* object, double absent, double* out) {
  *out = absent;
  if (object == NULL) return 1;
  if (PyFloat_CheckExact(object)) {
    *out = PyFloat_AS_DOUBLE(object);
    return 1;
  }
  if (Py_TYPE(object)->tp_as_number == NULL || PyComplex_Check(object)) {
    return tpy_mismatch(sig, i, "a float", object);
  }
  *out = PyFloat_AsDouble(object);
  if (*out != -1.0 || !PyErr_Occurred()) return 1;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear();
    return tpy_mismatch(sig, i, "a float", object);
  }
  return tpy_unreadable(sig, i, "a float", object);
}

static inline int tpy_optional_f64(const tpy_signature* sig, int i, PyObject* object, double* out, int32_t* has) {
  *has = !tpy_absent(object);
  *out = 0;
  return !*has || tpy_f64(sig, i, object, 0, out);
}

/* A list of 8-byte numbers, borrowed from `room` when short; n = -1 when absent. */
typedef struct {
  int32_t n;
  int64_t* at;
  double* at_f64;
  int64_t room[TPY_INLINE_LIST];
} tpy_list;

static inline void tpy_free_list(tpy_list* list) {
  if (list->at != list->room) PyMem_Free(list->at);
}

static int tpy_reserve(tpy_list* list, Py_ssize_t count) {
  list->n = (int32_t)count;
  if (count > TPY_INLINE_LIST) {
    list->at = PyMem_Malloc(sizeof(int64_t) * (size_t)count);
    if (list->at == NULL) {
      list->at = list->room;
      PyErr_NoMemory();
      return 0;
    }
  }
  list->at_f64 = (double*)list->at;
  return 1;
}

static int tpy_list_items(const tpy_signature* sig, int i, PyObject* object, const char* expected,
                          tpy_list* list, PyObject** items) {
  list->n = -1;
  list->at = list->room;
  list->at_f64 = (double*)list->room;
  *items = NULL;
  if (tpy_absent(object)) return 1;
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    if (!PySequence_Check(object) || PyUnicode_Check(object) || TPY_IS_TENSOR(object)) {
      return tpy_mismatch(sig, i, expected, object);
    }
  }
  *items = PySequence_Tuple(object);
  if (*items == NULL) return tpy_unreadable(sig, i, expected, object);
  if (PyTuple_GET_SIZE(*items) > INT32_MAX || !tpy_reserve(list, PyTuple_GET_SIZE(*items))) {
    Py_CLEAR(*items);
    return 0;
  }
  return 1;
}

static int tpy_ints(const tpy_signature* sig, int i, PyObject* object, tpy_list* list) {
  list->at = list->room;
  if (object != NULL && PyIndex_Check(object)) { /* one number stands for a list of it */
    list->n = 1;
    return tpy_as_int64(object, list->room);
  }
  PyObject* items;
  if (!tpy_list_items(sig, i, object, "an int or a sequence of ints", list, &items)) return 0;
  int good = 1;
  for (int32_t k = 0; good && items != NULL && k < list->n; ++k) {
    PyObject* item = PyTuple_GET_ITEM(items, k);
    good = PyIndex_Check(item) ? tpy_as_int64(item, list->at + k)
                               : tpy_mismatch(sig, i, "a sequence of ints", item);
  }
  Py_XDECREF(items);
  return good;
}

static inline int tpy_floats(const tpy_signature* sig, int i, PyObject* object, tpy_list* list) {
  PyObject* items;
  if (!tpy_list_items(sig, i, object, "a sequence of floats", list, &items)) return 0;
  int good = 1;
  for (int32_t k = 0; good && items != NULL && k < list->n; ++k) {
    good = tpy_f64(sig, i, PyTuple_GET_ITEM(items, k), 0, list->at_f64 + k);
  }
  Py_XDECREF(items);
  return good;
}

/* Handles of a sequence of tensors; `items` keeps them alive. */
typedef struct {
  int32_t n;
  tsr_tensor* at;
  PyObject* items;
  tsr_tensor room[TPY_INLINE_LIST];
} tpy_tensors;

static inline void tpy_free_tensors(tpy_tensors* list) {
  if (list->at != list->room) PyMem_Free(list->at);
  Py_XDECREF(list->items);
}

static int tpy_tensor_list(const tpy_signature* sig, int i, PyObject* object, int holes, tpy_tensors* list) {
  list->n = 0;
  list->at = list->room;
  list->items = NULL;
  if (tpy_absent(object)) return 1;
  if (TPY_IS_TENSOR(object)) return tpy_mismatch(sig, i, "a sequence of Tensors", object);
  list->items = PySequence_Tuple(object);
  if (list->items == NULL) return tpy_unreadable(sig, i, "a sequence of Tensors", object);
  const Py_ssize_t count = PyTuple_GET_SIZE(list->items);
  if (count > TPY_INLINE_LIST) {
    tsr_tensor* more = PyMem_Malloc(sizeof(tsr_tensor) * (size_t)count);
    if (more == NULL) {
      PyErr_NoMemory();
      return 0;
    }
    list->at = more;
  }
  list->n = (int32_t)count;
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* item = PyTuple_GET_ITEM(list->items, k);
    if (holes && item == Py_None) {
      list->at[k] = NULL;
    } else if (!tpy_tensor(sig, i, item, list->at + k)) {
      return 0;
    }
  }
  return 1;
}

/* ---- Host numbers ---- */

enum { TPY_BOOL = 0, TPY_I64 = 1, TPY_F64 = 2, TPY_C128 = 3, TPY_NO_NUMBER = -1, TPY_ERROR = -2 };

typedef struct {
  int32_t has;
  int32_t large; /* an int beyond 64 bits: `re` is near it */
  int64_t i;
  double re, im;
} tpy_number;

static int tpy_large(PyObject* object, int sign, tpy_number* out) {
  out->large = 1;
  out->re = PyLong_AsDouble(object);
  if (out->re == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    out->re = sign * (double)INFINITY;
  }
  return TPY_F64;
}

/* The kind of a number, TPY_NO_NUMBER for what is none, TPY_ERROR with an exception set. Those that are stored or counted
 * with must have 64 bits: see tpy_sized_number. */
static int tpy_as_number(PyObject* object, tpy_number* out) {
  out->has = 1;
  out->large = 0;
  out->im = 0;
  if (PyFloat_Check(object)) {
    out->re = PyFloat_AS_DOUBLE(object);
    out->i = 0;
    return TPY_F64;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    out->i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return tpy_large(object, overflow, out);
    out->re = (double)out->i;
    return PyBool_Check(object) ? TPY_BOOL : TPY_I64;
  }
  if (PyComplex_Check(object)) {
    out->re = PyComplex_RealAsDouble(object);
    out->im = PyComplex_ImagAsDouble(object);
    return TPY_C128;
  }
  if (TPY_IS_TENSOR(object) || Py_TYPE(object)->tp_as_number == NULL || tpy_is_array(object)) return TPY_NO_NUMBER;
  PyObject* plain = PyObject_CallOneArg(tpy.number, object);
  if (plain == NULL) return TPY_ERROR;
  int kind = TPY_NO_NUMBER;
  if (PyFloat_Check(plain) || PyLong_Check(plain) || PyComplex_Check(plain)) kind = tpy_as_number(plain, out);
  Py_DECREF(plain);
  return kind;
}

static int tpy_sized_number(PyObject* object, tpy_number* out) {
  const int kind = tpy_as_number(object, out);
  if (kind == TPY_NO_NUMBER || kind == TPY_ERROR || !out->large) return kind;
  PyErr_Format(tpy.value_error, "expected an int of 64 bits, got %R; a float holds what is near it", object);
  return TPY_ERROR;
}

/* The narrowest kind of `known` (bits 1 << kind) that holds numbers of this kind, or TPY_NO_NUMBER. */
static inline int tpy_fit_kind(int kind, int known) {
  while (kind <= TPY_C128 && !(known >> kind & 1)) ++kind;
  return kind <= TPY_C128 ? kind : TPY_NO_NUMBER;
}

/* A required or optional number; *kind grows to the widest kind seen. */
static int tpy_scalar(const tpy_signature* sig, int i, PyObject* object, tpy_number* out, int* kind) {
  memset(out, 0, sizeof *out);
  if (tpy_absent(object)) return 1;
  if (TPY_IS_TENSOR(object)) return tpy_mismatch(sig, i, "a number", object);
  const int found = tpy_sized_number(object, out);
  if (found == TPY_ERROR) return 0;
  if (found == TPY_NO_NUMBER) return tpy_mismatch(sig, i, "a number", object);
  if (found > *kind) *kind = found;
  return 1;
}

/* A tensor or a number: *mask gets the bit of a number, *absent that of nothing. */
static int tpy_operand(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* tensor,
                       tpy_number* number, int* kind, unsigned* mask, unsigned* absent) {
  *tensor = NULL;
  memset(number, 0, sizeof *number);
  if (tpy_absent(object)) {
    *absent |= 1u << i;
    return 1;
  }
  if (TPY_IS_TENSOR(object)) {
    *tensor = TPY_HANDLE(object);
    return 1;
  }
  const int found = tpy_sized_number(object, number);
  if (found == TPY_ERROR) return 0;
  if (found == TPY_NO_NUMBER) return tpy_mismatch(sig, i, "a Tensor or a number", object);
  if (found > *kind) *kind = found;
  *mask |= 1u << i;
  return 1;
}

/* A bool number beside a bool tensor keeps bool, which no overload for integers would. */
static int tpy_is_bool(PyObject* object) {
  tsr_info info = {sizeof info};
  return object != NULL && TPY_IS_TENSOR(object) && tsr_tensor_info(TPY_HANDLE(object), &info) == TSR_OK &&
         info.dtype == TSR_BOOL;
}

/* A 0-dim tensor in the place of a number, for calls that have no overload with that number. */
static int tpy_lift(PyObject* object, PyObject* like, tsr_tensor* tensor, PyObject** keep) {
  *keep = PyObject_CallFunctionObjArgs(tpy.operand, object, like, NULL);
  if (*keep == NULL) return 0;
  *tensor = TPY_HANDLE(*keep);
  return 1;
}

static int tpy_no_kind(const tpy_signature* sig) {
  PyErr_Format(tpy.type_error, "%s(): this kind of number is not supported here", sig->name);
  return 0;
}

static int tpy_no_tensor(const tpy_signature* sig) {
  PyErr_Format(tpy.type_error, "%s(): expected at least one Tensor, got numbers only", sig->name);
  return 0;
}

/* ---- dtypes, devices, text, constants, generators ---- */

static int tpy_dtype(const tpy_signature* sig, int i, PyObject* object, tsr_dtype* out) {
  (void)sig;
  (void)i;
  *out = -1;
  if (tpy_absent(object)) return 1;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (int k = 0; k < tpy.n_dtypes; ++k) {
      if (tpy.dtypes[k] == object) {
        *out = tpy.dtype_bits[k];
        if (attempt) Py_DECREF(object);
        return 1;
      }
    }
    if (attempt) break;
    object = PyObject_CallOneArg(tpy.to_dtype, object);
    if (object == NULL) return 0;
  }
  Py_DECREF(object);
  PyErr_SetString(tpy.type_error, "expected a tessera dtype");
  return 0;
}

static int tpy_device(const tpy_signature* sig, int i, PyObject* object, int32_t* type, int32_t* index) {
  (void)sig;
  (void)i;
  *type = *index = -1;
  if (tpy_absent(object)) return 1;
  if (object == tpy.cpu || (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, "cpu") == 0)) {
    *type = TSR_DEVICE_CPU;
    *index = 0;
    return 1;
  }
  PyObject* pair = PyObject_CallOneArg(tpy.to_device, object);
  if (pair == NULL) return 0;
  const int good = PyArg_ParseTuple(pair, "ii", type, index);
  Py_DECREF(pair);
  return good;
}

static int tpy_text(const tpy_signature* sig, int i, PyObject* object, const char* absent,
                    const char** out, int64_t* length) {
  *out = absent;
  *length = absent != NULL ? (int64_t)strlen(absent) : 0;
  if (object == NULL || (object == Py_None && absent == NULL)) return 1;
  if (!PyUnicode_Check(object)) return tpy_mismatch(sig, i, "a str", object);
  Py_ssize_t size = 0;
  *out = PyUnicode_AsUTF8AndSize(object, &size);
  *length = size;
  return *out != NULL;
}

typedef struct {
  const char* name;
  int32_t value;
} tpy_constant;

static inline int tpy_enum(const tpy_signature* sig, int i, PyObject* object, const tpy_constant* known,
                    int32_t absent, int32_t* out) {
  *out = absent;
  if (object == NULL || (object == Py_None && absent == -1)) return 1;
  if (!PyUnicode_Check(object)) return tpy_mismatch(sig, i, "a str", object);
  for (; known->name != NULL; ++known) {
    if (PyUnicode_CompareWithASCIIString(object, known->name) == 0) {
      *out = known->value;
      return 1;
    }
  }
  PyErr_Format(tpy.value_error, "%s(): argument '%s' (position %d): unknown value '%U'", sig->name,
               tpy_name(sig, i), i + 1, object);
  return 0;
}

static int tpy_generator(const tpy_signature* sig, int i, PyObject* object, tsr_generator* out) {
  *out = NULL;
  if (tpy_absent(object)) return 1;
  PyObject* address = PyObject_GetAttrString(object, "_address");
  if (address == NULL) {
    PyErr_Clear();
    return tpy_mismatch(sig, i, "a Generator", object);
  }
  *out = (tsr_generator)PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  return *out != NULL || !PyErr_Occurred();
}

/* out=: the tensor to write to, NULL when absent. */
static inline int tpy_out(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* out) {
  return tpy_optional_tensor(sig, i, object, out);
}

/* out=(a, b): exactly `count` tensors; items stays NULL when absent. */
static int tpy_outs(const tpy_signature* sig, int i, PyObject* object, int count, tpy_tensors* list) {
  if (!tpy_tensor_list(sig, i, object, 0, list)) return 0;
  if (list->items == NULL || list->n == count) return 1;
  PyErr_Format(tpy.value_error, "%s(): argument 'out': expected %d tensors, got %d", sig->name, count, (int)list->n);
  return 0;
}

/* requires_grad= of a function that makes a leaf; takes the result over. */
static PyObject* tpy_requiring(const tpy_signature* sig, int i, PyObject* object, PyObject* result) {
  int32_t value = 0;
  if (result == NULL || object == NULL) return result;
  if (tpy_bool(sig, i, object, 0, &value)) {
    const tsr_status status = tsr_tensor_set_requires_grad(TPY_HANDLE(result), value);
    if (status == TSR_OK) return result;
    tpy_fail(status);
  }
  Py_DECREF(result);
  return NULL;
}

#endif
