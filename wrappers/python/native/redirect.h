/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Operations on objects without a handle: Note [Objects without a handle] in native.h. */
#ifndef TESSERA_PY_REDIRECT_H
#define TESSERA_PY_REDIRECT_H

#include "native.h"

#pragma GCC visibility push(hidden)

/* Whether an object is a tensor without a handle, or a sequence with one in it. */
int tpy_is_blank(PyObject* object);
/* Calls `redirect` with the name of a function and its arguments by name, of which those that are
 * NULL are left out. */
PyObject* tpy_redirect(const tpy_signature* sig, PyObject* const* slots);
PyObject* tpy_redirect_call(const char* name, const char* format, ...);
/* Asks the classes of the arguments that have `__torch_function__`: whether the call ends with what
 * they gave, the result or an exception. */
int tpy_overridden(const tpy_signature* sig, PyObject* const* slots, PyObject** result);
/* The same of a call that failed to read its arguments: NULL with the exception of the failure
 * where no class wants the call. */
PyObject* tpy_override_failed(const tpy_signature* sig, PyObject* const* slots);
/* The metadata of a tensor without a handle: those of the tensor that stands for it, without axes
 * in front. */
int tpy_blank_info(PyObject* self, tsr_info* info);
/* The result of a conversion that failed because its tensor has no handle. */
PyObject* tpy_blank_converted(PyObject* self, tsr_dtype dtype, int32_t type, int32_t index,
                              int copy);
/* Whether a failed call was about such an object: the exception of the failure is then gone. */
int tpy_met_blank(PyObject* const* objects, Py_ssize_t count);
/* Whether calls of this thread that draw random numbers are redirected, too. */
int tpy_redirects_random(void);
PyObject* py_redirect_random(PyObject* self, PyObject* value);
PyObject* py_blank(PyObject* self, PyObject* type);

#pragma GCC visibility pop

#endif
