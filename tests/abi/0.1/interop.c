// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// interop.h: DLPack's borrowed view of a tensor.
#include "client.h"

// DLPack's DLTensor, as its standard fixes it.
typedef struct {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} view_t;

int main(void) {
  tsr_tensor t = counting(5);
  struct DLManagedTensor* managed = NULL;
  tsr_tensor back = NULL;
  view_t view;
  OK(tsr_dltensor_view(t, &view));
  CHECK(view.ndim == 1 && view.shape[0] == 5 && view.bits == 32 && view.device_type == 1);
  CHECK(((const float*)view.data)[4] == 5.0f);
  OK(tsr_to_dlpack(t, 0, &managed));
  OK(tsr_from_dlpack(managed, 0, &back));
  tsr_tensor_release(t);
  tsr_tensor_release(back);
  CHECK(tsr_live_handles() == 0 && tsr_exchange_api()->struct_size >= sizeof(tsr_exchange_table));
  return 0;
}
