/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * From Python arguments to C parameters; every error names the function and the argument. */
#include "native.h"

int tpy_bool(const tpy_signature* sig, int i, PyObject* object, int32_t absent, int32_t* out) {
  *out = absent;
  if (object == NULL || (object == Py_None && absent == -1)) return 1;
  if (PyBool_Check(object)) {
    *out = object == Py_True;
    return 1;
  }
  if (!PyLong_Check(object)) return tpy_mismatch(sig, i, "a bool", object);
  const int truth = PyObject_IsTrue(object);
  *out = truth;
  return truth >= 0;
}

/* Puts function and argument before the text of the exception, unless it is one that says nothing
 * about the argument, such as KeyboardInterrupt. Returns 0. */
static int tpy_name_argument(const tpy_signature* sig, int i) {
  if (sig == NULL ||
      !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)))
    return 0;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* text = PyUnicode_FromFormat("%s(): argument '%s' (position %d): %S", sig->name,
                                        tpy_name(sig, i), i + 1, value);
  PyObject* args = text != NULL ? PyTuple_Pack(1, text) : NULL;
  if (args == NULL || PyObject_SetAttrString(value, "args", args) < 0) PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(args);
  PyErr_Restore(type, value, trace);
  return 0;
}

static int tpy_too_large(PyObject* number) {
  PyErr_Format(tpy.value_error, "expected an int of 64 bits, got %R", number);
  return 0;
}

int tpy_as_int64(PyObject* object, int64_t* out) {
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

/* A tensor has __index__ whatever its elements are: the error names the argument then, too. */
static int tpy_indexed(const tpy_signature* sig, int i, const char* expected, PyObject* object,
                       int64_t* out) {
  if (tpy_as_int64(object, out)) return 1;
  if (PyErr_ExceptionMatches(tpy.value_error)) return tpy_name_argument(sig, i);
  if (!PyErr_ExceptionMatches(tpy.type_error)) return 0;
  PyErr_Clear();
  return tpy_mismatch(sig, i, expected, object);
}

int tpy_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent, int64_t* out) {
  *out = absent;
  if (object == NULL) return 1;
  if (!PyIndex_Check(object)) return tpy_mismatch(sig, i, "an int", object);
  return tpy_indexed(sig, i, "an int", object, out);
}

/* None is "absent" in the ABI, which may differ from the default. */
int tpy_optional_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent,
                       int64_t* out) {
  if (object != Py_None) return tpy_int64(sig, i, object, absent, out);
  *out = INT64_MIN;
  return 1;
}

int tpy_f64(const tpy_signature* sig, int i, PyObject* object, double absent, double* out) {
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

int tpy_optional_f64(const tpy_signature* sig, int i, PyObject* object, double* out, int32_t* has) {
  *has = !tpy_absent(object);
  *out = 0;
  return !*has || tpy_f64(sig, i, object, 0, out);
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
    if (!PySequence_Check(object) || PyUnicode_Check(object) || tpy_has_tensor_type(object)) {
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

int tpy_ints(const tpy_signature* sig, int i, PyObject* object, tpy_list* list) {
  list->at = list->room;
  if (object != NULL && (PyLong_CheckExact(object) ||
                         PyIndex_Check(object))) { /* a single number is read as a list of one */
    list->n = 1;
    return tpy_indexed(sig, i, "an int or a sequence of ints", object, list->room);
  }
  PyObject* items;
  if (!tpy_list_items(sig, i, object, "an int or a sequence of ints", list, &items)) return 0;
  int good = 1;
  for (int32_t k = 0; good && items != NULL && k < list->n; ++k) {
    PyObject* item = PyTuple_GET_ITEM(items, k);
    good = PyIndex_Check(item) ? tpy_indexed(sig, i, "a sequence of ints", item, list->at + k)
                               : tpy_mismatch(sig, i, "a sequence of ints", item);
  }
  Py_XDECREF(items);
  return good;
}

int tpy_floats(const tpy_signature* sig, int i, PyObject* object, tpy_list* list) {
  PyObject* items;
  if (!tpy_list_items(sig, i, object, "a sequence of floats", list, &items)) return 0;
  int good = 1;
  for (int32_t k = 0; good && items != NULL && k < list->n; ++k) {
    good = tpy_f64(sig, i, PyTuple_GET_ITEM(items, k), 0, list->at_f64 + k);
  }
  Py_XDECREF(items);
  return good;
}

int tpy_tensor_list(const tpy_signature* sig, int i, PyObject* object, int holes,
                    tpy_tensors* list) {
  list->n = 0;
  list->at = list->room;
  list->items = NULL;
  if (tpy_absent(object)) return 1;
  if (tpy_has_tensor_type(object)) return tpy_mismatch(sig, i, "a sequence of Tensors", object);
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

/* ---- dtypes, devices, text, constants, generators ---- */

int tpy_dtype(const tpy_signature* sig, int i, PyObject* object, tsr_dtype* out) {
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
    if (object == NULL) return tpy_name_argument(sig, i);
  }
  Py_DECREF(object);
  PyErr_SetString(tpy.type_error, "expected a tessera dtype");
  return tpy_name_argument(sig, i);
}

int tpy_device(const tpy_signature* sig, int i, PyObject* object, int32_t* type, int32_t* index) {
  *type = *index = -1;
  if (tpy_absent(object)) return 1;
  if (object == tpy.cpu ||
      (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, "cpu") == 0)) {
    *type = TSR_DEVICE_CPU;
    *index = 0;
    return 1;
  }
  PyObject* pair = PyObject_CallOneArg(tpy.to_device, object);
  if (pair == NULL) return tpy_name_argument(sig, i);
  const int good = PyArg_ParseTuple(pair, "ii", type, index);
  Py_DECREF(pair);
  return good;
}

int tpy_text(const tpy_signature* sig, int i, PyObject* object, const char* absent,
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

int tpy_enum(const tpy_signature* sig, int i, PyObject* object, const tpy_constant* known,
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

int tpy_generator(const tpy_signature* sig, int i, PyObject* object, tsr_generator* out) {
  *out = NULL;
  if (tpy_absent(object)) return 1;
  if (!PyObject_TypeCheck(object, tpy.generator))
    return tpy_mismatch(sig, i, "a Generator", object);
  *out = ((tpy_held*)object)->handle;
  return 1;
}

/* out=(a, b): exactly `count` tensors; items stays NULL when absent. */
int tpy_outs(const tpy_signature* sig, int i, PyObject* object, int count, tpy_tensors* list) {
  if (!tpy_tensor_list(sig, i, object, 0, list)) return 0;
  if (list->items == NULL || list->n == count) return 1;
  PyErr_Format(tpy.value_error, "%s(): argument 'out': expected %d tensors, got %d", sig->name,
               count, (int)list->n);
  return 0;
}

/* requires_grad= of a function that makes a leaf; takes the result over. */
PyObject* tpy_requiring(const tpy_signature* sig, int i, PyObject* object, PyObject* result) {
  int32_t value = 0;
  if (result == NULL || object == NULL || tpy_handle(result) == NULL) return result;
  if (tpy_bool(sig, i, object, 0, &value)) {
    const tsr_status status = tsr_tensor_set_requires_grad(tpy_handle(result), value);
    if (status == TSR_OK) return result;
    tpy_fail(status);
  }
  Py_DECREF(result);
  return NULL;
}
