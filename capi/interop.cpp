// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DLPack import and export, legacy and versioned, and the borrowed view.
#include "capi/interop.h"

#include <cstring>
#include <memory>

#include "autograd/tensor_grad.h"
#include "capi/generated/infos.h"
#include "capi/wrap_memory.h"
#include "kernel/registry.h"
#include "memory/stream.h"
#include "ops/create/copy.h"
#include "tensor/alignment.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// ---- Tensors as DLPack structs ----

DLDevice exported_device(Device device) {
  return {static_cast<DLDeviceType>(device.type), device.index};
}

DLDataType exported_dtype(DType dtype) {
  const int32_t bits = dtype_to_abi(dtype);
  return {static_cast<uint8_t>(bits & 0xff), static_cast<uint8_t>(bits >> 8 & 0xff), 1};
}

DLTensor view_of(const Tensor& tensor) {
  DLTensor view{};
  view.data = tensor.numel() == 0 ? nullptr : tensor.data();
  view.device = exported_device(tensor.device());
  view.ndim = static_cast<int32_t>(tensor.ndim());
  view.dtype = exported_dtype(tensor.dtype());
  // DLPack's pointers are not const, but consumers must not write through them.
  view.shape = const_cast<int64_t*>(tensor.sizes().data());
  view.strides = tensor.ndim() == 0 ? nullptr : const_cast<int64_t*>(tensor.strides().data());
  return view;
}

// One block with the managed tensor and a reference that keeps the memory, the shape and the
// strides.
template <class Managed>
struct Exported {
  Managed managed;
  Tensor tensor;

  static void destroy(Managed* managed) noexcept {
    auto* exported = reinterpret_cast<Exported*>(managed);
    give_back_storage(*exported->tensor.storage());
    delete exported;
  }
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  auto* exported = new Exported<Managed>{};
  static_assert(offsetof(Exported<Managed>, managed) == 0);
  exported->tensor = tensor.detached();  // its layout never changes, so the view may point into it
  lend_storage(*exported->tensor.storage());
  exported->managed.dl_tensor = view_of(exported->tensor);
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = Exported<Managed>::destroy;
  return &exported->managed;
}

}  // namespace

namespace tsr::capi {

DType imported_dtype(DLDataType bits, const char* arg) {
  TSR_CHECK(bits.lanes == 1, Code::kBuffer, arg, "expected elements of one lane, got ", bits.lanes);
  const int32_t code = bits.code | bits.bits << 8 | 1 << 16;
  const std::optional<DType> dtype = dtype_from_abi(code);
  TSR_CHECK(dtype.has_value(), Code::kBuffer, arg, "expected a supported dtype, got DLPack code ",
            static_cast<int>(bits.code), " with ", static_cast<int>(bits.bits), " bits");
  return *dtype;
}

Device imported_device(const DLDevice& device, const char* arg) {
  // DLPack's pinned host memory is CPU memory here.
  int32_t type = 0;  // copied: a foreign number need not be a value of the enumeration
  static_assert(sizeof(type) == sizeof(device.device_type));
  std::memcpy(&type, &device.device_type, sizeof(type));
  if (type == kDLCPU || type == kDLCUDAHost) return Device{};
  try {
    return device_arg(type, device.device_id, arg);
  } catch (const Error& error) {
    throw_error(Code::kBuffer, arg, __FILE__, __LINE__, error.message());
  }
}

void check_exportable(const Tensor& tensor) {
  TSR_CHECK(
      !requires_grad(tensor), Code::kBuffer, "tensor",
      "expected a tensor that does not require grad, got one that does; export its detached alias");
}

DLManagedTensorVersioned* export_versioned(const Tensor& tensor, uint64_t flags) {
  auto* managed = export_tensor<DLManagedTensorVersioned>(tensor);
  managed->version = {kDlMajor, kDlMinor};
  managed->flags = flags;
  return managed;
}

}  // namespace tsr::capi

namespace {

// ---- Import ----

template <class Managed>
void call_deleter(void* user) {
  auto* managed = static_cast<Managed*>(user);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// The import takes ownership of the managed tensor only after everything has succeeded.
template <class Managed>
void import(Managed* managed, bool read_only, int32_t flags, tsr_tensor* out) {
  check_flags(flags, TSR_DLPACK_COPY, "flags");
  const DLTensor& from = managed->dl_tensor;
  TSR_CHECK(from.ndim >= 0 && from.ndim <= kMaxTensorRank, Code::kBuffer, "managed",
            "expected at most ", kMaxTensorRank, " dimensions, got ", from.ndim);
  TSR_CHECK(from.ndim == 0 || from.shape != nullptr, Code::kBuffer, "managed",
            "expected a shape, got NULL");
  const DType dtype = imported_dtype(from.dtype, "managed");
  const Device device = imported_device(from.device, "managed");
  const DimsView sizes(from.shape, static_cast<size_t>(from.ndim));
  const Dims strides = from.strides == nullptr
                           ? contiguous_strides(sizes)
                           : Dims(DimsView(from.strides, static_cast<size_t>(from.ndim)));
  void* first = nullptr;
  if (from.data != nullptr) {
    uintptr_t address = 0;
    TSR_CHECK(
        !__builtin_add_overflow(reinterpret_cast<uintptr_t>(from.data), from.byte_offset, &address),
        Code::kBuffer, "managed", "expected an offset inside the memory, got ", from.byte_offset,
        " bytes");
    first = reinterpret_cast<void*>(address);
  }
  TSR_CHECK(is_aligned_for(Device{}, dtype, first), Code::kBuffer, "managed",
            "expected memory aligned to ", alignment_for(Device{}, dtype),
            " bytes for elements of ", dtype, ", got an address that is not");
  const bool copies = (flags & TSR_DLPACK_COPY) != 0;
  const bool aligned = is_aligned_for(device, dtype, first);
  TSR_CHECK(aligned || copies, Code::kBuffer, "managed", "expected memory of ", device,
            " aligned to its elements of ", itemsize(dtype),
            " bytes, got an address that is not; a copy takes it");
  // Disarmed at first: if anything fails, also the copy, the caller still owns the managed tensor.
  struct Owner {
    Managed* managed;
    bool armed;
  };
  auto* owner = new Owner{managed, false};
  const auto drop = [](void* user) {
    const std::unique_ptr<Owner> held(static_cast<Owner*>(user));
    if (held->armed) call_deleter<Managed>(held->managed);
  };
  UserData kept(owner, drop);
  Tensor tensor =
      aligned ? wrap_memory(first, sizes, strides, dtype, device, std::move(kept), read_only)
              : copy_of_bytes(first, sizes, strides, dtype, device);
  if (copies) {
    Tensor copy = ops::clone(tensor);
    give(std::move(copy), out);
    owner->armed = true;
    return;
  }
  give(std::move(tensor), out);
  owner->armed = true;
}

}  // namespace

namespace tsr::capi {

tsr_status import_versioned(DLManagedTensorVersioned* managed, int32_t flags, tsr_tensor* out) {
  clear(out);
  return guard(
      Call(kInfo_from_dlpack_versioned, managed, flags),
      [&] {
        if (managed == nullptr) fail_handle(nullptr, "DLPack tensor", "managed");
        out_arg(out, "out");
        TSR_CHECK(managed->version.major == kDlMajor, Code::kAbi, "managed",
                  "expected DLPack version ", kDlMajor, ", got ", managed->version.major);
        import(managed, (managed->flags & kDlReadOnly) != 0, flags, out);
      },
      PlaceOf{out});
}

}  // namespace tsr::capi

namespace {

// ---- Export ----

// Makes the consumer's stream wait for the work that this thread has queued.
void make_ready(Device device, StreamHandle consumer) {
  const StreamHandle producer = current_stream(device);
  if (consumer == producer) return;
  const DeviceInterface& interface = *kernel::backend_for(device).device;
  const IntrusivePtr<Event> event = Event::create(device, interface);
  event->record(*Stream::wrap(device, interface, producer));
  if (interface.stream_wait_event == nullptr) return;
  // Not adopted as a Stream of ours: it may be a handle that adopt_stream refuses, such as the
  // default stream of a thread.
  check_work(interface.stream_wait_event(device.index, consumer, event->native()), device,
             interface);
}

}  // namespace

extern "C" {

tsr_status tsr_from_dlpack(struct DLManagedTensor* managed, int32_t flags, tsr_tensor* out) {
  clear(out);
  return guard(
      Call(kInfo_from_dlpack, managed, flags),
      [&] {
        if (managed == nullptr) fail_handle(nullptr, "DLPack tensor", "managed");
        out_arg(out, "out");
        import(managed, false, flags, out);
      },
      PlaceOf{out});
}

tsr_status tsr_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, int32_t flags,
                                     tsr_tensor* out) {
  return import_versioned(managed, flags, out);
}

tsr_status tsr_to_dlpack(tsr_tensor tensor, int32_t flags, struct DLManagedTensor** managed) {
  clear(managed);
  return guard(Call(kInfo_to_dlpack, tensor, flags), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(managed, "managed");
    check_flags(flags, TSR_DLPACK_COPY, "flags");
    check_exportable(arg.get());
    const bool copy = (flags & TSR_DLPACK_COPY) != 0;
    TSR_CHECK(copy || !arg.get().storage()->read_only, Code::kBuffer, "tensor",
              "its memory is read-only, which only the versioned form can say");
    *managed = export_tensor<DLManagedTensor>(copy ? ops::clone(arg.get()) : arg.get());
  });
}

tsr_status tsr_to_dlpack_versioned(tsr_tensor tensor, int32_t max_major, int32_t flags,
                                   void* stream, struct DLManagedTensorVersioned** managed) {
  clear(managed);
  return guard(Call(kInfo_to_dlpack_versioned, tensor, max_major, flags, stream), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(managed, "managed");
    check_flags(flags, TSR_DLPACK_COPY | TSR_DLPACK_READ_ONLY, "flags");
    TSR_CHECK(max_major >= static_cast<int32_t>(kDlMajor), Code::kAbi, "max_major",
              "expected a consumer of DLPack version ", kDlMajor, " or later, got ", max_major);
    TSR_CHECK(stream == nullptr || !arg.get().device().is_cpu(), Code::kValue, "stream",
              "expected NULL for memory of the CPU");
    check_exportable(arg.get());
    const bool copy = (flags & TSR_DLPACK_COPY) != 0;
    const Tensor source = copy ? ops::clone(arg.get()) : arg.get();
    if (!source.device().is_cpu()) make_ready(source.device(), stream);
    const bool read_only =
        (flags & TSR_DLPACK_READ_ONLY) != 0 || (!copy && arg.get().storage()->read_only);
    const uint64_t said = (read_only ? kDlReadOnly : 0) | (copy ? kDlIsCopied : 0);
    *managed = export_versioned(source, said);
  });
}

tsr_status tsr_dltensor_view(tsr_tensor tensor, void* view) {
  return guard(Call(kInfo_dltensor_view, tensor, view), [&] {
    const TensorArg arg(tensor, "tensor");
    *static_cast<DLTensor*>(out_arg(view, "view")) = view_of(arg.get());
  });
}

}  // extern "C"
