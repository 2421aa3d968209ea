/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * What both C examples need: stop with the library's own message when a call fails. */
#ifndef TESSERA_EXAMPLES_COMMON_H
#define TESSERA_EXAMPLES_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

/* dtypes are the bits of DLPack's DLDataType, so a constant needs no header of ours. */
static inline void check(tsr_status status) {
  tsr_error_view error = {0};
  if (status == TSR_OK) return;
  error.struct_size = sizeof error;
  if (tsr_error_last(&error) == TSR_OK) {
    fprintf(stderr, "%s: %.*s\n", tsr_status_name(status), (int)error.message_len, error.message);
  }
  exit(1);
}

#endif
