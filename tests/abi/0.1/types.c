// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// types.h: constants keep their numbers and absent values their meaning.
#include "client.h"

int main(void) {
  tsr_tensor x = counting(3), y = NULL;
  tsr_info info = {sizeof(info)};
  CHECK(tsr_none() == INT64_MIN);
  OK(tsr_astype(x, TSR_INT64, 1, &y));
  OK(tsr_tensor_info(y, &info));
  CHECK(info.dtype == 0x14000 && info.device_type == TSR_DEVICE_CPU);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  return 0;
}
