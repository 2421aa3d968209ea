// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors: lifetime, metadata, wrapping of the caller's memory, reading and writing of elements.
#include <cstring>
#include <utility>

#include "autograd/record.h"
#include "autograd/tensor_grad.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/structs.h"
#include "capi/wrap_memory.h"
#include "ops/create/copy.h"
#include "tensor/promotion.h"

using namespace tsr;
using namespace tsr::capi;

static_assert(TSR_TENSOR_CONTIGUOUS == static_cast<int>(kContiguousFlag));
static_assert(TSR_TENSOR_REQUIRES_GRAD == static_cast<int>(kRequiresGradFlag));
static_assert(TSR_TENSOR_INFERENCE == static_cast<int>(kInferenceFlag));
static_assert(TSR_TENSOR_VIEW == static_cast<int>(kViewFlag));

namespace {

// The flags that tensor_info gives as they are.
constexpr uint32_t kPublicFlags = 2 * kViewFlag - 1;

const Tensor& one_element(const Tensor& tensor) {
  TSR_CHECK(tensor.numel() == 1, Code::kValue, "tensor", "expected one element, got shape ",
            DimsView(tensor.sizes()));
  return tensor;
}

// Flags that are not public, or do not say all: a view may need a gradient since its base was
// written while its own flag is still unset.
constexpr uint32_t kSpecialFlags = kViewFlag | kDualFlag | kWeakFlag;

[[gnu::noinline]] int32_t special_flags(const Tensor& tensor) noexcept {
  return static_cast<int32_t>(tensor.impl()->all_flags() & kPublicFlags) |
         (tensor.storage()->read_only ? TSR_TENSOR_READ_ONLY : 0) |
         (requires_grad(tensor) ? TSR_TENSOR_REQUIRES_GRAD : 0);
}

// The same elements in row-major host memory.
Tensor on_host(const Tensor& tensor) {
  if (tensor.device().is_cpu()) return ops::contiguous_memory(tensor);
  const Tensor host = empty(tensor.sizes(), tensor.dtype(), Device{});
  ops::copy_memory(host, tensor);
  return host;
}

// Calls use(element) with the only element, copied to the host.
template <class Use>
void with_item(const Tensor& tensor, Use&& use) {
  const Tensor host = on_host(one_element(tensor).detached());
  visit_dtype(host.dtype(), [&]<class Tag>(Tag) { use(*host.data_as<typename Tag::type>()); });
}

// A number with all fields set that have a meaning for its kind.
template <class T>
tsr_number number_of(const T& item) {
  if constexpr (requires { item.imag(); }) {
    return {TSR_NUMBER_COMPLEX, 0, 0, static_cast<double>(item.real()),
            static_cast<double>(item.imag())};
  } else if constexpr (std::is_integral_v<T>) {
    const tsr_number_kind kind = std::is_same_v<T, bool> ? TSR_NUMBER_BOOL : TSR_NUMBER_INTEGER;
    return {kind, 0, static_cast<int64_t>(item), static_cast<double>(item), 0};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {TSR_NUMBER_REAL, 0, 0, static_cast<double>(item), 0};
  } else {  // 16-bit floats
    return {TSR_NUMBER_REAL, 0, 0, static_cast<float>(item), 0};
  }
}

}  // namespace

extern "C" {

void tsr_tensor_retain(tsr_tensor tensor) {
  if (retain_handle(tensor, ObjectTag::kTensor)) count_handle(1);
}

void tsr_tensor_release(tsr_tensor tensor) {
  release_tensor(tensor);
}

void tsr_tensor_clear(tsr_tensor* tensor) {
  // Set to NULL first: the last release may call host code.
  if (tensor != nullptr) release_tensor(std::exchange(*tensor, nullptr));
}

void tsr_tensor_release_many(const tsr_tensor* tensors, int32_t n_tensors) {
  if (tensors == nullptr) return;
  for (int32_t i = 0; i < n_tensors; ++i) release_tensor(tensors[i]);
}

tsr_status tsr_tensor_info(tsr_tensor tensor, tsr_info* info) {
  return guard(Call(kInfo_tensor_info, tensor, info), [&] {
    const TensorArg arg(tensor, "tensor");
    const Tensor& t = arg.get();
    fill_struct(info, "info", [&t](tsr_info& value) {
      // First: the compiler reads other fields again behind an atomic one.
      value.flags = static_cast<int32_t>(t.impl()->all_flags());
      value.ndim = static_cast<int32_t>(t.ndim());
      value.dtype = dtype_to_abi(t.dtype());
      value.device_type = static_cast<int32_t>(t.device().type);
      value.device_index = t.device().index;
      if (t.storage()->read_only) value.flags |= TSR_TENSOR_READ_ONLY;
      value.numel = t.numel();
      value.nbytes = t.nbytes();
      value.storage_offset = t.offset();
      value.data = t.numel() == 0 ? nullptr : t.data();
      value.sizes = t.sizes().data();
      value.strides = t.strides().data();
    });
    if ((info->flags & static_cast<int32_t>(kSpecialFlags)) != 0) [[unlikely]]
      info->flags = special_flags(t);
  });
}

tsr_status tsr_tensor_data(tsr_tensor tensor, const void** data) {
  return guard(Call(kInfo_tensor_data, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(data, "data") = arg.get().data();
  });
}

tsr_status tsr_tensor_mutable_data(tsr_tensor tensor, void** data) {
  return guard(Call(kInfo_tensor_mutable_data, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(data, "data");
    TSR_CHECK(!arg.get().storage()->read_only, Code::kBuffer, "tensor", "its memory is read-only");
    TSR_CHECK(!needs_grad(arg.get()), Code::kAutograd, "tensor",
              "expected one that does not require grad, or no_grad mode, because writing through a "
              "pointer is not recorded");
    arg.get().bump_version();
    *data = arg.get().data();
  });
}

tsr_status tsr_tensor_version(tsr_tensor tensor, int64_t* version) {
  return guard(Call(kInfo_tensor_version, tensor),
               [&] { *out_arg(version, "version") = TensorArg(tensor, "tensor").get().version(); });
}

tsr_status tsr_tensor_version_increment(tsr_tensor tensor) {
  return guard(Call(kInfo_tensor_version_increment, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    TSR_CHECK(!arg.get().has(kInferenceFlag), Code::kAutograd, "tensor",
              "expected a tensor with a version, got one made in inference mode");
    arg.get().bump_version();
  });
}

tsr_status tsr_tensor_set_data(tsr_tensor tensor, tsr_tensor data) {
  return guard(Call(kInfo_tensor_set_data, tensor, data),
               [&] { set_data(TensorArg(tensor, "tensor").get(), TensorArg(data, "data").get()); });
}

tsr_status tsr_tensor_use_count(tsr_tensor tensor, int64_t* count) {
  return guard(Call(kInfo_tensor_use_count, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(count, "count") = arg.get().impl()->refs.load(std::memory_order_relaxed);
  });
}

tsr_status tsr_tensor_from_data(void* data, tsr_dtype dtype, tsr_device_type device_type,
                                int32_t device_index, const int64_t* shape, int32_t n_shape,
                                const int64_t* strides, int32_t n_strides, int32_t flags,
                                void* user, tsr_drop_fn drop, tsr_tensor* out) {
  clear(out);
  UserData owner(user, drop);
  const Call call(kInfo_tensor_from_data, data, dtype, DeviceOf{device_type, device_index},
                  ListOf{shape, n_shape}, ListOf{strides, n_strides}, flags, user, drop);
  return guard(
      call,
      [&] {
        out_arg(out, "out");
        const DType type = dtype_arg(dtype, "dtype");
        const Device device = device_arg(device_type, device_index, "device");
        const DimsView sizes = list_arg(shape, n_shape, "shape");
        check_flags(flags, TSR_FROM_DATA_READ_ONLY, "flags");
        checked_numel(sizes, itemsize(type));
        const auto given = optional_list_arg(strides, n_strides, "strides");
        const Dims steps = given ? Dims(*given) : contiguous_strides(sizes);
        give(wrap_memory(data, sizes, steps, type, device, std::move(owner),
                         (flags & TSR_FROM_DATA_READ_ONLY) != 0),
             out);
      },
      PlaceOf{out});
}

tsr_status tsr_tensor_empty_strided(const int64_t* shape, int32_t n_shape, const int64_t* strides,
                                    int32_t n_strides, tsr_dtype dtype, tsr_device_type device_type,
                                    int32_t device_index, tsr_tensor* out) {
  clear(out);
  const Call call(kInfo_tensor_empty_strided, ListOf{shape, n_shape}, ListOf{strides, n_strides},
                  dtype, DeviceOf{device_type, device_index});
  return guard(
      call,
      [&] {
        out_arg(out, "out");
        const DimsView sizes = list_arg(shape, n_shape, "shape");
        const DimsView steps = list_arg(strides, n_strides, "strides");
        const DType type = optional_dtype_arg(dtype, "dtype").value_or(default_dtype());
        const Device device =
            optional_device_arg(device_type, device_index, "device").value_or(t_default_device);
        TSR_CHECK(steps.size() == sizes.size(), Code::kShape, "strides", "expected ", sizes.size(),
                  " strides, got ", steps.size());
        for (int64_t step : steps) {
          TSR_CHECK(step >= 0, Code::kValue, "strides", "expected strides from 0, got ", steps);
        }
        if (checked_numel(sizes, itemsize(type)) > 0) checked_extent(sizes, steps, itemsize(type));
        give(empty_strided(sizes, steps, type, device), out);
      },
      PlaceOf{out});
}

tsr_status tsr_tensor_read(tsr_tensor tensor, void* dst, int64_t nbytes) {
  return guard(Call(kInfo_tensor_read, tensor, dst, nbytes), [&] {
    const TensorArg arg(tensor, "tensor");
    const Tensor& t = arg.get();
    TSR_CHECK(nbytes == t.nbytes(), Code::kBuffer, "nbytes", "expected ", t.nbytes(), ", got ",
              nbytes);
    if (nbytes == 0) return;
    out_arg(dst, "dst");
    const Tensor row_major = on_host(t.detached());
    std::memcpy(dst, row_major.data(), static_cast<size_t>(nbytes));
  });
}

tsr_status tsr_tensor_write(tsr_tensor tensor, const void* source, int64_t nbytes) {
  return guard(Call(kInfo_tensor_write, tensor, source, nbytes), [&] {
    const TensorArg arg(tensor, "tensor");
    const Tensor& t = arg.get();
    TSR_CHECK(nbytes == t.nbytes(), Code::kBuffer, "nbytes", "expected ", t.nbytes(), ", got ",
              nbytes);
    if (nbytes == 0) return;
    out_arg(source, "source");
    TSR_CHECK(!t.storage()->read_only, Code::kBuffer, "tensor", "its memory is read-only");
    // Borrowed for the duration of this call, so it needs no drop.
    StoragePtr storage = wrap_storage(Device{}, const_cast<void*>(source),
                                      static_cast<uint64_t>(nbytes), nullptr, nullptr);
    const Tensor from = Tensor::adopt(
        new TensorImpl(std::move(storage), t.dtype(), t.sizes(), contiguous_strides(t.sizes()), 0));
    ops::copy_(t, from);
  });
}

tsr_status tsr_tensor_item(tsr_tensor tensor, tsr_number* value) {
  return guard(Call(kInfo_tensor_item, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(value, "value");
    with_item(arg.get(), [&](const auto& item) { *value = number_of(item); });
  });
}

}  // extern "C"
