// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/handle.h"

#include <cstring>

#include "capi/lend.h"
#include "kernel/plugin.h"
#include "kernel/registry.h"

namespace tsr::capi {

void fail_handle(const void* handle, const char* kind, const char* arg) {
  const bool vowel = std::strchr("aeiou", *kind) != nullptr;
  const std::string expected = concat("expected ", vowel ? "an " : "a ", kind);
  throw_error(Code::kInvalidArgument, arg, __FILE__, __LINE__,
              handle == nullptr ? expected + ", got NULL"
                                : concat(expected, ", got a released or foreign handle",
                                         g_debug_handles ? debug_history(handle) : std::string()));
}

void fail_list(const char* arg, int32_t count) {
  if (count < 0) fail_argument(Code::kInvalidArgument, arg, "a count from 0", count);
  throw_error(Code::kInvalidArgument, arg, __FILE__, __LINE__,
              count > kMaxListLength
                  ? concat("expected at most ", kMaxListLength, " entries, got ", count)
                  : concat("expected a list of ", count, " entries, got NULL"));
}

void fail_argument(Code code, const char* arg, const char* expected, int64_t got) {
  throw_error(code, arg, __FILE__, __LINE__, concat("expected ", expected, ", got ", got));
}

DType dtype_arg(tsr_dtype bits, const char* arg) {
  if (bits == TSR_FLOAT32) return DType::kFloat32;
  const std::optional<DType> dtype = dtype_from_abi(bits);
  if (!dtype) fail_argument(Code::kDType, arg, "the bits of a dtype", bits);
  return *dtype;
}

DeviceType device_type_arg(tsr_device_type type, const char* arg) {
  const bool known =
      type == TSR_DEVICE_CPU || type == TSR_DEVICE_CUDA || type == TSR_DEVICE_SIMULATED;
  if (!known) fail_argument(Code::kDevice, arg, "a device type", type);
  return static_cast<DeviceType>(type);
}

Device device_arg(tsr_device_type type, int32_t index, const char* arg) {
  const Device device{device_type_arg(type, arg), index};
  const int32_t count = kernel::device_count(device.type);
  TSR_CHECK(count > 0, Code::kDevice, arg, "expected a device that can be used here, got ", device,
            kernel::missing_plugin(device.type));
  TSR_CHECK(index >= 0 && index < count, Code::kDevice, arg, "expected one of ", count,
            " devices of this type, got index ", index);
  return device;
}

std::string_view text_arg(const char* text, int64_t length, const char* arg) {
  constexpr int64_t kMaxText = int64_t{1} << 30;
  if (text == nullptr && length == 0) return {};
  TSR_CHECK(text != nullptr, Code::kInvalidArgument, arg, "expected text, got NULL");
  if (length == -1) return text;
  if (length < 0 || length > kMaxText)
    fail_argument(Code::kInvalidArgument, arg, "a length", length);
  return {text, static_cast<size_t>(length)};
}

void clear_list(tsr_tensor* out, int32_t capacity) noexcept {
  if (out == nullptr || capacity <= 0 || capacity > kMaxListLength) return;
  std::memset(out, 0, static_cast<size_t>(capacity) * sizeof(*out));
}

void check_list_out(const tsr_tensor* out, int32_t capacity, const int32_t* count,
                    const char* arg) {
  list_arg(out, capacity, arg);
  out_arg(count, arg);
}

void give_list(std::vector<Tensor>&& tensors, tsr_tensor* out, int32_t capacity, int32_t* count) {
  *count = static_cast<int32_t>(tensors.size());
  TSR_CHECK(*count <= capacity, Code::kBuffer, nullptr, "expected room for ", *count,
            " handles, got ", capacity);
  for (size_t i = 0; i < tensors.size(); ++i) give(std::move(tensors[i]), out + i);
}

Tensor consume_handle(tsr_tensor handle, const char* what) {
  if (handle == nullptr) return {};
  TSR_CHECK(is_live(handle, ObjectTag::kTensor), Code::kInvalidArgument, nullptr, "expected ", what,
            ", got a released or foreign handle");
  Tensor tensor = Tensor::adopt(reinterpret_cast<TensorImpl*>(handle));
  static_cast<void>(take_back(handle));
  count_handle(-1);
  if (in_scope(tensor.impl())) leave_scope(tensor.impl());
  return tensor;
}

}  // namespace tsr::capi
