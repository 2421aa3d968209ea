// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Byte buffers, the value that means "absent", and how dtypes promote.
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "tensor/promotion.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

int64_t tsr_none(void) {
  return INT64_MIN;
}

tsr_status tsr_buffer_data(tsr_buffer buffer, const char** data, int64_t* data_len) {
  return guard(Call(kInfo_buffer_data, buffer), [&] {
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

tsr_status tsr_promote_types(tsr_dtype first, tsr_dtype second, tsr_dtype* common) {
  return guard(Call(kInfo_promote_types, first, second), [&] {
    const DType promoted =
        promote_types(dtype_arg(first, "first"), dtype_arg(second, "second"), "second");
    *out_arg(common, "common") = dtype_to_abi(promoted);
  });
}

tsr_status tsr_promote_number(tsr_dtype tensor, tsr_dtype number, tsr_dtype* common) {
  return guard(Call(kInfo_promote_number, tensor, number), [&] {
    const Category kind = category(dtype_arg(number, "number"));
    const DType promoted = promote_scalar(dtype_arg(tensor, "tensor"), kind);
    *out_arg(common, "common") = dtype_to_abi(promoted);
  });
}

tsr_status tsr_can_cast(tsr_dtype source, tsr_dtype target, int32_t* can) {
  return guard(Call(kInfo_can_cast, source, target), [&] {
    const DType from = dtype_arg(source, "source"), to = dtype_arg(target, "target");
    *out_arg(can, "can") = can_cast(from, to) ? 1 : 0;
  });
}

tsr_status tsr_default_dtype(tsr_dtype* dtype) {
  return guard(kInfo_default_dtype,
               [&] { *out_arg(dtype, "dtype") = dtype_to_abi(default_dtype()); });
}

tsr_status tsr_set_default_dtype(tsr_dtype dtype) {
  return guard(Call(kInfo_set_default_dtype, dtype),
               [&] { set_default_dtype(dtype_arg(dtype, "dtype")); });
}

}  // extern "C"
