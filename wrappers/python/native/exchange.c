/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * DLPack 1.3's C exchange API for Python tensors: wraps the library's own table, which works on
 * handles. */
#include "native.h"

static const char exchange_name[] = "dlpack_exchange_api";

/* The layout of DLPackExchangeAPI. */
typedef struct tpy_exchange {
  uint32_t major, minor;
  struct tpy_exchange* previous;
  int (*allocate)(tpy_dl_tensor* prototype, tpy_versioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*from_object)(void* object, tpy_versioned** out);
  int (*to_object)(tpy_versioned* managed, void** out);
  int (*view)(void* object, tpy_dl_tensor* out);
  int (*stream)(int32_t device_type, int32_t device_id, void** out);
} tpy_exchange;

/* 0, or -1 with the exception of the status set. Called with the interpreter's lock held. */
static int tpy_exchanged(tsr_status status) {
  if (status == TSR_OK) return 0;
  tpy_fail(status);
  return -1;
}

static int tpy_exchange_tensor(void* object) {
  if (tpy_is_tensor((PyObject*)object)) return 1;
  PyErr_Format(tpy.type_error, "expected a Tensor, got %s", Py_TYPE((PyObject*)object)->tp_name);
  return 0;
}

/* May be called without the interpreter's lock: uses no Python object. */
static int tpy_exchange_allocate(tpy_dl_tensor* prototype, tpy_versioned** out, void* context,
                                 void (*set_error)(void* context, const char* kind,
                                                   const char* message)) {
  struct DLManagedTensorVersioned* managed = NULL;
  const tsr_status status = tsr_exchange_api()->allocate_like(prototype, &managed);
  *out = (tpy_versioned*)managed;
  if (status == TSR_OK) return 0;
  tsr_error_view view = {sizeof view};
  const int known = tsr_error_last(&view) == TSR_OK;
  const char* kind = status == TSR_OUT_OF_MEMORY ? "MemoryError"
                     : status == TSR_BUFFER      ? "BufferError"
                                                 : "ValueError";
  set_error(context, kind, known ? view.message : "allocation failed");
  return -1;
}

static int tpy_exchange_from_object(void* object, tpy_versioned** out) {
  struct DLManagedTensorVersioned* managed = NULL;
  *out = NULL;
  if (!tpy_exchange_tensor(object)) return -1;
  const int failed = tpy_exchanged(tsr_exchange_api()->to_managed(tpy_handle(object), &managed));
  *out = (tpy_versioned*)managed;
  return failed;
}

/* Takes over the managed tensor on success only. */
static int tpy_exchange_to_object(tpy_versioned* managed, void** out) {
  tsr_tensor handle = NULL;
  *out = NULL;
  if (tpy_exchanged(
          tsr_exchange_api()->from_managed((struct DLManagedTensorVersioned*)managed, &handle)) < 0)
    return -1;
  *out = tpy_wrap_as(tpy.tensor, handle);
  return *out != NULL ? 0 : -1;
}

static int tpy_exchange_view(void* object, tpy_dl_tensor* out) {
  return tpy_exchange_tensor(object)
             ? tpy_exchanged(tsr_exchange_api()->view(tpy_handle(object), out))
             : -1;
}

static int tpy_exchange_stream(int32_t device_type, int32_t device_id, void** out) {
  return tpy_exchanged(tsr_exchange_api()->current_stream(device_type, device_id, out));
}

/* The protocol wants it as an attribute of the type; subclasses inherit it. */
int tpy_add_exchange(PyTypeObject* type) {
  static tpy_exchange api = {1,
                             3,
                             NULL,
                             tpy_exchange_allocate,
                             tpy_exchange_from_object,
                             tpy_exchange_to_object,
                             tpy_exchange_view,
                             tpy_exchange_stream};
  PyObject* capsule = PyCapsule_New(&api, exchange_name, NULL);
  const int good =
      capsule != NULL &&
      PyObject_SetAttrString((PyObject*)type, "__dlpack_c_exchange_api__", capsule) == 0;
  Py_XDECREF(capsule);
  return good;
}
