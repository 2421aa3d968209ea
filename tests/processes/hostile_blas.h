/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */
/* CBLAS functions as another BLAS may define them, with 64-bit integers: whoever calls them with
 * 32-bit ones gets nothing computed, which a test sees, and a line that says so. */
#ifndef HOSTILE_BLAS_H
#define HOSTILE_BLAS_H

#include <stdio.h>

#define HOSTILE(name)                                     \
  __attribute__((visibility("default"))) int name(void);  \
  int name(void) {                                        \
    fprintf(stderr, "the host's " #name " was called\n"); \
    return 0;                                             \
  }

HOSTILE(cblas_sgemm)
HOSTILE(cblas_dgemm)
HOSTILE(cblas_cgemm)
HOSTILE(cblas_zgemm)
HOSTILE(cblas_sgemv)
HOSTILE(cblas_dgemv)
/* What OpenBLAS calls inside itself by a public name, and LAPACK's functions. */
HOSTILE(sgemm_)
HOSTILE(dgemm_)
HOSTILE(dtrsm_)
HOSTILE(dgetrf_)
HOSTILE(dgetri_)
HOSTILE(dpotrf_)
HOSTILE(dgesdd_)
HOSTILE(dbdsdc_)
HOSTILE(dgebrd_)
HOSTILE(dlange_)
HOSTILE(ilaenv_)
HOSTILE(xerbla_)
HOSTILE(blas_memory_alloc)
HOSTILE(blas_memory_free)
HOSTILE(exec_blas)
HOSTILE(sgemm_nn)
HOSTILE(gotoblas)

#endif
