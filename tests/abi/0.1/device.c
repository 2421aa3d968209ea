// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// device.h: devices, streams, events, and what belongs to a thread.
#include "client.h"

int main(void) {
  int32_t count = 0, done = 0, previous = 0;
  tsr_stream stream = NULL;
  tsr_event event = NULL;
  tsr_ambient ambient = NULL;
  OK(tsr_device_count(TSR_DEVICE_CPU, &count));
  CHECK(count == 1);
  OK(tsr_stream_current(TSR_DEVICE_CPU, 0, &stream));
  OK(tsr_event_create(TSR_DEVICE_CPU, 0, &event));
  OK(tsr_event_record(event, stream));
  OK(tsr_stream_wait_event(stream, event));
  OK(tsr_event_query(event, &done));
  OK(tsr_ambient_save(&ambient));
  OK(tsr_grad_mode_set(0, &previous));
  OK(tsr_ambient_restore(ambient));
  CHECK(tsr_grad_mode() == 1);
  tsr_ambient_release(ambient);
  tsr_event_release(event);
  tsr_stream_release(stream);
  return 0;
}
