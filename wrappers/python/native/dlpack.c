/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * DLPack capsules, legacy and versioned, import and export. */
#include "native.h"

static const char legacy_name[] = "dltensor";
static const char versioned_name[] = "dltensor_versioned";
static const char used_legacy_name[] = "used_dltensor";
static const char used_versioned_name[] = "used_dltensor_versioned";

/* The members of a legacy managed tensor up to its deleter. */
typedef struct tpy_legacy {
  tpy_dl_tensor tensor;
  void* context;
  void (*deleter)(struct tpy_legacy*);
} tpy_legacy;

/* The destructor of a capsule: a capsule that was not consumed still owns its tensor. */
static void tpy_capsule_end(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, legacy_name)) {
    tpy_legacy* managed = PyCapsule_GetPointer(capsule, legacy_name);
    if (managed->deleter != NULL) managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, versioned_name)) {
    tpy_versioned* managed = PyCapsule_GetPointer(capsule, versioned_name);
    if (managed->deleter != NULL) managed->deleter(managed);
  }
}

/* to_capsule(tensor, max_major or 0 for legacy, flags). */
PyObject* py_to_capsule(PyObject* self, PyObject* args) {
  (void)self;
  PyObject* tensor;
  int max_major = 0, flags = 0;
  if (!PyArg_ParseTuple(args, "Oii", &tensor, &max_major, &flags)) return NULL;
  if (!tpy_is_tensor(tensor)) {
    PyErr_SetString(tpy.type_error, "expected a Tensor");
    return NULL;
  }
  tsr_status status;
  if (max_major == 0) {
    struct DLManagedTensor* managed = NULL;
    TPY_CALL(status, tsr_to_dlpack(tpy_handle(tensor), flags, &managed));
    if (status != TSR_OK) return tpy_fail(status);
    return PyCapsule_New(managed, legacy_name, tpy_capsule_end);
  }
  struct DLManagedTensorVersioned* managed = NULL;
  TPY_CALL(status, tsr_to_dlpack_versioned(tpy_handle(tensor), max_major, flags, NULL, &managed));
  if (status != TSR_OK) return tpy_fail(status);
  return PyCapsule_New(managed, versioned_name, tpy_capsule_end);
}

/* from_capsule(capsule, flags). Renames the capsule only if the library took over the tensor. */
PyObject* py_from_capsule(PyObject* self, PyObject* args) {
  (void)self;
  PyObject* capsule;
  int flags = 0;
  if (!PyArg_ParseTuple(args, "Oi", &capsule, &flags)) return NULL;
  tsr_tensor out = NULL;
  tsr_status status;
  if (PyCapsule_IsValid(capsule, versioned_name)) {
    void* managed = PyCapsule_GetPointer(capsule, versioned_name);
    TPY_CALL(status, tsr_from_dlpack_versioned(managed, flags, &out));
    if (status == TSR_OK) PyCapsule_SetName(capsule, used_versioned_name);
  } else if (PyCapsule_IsValid(capsule, legacy_name)) {
    void* managed = PyCapsule_GetPointer(capsule, legacy_name);
    TPY_CALL(status, tsr_from_dlpack(managed, flags, &out));
    if (status == TSR_OK) PyCapsule_SetName(capsule, used_legacy_name);
  } else {
    PyErr_SetString(tpy.value_error,
                    "from_dlpack: expected a DLPack capsule that was not consumed yet");
    return NULL;
  }
  return tpy_result(status, out);
}
