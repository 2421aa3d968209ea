// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// version.h: what the library says of itself.
#include "client.h"

int main(void) {
  CHECK(tsr_abi_version() >> 16 == 0 || tsr_abi_version() >> 16 == 1);
  CHECK(strlen(tsr_version_string()) >= 5);
  CHECK(tsr_has("tsr_add", -1) == 1);
  CHECK(tsr_has("tsr_no_such_function", -1) == 0);
  CHECK(tsr_get_proc("tsr_add", -1) != NULL);
  OK(tsr_abi_probe("tsr_info", -1, (int64_t)sizeof(tsr_info)));
  return 0;
}
