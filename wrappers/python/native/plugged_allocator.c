/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Allocators of shared libraries that a Python program loads. They never need the interpreter. */
#include <stdlib.h>

#include "native.h"

/* PyTorch's signatures of pluggable allocators. */
typedef void* (*tpy_plugged_allocate)(Py_ssize_t nbytes, int device, void* stream);
typedef void (*tpy_plugged_free)(void* block, Py_ssize_t nbytes, int device, void* stream);

typedef struct {
  tpy_plugged_allocate allocate;
  tpy_plugged_free deallocate;
} tpy_plugged;

static tsr_status plugged_allocate(void* user, int32_t device, int64_t nbytes, int64_t alignment,
                                   void* stream, void** block) {
  (void)alignment; /* the library checks what comes back */
  *block = ((tpy_plugged*)user)->allocate((Py_ssize_t)nbytes, device, stream);
  return *block != NULL ? TSR_OK : TSR_OUT_OF_MEMORY;
}

static void plugged_deallocate(void* user, int32_t device, void* block, int64_t nbytes,
                               void* stream) {
  ((tpy_plugged*)user)->deallocate(block, (Py_ssize_t)nbytes, device, stream);
}

static void drop_plugged(void* user) {
  free(user);
}

/* plug_allocator(device type, index, address of allocate, address of free): the functions serve
 * the device's memory from now on. */
PyObject* py_plug_allocator(PyObject* self, PyObject* args) {
  (void)self;
  int type, index;
  unsigned long long allocate, deallocate;
  if (!PyArg_ParseTuple(args, "iiKK", &type, &index, &allocate, &deallocate)) return NULL;
  tpy_plugged* plugged = malloc(sizeof *plugged);
  if (plugged == NULL) return PyErr_NoMemory();
  plugged->allocate = (tpy_plugged_allocate)(uintptr_t)allocate;
  plugged->deallocate = (tpy_plugged_free)(uintptr_t)deallocate;
  tsr_allocator_vtable table = {.struct_size = sizeof table,
                                .allocate = plugged_allocate,
                                .deallocate = plugged_deallocate,
                                .drop = drop_plugged};
  const tsr_status status = tsr_memory_allocator_set(type, index, &table, plugged);
  if (status != TSR_OK) return tpy_fail(status);
  Py_RETURN_NONE;
}
