/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Matches the positional and keyword arguments of a call to parameters: a slot for each. Every
 * error names the function and the argument. */
#include "native.h"

int tpy_prepare(const tpy_signature* sig) {
  if (sig->n > 0 && sig->keys[0] != NULL) return 1; /* those of another function, too */
  for (int i = 0; i < sig->n; ++i) {
    const char* at = sig->parameters[i].names;
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

const char* tpy_name(const tpy_signature* sig, int i) {
  return PyUnicode_AsUTF8(sig->keys[i * TPY_MAX_ALIASES]);
}

static int tpy_find(const tpy_signature* sig, PyObject* key) {
  PyObject* const* known = sig->keys;
  for (int i = 0; i < sig->n; ++i, known += TPY_MAX_ALIASES) {
    for (int alias = 0; alias < TPY_MAX_ALIASES && known[alias] != NULL; ++alias) {
      if (known[alias] == key) return i;
    }
  }
  for (int i = 0; i < sig->n * TPY_MAX_ALIASES; ++i) { /* a key that is not interned */
    if (sig->keys[i] != NULL && PyUnicode_Compare(sig->keys[i], key) == 0)
      return i / TPY_MAX_ALIASES;
  }
  return -1;
}

/* Fast path: the k-th keyword of a call usually is the k-th parameter after the positional ones,
 * `next`. */
static int tpy_parse_keywords(const tpy_signature* sig, PyObject* const* values, PyObject* kwnames,
                              PyObject** slots, Py_ssize_t next) {
  const Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    const int guess = (int)(next + k);
    const int i =
        guess < sig->n && sig->keys[guess * TPY_MAX_ALIASES] == key ? guess : tpy_find(sig, key);
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

/* Replaces arrays by tensors if there is a tensor among the arguments; the last slot owns them. */
static int tpy_take_arrays(const tpy_signature* sig, PyObject** slots) {
  int beside = 0, recorded = 0;
  for (int i = 0; i < sig->n; ++i) {
    if (!(sig->tensors >> i & 1) || slots[i] == NULL || !tpy_is_tensor(slots[i])) continue;
    beside = 1;
    recorded = recorded || tpy_wants_grad(slots[i]);
  }
  for (int i = 0; beside && i < sig->n; ++i) {
    if (!(sig->tensors >> i & 1) || slots[i] == NULL || !tpy_is_array(slots[i])) continue;
    PyObject* made = tpy_array_operand(slots[i], recorded);
    PyObject* kept = made != NULL
                         ? PyTuple_Pack(2, made, slots[sig->n] != NULL ? slots[sig->n] : Py_None)
                         : NULL;
    slots[i] = made; /* borrowed from the tuple */
    Py_XDECREF(made);
    if (kept == NULL) return 0;
    Py_XSETREF(slots[sig->n], kept);
  }
  return 1;
}

/* Fills slots (sig->n + 1 of them) with borrowed references, absent ones with NULL. The last slot
 * owns the tuple of a spread list and the tensors for arrays: release it with Py_XDECREF after the
 * call. `self` is the first argument of a method, a module or NULL otherwise. */
int tpy_parse(const tpy_signature* sig, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
              PyObject* kwnames, PyObject** slots) {
  for (int i = 0; i <= sig->n; ++i) slots[i] = NULL;
  const int first = self != NULL && tpy_has_tensor_type(self);
  if (first) slots[0] = self;
  Py_ssize_t given = nargs + first;
  if (sig->vararg >= 0 && given > sig->vararg + 1 && PyIndex_Check(args[sig->vararg - first]) &&
      PyIndex_Check(args[sig->vararg + 1 - first])) {
    const Py_ssize_t begin = sig->vararg - first;
    PyObject* spread = PyTuple_New(nargs - begin);
    if (spread == NULL) return 0;
    for (Py_ssize_t i = begin; i < nargs; ++i)
      PyTuple_SET_ITEM(spread, i - begin, Py_NewRef(args[i]));
    slots[sig->vararg] = slots[sig->n] = spread;
    given = sig->vararg;
  } else if (given > sig->n_positional) {
    PyErr_Format(PyExc_TypeError, "%s(): takes at most %d positional arguments, got %zd", sig->name,
                 sig->n_positional, given);
    return 0;
  }
  for (Py_ssize_t i = first; i < given; ++i) slots[i] = args[i - first];
  if (kwnames != NULL && !tpy_parse_keywords(sig, args + nargs, kwnames, slots, given)) goto failed;
  for (int i = 0; i < sig->n_required; ++i) {
    if (slots[i] == NULL) {
      PyErr_Format(PyExc_TypeError, "%s(): missing argument '%s' (position %d)", sig->name,
                   tpy_name(sig, i), i + 1);
      goto failed;
    }
  }
  for (unsigned left = sig->tensors, i = 0; left != 0; left >>= 1, ++i) {
    if (!(left & 1) || slots[i] == NULL || Py_TYPE(slots[i]) == tpy.tensor ||
        !tpy_is_array(slots[i]))
      continue;
    if (!tpy_take_arrays(sig, slots)) goto failed;
    break;
  }
  return 1;
failed:
  Py_CLEAR(slots[sig->n]);
  return 0;
}

int tpy_mismatch(const tpy_signature* sig, int i, const char* expected, PyObject* got) {
  PyErr_Format(tpy.type_error, "%s(): argument '%s' (position %d): expected %s, got %s", sig->name,
               tpy_name(sig, i), i + 1, expected, Py_TYPE(got)->tp_name);
  return 0;
}

/* Like tpy_mismatch, for an object that Python could not convert; exceptions other than TypeError
 * are kept. */
int tpy_unreadable(const tpy_signature* sig, int i, const char* expected, PyObject* got) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
  PyErr_Clear();
  return tpy_mismatch(sig, i, expected, got);
}
