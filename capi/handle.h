// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Conversion between C parameters and C++ values: arguments are checked and borrowed, results
// become handles.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/dtype.h"
#include "capi/debug_handles.h"
#include "capi/guard.h"
#include "capi/objects.h"
#include "capi/scope.h"
#include "tensor/tensor.h"

namespace tsr {
class Generator;
}

namespace tsr::capi {

// A longer list is treated as an invalid count.
inline constexpr int32_t kMaxListLength = 1 << 24;

[[noreturn, gnu::cold]] void fail_handle(const void* handle, const char* kind, const char* arg);
[[noreturn, gnu::cold]] void fail_list(const char* arg, int32_t count);
[[noreturn, gnu::cold]] void fail_argument(Code code, const char* arg, const char* expected,
                                           int64_t got);

// ---- Arguments ----

[[gnu::always_inline]] inline TensorImpl* tensor_impl(tsr_tensor handle, const char* arg) {
  if (!is_live(handle, ObjectTag::kTensor)) [[unlikely]]
    fail_handle(handle, "tensor", arg);
  return reinterpret_cast<TensorImpl*>(handle);
}
[[gnu::always_inline]] inline TensorImpl* optional_tensor_impl(tsr_tensor handle, const char* arg) {
  return handle == nullptr ? nullptr : tensor_impl(handle, arg);
}

// A borrowed tensor for the time of a call: holds a reference that it does not own and never
// releases it.
union Borrowed {
  explicit Borrowed(TensorImpl* impl) noexcept : tensor_(Tensor::adopt(impl)) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {}
  [[nodiscard]] const Tensor& get() const noexcept { return tensor_; }

 private:
  Tensor tensor_;
};

class TensorArg {
 public:
  [[gnu::always_inline]] TensorArg(tsr_tensor handle, const char* arg)
      : borrowed_(tensor_impl(handle, arg)) {}
  [[nodiscard]] const Tensor& get() const noexcept { return borrowed_.get(); }

 private:
  Borrowed borrowed_;
};

class OptionalTensorArg {
 public:
  [[gnu::always_inline]] OptionalTensorArg(tsr_tensor handle, const char* arg)
      : borrowed_(optional_tensor_impl(handle, arg)) {}
  [[nodiscard]] const Tensor& get() const noexcept { return borrowed_.get(); }

 private:
  Borrowed borrowed_;
};

template <class T>
std::span<const T> list_arg(const T* values, int32_t count, const char* arg) {
  if (count < 0 || count > kMaxListLength || (values == nullptr && count > 0)) [[unlikely]]
    fail_list(arg, count);
  return {values, static_cast<size_t>(count)};
}

template <class T>
std::optional<std::span<const T>> optional_list_arg(const T* values, int32_t count,
                                                    const char* arg) {
  if (count == -1) return std::nullopt;
  return list_arg(values, count, arg);
}

// An array of handles is an array of Tensor: both are a pointer to the same object.
inline std::span<const Tensor> sparse_tensors_arg(const tsr_tensor* handles, int32_t count,
                                                  const char* arg) {
  const auto list = list_arg(handles, count, arg);
  for (tsr_tensor handle : list) {
    if (handle != nullptr && !is_live(handle, ObjectTag::kTensor)) [[unlikely]] {
      fail_handle(handle, "tensor", arg);
    }
  }
  return {reinterpret_cast<const Tensor*>(list.data()), list.size()};
}

inline std::span<const Tensor> tensors_arg(const tsr_tensor* handles, int32_t count,
                                           const char* arg) {
  const auto tensors = sparse_tensors_arg(handles, count, arg);
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) [[unlikely]]
      fail_handle(nullptr, "tensor", arg);
  }
  return tensors;
}

inline std::optional<int64_t> optional_int(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return value;
}

inline bool bool_arg(int32_t value, const char* arg) {
  if ((value & ~1) != 0) [[unlikely]]
    fail_argument(Code::kInvalidArgument, arg, "0 or 1", value);
  return value != 0;
}
inline std::optional<bool> optional_bool_arg(int32_t value, const char* arg) {
  if (value == -1) return std::nullopt;
  return bool_arg(value, arg);
}

inline std::optional<double> optional_double(double value, int32_t has, const char* arg) {
  if (!bool_arg(has, arg)) return std::nullopt;
  return value;
}

DType dtype_arg(tsr_dtype bits, const char* arg);
inline std::optional<DType> optional_dtype_arg(tsr_dtype bits, const char* arg) {
  if (bits == -1) return std::nullopt;
  return dtype_arg(bits, arg);
}

// Throws kDevice unless it is a type of devices, which need not be present.
DeviceType device_type_arg(tsr_device_type type, const char* arg);
// Throws kDevice unless the device is present.
Device device_arg(tsr_device_type type, int32_t index, const char* arg);
inline std::optional<Device> optional_device_arg(tsr_device_type type, int32_t index,
                                                 const char* arg) {
  if (type == -1) return std::nullopt;
  return device_arg(type, index == -1 ? 0 : index, arg);
}

// If length is -1, the text ends with NUL.
std::string_view text_arg(const char* text, int64_t length, const char* arg);
inline std::optional<std::string_view> optional_text_arg(const char* text, int64_t length,
                                                         const char* arg) {
  if (text == nullptr && length <= 0) return std::nullopt;
  return text_arg(text, length, arg);
}

template <class Enum>
Enum enum_arg(int32_t value, std::initializer_list<int32_t> known, const char* arg) {
  for (int32_t candidate : known) {
    if (candidate == value) return static_cast<Enum>(value);
  }
  fail_argument(Code::kInvalidArgument, arg, "a constant of its enumeration", value);
}

// Throws unless all set bits are in `known`.
inline void check_flags(int32_t flags, int32_t known, const char* arg) {
  if ((flags & ~known) != 0) [[unlikely]] {
    fail_argument(Code::kInvalidArgument, arg, "known flag bits", flags);
  }
}

// Null selects the thread's current generator.
Generator* generator_arg(tsr_generator handle, const char* arg);

// The object behind a handle that is not a tensor; T is its type.
template <class T, class Handle>
T* object_arg(Handle handle, ObjectTag tag, const char* kind, const char* arg) {
  if (!is_live(handle, tag)) [[unlikely]]
    fail_handle(handle, kind, arg);
  return static_cast<T*>(reinterpret_cast<Object*>(handle));
}

// Shared by all _release functions. Ignores null, and a handle that is certainly invalid. Returns
// true if a reference was released.
template <class T, class Handle>
bool release_handle(Handle handle, ObjectTag tag) noexcept {
  if (!is_live(handle, tag) || !take_back(handle)) {
    if (handle != nullptr) [[unlikely]]
      report_bad_release(handle);
    return false;
  }
  auto* object = reinterpret_cast<Object*>(handle);
  if (drop(static_cast<T*>(object))) T::destroy(static_cast<T*>(object));
  return true;
}
template <class Handle>
bool retain_handle(Handle handle, ObjectTag tag) noexcept {
  if (!is_live(handle, tag)) return false;
  retain(reinterpret_cast<Object*>(handle));
  hand_out(handle);
  return true;
}

// Releases one reference: the caller's, or that of a scope that owns the handle.
inline void release_tensor(tsr_tensor handle) noexcept {
  if (!is_live(handle, ObjectTag::kTensor) || !take_back(handle)) [[unlikely]] {
    if (handle != nullptr) report_bad_release(handle);
    return;
  }
  auto* impl = reinterpret_cast<TensorImpl*>(handle);
  if (in_scope(impl)) [[unlikely]]
    leave_scope(impl);
  if (drop(impl)) TensorImpl::destroy(impl);
  count_handle(-1);
}

// ---- Results ----

template <class T>
T* out_arg(T* out, const char* arg) {
  if (out == nullptr) [[unlikely]]
    fail_handle(nullptr, "place for the result", arg);
  return out;
}

template <class Function>
void callback_arg(Function* callback) {
  if (callback == nullptr) [[unlikely]]
    fail_handle(nullptr, "callback", "callback");
}

// Out handles are NULL after a failure.
template <class... Handles>
inline void clear(Handles*... outs) noexcept {
  ((outs != nullptr ? void(*outs = nullptr) : void()), ...);
}
inline void clear_count(int32_t* count) noexcept {
  if (count != nullptr) *count = 0;
}
// The same for a list. Only after a failure, because result slots may also be those of an argument.
[[gnu::cold]] void clear_list(tsr_tensor* out, int32_t capacity) noexcept;

[[gnu::cold]] void add_to_scope(TensorImpl* impl);

// A new reference for the caller; NULL for an undefined tensor.
[[gnu::always_inline]] inline tsr_tensor new_handle(Tensor&& tensor) {
  TensorImpl* impl = tensor.impl();
  if (t_scope != nullptr && impl != nullptr) [[unlikely]]
    add_to_scope(impl);
  if (impl != nullptr) {
    hand_out(impl);
    count_handle(1);
  }
  return reinterpret_cast<tsr_tensor>(tensor.detach_impl());
}
inline void give(Tensor&& tensor, tsr_tensor* out) {
  *out = new_handle(std::move(tensor));
}

// Gives out a handle that is not a tensor; takes over the reference.
template <class Handle>
void give_object(Object* object, Handle* out) {
  if (object != nullptr) hand_out(object);
  *out = reinterpret_cast<Handle>(object);
}

inline void give_device(Device device, tsr_device_type* type, int32_t* index, const char* arg) {
  out_arg(type, arg);
  *out_arg(index, arg) = device.index;
  *type = static_cast<int32_t>(device.type);
}

// Gives several results; a NULL address discards that result.
template <class Results, class... Places>
void give_all(Results&& results, Places... places) {
  auto give_each = [&](auto&... tensors) {
    ((places != nullptr ? give(std::move(tensors), places) : void()), ...);
  };
  if constexpr (requires { std::tuple_size<std::remove_cvref_t<Results>>::value; }) {
    std::apply(give_each, results);
  } else if constexpr (sizeof...(Places) == 2) {
    auto& [a, b] = results;
    give_each(a, b);
  } else if constexpr (sizeof...(Places) == 3) {
    auto& [a, b, c] = results;
    give_each(a, b, c);
  } else {
    static_assert(sizeof...(Places) == 4, "structs of up to four results");
    auto& [a, b, c, d] = results;
    give_each(a, b, c, d);
  }
}

// Checks the addresses for a list of results; throws before anything is computed.
void check_list_out(const tsr_tensor* out, int32_t capacity, const int32_t* count, const char* arg);
// Throws kBuffer if the caller's array is too small; *count is then the size needed.
void give_list(std::vector<Tensor>&& tensors, tsr_tensor* out, int32_t capacity, int32_t* count);

}  // namespace tsr::capi
