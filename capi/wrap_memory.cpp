// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/wrap_memory.h"

#include "kernel/registry.h"
#include "memory/stream.h"
#include "tensor/alignment.h"

namespace tsr::capi {
namespace {

void drop_memory(void* context, void*, uint64_t) noexcept {
  delete static_cast<UserData*>(context);
}

}  // namespace

Extent checked_extent(DimsView sizes, DimsView strides, int64_t itemsize) {
  Extent extent{0, 1};
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(strides[i], sizes[i] - 1, &reach);
    int64_t& end = reach < 0 ? extent.low : extent.high;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  int64_t span = 0;
  overflow |= __builtin_sub_overflow(extent.high, extent.low, &span);
  overflow |= __builtin_mul_overflow(span, itemsize, &span);
  overflow |= __builtin_mul_overflow(extent.low, itemsize, &span);
  overflow |= __builtin_mul_overflow(extent.high, itemsize, &span);
  TSR_CHECK(!overflow, Code::kShape, "strides", "expected offsets that fit int64, got shape ",
            sizes, " with strides ", strides);
  return extent;
}

namespace {

// The address of the lowest element. Throws unless all elements lie in the address space.
char* first_byte(const void* first, const Extent& extent, int64_t itemsize) {
  const auto address = reinterpret_cast<uintptr_t>(first);
  uintptr_t low = 0;
  uintptr_t end = 0;
  const bool overflow = __builtin_add_overflow(address, extent.low * itemsize, &low) ||
                        __builtin_add_overflow(address, extent.high * itemsize, &end);
  TSR_CHECK(!overflow, Code::kShape, "strides",
            "expected elements inside the address space, got offsets from ", extent.low, " to ",
            extent.high, " elements");
  return reinterpret_cast<char*>(low);
}

}  // namespace

Tensor wrap_memory(void* first, DimsView sizes, DimsView strides, DType dtype, Device device,
                   UserData data, bool read_only) {
  TSR_CHECK(strides.size() == sizes.size(), Code::kShape, "strides", "expected ", sizes.size(),
            " strides, got ", strides.size());
  const int64_t count = checked_numel(sizes, itemsize(dtype));
  TSR_CHECK(first != nullptr || count == 0, Code::kInvalidArgument, "data",
            "expected memory, got NULL for ", count, " elements");
  TSR_CHECK(count == 0 || is_aligned_for(device, dtype, first), Code::kBuffer, "data",
            "expected memory of ", device, " aligned to ", alignment_for(device, dtype),
            " bytes for elements of ", dtype, ", got an address that is not");
  const Extent extent = count == 0 ? Extent{0, 0} : checked_extent(sizes, strides, itemsize(dtype));
  char* base = count == 0 ? nullptr : first_byte(first, extent, itemsize(dtype));
  const int64_t nbytes = (extent.high - extent.low) * itemsize(dtype);
  auto owner = std::make_unique<UserData>(std::move(data));
  StoragePtr storage =
      wrap_storage(device, base, static_cast<uint64_t>(nbytes), drop_memory, owner.get());
  static_cast<void>(owner.release());
  storage->read_only = read_only;
  return make_fresh(std::move(storage), dtype, sizes, strides, -extent.low);
}

Tensor copy_of_bytes(const void* first, DimsView sizes, DimsView strides, DType dtype,
                     Device device) {
  TSR_CHECK(strides.size() == sizes.size(), Code::kShape, "strides", "expected ", sizes.size(),
            " strides, got ", strides.size());
  const int64_t size = itemsize(dtype);
  const int64_t count = checked_numel(sizes, size);
  TSR_CHECK(first != nullptr || count == 0, Code::kInvalidArgument, "data",
            "expected memory, got NULL for ", count, " elements");
  const Extent extent = count == 0 ? Extent{0, 0} : checked_extent(sizes, strides, size);
  const auto nbytes = static_cast<uint64_t>((extent.high - extent.low) * size);
  StoragePtr storage = allocate_storage(device, nbytes);
  if (count != 0) {
    const DeviceInterface& interface = *kernel::backend_for(device).device;
    const char* const base = first_byte(first, extent, size);
    check_call(interface.copy(device.index, storage->data, base, nbytes, CopyKind::kDeviceToDevice,
                              current_stream(device)),
               device, interface, "copy");
  }
  return make_fresh(std::move(storage), dtype, sizes, strides, -extent.low);
}

}  // namespace tsr::capi
