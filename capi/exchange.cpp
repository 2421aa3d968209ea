// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The exchange table: DLPack's C exchange API with tensor handles instead of Python objects.
#include "capi/generated/infos.h"
#include "capi/interop.h"
#include "capi/tables.h"
#include "memory/stream.h"
#include "ops/create/create.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// The record of a failure names the entry of the table.
// Functions of DLPack's table, which are no rows of the schema and have no number.
constexpr CallInfoOf kToManaged{0, "exchange.to_managed", {{"tensor", 'T'}, {"managed", 'W'}}};
constexpr CallInfoOf kAllocateLike{
    0, "exchange.allocate_like", {{"prototype", 'O'}, {"managed", 'W'}}};
constexpr CallInfoOf kCurrentStream{
    0, "exchange.current_stream", {{"device", 'C'}, {"stream", 'W'}}};

tsr_status from_managed(DLManagedTensorVersioned* managed, tsr_tensor* out) {
  return import_versioned(managed, 0, out);
}

// Unlike tsr_to_dlpack_versioned, makes no stream wait for another.
tsr_status to_managed(tsr_tensor tensor, DLManagedTensorVersioned** managed) {
  clear(managed);
  return guard(Call(kToManaged, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(managed, "managed");
    check_exportable(arg.get());
    *managed = export_versioned(arg.get(), arg.get().storage()->read_only ? kDlReadOnly : 0);
  });
}

tsr_status allocate_like(const void* prototype, DLManagedTensorVersioned** managed) {
  clear(managed);
  return guard(Call(kAllocateLike, prototype), [&] {
    TSR_CHECK(prototype != nullptr, Code::kInvalidArgument, "prototype",
              "expected a DLTensor, got NULL");
    out_arg(managed, "managed");
    const auto& like = *static_cast<const DLTensor*>(prototype);
    TSR_CHECK(like.ndim >= 0 && like.ndim <= kMaxTensorRank, Code::kBuffer, "prototype",
              "expected at most ", kMaxTensorRank, " dimensions, got ", like.ndim);
    TSR_CHECK(like.ndim == 0 || like.shape != nullptr, Code::kBuffer, "prototype",
              "expected a shape, got NULL");
    const DType dtype = imported_dtype(like.dtype, "prototype");
    const Device device = imported_device(like.device, "prototype");
    const DimsView sizes(like.shape, static_cast<size_t>(like.ndim));
    *managed = export_versioned(ops::empty(sizes, dtype, device), 0);
  });
}

tsr_status current_stream(tsr_device_type device_type, int32_t device_index, void** stream) {
  clear(stream);
  return guard(Call(kCurrentStream, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    *out_arg(stream, "stream") = tsr::current_stream(device);
  });
}

}  // namespace

extern "C" {

const tsr_exchange_table* tsr_exchange_api(void) {
  static const tsr_exchange_table kTable = {
      .struct_size = sizeof(tsr_exchange_table),
      .abi_version = kAbiVersion,
      .dlpack_major = kDlMajor,
      .dlpack_minor = kDlMinor,
      .from_managed = from_managed,
      .to_managed = to_managed,
      .view = tsr_dltensor_view,
      .allocate_like = allocate_like,
      .current_stream = current_stream,
      .retain = tsr_tensor_retain,
      .release = tsr_tensor_release,
      .last_error = tsr_error_last,
  };
  return &kTable;
}

}  // extern "C"
