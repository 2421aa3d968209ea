/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The call stack of a thread, for anomaly mode, recordings of memory and profilers: read from the
 * interpreter's frames in C, because it is asked for at every call. */
#include "native.h"

/* The package's folder, with its separator. Its frames at the inner end of a stack are left out:
 * the stack begins with the line of the program that called the package. */
static PyObject* package_folder;

static int is_internal(PyObject* filename) {
  Py_ssize_t size = 0, folder_size = 0;
  const char* name = PyUnicode_AsUTF8AndSize(filename, &size);
  const char* folder = PyUnicode_AsUTF8AndSize(package_folder, &folder_size);
  if (name == NULL || folder == NULL) {
    PyErr_Clear();
    return 0;
  }
  return size >= folder_size && memcmp(name, folder, (size_t)folder_size) == 0;
}

/* Writes "file:line in function" and a line break; 0 if there is no room. */
static int write_frame(PyCodeObject* code, int line, char* text, int64_t capacity,
                       int64_t* length) {
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  const char* name = PyUnicode_AsUTF8(code->co_qualname);
  if (file == NULL || name == NULL) {
    PyErr_Clear();
    return 1;
  }
  const int64_t room = capacity - *length;
  const int written =
      snprintf(text + *length, (size_t)(room > 0 ? room : 0), "%s:%d in %s\n", file, line, name);
  if (written < 0 || written >= room) return 0;
  *length += written;
  return 1;
}

static tsr_status tpy_host_stack(void* user, char* text, int64_t capacity, int64_t* length) {
  (void)user;
  *length = 0;
  if (!Py_IsInitialized()) return TSR_OK;
  TPY_ENTER;
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace); /* a call that fails may be on its way out */
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  int inside = 1;
  while (frame != NULL) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    inside = inside && is_internal(code->co_filename);
    const int room =
        inside || write_frame(code, PyFrame_GetLineNumber(frame), text, capacity, length);
    Py_DECREF(code);
    PyFrameObject* back = room ? PyFrame_GetBack(frame) : NULL;
    Py_DECREF(frame);
    frame = back;
  }
  PyErr_Restore(kind, value, trace);
  TPY_LEAVE;
  return TSR_OK;
}

/* set_host_stack(folder): the library gets the stacks of Python from now on; `folder` is the
 * package's. */
PyObject* py_set_host_stack(PyObject* self, PyObject* folder) {
  (void)self;
  if (!PyUnicode_Check(folder)) {
    PyErr_SetString(PyExc_TypeError, "set_host_stack(): expected the package's folder");
    return NULL;
  }
  Py_XSETREF(package_folder, Py_NewRef(folder));
  const tsr_status status = tsr_host_stack_set(tpy_host_stack, NULL, NULL);
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}
