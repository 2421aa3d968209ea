/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * The rows of ops: what the generated table says of each, and what calls.c makes of it. */
#ifndef TESSERA_PY_ROWS_H
#define TESSERA_PY_ROWS_H

#include "native.h"

#pragma GCC visibility push(hidden)

/* ---- calls.c: calls of ops ---- */

extern tpy_list tpy_no_list; /* a list that is absent */
extern tpy_tensors tpy_no_tensors;

enum { TPY_MAX_LISTS = 6, TPY_MAX_TENSOR_LISTS = 8, TPY_MAX_RESULTS = 3, TPY_MAX_QUICK = 2 };

/* Any function of an op, and what calls one with the signature that it has. */
typedef void (*tpy_function)(void);
typedef tsr_status (*tpy_trampoline)(tpy_function function, const tpy_value* values);

/* The C functions of an op for some of its operands being numbers. */
typedef struct {
  unsigned numbers; /* bits of those operands */
  int swaps;        /* the first two arguments are exchanged */
  tpy_trampoline call, call_out;
  tpy_function function, function_out;
} tpy_way;

typedef enum { TPY_FUNCTIONAL, TPY_INPLACE } tpy_form;

/* A function or method of Python that is an op of the library. */
typedef struct tpy_row {
  tpy_signature sig;
  tpy_form form;
  int n_inputs;
  int n_results; /* -1 for a list of them */
  int has_out;
  int creates; /* the last parameter is requires_grad */
  int alias;   /* the input that may come back as the result, or -1 */
  int bounds;  /* arguments 1 and 2 are bounds, each of them a tensor, a number or nothing */
  int plain;   /* gives one new tensor, which is no alias and needs no requires_grad */
  int quick;   /* it is plain and takes so many tensors or numbers, 1 or 2, and nothing else; else 0
                */
  int (*prepare)(const struct tpy_row* row,
                 PyObject** slots); /* 0 without an exception: redirect */
  int prepared[2];                  /* arguments that `prepare` looks at */
  const tpy_way* ways;              /* for tensors first; the last one has no `call` */
} tpy_row;

PyObject* tpy_run(const tpy_row* row, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                  PyObject* kwnames);
int tpy_padding(const tpy_row* row, PyObject** slots);
int tpy_axes_of_one(const tpy_row* row, PyObject** slots);
int tpy_randomness(const tpy_row* row, PyObject** slots);

/* ---- ops_generated.c, ops_generated.h: a row for each function and method; generated ---- */

typedef PyObject* (*tpy_fast)(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames);

/* A row with what stands in Python for it. */
typedef struct {
  const tpy_row* row;
  tpy_fast call;
  int is_function;     /* of the module, by the name of the row */
  const char* methods; /* of Tensor, parted by '|', or NULL */
  const char* doc;     /* what follows the name: the signature, then the documentation */
} tpy_op;

extern const tpy_op tpy_ops[]; /* all of them, then one without a row */
extern const PyType_Slot tpy_number_slots[];

/* ---- overloads.c: names with a second meaning ---- */

/* Before the tables are made. */
int tpy_find_overloaded(void);
/* What a table has for the op: op->call, or what chooses between that and another op. */
tpy_fast tpy_overload(const tpy_op* op, int is_function);

#pragma GCC visibility pop

#endif
