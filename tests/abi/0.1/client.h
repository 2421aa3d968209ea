// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the clients of a baseline share. They are compiled with the baseline's declarations and run
// on today's library.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tessera_ffi.h"

// Ends main with the line at fault.
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                       \
    }                                                                 \
  } while (0)
#define OK(call) CHECK((call) == TSR_OK)

// A float32 vector 1, 2, ... in memory of the library.
static inline tsr_tensor counting(int64_t n) {
  tsr_tensor t = NULL;
  float values[64];
  for (int64_t i = 0; i < n; ++i) values[i] = (float)(i + 1);
  if (tsr_ones(&n, 1, TSR_FLOAT32, -1, -1, &t) != TSR_OK) return NULL;
  if (tsr_tensor_write(t, values, n * 4) != TSR_OK) return NULL;
  return t;
}
