/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An external C program that uses only the installed package. Prints the version of
 * the ABI it runs on; with an argument, the schema that the library carries. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(int argc, char** argv) {
  const char* json = NULL;
  int64_t size = 0;
  (void)argv;
  if (tsr_schema_json(&json, &size) != TSR_OK || tsr_abi_version() == 0) return 1;
  if (argc > 1) {
    return fwrite(json, 1, (size_t)size, stdout) == (size_t)size ? 0 : 1;
  }
  printf("%u.%u\n", (unsigned)(tsr_abi_version() >> 16), (unsigned)(tsr_abi_version() & 0xffff));
  return 0;
}
