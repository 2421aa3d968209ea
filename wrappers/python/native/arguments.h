/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the sources declare of signatures, arguments and numbers of the host. A part of native.h,
 * which includes it. */
#ifndef TPY_ARGUMENTS_H
#define TPY_ARGUMENTS_H

/* ---- signature.c: positions and keywords of a call ---- */

enum { TPY_MAX_ALIASES = 4, TPY_MAX_PARAMETERS = 24 };

/* How an argument is read, by its type in the schema. */
typedef enum {
  TPY_TENSOR,
  TPY_OPTIONAL_TENSOR,
  TPY_OPERAND, /* a tensor or a number */
  TPY_SCALAR,
  TPY_INTS,
  TPY_BOOL,
  TPY_INT64,
  TPY_OPTIONAL_INT64,
  TPY_F64,
  TPY_OPTIONAL_F64,
  TPY_DTYPE,
  TPY_DEVICE,
  TPY_TENSORS,
  TPY_OPTIONAL_TENSORS, /* a sequence; None is an absent tensor */
  TPY_FLOATS,
  TPY_TEXT,
  TPY_GENERATOR,
  TPY_WORD /* one of a few words, passed as a C constant */
} tpy_kind;

enum { TPY_INLINE_LIST = 8 };

/* A list of 8-byte numbers, in `room` when short; n = -1 when absent. */
typedef struct {
  int32_t n;
  int64_t* at;
  double* at_f64;
  int64_t room[TPY_INLINE_LIST];
} tpy_list;

/* Handles of a sequence of tensors; `items` keeps them alive. */
typedef struct {
  int32_t n;
  tsr_tensor* at;
  PyObject* items;
  tsr_tensor room[TPY_INLINE_LIST];
} tpy_tensors;

/* An argument in the form for C: one or two parameters. */
typedef struct {
  union {
    tsr_tensor tensor;
    tsr_tensor* place;
    tsr_generator generator;
    tpy_list* list;
    tpy_tensors* tensors;
    const char* text;
    int64_t whole;
    double real;
    int32_t word;
  };
  union {
    tsr_number number;
    int64_t length;
    int32_t more;
    int32_t* found;
  };
} tpy_value;

/* A word and its number in C; tables of words end with a NULL name. */
typedef struct {
  const char* name;
  int32_t value;
} tpy_constant;

typedef struct {
  const char* names; /* the canonical name first, separated by '|' */
  tpy_kind kind;
  const tpy_constant* words;
  tpy_value absent; /* the value for C if the argument is not given */
} tpy_parameter;

/* One Python function: its parameters in order, `out` among them. */
typedef struct {
  const char* name;
  int n;            /* parameters */
  int n_positional; /* how many of them may come by position */
  int n_required;   /* how many must be given */
  int vararg;       /* a list that may be spread over the positions from its own on, or -1 */
  unsigned tensors; /* bits of the parameters that are tensors and are only read */
  const tpy_parameter* parameters;
  PyObject** keys; /* n * TPY_MAX_ALIASES interned strings, made by tpy_prepare */
} tpy_signature;

/* Interns the strings of the keywords; call it once, before the first tpy_parse. */
int tpy_prepare(const tpy_signature* sig);
/* Fills slots (sig->n + 1 of them) with borrowed references, absent ones with NULL. The last slot
 * owns objects made for the others (the tuple of a spread list, tensors for arrays): release it
 * with Py_XDECREF after the call. `self` is the first argument of a method, a module or NULL
 * otherwise. */
int tpy_parse(const tpy_signature* sig, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
              PyObject* kwnames, PyObject** slots);
/* Raise a TypeError that names function and argument; return 0. tpy_unreadable replaces a current
 * TypeError and keeps any other exception. */
int tpy_mismatch(const tpy_signature* sig, int i, const char* expected, PyObject* got);
int tpy_unreadable(const tpy_signature* sig, int i, const char* expected, PyObject* got);
/* The canonical name of a parameter. */
const char* tpy_name(const tpy_signature* sig, int i);

/* ---- arguments.c: one converter for each type of the schema ---- */

/* `sig` and `i` identify the argument `object`; `absent` is the value for C if it is not given.
 * Lists are freed with tpy_free_list and tpy_free_tensors, also after a failure. */
int tpy_bool(const tpy_signature* sig, int i, PyObject* object, int32_t absent, int32_t* out);
int tpy_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent, int64_t* out);
/* None is "absent" in the ABI, which may differ from the default. */
int tpy_optional_int64(const tpy_signature* sig, int i, PyObject* object, int64_t absent,
                       int64_t* out);
int tpy_f64(const tpy_signature* sig, int i, PyObject* object, double absent, double* out);
int tpy_optional_f64(const tpy_signature* sig, int i, PyObject* object, double* out, int32_t* has);
int tpy_ints(const tpy_signature* sig, int i, PyObject* object, tpy_list* list);
int tpy_floats(const tpy_signature* sig, int i, PyObject* object, tpy_list* list);
int tpy_tensor_list(const tpy_signature* sig, int i, PyObject* object, int holes,
                    tpy_tensors* list);
int tpy_dtype(const tpy_signature* sig, int i, PyObject* object, tsr_dtype* out);
int tpy_device(const tpy_signature* sig, int i, PyObject* object, int32_t* type, int32_t* index);
int tpy_text(const tpy_signature* sig, int i, PyObject* object, const char* absent,
             const char** out, int64_t* length);
int tpy_enum(const tpy_signature* sig, int i, PyObject* object, const tpy_constant* known,
             int32_t absent, int32_t* out);
int tpy_generator(const tpy_signature* sig, int i, PyObject* object, tsr_generator* out);
/* out=(a, b): exactly `count` tensors; items stays NULL when absent. */
int tpy_outs(const tpy_signature* sig, int i, PyObject* object, int count, tpy_tensors* list);
/* An int of 64 bits from anything with __index__. */
int tpy_as_int64(PyObject* object, int64_t* out);
/* Applies requires_grad= of a function that makes a leaf; takes over the result and returns it. */
PyObject* tpy_requiring(const tpy_signature* sig, int i, PyObject* object, PyObject* result);
static inline int tpy_tensor(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* out) {
  if (!tpy_is_tensor(object)) return tpy_mismatch(sig, i, "a Tensor", object);
  *out = tpy_handle(object);
  return 1;
}

static inline int tpy_optional_tensor(const tpy_signature* sig, int i, PyObject* object,
                                      tsr_tensor* out) {
  *out = NULL;
  return tpy_absent(object) || tpy_tensor(sig, i, object, out);
}

static inline void tpy_free_list(tpy_list* list) {
  if (list->at != list->room) PyMem_Free(list->at);
}

static inline void tpy_free_tensors(tpy_tensors* list) {
  if (list->at != list->room) PyMem_Free(list->at);
  Py_XDECREF(list->items);
}

/* ---- numbers.c: numbers of the host ---- */

/* What an object is; TPY_LARGE is an int beyond 64 bits, converted to the nearest float. */
enum { TPY_ERROR = -1, TPY_NO_NUMBER = 0, TPY_NUMBER = 1, TPY_LARGE = 2 };

/* Converts an object to a number; TPY_ERROR with an exception set. */
int tpy_as_number(PyObject* object, tsr_number* out);
/* The same for numbers that are stored or used in arithmetic: ints beyond 64 bits are refused. */
int tpy_sized_number(PyObject* object, tsr_number* out);
/* Reads a number. If it is not given: the default, or no number (kind 0). */
int tpy_scalar(const tpy_signature* sig, int i, PyObject* object, const tsr_number* absent,
               tsr_number* out);
/* Reads a tensor or a number, which sets its bit in *mask; the other is NULL or of kind 0. */
int tpy_operand(const tpy_signature* sig, int i, PyObject* object, tsr_tensor* tensor,
                tsr_number* number, unsigned* mask);
int tpy_no_tensor(const tpy_signature* sig);
/* Clips a tensor between two bounds, of which one is a tensor and one a number. */
tsr_status tpy_between(tsr_tensor input, tsr_tensor low, const tsr_number* low_number,
                       tsr_tensor high, const tsr_number* high_number, tsr_tensor* out);
/* Takes over a result; returns it as a tensor of the class, or writes it to `dst`, the handle of
 * `given`. */
PyObject* tpy_written(PyTypeObject* type, tsr_status status, tsr_tensor made, tsr_tensor dst,
                      PyObject* given);

#endif
