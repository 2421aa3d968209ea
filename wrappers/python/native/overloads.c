/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Names with a second meaning that follows from the arguments: view(dtype) beside view(shape),
 * where(condition) beside where(condition, input, other), and split(sizes) beside split(size). Each
 * takes the place of the op's own function where the tables are made, and passes every other call
 * on. The products of Note [Products of two dtypes] do the same. */
#include "rows.h"

static tpy_fast view_shape, view_dtype, where_three, nonzero, split_evenly, split_sizes;

static int tpy_is_dtype(PyObject* object) {
  for (int k = 0; k < tpy.n_dtypes; ++k) {
    if (tpy.dtypes[k] == object) return 1;
  }
  return 0;
}

/* `self` is the first argument of a method, and no tensor for a function. */
static Py_ssize_t tpy_given(PyObject* self, Py_ssize_t nargs) {
  return nargs + (self != NULL && tpy_has_tensor_type(self));
}

static PyObject* py_view_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) == 1 && tpy_given(self, nargs) == 1 &&
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "dtype") == 0) {
    return view_dtype(self, args, nargs + 1, NULL);
  }
  const int bytes = kwnames == NULL && nargs > 0 && tpy_given(self, nargs) == 2 &&
                    !PyLong_Check(args[nargs - 1]) && !PyTuple_Check(args[nargs - 1]) &&
                    tpy_is_dtype(args[nargs - 1]);
  return (bytes ? view_dtype : view_shape)(self, args, nargs, kwnames);
}

static PyObject* py_where_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  const int positions = kwnames == NULL && tpy_given(self, nargs) == 1;
  return (positions ? nonzero : where_three)(self, args, nargs, kwnames);
}

static PyObject* py_split_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  const Py_ssize_t second = self != NULL && tpy_has_tensor_type(self) ? 0 : 1;
  const int listed = nargs > second && (PyList_Check(args[second]) || PyTuple_Check(args[second]));
  return (listed ? split_sizes : split_evenly)(self, args, nargs, kwnames);
}

/* Note [Products of two dtypes]
 * The library's products take operands of one dtype, as PyTorch's do. The Array API standard
 * promotes them, and so do these functions of the package. A call is repeated, with operands of
 * their common dtype, after it has failed: calls of one dtype cost nothing more. Operands of a
 * dialect keep the failure. */
static int tpy_is_dtype_error(void) {
  PyObject* status = PyLong_FromLong(TSR_DTYPE);
  PyObject* kind = status != NULL ? PyDict_GetItem(tpy.errors, status) : NULL;
  Py_XDECREF(status);
  return kind != NULL && PyErr_ExceptionMatches(kind);
}

/* The tensor in the dtype; NULL with an exception set. */
static PyObject* tpy_of_dtype(PyObject* tensor, tsr_dtype from, tsr_dtype to) {
  if (from == to) return Py_NewRef(tensor);
  tsr_tensor made = NULL;
  tsr_status status;
  TPY_CALL(status, tsr_astype(tpy_handle(tensor), to, 0, &made));
  return tpy_result(status, made);
}

int tpy_promote(PyObject* a, PyObject* b, PyObject** pair) {
  if (!tpy_is_dtype_error() || !tpy_is_tensor(a) || !tpy_is_tensor(b)) return 0;
  if (tpy_class_for(a, b) != tpy.tensor) return 0;
  tsr_info first = {sizeof first}, second = {sizeof second};
  tsr_dtype common = 0;
  if (tsr_tensor_info(tpy_handle(a), &first) != TSR_OK ||
      tsr_tensor_info(tpy_handle(b), &second) != TSR_OK || first.dtype == second.dtype ||
      tsr_promote_types(first.dtype, second.dtype, &common) != TSR_OK)
    return 0;
  PyErr_Clear();
  pair[0] = tpy_of_dtype(a, first.dtype, common);
  pair[1] = pair[0] != NULL ? tpy_of_dtype(b, second.dtype, common) : NULL;
  if (pair[1] == NULL) Py_XDECREF(pair[0]);
  return pair[1] != NULL;
}

/* All tensors among the arguments, but out=, are the two operands. */
static PyObject* tpy_call_promoting(tpy_fast call, PyObject* self, PyObject* const* args,
                                    Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* result = call(self, args, nargs, kwnames);
  const Py_ssize_t total = nargs + (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0);
  if (result != NULL || total > TPY_MAX_PARAMETERS) return result;
  PyObject *given[TPY_MAX_PARAMETERS + 1], *pair[2];
  Py_ssize_t places[2], found = 0;
  given[0] = self;
  memcpy(given + 1, args, sizeof *given * (size_t)total);
  for (Py_ssize_t i = 0; i <= total && found < 2; ++i) {
    const int keyword = i > nargs;
    if (given[i] == NULL || !tpy_is_tensor(given[i]) ||
        (keyword &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i - nargs - 1), "out") == 0))
      continue;
    places[found++] = i;
  }
  if (found < 2 || !tpy_promote(given[places[0]], given[places[1]], pair)) return NULL;
  given[places[0]] = pair[0];
  given[places[1]] = pair[1];
  result = call(given[0], given + 1, nargs, kwnames);
  Py_DECREF(pair[0]);
  Py_DECREF(pair[1]);
  return result;
}

#define TPY_PROMOTING(name)                                                                 \
  static tpy_fast name##_same;                                                              \
  static PyObject* py_##name##_any(PyObject* self, PyObject* const* args, Py_ssize_t nargs, \
                                   PyObject* kwnames) {                                     \
    return tpy_call_promoting(name##_same, self, args, nargs, kwnames);                     \
  }
TPY_PROMOTING(matmul)
TPY_PROMOTING(solve)
TPY_PROMOTING(tensordot)
TPY_PROMOTING(vecdot)

static tpy_fast tpy_function_of(const char* name) {
  for (const tpy_op* op = tpy_ops; op->row != NULL; ++op) {
    if (op->is_function && strcmp(op->row->sig.name, name) == 0) return op->call;
  }
  PyErr_Format(PyExc_SystemError, "native/overloads.c: there is no op %s", name);
  return NULL;
}

int tpy_find_overloaded(void) {
  return (view_shape = tpy_function_of("view")) != NULL &&
         (view_dtype = tpy_function_of("view_dtype")) != NULL &&
         (where_three = tpy_function_of("where")) != NULL &&
         (nonzero = tpy_function_of("nonzero")) != NULL &&
         (split_evenly = tpy_function_of("split")) != NULL &&
         (split_sizes = tpy_function_of("split_with_sizes")) != NULL &&
         (matmul_same = tpy_function_of("matmul")) != NULL &&
         (solve_same = tpy_function_of("solve")) != NULL &&
         (tensordot_same = tpy_function_of("tensordot")) != NULL &&
         (vecdot_same = tpy_function_of("vecdot")) != NULL;
}

tpy_fast tpy_overload(const tpy_op* op, int is_function) {
  if (op->call == view_shape) return py_view_any;
  if (op->call == split_evenly) return py_split_any;
  if (is_function && op->call == where_three) return py_where_any;
  if (op->call == matmul_same) return py_matmul_any;
  if (op->call == solve_same) return py_solve_any;
  if (op->call == tensordot_same) return py_tensordot_any;
  if (op->call == vecdot_same) return py_vecdot_any;
  return op->call;
}
