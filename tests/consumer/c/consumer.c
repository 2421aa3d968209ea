/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An outside C program: everything it knows comes from the installed package. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void) {
  printf("abi %u\n", (unsigned)tsr_abi_version());
  return tsr_abi_version() == 0 ? 1 : 0;
}
