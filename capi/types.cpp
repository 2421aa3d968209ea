// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Byte buffers, and the value that means "absent".
#include "capi/generated/infos.h"
#include "capi/handle.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

int64_t tsr_none(void) {
  return INT64_MIN;
}

tsr_status tsr_buffer_data(tsr_buffer buffer, const char** data, int64_t* data_len) {
  return guard(kInfo_buffer_data, [&] {
    const auto* object = object_arg<BufferObject>(buffer, ObjectTag::kBuffer, "buffer", "buffer");
    *out_arg(data, "data") = object->bytes.c_str();
    *out_arg(data_len, "data") = static_cast<int64_t>(object->bytes.size());
  });
}

void tsr_buffer_retain(tsr_buffer buffer) {
  retain_handle(buffer, ObjectTag::kBuffer);
}

void tsr_buffer_release(tsr_buffer buffer) {
  release_handle<BufferObject>(buffer, ObjectTag::kBuffer);
}

}  // extern "C"
