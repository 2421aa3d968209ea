/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * DLPack capsules, legacy and versioned, both ways. */
#ifndef TESSERA_PY_DLPACK_H
#define TESSERA_PY_DLPACK_H

#include "callbacks.h"

static const char kLegacy[] = "dltensor";
static const char kVersioned[] = "dltensor_versioned";
static const char kUsedLegacy[] = "used_dltensor";
static const char kUsedVersioned[] = "used_dltensor_versioned";

/* The layouts of DLPack 1.0, as far as a deleter needs them. */
typedef struct tpy_dl_tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} tpy_dl_tensor;
typedef struct tpy_legacy {
  tpy_dl_tensor tensor;
  void* context;
  void (*deleter)(struct tpy_legacy*);
} tpy_legacy;
typedef struct tpy_versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct tpy_versioned*);
  uint64_t flags;
  tpy_dl_tensor tensor;
} tpy_versioned;

/* A capsule that nobody consumed still owns its tensor. */
static void tpy_capsule_end(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kLegacy)) {
    tpy_legacy* managed = PyCapsule_GetPointer(capsule, kLegacy);
    if (managed->deleter != NULL) managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, kVersioned)) {
    tpy_versioned* managed = PyCapsule_GetPointer(capsule, kVersioned);
    if (managed->deleter != NULL) managed->deleter(managed);
  }
}

/* to_capsule(tensor, max_major or 0 for legacy, flags). */
static PyObject* py_to_capsule(PyObject* self, PyObject* args) {
  (void)self;
  PyObject* tensor;
  int max_major = 0, flags = 0;
  if (!PyArg_ParseTuple(args, "Oii", &tensor, &max_major, &flags)) return NULL;
  if (!TPY_IS_TENSOR(tensor)) {
    PyErr_SetString(tpy.type_error, "expected a Tensor");
    return NULL;
  }
  tsr_status status;
  if (max_major == 0) {
    struct DLManagedTensor* managed = NULL;
    TPY_CALL(status, tsr_to_dlpack(TPY_HANDLE(tensor), flags, &managed));
    if (status != TSR_OK) return tpy_fail(status);
    return PyCapsule_New(managed, kLegacy, tpy_capsule_end);
  }
  struct DLManagedTensorVersioned* managed = NULL;
  TPY_CALL(status, tsr_to_dlpack_versioned(TPY_HANDLE(tensor), max_major, flags, NULL, &managed));
  if (status != TSR_OK) return tpy_fail(status);
  return PyCapsule_New(managed, kVersioned, tpy_capsule_end);
}

/* from_capsule(capsule, flags). Renames the capsule only when the library took the tensor over. */
static PyObject* py_from_capsule(PyObject* self, PyObject* args) {
  (void)self;
  PyObject* capsule;
  int flags = 0;
  if (!PyArg_ParseTuple(args, "Oi", &capsule, &flags)) return NULL;
  tsr_tensor out = NULL;
  tsr_status status;
  if (PyCapsule_IsValid(capsule, kVersioned)) {
    void* managed = PyCapsule_GetPointer(capsule, kVersioned);
    TPY_CALL(status, tsr_from_dlpack_versioned(managed, flags, &out));
    if (status == TSR_OK) PyCapsule_SetName(capsule, kUsedVersioned);
  } else if (PyCapsule_IsValid(capsule, kLegacy)) {
    void* managed = PyCapsule_GetPointer(capsule, kLegacy);
    TPY_CALL(status, tsr_from_dlpack(managed, flags, &out));
    if (status == TSR_OK) PyCapsule_SetName(capsule, kUsedLegacy);
  } else {
    PyErr_SetString(tpy.value_error, "from_dlpack: expected a DLPack capsule that was not consumed yet");
    return NULL;
  }
  return tpy_result(status, out);
}

#endif
