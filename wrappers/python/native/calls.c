/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * A call of an op: its row says how the arguments are read, which C function is called, and what is
 * returned. */
#include "redirect.h"
#include "rows.h"

tpy_list tpy_no_list = {.n = -1};
tpy_tensors tpy_no_tensors = {.n = 0};

/* The lists of one call; freed at its end. */
typedef struct {
  int n_lists, n_tensors;
  unsigned numbers; /* bits of the operands that are numbers */
  tpy_list lists[TPY_MAX_LISTS];
  tpy_tensors tensors[TPY_MAX_TENSOR_LISTS];
} tpy_frame;

static void tpy_free_frame(tpy_frame* frame) {
  for (int i = 0; i < frame->n_lists; ++i) tpy_free_list(frame->lists + i);
  for (int i = 0; i < frame->n_tensors; ++i) tpy_free_tensors(frame->tensors + i);
}

static tpy_list* tpy_next_list(tpy_frame* frame) {
  tpy_list* list = frame->lists + frame->n_lists++;
  list->at = list->room;
  return list;
}

static tpy_tensors* tpy_next_tensors(tpy_frame* frame) {
  tpy_tensors* list = frame->tensors + frame->n_tensors++;
  list->n = 0;
  list->at = list->room;
  list->items = NULL;
  return list;
}

/* Reads one argument; the most frequent kinds come first. */
static inline int tpy_read(const tpy_signature* sig, const tpy_parameter* from, int i,
                           PyObject* object, tpy_value* to, tpy_frame* frame) {
  switch (from->kind) {
    case TPY_TENSOR:
      return tpy_tensor(sig, i, object, &to->tensor);
    case TPY_OPTIONAL_TENSOR:
      return tpy_optional_tensor(sig, i, object, &to->tensor);
    case TPY_OPERAND:
      return tpy_operand(sig, i, object, &to->tensor, &to->number, &frame->numbers);
    case TPY_SCALAR:
      return tpy_scalar(sig, i, object, &from->absent.number, &to->number);
    case TPY_INTS:
      return tpy_ints(sig, i, object, to->list = tpy_next_list(frame));
    case TPY_BOOL:
      return tpy_bool(sig, i, object, from->absent.word, &to->word);
    case TPY_INT64:
      return tpy_int64(sig, i, object, from->absent.whole, &to->whole);
    case TPY_OPTIONAL_INT64:
      return tpy_optional_int64(sig, i, object, from->absent.whole, &to->whole);
    case TPY_F64:
      return tpy_f64(sig, i, object, from->absent.real, &to->real);
    case TPY_OPTIONAL_F64:
      return tpy_optional_f64(sig, i, object, &to->real, &to->more);
    case TPY_DTYPE:
      return tpy_dtype(sig, i, object, &to->word);
    case TPY_DEVICE:
      return tpy_device(sig, i, object, &to->word, &to->more);
    case TPY_TENSORS:
      return tpy_tensor_list(sig, i, object, 0, to->tensors = tpy_next_tensors(frame));
    case TPY_OPTIONAL_TENSORS:
      return tpy_tensor_list(sig, i, object, 1, to->tensors = tpy_next_tensors(frame));
    case TPY_FLOATS:
      return tpy_floats(sig, i, object, to->list = tpy_next_list(frame));
    case TPY_TEXT:
      return tpy_text(sig, i, object, from->absent.text, &to->text, &to->length);
    case TPY_GENERATOR:
      return tpy_generator(sig, i, object, &to->generator);
    case TPY_WORD:
      return tpy_enum(sig, i, object, from->words, from->absent.word, &to->word);
  }
  __builtin_unreachable(); /* all kinds are handled above */
}

/* Reads out=: 1 if it is given, 0 if not, -1 with an exception set. The handles go to `values`. */
static int tpy_read_out(const tpy_row* row, PyObject* given, tpy_value* values, tpy_frame* frame) {
  if (tpy_absent(given)) return 0;
  if (row->n_results == 1)
    return tpy_tensor(&row->sig, row->n_inputs, given, &values->tensor) ? 1 : -1;
  tpy_tensors* list = tpy_next_tensors(frame);
  if (!tpy_outs(&row->sig, row->n_inputs, given, row->n_results, list)) return -1;
  for (int k = 0; k < row->n_results; ++k) values[k].tensor = list->at[k];
  return 1;
}

/* The C functions for this set of arguments that are numbers; NULL if there are none. */
static const tpy_way* tpy_choose(const tpy_row* row, const tpy_value* values, unsigned numbers) {
  const tpy_way* way = row->ways;
  if (numbers == 0) return way;
  while ((++way)->call != NULL) {
    if (!row->bounds && numbers == way->numbers) return way;
    if (row->bounds && values[1].tensor == NULL && values[2].tensor == NULL) return way;
  }
  return NULL;
}

/* An op whose results are a list, of a length that only the call returns. */
static PyObject* tpy_call_list(PyTypeObject* type, const tpy_row* row, const tpy_way* way,
                               tpy_value* values) {
  tsr_tensor room[16], *many = room;
  int32_t found = 0;
  tpy_value* to = values + row->n_inputs;
  *to = (tpy_value){.place = room, .more = 16};
  to[1].found = &found;
  tsr_status status;
  TPY_CALL(status, way->call(way->function, values));
  if (status == TSR_BUFFER && found > 16) {
    many = PyMem_Malloc(sizeof(tsr_tensor) * (size_t)found);
    if (many == NULL) return PyErr_NoMemory();
    *to = (tpy_value){.place = many, .more = found};
    TPY_CALL(status, way->call(way->function, values));
  }
  PyObject* result = status != TSR_OK ? tpy_fail(status) : tpy_tuple_of(type, many, found);
  if (many != room) PyMem_Free(many);
  return result;
}

static PyObject* tpy_call_new(PyTypeObject* type, const tpy_row* row, const tpy_way* way,
                              tpy_value* values, PyObject** slots) {
  tsr_tensor results[TPY_MAX_RESULTS] = {NULL};
  tpy_value* to = values + row->n_inputs;
  for (int k = 0; k < row->n_results; ++k) to[k].place = results + k;
  tsr_status status;
  TPY_CALL(status, way->call(way->function, values));
  if (row->n_results == 1) {
    return row->alias < 0 ? tpy_result_as(type, status, results[0])
                          : tpy_result_alias(status, results[0], slots[row->alias]);
  }
  if (row->n_results > 1) return tpy_named_of(type, status, row->sig.name, results, row->n_results);
  return status != TSR_OK ? tpy_fail(status) : Py_NewRef(Py_None);
}

/* Bounds of which one is a tensor and one a number: applied one after the other. */
static PyObject* tpy_call_between(PyTypeObject* type, const tpy_row* row, const tpy_value* v,
                                  int has_out, PyObject** slots) {
  tsr_tensor made = NULL;
  tsr_status status =
      tpy_between(v[0].tensor, v[1].tensor, &v[1].number, v[2].tensor, &v[2].number, &made);
  if (row->form == TPY_FUNCTIONAL)
    return tpy_written(type, status, made, has_out ? v[3].tensor : NULL, slots[3]);
  if (status == TSR_OK) TPY_CALL(status, tsr_copy_inplace(v[0].tensor, made, 0));
  tsr_tensor_release(made);
  return tpy_same(status, slots[0]);
}

/* All cases beside the common one of tpy_run: numbers, out=, several results, in-place forms. */
static PyObject* tpy_call(PyTypeObject* type, const tpy_row* row, tpy_value* values,
                          tpy_frame* frame, PyObject** slots) {
  const int has_out =
      row->has_out ? tpy_read_out(row, slots[row->n_inputs], values + row->n_inputs, frame) : 0;
  if (has_out < 0) {
    return tpy_met_blank(slots, row->sig.n) ? tpy_redirect(&row->sig, slots) : NULL;
  }
  const tpy_way* way = tpy_choose(row, values, frame->numbers);
  if (way == NULL) {
    if (row->bounds) return tpy_call_between(type, row, values, has_out, slots);
    return tpy_no_tensor(&row->sig), NULL;
  }
  if (way->swaps) {
    const tpy_value first = values[0];
    values[0] = values[1];
    values[1] = first;
  }
  if (!has_out && row->form == TPY_FUNCTIONAL) {
    return row->n_results < 0 ? tpy_call_list(type, row, way, values)
                              : tpy_call_new(type, row, way, values, slots);
  }
  tsr_status status;
  TPY_CALL(status,
           has_out ? way->call_out(way->function_out, values) : way->call(way->function, values));
  if (row->form == TPY_INPLACE) return tpy_same(status, slots[0]);
  PyObject* given = slots[row->n_inputs];
  return row->n_results == 1 ? tpy_same(status, given)
                             : tpy_named_same(status, row->sig.name, given, row->n_results);
}

/* Calls an op that makes one new tensor, of the class; the arguments have been read. */
static inline PyObject* tpy_call_plain(PyTypeObject* type, const tpy_row* row, tpy_value* values) {
  tsr_tensor made = NULL;
  tsr_status status;
  values[row->n_inputs].place = &made;
  TPY_CALL(status, row->ways->call(row->ways->function, values));
  return tpy_result_as(type, status, made);
}

/* The class of the results: the dialect if one of the arguments, or the first item of one, is of
 * it. Where `kept` is there, every item counts. */
static PyTypeObject* tpy_class_of(PyObject* const* slots, int count) {
  PyTypeObject* found = tpy.tensor;
  for (int i = 0; tpy.dialect != NULL && i < count; ++i) {
    PyObject* const* items = slots + i;
    Py_ssize_t n = *items != NULL;
    if (n != 0 && (PyList_Check(*items) || PyTuple_Check(*items))) {
      n = PySequence_Fast_GET_SIZE(slots[i]);
      items = PySequence_Fast_ITEMS(slots[i]);
      if (tpy.kept == NULL && n > 1) n = 1;
    }
    for (Py_ssize_t k = 0; k < n; ++k) {
      if (!tpy_of_dialect(items[k])) continue;
      found = tpy_class_for(items[k], items[k]);
      if (tpy.kept == NULL || found != tpy.dialect) return found;
    }
  }
  return found;
}

/* tpy_weaken of the two operands of a row that has two; of an in-place row only the second. */
static int tpy_weaken_row(const tpy_row* row, tpy_value* values, tsr_tensor* made) {
  tpy_value* operands[2] = {NULL, NULL};
  int found = 0;
  *made = NULL;
  for (int i = 0; i < row->n_inputs && found < 2; ++i) {
    if (row->sig.parameters[i].kind == TPY_OPERAND) operands[found++] = values + i;
  }
  if (found < 2 || operands[0]->tensor == NULL || operands[1]->tensor == NULL) return 1;
  tsr_tensor first = operands[0]->tensor;
  return tpy_weaken(row->form == TPY_INPLACE ? &first : &operands[0]->tensor, &operands[1]->tensor,
                    made);
}

/* The call of a row after tpy_weaken_row, which has made something of the operands. */
static PyObject* tpy_call_weakened(PyTypeObject* type, const tpy_row* row, tpy_value* values,
                                   tsr_tensor a, tsr_tensor b, tsr_tensor made) {
  const tpy_binary call = (tpy_binary)row->ways->function;
  PyObject* result = tpy_is_wide(call, a, b) ? tpy_operate_wide(type, call, a, b)
                                             : tpy_call_plain(type, row, values);
  tsr_tensor_release(made);
  return result;
}

static PyObject* tpy_run_parsed(const tpy_row* row, PyObject** slots) {
  tpy_value values[TPY_MAX_PARAMETERS + 2];
  tpy_frame frame;
  frame.n_lists = frame.n_tensors = 0;
  frame.numbers = 0;
  PyObject* result = NULL;
  int good = 1;
  const tpy_parameter* from = row->sig.parameters;
  tpy_value* to = values;
  for (int i = 0; good && i < row->n_inputs; ++i, ++from, ++to) {
    PyObject* object = slots[i];
    if (object == NULL)
      *to = from->absent;
    else
      good = tpy_read(&row->sig, from, i, object, to, &frame);
  }
  const int taken = good && tpy.kept != NULL && tpy_overridden(&row->sig, slots, &result);
  if (taken) {
    /* What a class of the program gave is the result, or its exception. */
  } else if (good) {
    const int common =
        row->plain && frame.numbers == 0 && (!row->has_out || slots[row->n_inputs] == NULL);
    PyTypeObject* type = tpy_class_of(slots, row->n_inputs);
    tsr_tensor made = NULL;
    if (type != tpy.tensor && frame.numbers == 0 && !tpy_weaken_row(row, values, &made)) {
      result = NULL;
    } else if (made != NULL && (common || (row->has_out && slots[row->n_inputs] == Py_None)) &&
               tpy_is_tensor(slots[0]) && tpy_is_tensor(slots[1])) {
      result =
          tpy_call_weakened(type, row, values, tpy_handle(slots[0]), tpy_handle(slots[1]), made);
    } else {
      result =
          common ? tpy_call_plain(type, row, values) : tpy_call(type, row, values, &frame, slots);
      tsr_tensor_release(made);
    }
  } else if (tpy_met_blank(slots, row->sig.n)) {
    result = tpy_redirect(&row->sig, slots);
  } else if (tpy.override != NULL) {
    result = tpy_override_failed(&row->sig, slots);
  }
  if (frame.n_lists + frame.n_tensors > 0) tpy_free_frame(&frame);
  return result;
}

PyObject* tpy_run(const tpy_row* row, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                  PyObject* kwnames) {
  if (row->quick != 0 && kwnames == NULL && nargs + (self != NULL) == row->quick) {
    tpy_value values[TPY_MAX_QUICK + 1];
    PyObject* first = self != NULL ? self : args[0];
    PyObject* last = row->quick == 2 ? args[nargs - 1] : first;
    PyTypeObject* type = Py_TYPE(first);
    if (type == Py_TYPE(last) && (type == tpy.tensor || type == tpy.dialect)) {
      values[0].tensor = tpy_handle(first);
      values[1].tensor = tpy_handle(last);
      if (type == tpy.tensor || row->quick == 1) return tpy_call_plain(type, row, values);
      tsr_tensor made;
      if (!tpy_weaken_row(row, values, &made)) return NULL;
      if (made == NULL) return tpy_call_plain(type, row, values);
      return tpy_call_weakened(type, row, values, tpy_handle(first), tpy_handle(last), made);
    }
  }
  PyObject* slots[TPY_MAX_PARAMETERS + 1];
  if (!tpy_parse(&row->sig, self, args, nargs, kwnames, slots)) return NULL;
  PyObject* result = NULL;
  if (row->prepare == NULL || row->prepare(row, slots)) {
    result = tpy_run_parsed(row, slots);
  } else if (!PyErr_Occurred()) {
    result = tpy_redirect(&row->sig, slots);
  }
  Py_XDECREF(slots[row->sig.n]);
  return row->creates ? tpy_requiring(&row->sig, row->sig.n - 1, slots[row->sig.n - 1], result)
                      : result;
}

/* ---- arguments given as words ---- */

/* A padding given as a word: "valid" is no padding, "same" sets the flag of that name, the last
 * argument. */
int tpy_padding(const tpy_row* row, PyObject** slots) {
  const int padding = row->prepared[0], same = row->prepared[1];
  PyObject* word = slots[padding];
  if (word == NULL || !PyUnicode_Check(word)) return 1;
  if (PyUnicode_CompareWithASCIIString(word, "same") == 0) {
    slots[same] = Py_True;
  } else if (PyUnicode_CompareWithASCIIString(word, "valid") != 0) {
    PyErr_Format(tpy.value_error,
                 "%s(): argument 'padding' (position %d): expected ints, 'same' or 'valid', got %R",
                 row->sig.name, padding + 1, word);
    return 0;
  }
  slots[padding] = NULL;
  return 1;
}

/* Inside func.vmap, the draws of a thread are redirected. */
int tpy_randomness(const tpy_row* row, PyObject** slots) {
  (void)row;
  (void)slots;
  return !tpy_redirects_random();
}

/* Without axes, all axes of size 1 are taken; the last slot owns their tuple. */
int tpy_axes_of_one(const tpy_row* row, PyObject** slots) {
  tsr_info info;
  const int axes = row->prepared[1];
  if (!tpy_absent(slots[axes]) || !tpy_is_tensor(slots[0])) return 1;
  if (!tpy_info(slots[0], &info)) return 0;
  int64_t found[TPY_MAX_AXES];
  int32_t count = 0;
  for (int32_t axis = 0; axis < info.ndim && count < TPY_MAX_AXES; ++axis) {
    if (info.sizes[axis] == 1) found[count++] = axis;
  }
  Py_XSETREF(slots[row->sig.n], tpy_int_tuple(found, count));
  slots[axes] = slots[row->sig.n];
  return slots[axes] != NULL;
}
