/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What line.R calls: R calls only C functions that take and give its own objects. Operators need
 * one of them, because tsr_call calls each by its number.
 *
 * Build: PKG_CPPFLAGS="$(pkg-config --cflags tessera)" PKG_LIBS="$(pkg-config --libs tessera)" R
 * CMD SHLIB line_r.c */
#include <R.h>
#include <Rinternals.h>
#include <tessera/tessera.h>

static void check(tsr_status status) {
  tsr_error_view view = {.struct_size = sizeof view};
  if (status == TSR_OK) return;
  tsr_error_last(&view);
  Rf_error("%.*s", (int)view.message_len, view.message);
}

static void release_tensor(SEXP object) {
  tsr_tensor_release(R_ExternalPtrAddr(object));
  R_ClearExternalPtr(object);
}

static void release_optimizer(SEXP object) {
  tsr_optimizer_release(R_ExternalPtrAddr(object));
  R_ClearExternalPtr(object);
}

/* An object of class "tensor" before it has a handle, so that no handle is lost if R has no memory
 * for it. */
static SEXP empty_tensor(void) {
  SEXP object = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizer(object, release_tensor);
  Rf_setAttrib(object, R_ClassSymbol, Rf_mkString("tensor"));
  UNPROTECT(1);
  return object;
}

static tsr_value value_of(SEXP object) {
  tsr_value value = {0};
  if (TYPEOF(object) == EXTPTRSXP) {
    value.kind = TSR_VALUE_TENSOR;
    value.pointer = R_ExternalPtrAddr(object);
  } else if (Rf_inherits(object, "dtype")) {
    value.kind = TSR_VALUE_DTYPE;
    value.integer = Rf_asInteger(object);
  } else if (Rf_inherits(object, "sizes")) {
    int64_t* sizes =
        (int64_t*)R_alloc(Rf_xlength(object) + 1, sizeof *sizes); /* R frees it after the call */
    value.kind = TSR_VALUE_INTS;
    for (value.n = 0; value.n < Rf_xlength(object); ++value.n)
      sizes[value.n] = INTEGER(object)[value.n];
    value.pointer = sizes;
  } else if (TYPEOF(object) == LGLSXP) {
    value.kind = TSR_VALUE_BOOL;
    value.integer = Rf_asLogical(object);
  } else if (TYPEOF(object) == INTSXP) {
    value.kind = TSR_VALUE_INT;
    value.integer = Rf_asInteger(object);
  } else if (TYPEOF(object) == REALSXP) {
    value.kind = TSR_VALUE_REAL;
    value.real = Rf_asReal(object);
  } else if (object != R_NilValue) {
    Rf_error("expected a tensor, a number, sizes, a dtype or NULL, got %s",
             Rf_type2char(TYPEOF(object)));
  }
  return value;
}

/* call_operator("add", list(x, y)): the functional form of an operator with one result. */
SEXP call_operator(SEXP name, SEXP arguments) {
  const char* function = R_alloc(64, 1);
  const int n = Rf_length(arguments);
  tsr_value* values = (tsr_value*)R_alloc(n + 1, sizeof *values);
  tsr_tensor out = NULL;
  SEXP result = PROTECT(empty_tensor());
  snprintf((char*)function, 64, "tsr_%s", CHAR(Rf_asChar(name)));
  for (int i = 0; i < n; ++i) values[i] = value_of(VECTOR_ELT(arguments, i));
  values[n] = (tsr_value){.kind = TSR_VALUE_PLACE, .pointer = &out};
  check(tsr_call(tsr_function_id(function, -1), values, n + 1));
  R_SetExternalPtrAddr(result, out);
  UNPROTECT(1);
  return result;
}

SEXP item(SEXP tensor) {
  tsr_number value;
  check(tsr_tensor_item(R_ExternalPtrAddr(tensor), &value));
  return Rf_ScalarReal(value.kind == TSR_NUMBER_REAL ? value.real : (double)value.integer);
}

SEXP require_grad(SEXP tensor) {
  check(tsr_tensor_set_requires_grad(R_ExternalPtrAddr(tensor), 1));
  return tensor;
}

SEXP backward(SEXP loss) {
  tsr_tensor root = R_ExternalPtrAddr(loss);
  check(tsr_backward(&root, 1, NULL, 0, NULL, 0, 0));
  return R_NilValue;
}

SEXP sgd(SEXP parameters, SEXP lr, SEXP momentum) {
  const int n = Rf_length(parameters);
  tsr_tensor* handles = (tsr_tensor*)R_alloc(n + 1, sizeof *handles);
  tsr_optimizer_options options = {.struct_size = sizeof options};
  tsr_optimizer optimizer = NULL;
  SEXP result = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizer(result, release_optimizer);
  for (int i = 0; i < n; ++i) handles[i] = R_ExternalPtrAddr(VECTOR_ELT(parameters, i));
  check(tsr_optimizer_defaults(TSR_OPTIMIZER_SGD, &options));
  options.lr = Rf_asReal(lr);
  options.momentum = Rf_asReal(momentum);
  check(tsr_optimizer_new(&options, handles, n, &optimizer));
  R_SetExternalPtrAddr(result, optimizer);
  UNPROTECT(1);
  return result;
}

SEXP zero_grad(SEXP optimizer) {
  check(tsr_optimizer_zero_grad(R_ExternalPtrAddr(optimizer), 1));
  return R_NilValue;
}

SEXP step(SEXP optimizer) {
  check(tsr_optimizer_step(R_ExternalPtrAddr(optimizer)));
  return R_NilValue;
}
