// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Memory of several processes.
#include <utility>

#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/structs.h"
#include "capi/wrap_memory.h"
#include "kernel/registry.h"
#include "memory/recycled_memory.h"
#include "tensor/ipc_storage.h"
#include "tensor/shared_storage.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

ShareStrategy strategy_arg(tsr_share_strategy strategy) {
  return enum_arg<ShareStrategy>(
      strategy, {TSR_SHARE_FILE_DESCRIPTOR, TSR_SHARE_FILE_SYSTEM, TSR_SHARE_RECYCLED}, "strategy");
}

SharedMemory& shared_arg(const Tensor& tensor) {
  SharedMemory* memory = shared_memory_of(*tensor.storage());
  TSR_CHECK(memory != nullptr, Code::kBuffer, "tensor",
            "expected one in shared memory, got one in memory of its own");
  return *memory;
}

// Gives back the count of a handle in transit once its memory is open, whatever becomes of the rest
// of the call.
class Arrival {
 public:
  explicit Arrival(bool counted) noexcept : counted_(counted) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() {
    if (counted_ && storage_) shared_memory_of(*storage_)->remove_user();
  }
  void opened(const StoragePtr& storage) noexcept { storage_ = storage; }

 private:
  bool counted_;
  StoragePtr storage_;
};

StoragePtr open_handle(const tsr_shared_handle& handle) {
  const auto nbytes = static_cast<uint64_t>(handle.nbytes);
  const bool keep = (handle.flags & TSR_SHARED_NOT_SENT_ON) == 0;
  if ((handle.flags & TSR_SHARED_RECYCLED) != 0) return receive_shared_storage(handle.fd, nbytes);
  if (handle.name == nullptr) return open_shared_storage(handle.fd, nbytes, keep);
  return open_shared_storage(handle.name, nbytes);
}

// A tensor on the first `nbytes` of a storage. Throws kShape when elements lie outside.
Tensor tensor_on(StoragePtr storage, int64_t nbytes, int64_t offset, DimsView sizes,
                 DimsView strides, DType dtype) {
  TSR_CHECK(strides.size() == sizes.size(), Code::kShape, "strides", "expected ", sizes.size(),
            " strides, got ", strides.size());
  const int64_t size = itemsize(dtype);
  const int64_t most = nbytes / size;
  const bool none = checked_numel(sizes, size) == 0;
  const Extent extent = none ? Extent{0, 0} : checked_extent(sizes, strides, size);
  TSR_CHECK(offset >= 0 && offset <= most && extent.low >= -offset && extent.high <= most - offset,
            Code::kShape, "shape", "expected elements inside the ", most,
            " of the storage, got the first at ", offset, " with shape ", sizes, " and strides ",
            strides);
  return make_fresh(std::move(storage), dtype, sizes, strides, offset);
}

}  // namespace

extern "C" {

tsr_status tsr_storage_share(tsr_tensor tensor, tsr_share_strategy strategy) {
  return guard(Call(kInfo_storage_share, tensor, strategy), [&] {
    const TensorArg arg(tensor, "tensor");
    share_storage(*arg.get().storage(), strategy_arg(strategy));
  });
}

tsr_status tsr_storage_lend(tsr_tensor tensor) {
  return guard(Call(kInfo_storage_lend, tensor),
               [&] { lend_storage(*TensorArg(tensor, "tensor").get().storage()); });
}

void tsr_storage_give_back(tsr_tensor tensor) {
  if (tensor != nullptr && is_live(tensor, ObjectTag::kTensor))
    give_back_storage(*TensorArg(tensor, "tensor").get().storage());
}

tsr_status tsr_tensor_is_shared(tsr_tensor tensor, int32_t* shared) {
  return guard(Call(kInfo_tensor_is_shared, tensor), [&] {
    const Storage& storage = *TensorArg(tensor, "tensor").get().storage();
    *out_arg(shared, "shared") =
        !storage.device.is_cpu() || shared_memory_of(storage) != nullptr ? 1 : 0;
  });
}

tsr_status tsr_empty_shared(const int64_t* shape, int32_t n_shape, tsr_dtype dtype,
                            tsr_share_strategy strategy, tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_empty_shared, ListOf{shape, n_shape}, dtype, strategy), [&] {
    out_arg(out, "out");
    const DimsView sizes = list_arg(shape, n_shape, "shape");
    const DType type = dtype_arg(dtype, "dtype");
    const int64_t nbytes = checked_numel(sizes, itemsize(type)) * itemsize(type);
    StoragePtr storage =
        allocate_shared_storage(static_cast<uint64_t>(nbytes), strategy_arg(strategy));
    give(make_fresh(std::move(storage), type, sizes, contiguous_strides(sizes)), out);
  });
}

tsr_status tsr_storage_shared_handle(tsr_tensor tensor, int32_t flags, tsr_shared_handle* handle) {
  return guard(Call(kInfo_storage_shared_handle, tensor, flags, handle), [&] {
    const TensorArg arg(tensor, "tensor");
    check_flags(flags, TSR_SHARED_IN_TRANSIT, "flags");
    check_struct_size(handle, "handle");
    SharedMemory& memory = shared_arg(arg.get());
    tsr_shared_handle value{};
    const bool named = !memory.name().empty();
    value.fd = named ? -1 : memory.descriptor();
    value.nbytes = static_cast<int64_t>(arg.get().storage()->nbytes);
    value.name = named ? memory.name().c_str() : nullptr;
    value.flags = flags;
    const bool in_transit = (flags & TSR_SHARED_IN_TRANSIT) != 0;
    if (in_transit && (named || memory.recycled() != nullptr)) memory.add_user();
    if (memory.recycled() != nullptr) {
      if (in_transit)
        value.flags |= TSR_SHARED_RECYCLED;
      else
        memory.retire();  // the handle is not counted
    }
    fill_struct(handle, value, "handle");
  });
}

tsr_status tsr_tensor_from_shared(const tsr_shared_handle* handle, int64_t offset,
                                  const int64_t* shape, int32_t n_shape, const int64_t* strides,
                                  int32_t n_strides, tsr_dtype dtype, tsr_tensor* out) {
  clear(out);
  const Call call(kInfo_tensor_from_shared, handle, offset, ListOf{shape, n_shape},
                  ListOf{strides, n_strides}, dtype);
  return guard(call, [&] {
    out_arg(out, "out");
    const tsr_shared_handle from = read_struct(handle, "handle");
    check_flags(from.flags, TSR_SHARED_IN_TRANSIT | TSR_SHARED_NOT_SENT_ON | TSR_SHARED_RECYCLED,
                "handle");
    TSR_CHECK((from.fd >= 0) != (from.name != nullptr) && from.nbytes >= 0, Code::kValue, "handle",
              "expected a file descriptor or a name, and a size, got ", from.fd, ", ",
              from.name == nullptr ? "no name" : from.name, " and ", from.nbytes, " bytes");
    constexpr int32_t kCounted = TSR_SHARED_IN_TRANSIT | TSR_SHARED_RECYCLED;
    TSR_CHECK((from.flags & TSR_SHARED_RECYCLED) == 0 ||
                  ((from.flags & kCounted) == kCounted && from.name == nullptr),
              Code::kValue, "handle",
              "expected recycled memory with the flag IN_TRANSIT and a file descriptor");
    const DimsView sizes = list_arg(shape, n_shape, "shape");
    const DimsView steps = list_arg(strides, n_strides, "strides");
    const DType type = dtype_arg(dtype, "dtype");
    Arrival arrival(from.name != nullptr && (from.flags & TSR_SHARED_IN_TRANSIT) != 0);
    StoragePtr storage = open_handle(from);
    arrival.opened(storage);
    give(tensor_on(std::move(storage), from.nbytes, offset, sizes, steps, type), out);
  });
}

tsr_status tsr_ipc_export(tsr_tensor tensor, tsr_buffer* handle) {
  clear(handle);
  return guard(Call(kInfo_ipc_export, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(handle, "handle");
    give_text(export_ipc(arg.get().storage()), handle);
  });
}

tsr_status tsr_ipc_open(const char* handle, int64_t handle_len, int64_t offset,
                        const int64_t* shape, int32_t n_shape, const int64_t* strides,
                        int32_t n_strides, tsr_dtype dtype, tsr_tensor* out) {
  clear(out);
  const Call call(kInfo_ipc_open, TextOf{handle, handle_len}, offset, ListOf{shape, n_shape},
                  ListOf{strides, n_strides}, dtype);
  return guard(call, [&] {
    out_arg(out, "out");
    const DimsView sizes = list_arg(shape, n_shape, "shape");
    const DimsView steps = list_arg(strides, n_strides, "strides");
    const DType type = dtype_arg(dtype, "dtype");
    const std::string_view text = text_arg(handle, handle_len, "handle");
    static_cast<void>(kernel::backend_for(ipc_device(text)));  // loads it at its first use
    StoragePtr storage = open_ipc(text);
    const auto nbytes = static_cast<int64_t>(storage->nbytes);
    give(tensor_on(std::move(storage), nbytes, offset, sizes, steps, type), out);
  });
}

tsr_status tsr_ipc_collect(int64_t* count) {
  return guard(Call(kInfo_ipc_collect), [&] {
    int64_t* given_up = out_arg(count, "count");
    drop_recycled();
    *given_up = collect_ipc();
  });
}

tsr_status tsr_shared_memory_counts(tsr_shared_counts* counts) {
  return guard(Call(kInfo_shared_memory_counts, counts), [&] {
    const SharedCounts now = SharedMemory::counts();
    tsr_shared_counts value{};
    value.blocks = now.blocks;
    value.nbytes = now.nbytes;
    value.descriptors = now.descriptors;
    fill_struct(counts, value, "counts");
  });
}

}  // extern "C"
