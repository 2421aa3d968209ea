/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The contracts between the C files of the extension: the functions of each file, who owns their
 * results, and when they may be called.
 *
 * Everywhere: functions are called with the interpreter's lock held, unless a comment says
 * otherwise. A function that returns PyObject* gives a new reference, or NULL with an exception
 * set; one that returns int gives 1, or 0 with an exception set. Arguments are borrowed. Names
 * begin with tpy_, py_ (a function that Python calls), or with the type whose slot or method they
 * are; nothing here is visible outside the extension. */
#ifndef TESSERA_PY_NATIVE_H
#define TESSERA_PY_NATIVE_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>
#include <tessera/tessera.h>

#pragma GCC visibility push(hidden)

/* ---- objects and state ---- */

/* A Python tensor owns one reference to its handle, for its whole life. */
typedef struct tpy_object {
  PyObject_HEAD tsr_tensor handle;
  PyObject* weakrefs;
  PyObject* attributes; /* a dict of those that a program gave an object of the dialect, or NULL */
  struct tpy_object* grad;   /* the object that `grad` returned last, while it lives; not owned */
  struct tpy_object* users;  /* the first tensor whose `grad` is this object */
  struct tpy_object* next;   /* the next user of the same `grad` */
  struct tpy_object** place; /* the pointer that points to this user */
} tpy_object;

/* A node or a generator in Python owns one reference to its handle. */
typedef struct {
  PyObject_HEAD void* handle;
  PyObject* weakrefs;
} tpy_held;

enum { TPY_MAX_DTYPES = 32, TPY_DTYPE_PLACES = 64 /* 8 kinds, 8 sizes */ };

/* Objects of the Python layer that C calls or makes; filled once by register() in module.c. All are
 * owned for the life of the process. */
typedef struct {
  PyTypeObject* base;      /* TensorBase, made in module.c */
  PyTypeObject* tensor;    /* the class of results */
  PyTypeObject* dialect;   /* a subclass of it with other methods, or NULL: Note [Dialects] */
  PyTypeObject* shape;     /* the class of shapes of its tensors, a subclass of tuple */
  PyObject* number;        /* (object) gives a Python number, or NotImplemented */
  PyObject* storable;      /* (data, tensor) gives a tensor of what is stored in the tensor */
  PyObject* to_dtype;      /* (object) gives a dtype */
  PyObject* to_device;     /* (object) gives a device: any pair (type, index) */
  PyObject* make_device;   /* (type, index) gives a device */
  PyObject* cpu;           /* the device of the host */
  PyObject* device_class;  /* the class of devices */
  PyObject* dtype_names;   /* dict: name of a dtype -> dtype */
  PyObject* to_index;      /* (object) gives a tensor of integers or bools */
  PyTypeObject* node;      /* NodeBase, made in graph.c; Node once it is registered */
  PyTypeObject* generator; /* the same in generator.c */
  PyObject* as_array;      /* (buffer) gives a NumPy array on its memory */
  PyObject* no_array;      /* (tensor) raises the reason why it cannot be a NumPy array */
  PyObject* errors;        /* dict: status -> exception class */
  PyObject* file_errors;   /* dict: errno -> exception class */
  PyObject* error;         /* the class of all failures of the library */
  PyObject* access_error;  /* the exception of memory that cannot be lent */
  PyObject* type_error;    /* wrong types, values, indices: errors of the library and Python's */
  PyObject *value_error, *index_error;
  PyObject* results;      /* dict: name of an op -> named tuple of its results */
  PyObject* kept;         /* dict: class below the dialect -> whether it wants calls, or NULL */
  PyObject* override;     /* (name, arguments) asks classes of programs, or gives NotImplemented */
  PyObject* redirect;     /* (name, arguments) calls an operation on objects without a handle */
  PyTypeObject* ndarray;  /* numpy.ndarray */
  PyObject* from_ndarray; /* (array, whether to copy) gives a tensor of its elements */
  int n_dtypes;
  tsr_dtype dtype_bits[TPY_MAX_DTYPES];
  PyObject* dtypes[TPY_MAX_DTYPES];
  PyObject* dtype_at[TPY_DTYPE_PLACES]; /* the same by tpy_dtype_place */
  int running;       /* calls of the library that have released the interpreter's lock */
  int64_t callables; /* Python callables that the library holds */
} tpy_state;

extern tpy_state tpy;

/* The index of a dtype in `dtype_at`: its kind and size. */
static inline unsigned tpy_dtype_place(tsr_dtype bits) {
  return ((unsigned)bits & 7) << 3 | ((unsigned)__builtin_ctz((unsigned)bits >> 8 | 0x100) & 7);
}

/* Note [Objects without a handle]
 * A subclass of Tensor may have instances without a handle, made by blank() in redirect.c: tensors
 * inside func.vmap are such objects. Nothing here computes with one. An operation that meets one
 * fails to read its arguments; only then it is looked for among them, and the call goes to the
 * Python function that register() got as `redirect`. So these objects cost other calls nothing. */
static inline int tpy_has_tensor_type(PyObject* object) {
  return Py_TYPE(object) == tpy.tensor || PyObject_TypeCheck(object, tpy.base);
}

/* A tensor that has a handle. */
static inline int tpy_is_tensor(PyObject* object) {
  return Py_TYPE(object) == tpy.tensor ||
         (PyObject_TypeCheck(object, tpy.base) && ((tpy_object*)object)->handle != NULL);
}

/* The handle of an object that tpy_is_tensor holds for; borrowed. */
static inline tsr_tensor tpy_handle(PyObject* tensor) {
  return ((tpy_object*)tensor)->handle;
}

/* Note [Dialects]
 * A dialect is a subclass of Tensor whose methods have other signatures (tessera.torch has one).
 * The result of an operation belongs to it if one of the operands does, also one of a subclass such
 * as a parameter. As long as no dialect is registered, this costs one comparison.
 * A class that a program derives from the dialect is put into `kept`: results belong to that class
 * then. A class that wants calls, because its `__torch_function__` is its own, has operators in
 * Python, so an operator of another tensor leaves the pair to them. Of other operations `override`
 * is asked after a call of the slow path has read its arguments, if `kept` is there, or could not
 * read them. */
static inline int tpy_of_dialect(PyObject* object) {
  return Py_TYPE(object) != tpy.tensor && PyType_IsSubtype(Py_TYPE(object), tpy.dialect);
}

/* The class of the result of an operation where `kept` is there. */
PyTypeObject* tpy_kept_class(PyObject* a, PyObject* b);
/* Whether the class of an operand wants calls. */
int tpy_wants_calls(PyObject* object);

/* The class of the result of an operation with these operands; `b` may be `a`. */
static inline PyTypeObject* tpy_class_for(PyObject* a, PyObject* b) {
  if (tpy.dialect == NULL) return tpy.tensor;
  if (tpy.kept != NULL) return tpy_kept_class(a, b);
  return tpy_of_dialect(a) || tpy_of_dialect(b) ? tpy.dialect : tpy.tensor;
}

static inline int tpy_is_array(PyObject* object) {
  return PyObject_TypeCheck(object, tpy.ndarray);
}

static inline int tpy_absent(PyObject* object) {
  return object == NULL || object == Py_None;
}

/* A dtype has the bits of DLPack: the kind of its elements in the lowest byte, then their width. */
enum {
  TPY_KIND_SIGNED,
  TPY_KIND_UNSIGNED,
  TPY_KIND_FLOAT,
  TPY_KIND_BFLOAT = 4,
  TPY_KIND_COMPLEX,
  TPY_KIND_BOOL
};

static inline int tpy_kind_of(tsr_dtype dtype) {
  return dtype & 0xff;
}

static inline int tpy_is_integer(tsr_dtype dtype) {
  return tpy_kind_of(dtype) <= TPY_KIND_UNSIGNED;
}

static inline Py_ssize_t tpy_itemsize(tsr_dtype dtype) {
  return (dtype >> 8 & 0xff) / 8;
}

/* Calls the library with the interpreter's lock released: other threads continue, and callbacks
 * take the lock again. A macro, because the call must be between the two lines. */
#define TPY_CALL(status, call)                     \
  do {                                             \
    ++tpy.running;                                 \
    PyThreadState* tpy_save = PyEval_SaveThread(); \
    (status) = (call);                             \
    PyEval_RestoreThread(tpy_save);                \
    --tpy.running;                                 \
  } while (0)

/* ---- module.c: the module ---- */

/* Gets an attribute; the name becomes an interned string at the first call, kept in *cell. */
PyObject* tpy_attribute(PyObject* object, PyObject** cell, const char* name);

/* ---- errors.c: failed calls as exceptions ---- */

/* Raises the exception of a status, from this thread's error record; returns NULL. The exception
 * of a Python callback is raised again unchanged. */
PyObject* tpy_fail(tsr_status status);
/* Passes the current exception to the library as a payload; tpy_fail raises it again when the
 * outer call fails. */
tsr_status tpy_hand_over(void);
PyObject* py_check(PyObject* self, PyObject* status);

/* ---- results.c: handles as Python objects ---- */

/* Makes the collector track a new tensor if it requires grad; for as long as the library holds
 * callables, which such a tensor may keep alive. */
void tpy_show_recorded(PyObject* tensor);

/* Takes over the handle; on failure to make the object, releases it. */
static inline PyObject* tpy_wrap_as(PyTypeObject* type, tsr_tensor handle) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == NULL) {
    tsr_tensor_release(handle);
    return NULL;
  }
  ((tpy_object*)self)->handle = handle;
  if (__builtin_expect(tpy.callables != 0, 0)) tpy_show_recorded(self);
  return self;
}

/* The result of a call: a tensor of the class that takes over the handle, None, or the exception of
 * the status. */
static inline PyObject* tpy_result_as(PyTypeObject* type, tsr_status status, tsr_tensor handle) {
  if (status != TSR_OK) return tpy_fail(status);
  if (handle == NULL) Py_RETURN_NONE;
  return tpy_wrap_as(type, handle);
}

/* The same for calls without operands. */
static inline PyObject* tpy_result(tsr_status status, tsr_tensor handle) {
  return tpy_result_as(tpy.tensor, status, handle);
}

/* The result of an in-place or out= call: the tensor that was written. */
static inline PyObject* tpy_same(tsr_status status, PyObject* object) {
  if (status != TSR_OK) return tpy_fail(status);
  if (__builtin_expect(tpy.callables != 0, 0)) tpy_show_recorded(object);
  return Py_NewRef(object);
}

/* Like tpy_result; if the function returned its own input, the result is the same object. */
PyObject* tpy_result_alias(tsr_status status, tsr_tensor handle, PyObject* input);
/* A tensor for a borrowed handle; None for NULL. */
PyObject* tpy_borrow(tsr_tensor handle);
/* Takes over the reference to a node; None for NULL. */
PyObject* tpy_wrap_node(tsr_node node);
/* Tuples of tensors of the class that take over the handles: all of them, also on failure. */
PyObject* tpy_tuple_of(PyTypeObject* type, tsr_tensor* handles, int32_t count);
PyObject* tpy_named_of(PyTypeObject* type, tsr_status status, const char* op, tsr_tensor* handles,
                       int32_t count);
/* The named tuple of an op, of the tensors that were given as out=. */
PyObject* tpy_named_same(tsr_status status, const char* op, PyObject* outs, int32_t count);

#include "arguments.h" /* signatures, arguments, numbers of the host */

/* ---- weak.c: operands of a dialect without axes ---- */

/* Note [Weak operands]
 * In a dialect, as in PyTorch, a tensor without axes does not change the dtype of an operand with
 * axes if that is of the same or a higher kind (bool, integers, floats, complex numbers): float16
 * times a float32 of no axes is float16. The library promotes by the dtypes alone, as the Array API
 * standard says; so the tensor without axes is converted first. */

/* Replaces the weak one of two operands, if there is one: then `made` is the reference to it, which
 * the caller releases, else NULL. 0 with an exception set. */
int tpy_weaken(tsr_tensor* a, tsr_tensor* b, tsr_tensor* made);

/* In products and quotients of 16-bit floats a wider second operand without axes is not rounded, as
 * in PyTorch; a first one is. Asked only after tpy_weaken has made something; the operands are
 * those before it. */
typedef tsr_status (*tpy_binary)(tsr_tensor, tsr_tensor, tsr_tensor*);
int tpy_is_wide(tpy_binary call, tsr_tensor a, tsr_tensor b);
PyObject* tpy_operate_wide(PyTypeObject* type, tpy_binary call, tsr_tensor a, tsr_tensor b);

/* ---- operators.c: + - * / and their kind ---- */

typedef tsr_status (*tpy_right)(tsr_tensor, const tsr_number*, tsr_tensor*);

/* The C functions of an operator, filled by the generated code. */
typedef struct {
  tsr_status (*tensors)(tsr_tensor, tsr_tensor, tsr_tensor*);
  tpy_right right; /* tensor, number; NULL if the operator takes no numbers */
  tsr_status (*left)(const tsr_number*, tsr_tensor, tsr_tensor*); /* number, tensor; or NULL: */
  tpy_right mirrored; /* the `right` with the same result if the sides are exchanged */
  int compares;       /* accepts ints beyond 64 bits: above or below all integers */
} tpy_operator;

typedef struct {
  tsr_status (*tensors)(tsr_tensor, tsr_tensor);
  tsr_status (*number)(tsr_tensor, const tsr_number*); /* NULL if it takes no numbers */
} tpy_inplace_operator;

/* One operand is a tensor; the other is a number, an array, or any other object. */
PyObject* tpy_operate_number(const tpy_operator* op, PyObject* a, PyObject* b);
PyObject* tpy_operate_inplace(const tpy_inplace_operator* op, PyObject* a, PyObject* b);

/* Two tensors of a dialect, one of which may be weak. */
PyObject* tpy_operate_weak(const tpy_operator* op, PyObject* a, PyObject* b);

static inline PyObject* tpy_operate(const tpy_operator* op, PyObject* a, PyObject* b) {
  if (!tpy_is_tensor(a) || !tpy_is_tensor(b)) return tpy_operate_number(op, a, b);
  if (tpy_class_for(a, b) != tpy.tensor) return tpy_operate_weak(op, a, b);
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, op->tensors(tpy_handle(a), tpy_handle(b), &out));
  return tpy_result(status, out);
}

/* After a call has failed: 1 if a dtype error is set that two tensors of different dtypes explain
 * (Note [Products of two dtypes] in overloads.c). Clears it then, and fills the pair with new
 * references to the tensors in their common dtype. Otherwise an exception is set. */
int tpy_promote(PyObject* a, PyObject* b, PyObject** pair);

/* The operator of such a product. */
static inline PyObject* tpy_operate_promoting(const tpy_operator* op, PyObject* a, PyObject* b) {
  PyObject *result = tpy_operate(op, a, b), *pair[2];
  if (__builtin_expect(result != NULL, 1) || !tpy_promote(a, b, pair)) return result;
  result = tpy_operate(op, pair[0], pair[1]);
  Py_DECREF(pair[0]);
  Py_DECREF(pair[1]);
  return result;
}

static inline PyObject* tpy_operate_unary(tsr_status (*op)(tsr_tensor, tsr_tensor*), PyObject* a) {
  tsr_tensor out = NULL;
  tsr_status status;
  TPY_CALL(status, op(tpy_handle(a), &out));
  return tpy_result_as(tpy_class_for(a, a), status, out);
}

/* ---- tensor.c: the type of tensors, its life and its metadata ---- */

typedef enum {
  TPY_GET_SHAPE,
  TPY_GET_STRIDES,
  TPY_GET_NDIM,
  TPY_GET_SIZE,
  TPY_GET_NBYTES,
  TPY_GET_OFFSET,
  TPY_GET_DATA,
  TPY_GET_REQUIRES_GRAD,
  TPY_GET_CONTIGUOUS,
  TPY_GET_READ_ONLY,
  TPY_GET_INFERENCE,
  TPY_GET_VIEW,
  TPY_GET_DTYPE,
  TPY_GET_DTYPE_BITS,
  TPY_GET_DEVICE,
  TPY_GET_COUNT
} tpy_get;

extern PyGetSetDef tensor_getset[];
extern PyMemberDef tensor_members[];

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
PyObject* tensor_alloc(PyTypeObject* type, Py_ssize_t count);
void tensor_dealloc(PyObject* self);
/* Lets objects of a class, and of subclasses made from now on, have attributes of a program's own.
 */
int tpy_take_attributes(PyTypeObject* type);
int tensor_traverse(PyObject* self, visitproc visit, void* arg);
int tensor_clear(PyObject* self);
PyObject* tensor_rebind(PyObject* self, PyObject* other);
Py_hash_t tensor_hash(PyObject* self);
Py_ssize_t tensor_length(PyObject* self);
/* One piece of the metadata as a Python object. */
PyObject* tensor_get(PyObject* self, tpy_get which);
int tensor_set_requires_grad(PyObject* self, PyObject* value, void* closure);
/* Makes the collector track a tensor: call it when the library gets a callable for it. */
void tpy_show_to_collector(PyObject* tensor);
int tpy_info(PyObject* self, tsr_info* info);
/* Whether autograd records ops on this object; raises nothing. */
int tpy_wants_grad(PyObject* object);
PyObject* tpy_int_tuple(const int64_t* values, int32_t count);
PyObject* tpy_find_dtype(tsr_dtype bits);

/* ---- values.c: elements as Python's numbers ---- */

PyObject* tensor_item(PyObject* self, PyObject* unused);
PyObject* tensor_tolist(PyObject* self, PyObject* unused);
int nb_bool(PyObject* self);
PyObject* nb_float(PyObject* self);
PyObject* nb_int(PyObject* self);
PyObject* nb_index(PyObject* self);

enum { TPY_MAX_NEST = 32, TPY_MAX_AXES = 64 }; /* levels of lists; axes of tensors and arrays */

/* ---- sequences.c, arrays.c, creation.c: tensors from Python data, NumPy arrays; arange ---- */

/* A tensor with the numbers. NULL without an exception if NumPy must convert the data, with one on
 * failure. */
PyObject* tpy_from_numbers(PyObject* data, tsr_dtype dtype);
PyObject* py_from_numbers(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
/* A tensor of the elements of an array in an operation. If the backward may need them, they are
 * copied: writes to an array raise no version. */
PyObject* tpy_array_operand(PyObject* array, int recorded);
PyObject* py_from_array(PyObject* self, PyObject* given);
PyObject* py_from_buffer(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* py_arange(PyObject* self, PyObject* const* args, Py_ssize_t nargs);

/* ---- buffer.c: the buffer protocol ---- */

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags);
/* Whether a program is not being recorded; else fails as the library does for reads of the host. */
int tpy_may_read(PyObject* self);
void tensor_releasebuffer(PyObject* self, Py_buffer* view);
PyObject* tensor_numpy(PyObject* self, PyObject* unused);

/* ---- indexing.c: tensor[index] ---- */

PyObject* tensor_subscript(PyObject* self, PyObject* key);
PyObject* tensor_at(PyObject* self, Py_ssize_t index);
int tensor_ass_subscript(PyObject* self, PyObject* key, PyObject* value);

/* ---- methods.c: methods that are not ops ---- */

extern PyMethodDef tensor_methods[];

PyObject* py_convert(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
/* The attribute `data`: a tensor on the same memory; the version check ignores its writes. */
PyObject* tensor_get_data(PyObject* self, void* closure);

#include "graph.h" /* callbacks, hooks, the graph */

/* ---- dlpack.c, exchange.c: memory of other libraries ---- */

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
typedef struct tpy_versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct tpy_versioned*);
  uint64_t flags;
  tpy_dl_tensor tensor;
} tpy_versioned;

PyObject* py_to_capsule(PyObject* self, PyObject* args);
PyObject* py_from_capsule(PyObject* self, PyObject* args);
/* Puts DLPack's C exchange API on the type, as __dlpack_c_exchange_api__. */
int tpy_add_exchange(PyTypeObject* type);

#pragma GCC visibility pop

#endif
