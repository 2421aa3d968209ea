/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 * Helpers of the C examples: stop with the library's message when a call fails, and find tensors of
 * safetensors files by name. */
#ifndef TESSERA_EXAMPLES_COMMON_H
#define TESSERA_EXAMPLES_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

/* Stops the program unless the status is TSR_OK. */
static inline void check(tsr_status status) {
  tsr_error_view error = {0};
  if (status == TSR_OK) return;
  error.struct_size = sizeof error;
  if (tsr_error_last(&error) == TSR_OK) {
    fprintf(stderr, "%s: %.*s\n", tsr_status_name(status), (int)error.message_len, error.message);
  }
  exit(EXIT_FAILURE);
}

static inline tsr_info info_of(tsr_tensor tensor) {
  tsr_info info = {0};
  info.struct_size = sizeof info;
  check(tsr_tensor_info(tensor, &info));
  return info;
}

static inline tsr_archive open_archive(const char* path) {
  tsr_archive archive = NULL;
  check(tsr_archive_open(path, -1, &archive));
  return archive;
}

/* The tensor of this name. */
static inline tsr_tensor tensor_of(tsr_archive archive, const char* wanted) {
  int64_t count = 0, i;
  check(tsr_archive_count(archive, &count));
  for (i = 0; i < count; ++i) {
    const char* name = NULL;
    int64_t length = 0;
    check(tsr_archive_name(archive, i, &name, &length));
    if (strlen(wanted) == (size_t)length && memcmp(name, wanted, (size_t)length) == 0) {
      tsr_tensor tensor = NULL;
      check(tsr_archive_tensor(archive, i, &tensor));
      return tensor;
    }
  }
  fprintf(stderr, "the file has no tensor named %s\n", wanted);
  exit(EXIT_FAILURE);
}

#endif
