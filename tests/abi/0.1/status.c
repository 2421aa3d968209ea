// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// status.h: errors and their record.
#include "client.h"

static int drops = 0;
static void count_drop(void* user) {
  (void)user;
  ++drops;
}

int main(void) {
  tsr_tensor x = counting(3), y = counting(4), z = NULL;
  tsr_error_view view = {sizeof(view)};
  tsr_error error = NULL;
  CHECK(tsr_add(x, y, &z) == TSR_SHAPE && z == NULL);
  OK(tsr_error_last(&view));
  CHECK(view.code == TSR_SHAPE && view.message_len == (int64_t)strlen(view.message));
  CHECK(strstr(view.message, "add") != NULL);
  OK(tsr_error_take(&error));
  OK(tsr_error_info(error, &view));
  CHECK(view.code == TSR_SHAPE);
  tsr_error_release(error);
  OK(tsr_error_set(TSR_CANCELLED, "stop", -1, &drops, count_drop));
  OK(tsr_error_take(&error));
  tsr_error_release(error);
  CHECK(drops == 1);
  CHECK(strcmp(tsr_status_name(TSR_SHAPE), "SHAPE") == 0);
  tsr_tensor_release(x);
  tsr_tensor_release(y);
  return 0;
}
