// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// memory.h: statistics and limits of the allocator.
#include "client.h"

int main(void) {
  tsr_memory_stats stats = {sizeof(stats)};
  const int64_t huge = 1 << 28;
  tsr_tensor t = NULL, x = counting(64);
  tsr_buffer json = NULL;
  const char* text = NULL;
  int64_t length = 0, limit = 0;
  OK(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &stats));
  CHECK(stats.allocated_bytes.all.current >= 256 &&
        stats.allocated_bytes.all.peak >= stats.allocated_bytes.all.current);
  OK(tsr_memory_limit(TSR_DEVICE_CPU, 0, &limit));
  OK(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, 1 << 26));
  CHECK(tsr_ones(&huge, 1, TSR_FLOAT64, -1, -1, &t) == TSR_OUT_OF_MEMORY);
  OK(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, limit));
  OK(tsr_memory_stats_json(TSR_DEVICE_CPU, 0, &json));
  OK(tsr_buffer_data(json, &text, &length));
  CHECK(length > 2 && text[0] == '{');
  tsr_buffer_release(json);
  tsr_tensor_release(x);
  return 0;
}
