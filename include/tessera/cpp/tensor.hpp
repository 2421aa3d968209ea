// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensor: a counted reference to a tensor of the library.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/autograd.h"
#include "tessera/cpp/arguments.hpp"
#include "tessera/cpp/error.hpp"
#include "tessera/cpp/methods.hpp"
#include "tessera/device.h"
#include "tessera/memory.h"
#include "tessera/ops.h"
#include "tessera/tensor.h"

namespace tessera {

class HookHandle;
class Index;
class Node;

namespace detail {

// The number of open Scopes of this thread; see Scope in threads.hpp.
inline thread_local int32_t t_open_scopes = 0;

// Handles that a callback gives away must not belong to an open scope, so it runs as if none was
// open.
class ScopePause {
 public:
  ScopePause() noexcept : scopes_(t_open_scopes) {
    if (scopes_ == 0) return;
    ignore(tsr_scope_set_current(nullptr, &resting_));
    t_open_scopes = 0;
  }
  ScopePause(const ScopePause&) = delete;
  ScopePause& operator=(const ScopePause&) = delete;
  ~ScopePause() {
    if (scopes_ == 0) return;
    tsr_scope none = nullptr;
    ignore(tsr_scope_set_current(resting_, &none));
    t_open_scopes = scopes_;
  }

 private:
  int32_t scopes_;
  tsr_scope resting_ = nullptr;
};

}  // namespace detail

// Copies share the tensor, as in Python; clone() copies its elements. A default-constructed Tensor
// is undefined and means an absent tensor. Tensors may be used from any thread; changing one needs
// exclusive access.
class Tensor : public TensorMethods {
 public:
  Tensor() noexcept {}  // NOLINT(modernize-use-equals-default): default arguments need it whole
  Tensor(const Tensor& other) noexcept : TensorMethods(), handle_(other.handle_) {
    tsr_tensor_retain(handle_);
  }
  Tensor(Tensor&& other) noexcept
      : TensorMethods(), handle_(std::exchange(other.handle_, nullptr)) {}
  // Only for variables: x.index({0}) = y would only assign to a temporary. Use x.set({0}, y).
  Tensor& operator=(const Tensor& other) & noexcept {
    tsr_tensor_retain(other.handle_);
    tsr_tensor_release(std::exchange(handle_, other.handle_));
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    if (this != &other) {
      tsr_tensor_release(std::exchange(handle_, std::exchange(other.handle_, nullptr)));
    }
    return *this;
  }
  ~Tensor() { tsr_tensor_release(handle_); }

  // ---- the C handle ----

  // Takes over a handle that the library returned.
  static Tensor take(tsr_tensor handle) noexcept {
    if (detail::t_open_scopes != 0) {  // take a reference of our own, and release the scope's
      tsr_tensor_retain(handle);
      tsr_tensor_release(handle);
    }
    Tensor made;
    made.handle_ = handle;
    return made;
  }
  // A new reference besides the caller's.
  static Tensor borrow(tsr_tensor handle) noexcept {
    tsr_tensor_retain(handle);
    Tensor made;
    made.handle_ = handle;
    return made;
  }
  tsr_tensor handle() const noexcept { return handle_; }
  // Gives the reference to the caller, who must release it.
  [[nodiscard]] tsr_tensor release() noexcept { return std::exchange(handle_, nullptr); }

  bool defined() const noexcept { return handle_ != nullptr; }
  bool is_same(const Tensor& other) const noexcept { return handle_ == other.handle_; }

  // ---- metadata ----

  // All metadata at once; its pointers are borrowed from the tensor.
  tsr_info info() const {
    tsr_info info{};
    info.struct_size = sizeof info;
    check(tsr_tensor_info(handle_, &info));
    return info;
  }
  int64_t ndim() const { return info().ndim; }
  int64_t numel() const { return info().numel; }
  int64_t nbytes() const { return info().nbytes; }
  DType dtype() const { return static_cast<DType>(info().dtype); }
  Device device() const {
    const tsr_info known = info();
    return {known.device_type, known.device_index};
  }
  std::vector<int64_t> shape() const {
    const tsr_info known = info();
    return {known.sizes, known.sizes + known.ndim};
  }
  // Strides in elements.
  std::vector<int64_t> strides() const {
    const tsr_info known = info();
    return {known.strides, known.strides + known.ndim};
  }
  // The size of one axis; negative axes count from the end.
  int64_t size(int64_t axis) const {
    const tsr_info known = info();
    const int64_t place = axis < 0 ? axis + known.ndim : axis;
    if (place < 0 || place >= known.ndim) {
      const std::string ends = known.ndim == 0
                                   ? "no axis, as there is none"
                                   : "an axis in [" + std::to_string(-known.ndim) + ", " +
                                         std::to_string(known.ndim - 1) + "] for " +
                                         std::to_string(known.ndim) + " dimensions";
      throw OutOfRangeError("size: axis: expected " + ends + ", got " + std::to_string(axis),
                            "size", 1);
    }
    return known.sizes[place];
  }
  int64_t storage_offset() const { return info().storage_offset; }
  bool is_contiguous() const { return has(TSR_TENSOR_CONTIGUOUS); }
  bool is_read_only() const { return has(TSR_TENSOR_READ_ONLY); }
  bool is_inference() const { return has(TSR_TENSOR_INFERENCE); }
  bool is_view() const { return has(TSR_TENSOR_VIEW); }
  // The tensor into whose memory autograd knows this view to look; undefined if there is none.
  Tensor base() const {
    tsr_tensor found = nullptr;
    check(tsr_tensor_base(handle_, &found));
    return take(found);
  }
  // How many times the memory was written in place.
  int64_t version() const {
    int64_t value = 0;
    check(tsr_tensor_version(handle_, &value));
    return value;
  }
  int64_t use_count() const {
    int64_t value = 0;
    check(tsr_tensor_use_count(handle_, &value));
    return value;
  }

  // ---- values ----

  // The first element, for reading; the layout is that of strides().
  template <class T>
  const T* data() const {
    expect_dtype(dtype_of<T>(), "data");
    const void* found = nullptr;
    check(tsr_tensor_data(handle_, &found));
    return static_cast<const T*>(found);
  }
  // The first element, for writing; counts as one in-place write.
  template <class T>
  T* mutable_data() {
    expect_dtype(dtype_of<T>(), "mutable_data");
    void* found = nullptr;
    check(tsr_tensor_mutable_data(handle_, &found));
    return static_cast<T*>(found);
  }
  // The elements in row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements; use uint8_t");
    const Tensor plain = detach().astype(dtype_of<T>(), false);
    std::vector<T> values(static_cast<size_t>(plain.numel()));
    check(tsr_tensor_read(plain.handle_, values.data(), plain.nbytes()));
    return values;
  }
  // The value of a tensor with one element. InvalidValueError if it is an integer that T cannot
  // hold.
  template <class T>
  T item() const;

  // ---- conversion ----

  using TensorMethods::to;
  Tensor to(DType dtype) const { return astype(dtype, false); }
  // A copy in pinned host memory, from which a device copies asynchronously: to() and copy_() with
  // non_blocking. Without a device: the default device, or the first CUDA device if the default is
  // the CPU.
  Tensor pin_memory(std::optional<Device> device = std::nullopt) const {
    tsr_tensor out = nullptr;
    check(tsr_tensor_pin_memory(handle_, device ? device->type : -1, device ? device->index : -1,
                                &out));
    return take(out);
  }
  bool is_pinned() const {
    int32_t value = 0;
    check(tsr_tensor_is_pinned(handle_, &value));
    return value != 0;
  }

  // ---- indexing, as in Python ----

  // x.index({Slice(1, 3), None, Ellipsis, 0, mask}): a view unless there are arrays.
  Tensor index(std::initializer_list<Index> items) const;
  Tensor index(const std::vector<Index>& items) const;  // for items that are made at run time
  Tensor operator[](const Index& item) const;
  // x.set({Slice(), 0}, value): Python's x[:, 0] = value.
  Tensor& set(std::initializer_list<Index> items, const Tensor& value);
  Tensor& set(std::initializer_list<Index> items, const Scalar& value);
  Tensor& set(const std::vector<Index>& items, const Tensor& value);
  Tensor& set(const std::vector<Index>& items, const Scalar& value);

  // ---- autograd ----

  bool requires_grad() const { return has(TSR_TENSOR_REQUIRES_GRAD); }
  Tensor& requires_grad_(bool value = true) {
    check(tsr_tensor_set_requires_grad(handle_, value));
    return *this;
  }
  bool is_leaf() const {
    int32_t value = 0;
    check(tsr_tensor_is_leaf(handle_, &value));
    return value != 0;
  }
  // The accumulated gradient; undefined if there is none.
  Tensor grad() const {
    tsr_tensor found = nullptr;
    check(tsr_tensor_grad(handle_, &found));
    return take(found);
  }
  // Gives this leaf the memory, shape, dtype and device of another tensor. It stays the same tensor
  // for its owners.
  void set_data(const Tensor& data) { check(tsr_tensor_set_data(handle_, data.handle_)); }
  void set_grad(const Tensor& grad) { check(tsr_tensor_set_grad(handle_, grad.handle_)); }
  void retain_grad() { check(tsr_tensor_retain_grad(handle_)); }
  // Whether a backward keeps the gradient of this computed tensor.
  bool retains_grad() const {
    int32_t value = 0;
    check(tsr_tensor_retains_grad(handle_, &value));
    return value != 0;
  }
  Node grad_fn() const;
  // Adds the gradients of this tensor to the leaves it was computed from.
  void backward(const Tensor& gradient = {}, bool retain_graph = false,
                bool create_graph = false) const;
  // Calls hook(gradient) when the gradient of this tensor is computed. If the hook returns a
  // Tensor, that replaces the gradient.
  template <class Hook>
  HookHandle register_hook(Hook hook) const;
  // Calls hook(leaf) after the gradient of this leaf has been updated.
  template <class Hook>
  HookHandle register_post_accumulate_grad_hook(Hook hook) const;

 private:
  bool has(tsr_tensor_flag flag) const { return (info().flags & flag) != 0; }
  void expect_dtype(DType wanted, const char* op) const {
    if (dtype() == wanted) return;
    throw DTypeError(std::string(op) + ": expected elements of " + std::string(name(wanted)) +
                         ", got a tensor of " + std::string(name(dtype())),
                     op, 0);
  }
  void expect_item(bool fits, const char* wanted) const {
    if (fits) return;
    throw DTypeError(std::string("item: tensor: expected ") + wanted + ", got a tensor of " +
                         std::string(name(dtype())),
                     "item", 0);
  }

  tsr_tensor handle_ = nullptr;
};

// So a vector of Tensors is an array of handles for C.
static_assert(std::is_standard_layout_v<Tensor> && sizeof(Tensor) == sizeof(tsr_tensor),
              "Tensor must be laid out as its handle");

template <class T>
T Tensor::item() const {
  tsr_number value;
  check(tsr_tensor_item(handle_, &value));
  if constexpr (std::is_integral_v<T>) {
    expect_item(value.kind <= TSR_NUMBER_INTEGER, "an integer or bool");
    if constexpr (std::is_same_v<T, bool>) return value.integer != 0;
    const auto bits = static_cast<uint64_t>(value.integer);
    const bool negative = value.integer < 0 && dtype() != kUInt64;
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
    constexpr auto kLeast = static_cast<int64_t>(std::numeric_limits<T>::min());
    if (negative ? value.integer < kLeast : bits > kMost) {
      throw InvalidValueError(
          "item: tensor: expected a number that the wanted type can hold, got " +
              (negative ? std::to_string(value.integer) : std::to_string(bits)),
          "item", 0);
    }
    return static_cast<T>(value.integer);
  } else if constexpr (std::is_floating_point_v<T>) {
    expect_item(value.kind <= TSR_NUMBER_REAL, "a real number");
    return static_cast<T>(value.real);
  } else {
    using Part = typename T::value_type;  // of std::complex
    return T(static_cast<Part>(value.real), static_cast<Part>(value.imaginary));
  }
}

// Tensors borrowed for one call, from a braced list or a vector.
class TensorList {
 public:
  TensorList() noexcept = default;
  TensorList(std::initializer_list<Tensor> tensors) : size_(static_cast<int32_t>(tensors.size())) {
    first_ = tensors.begin();  // the braced list lives as long as the call
  }
  TensorList(const std::vector<Tensor>& tensors)  // NOLINT(google-explicit-constructor)
      : first_(tensors.data()), size_(static_cast<int32_t>(tensors.size())) {}
  TensorList(const Tensor& tensor)  // NOLINT(google-explicit-constructor)
      : first_(&tensor), size_(1) {}

  const tsr_tensor* data() const noexcept { return reinterpret_cast<const tsr_tensor*>(first_); }
  int32_t size() const noexcept { return size_; }
  const Tensor* begin() const noexcept { return first_; }
  const Tensor* end() const noexcept { return first_ + size_; }

 private:
  const Tensor* first_ = nullptr;
  int32_t size_ = 0;
};

namespace detail {

// The tensor that a call has changed.
inline Tensor& checked(Tensor& changed, tsr_status status) {
  check(status);
  return changed;
}

// Room for a list that a C function gives; the call is repeated while there is too little.
class Handles {
 public:
  int32_t count = 0;  // of the tensors that the call has given, or would give with more room

  tsr_tensor* data() noexcept { return room_.data(); }
  int32_t room() const noexcept { return static_cast<int32_t>(room_.size()); }
  // Makes more room if that was the fault of the call; throws if it failed otherwise.
  bool lacks_room(tsr_status status) {
    if (status != TSR_BUFFER || count <= room()) return check(status), false;
    room_ = std::vector<tsr_tensor>(static_cast<size_t>(count), nullptr);
    return true;
  }
  std::vector<Tensor> take() const {
    std::vector<Tensor> tensors;
    tensors.reserve(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) {
      tensors.push_back(Tensor::take(room_[static_cast<size_t>(i)]));
    }
    return tensors;
  }

 private:
  std::vector<tsr_tensor> room_ = std::vector<tsr_tensor>(16, nullptr);
};

// New references to the handles that a callback borrows.
inline std::vector<Tensor> borrow_all(const tsr_tensor* handles, int32_t count) {
  std::vector<Tensor> tensors;
  tensors.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) tensors.push_back(Tensor::borrow(handles[i]));
  return tensors;
}

}  // namespace detail

}  // namespace tessera
