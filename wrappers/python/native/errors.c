/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Failed calls as exceptions, and exceptions of Python callbacks on their way through the library.
 */
#include "native.h"

/* ---- exceptions of callbacks ---- */

/* An exception that the library holds as the payload of an error. A payload may also come from
 * another language in this process, so a payload is ours only if it is in this list. Guarded by
 * the interpreter's lock. */
typedef struct tpy_parcel {
  PyObject* exception; /* owned */
  struct tpy_parcel* next;
} tpy_parcel;

static tpy_parcel* parcels;

/* The drop function of the payload: the library calls it when the payload is no longer needed. */
static void tpy_drop_parcel(void* payload) {
  if (!Py_IsInitialized()) return;
  TPY_ENTER;
  tpy_parcel** at = &parcels;
  while (*at != NULL && *at != payload) at = &(*at)->next;
  tpy_parcel* parcel = *at;
  if (parcel != NULL) {
    *at = parcel->next;
    Py_DECREF(parcel->exception);
    PyMem_Free(parcel);
  }
  TPY_LEAVE;
}

/* The current exception with its traceback; clears Python's error indicator. */
static PyObject* tpy_catch(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

tsr_status tpy_hand_over(void) {
  PyObject* value = tpy_catch();
  PyObject* text = PyObject_Str(value);
  const char* message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
  if (message == NULL) PyErr_Clear();
  tpy_parcel* parcel = PyMem_Malloc(sizeof *parcel);
  if (parcel != NULL) {
    *parcel = (tpy_parcel){value, parcels};
    parcels = parcel;
  } else {
    Py_DECREF(value);
  }
  const tsr_status kept =
      tsr_error_set(TSR_CALLBACK, message != NULL ? message : "a Python callback failed", -1,
                    parcel, tpy_drop_parcel);
  Py_XDECREF(text);
  return kept == TSR_OK ? TSR_CALLBACK : kept;
}

/* The exception of a payload, borrowed; NULL if the payload is not ours. */
static PyObject* tpy_unpack_parcel(const void* payload) {
  const tpy_parcel* parcel = parcels;
  while (parcel != NULL && parcel != payload) parcel = parcel->next;
  return parcel != NULL ? parcel->exception : NULL;
}

/* Raises an exception of a callback, and clears this thread's error record, which would keep the
 * exception and all its frames alive. */
static void tpy_raise_again(PyObject* exception) {
  Py_INCREF(exception);
  tsr_error record = NULL;
  if (tsr_error_take(&record) == TSR_OK) tsr_error_release(record);
  PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
  Py_DECREF(exception);
}

/* ---- failures of the library ---- */

/* The class of a failure; borrowed, NULL with an exception set. */
static PyObject* tpy_error_class(PyObject* classes, int64_t number, PyObject* otherwise) {
  PyObject* key = PyLong_FromLongLong(number);
  PyObject* found = key != NULL ? PyDict_GetItemWithError(classes, key) : NULL;
  Py_XDECREF(key);
  return found != NULL || PyErr_Occurred() ? found : otherwise;
}

/* A text of the error record, without the prefix "tsr_". */
static PyObject* tpy_record_text(const char* text, int64_t length) {
  const int prefixed = length >= 4 && memcmp(text, "tsr_", 4) == 0;
  return PyUnicode_DecodeUTF8(text + 4 * prefixed, (Py_ssize_t)length - 4 * prefixed, "replace");
}

static void tpy_raise_record(tsr_status status, const tsr_error_view* view) {
  PyObject* kind = tpy_error_class(tpy.errors, status, tpy.error);
  if (kind != NULL && status == TSR_IO)
    kind = tpy_error_class(tpy.file_errors, view->native_code, kind);
  PyObject* message = kind != NULL ? tpy_record_text(view->message, view->message_len) : NULL;
  PyObject* op = message != NULL ? tpy_record_text(view->op, view->op_len) : NULL;
  if (op != NULL) {
    PyObject* argument =
        view->arg_index < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(view->arg_index);
    PyObject* made =
        PyObject_CallFunction(kind, "OONL", message, op, argument, (long long)view->native_code);
    if (made != NULL) PyErr_SetObject(kind, made);
    Py_XDECREF(made);
  }
  Py_XDECREF(message);
  Py_XDECREF(op);
}

/* In anomaly mode the message says where the failing node comes from; the host's own exception gets
 * that part as a note. */
static void tpy_add_origin(PyObject* exception, const tsr_error_view* view) {
  static const char mark[] = "\nThe forward of ";
  const char* found = view->message != NULL ? strstr(view->message, mark) : NULL;
  if (found == NULL) return;
  PyObject* done = PyObject_CallMethod(exception, "add_note", "s", found + 1);
  if (done == NULL) PyErr_Clear();
  Py_XDECREF(done);
}

PyObject* tpy_fail(tsr_status status) {
  tsr_error_view view = {sizeof view};
  if (tsr_error_last(&view) != TSR_OK || tpy.errors == NULL) {
    return PyErr_Format(PyExc_RuntimeError, "tessera status %d", (int)status);
  }
  PyObject* host = view.payload != NULL ? tpy_unpack_parcel(view.payload) : NULL;
  if (host != NULL) {
    tpy_add_origin(host, &view);
    tpy_raise_again(host);
  } else {
    tpy_raise_record(status, &view);
  }
  return NULL;
}

/* check(status): raises unless the status of a C call is 0. */
PyObject* py_check(PyObject* self, PyObject* given) {
  (void)self;
  const long status = PyLong_AsLong(given);
  if (status == -1 && PyErr_Occurred()) return NULL;
  if (status != TSR_OK) return tpy_fail((tsr_status)status);
  Py_RETURN_NONE;
}
