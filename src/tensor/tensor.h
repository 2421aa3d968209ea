// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensor: a counted pointer to a TensorImpl, which is a typed, strided view of a Storage.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/dtype.h"
#include "base/small_vector.h"
#include "tensor/layout.h"
#include "tensor/storage.h"

namespace tsr {

// What autograd keeps with a tensor; made only when needed, defined in src/autograd.
struct AutogradMeta {
  AutogradMeta() = default;
  AutogradMeta(const AutogradMeta&) = delete;
  AutogradMeta& operator=(const AutogradMeta&) = delete;
  virtual ~AutogradMeta() = default;
};

enum TensorFlag : uint32_t {
  kContiguousFlag = 1U << 0,    // row-major without gaps; kept by set_layout
  kRequiresGradFlag = 1U << 1,  // a leaf that requires grad, or the result of a recorded op: the
                                // one test of needs_grad
  kInferenceFlag = 1U << 2,     // made in inference mode (make_fresh): no version counting, no view
                                // tracking
  kViewFlag = 1U << 3,          // autograd tracks it as a view of another tensor
  kDualFlag = 1U << 4,          // has a tangent at some level of forward mode; not set in views
  kWeakFlag = 1U << 5,          // something has a weak pointer to the tensor; stays set
};

// Reads of the layout are safe from any thread; a write needs exclusive access. Only flags change
// without it: the end of a level of forward mode takes kDualFlag away from tensors of any thread.
struct TensorImpl final : Object {
  TensorImpl(StoragePtr memory, DType type, DimsView new_sizes, DimsView new_strides,
             int64_t first);

  // With the layout of another tensor, from the start of the storage.
  TensorImpl(StoragePtr memory, DType type, const TensorImpl& like);

  static void* operator new(size_t size);
  static void operator delete(void* block, size_t size) noexcept;
  // For a caller that has looked at debug_flags().
  struct Unchecked {};
  static void* operator new(size_t size, Unchecked);
  static void operator delete(void* block, Unchecked) noexcept;
  static void destroy(TensorImpl* impl) noexcept;
  // Also recomputes numel and kContiguousFlag.
  void set_layout(DimsView new_sizes, DimsView new_strides, int64_t first);
  [[nodiscard]] uint32_t all_flags() const noexcept {
    return flags.load(std::memory_order_relaxed);
  }
  void add_flags(uint32_t mask) noexcept { flags.fetch_or(mask, std::memory_order_relaxed); }
  // Cheaper, for a tensor that no other thread has or that is in no level.
  void add_flags_alone(uint32_t mask) noexcept {
    flags.store(all_flags() | mask, std::memory_order_relaxed);
  }
  [[nodiscard]] bool may_be_weak() const noexcept { return (all_flags() & kWeakFlag) != 0; }
  void drop_flags(uint32_t mask) noexcept { flags.fetch_and(~mask, std::memory_order_relaxed); }

  DType dtype;
  // For the C ABI: not 0 while a scope owns a handle to this; see Note [Scopes] in capi/scope.h.
  std::atomic<uint16_t> scope_place{0};
  Device device;
  std::atomic<uint32_t> flags{0};
  StoragePtr storage;
  int64_t offset = 0;  // of the first element, in elements
  int64_t numel = 0;
  AutogradMeta* autograd = nullptr;  // owned
  Dims sizes;
  Dims strides;  // in elements
};

// One pointer wide: arrays of tsr_tensor handles are arrays of Tensor. Undefined (null) stands for
// "none".
class Tensor {
 public:
  Tensor() noexcept = default;
  // Takes over a reference, or adds one.
  static Tensor adopt(TensorImpl* impl) noexcept {
    return Tensor(IntrusivePtr<TensorImpl>::adopt(impl));
  }
  static Tensor share(TensorImpl* impl) noexcept {
    return Tensor(IntrusivePtr<TensorImpl>::share(impl));
  }

  [[nodiscard]] bool defined() const noexcept { return static_cast<bool>(impl_); }
  [[nodiscard]] TensorImpl* impl() const noexcept { return impl_.get(); }
  // Gives the reference to the caller.
  [[nodiscard]] TensorImpl* detach_impl() noexcept { return impl_.detach(); }
  [[nodiscard]] bool is_same(const Tensor& other) const noexcept { return impl() == other.impl(); }
  void reset() noexcept { impl_.reset(); }

  [[nodiscard]] DType dtype() const noexcept { return impl_->dtype; }
  [[nodiscard]] Device device() const noexcept { return impl_->device; }
  [[nodiscard]] int64_t ndim() const noexcept { return static_cast<int64_t>(impl_->sizes.size()); }
  [[nodiscard]] int64_t numel() const noexcept { return impl_->numel; }
  [[nodiscard]] int64_t itemsize() const noexcept { return tsr::itemsize(impl_->dtype); }
  [[nodiscard]] int64_t nbytes() const noexcept { return numel() * itemsize(); }
  [[nodiscard]] const Dims& sizes() const noexcept { return impl_->sizes; }
  [[nodiscard]] const Dims& strides() const noexcept { return impl_->strides; }
  // `axis` must already be in [0, ndim).
  [[nodiscard]] int64_t size(int64_t axis) const noexcept {
    return impl_->sizes[static_cast<size_t>(axis)];
  }
  [[nodiscard]] int64_t stride(int64_t axis) const noexcept {
    return impl_->strides[static_cast<size_t>(axis)];
  }
  [[nodiscard]] int64_t offset() const noexcept { return impl_->offset; }
  [[nodiscard]] const StoragePtr& storage() const noexcept { return impl_->storage; }
  [[nodiscard]] bool is_contiguous() const noexcept { return has(kContiguousFlag); }

  // The first element; null when the storage holds nothing.
  [[nodiscard]] void* data() const noexcept {
    auto* base = static_cast<char*>(impl_->storage->data);
    return base == nullptr ? nullptr : base + impl_->offset * itemsize();
  }
  template <class T>
  [[nodiscard]] T* data_as() const noexcept {
    return static_cast<T*>(data());
  }

  [[nodiscard]] bool has(TensorFlag flag) const noexcept {
    return (impl_->all_flags() & flag) != 0;
  }
  // The bare flag, which may be out of date in a view. To ask whether a tensor requires grad, call
  // the free function tsr::requires_grad (autograd/tensor_grad.h).
  [[nodiscard]] bool requires_grad() const noexcept { return has(kRequiresGradFlag); }
  [[nodiscard]] uint32_t version() const noexcept {
    return impl_->storage->version.load(std::memory_order_relaxed);
  }
  void bump_version() const noexcept {
    if (!has(kInferenceFlag)) impl_->storage->version.fetch_add(1, std::memory_order_relaxed);
  }
  // An alias without autograd state: same storage, same layout, same version counter.
  [[nodiscard]] Tensor detached() const;

 private:
  explicit Tensor(IntrusivePtr<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
  IntrusivePtr<TensorImpl> impl_;
};
static_assert(sizeof(Tensor) == sizeof(void*));

// The first tensor on a storage. Every tensor that is not a view of another one is made here, where
// inference mode marks it.
Tensor make_fresh(StoragePtr storage, DType dtype, DimsView sizes, DimsView strides,
                  int64_t offset = 0);
// Fresh, uninitialised memory. Throws kShape on impossible shapes, kOutOfMemory.
Tensor empty(DimsView sizes, DType dtype, Device device = {});
// As empty, with the layout of `like`, which is dense: the cheapest way to a result.
Tensor empty_dense_like(const Tensor& like, DType dtype, Device device);
// As empty, with the given strides (not negative, dense or not); the memory covers their extent.
Tensor empty_strided(DimsView sizes, DimsView strides, DType dtype, Device device = {});
// A view of the same storage; `offset` counts from the start of the storage. No bounds check: the
// callers derive views from valid ones.
Tensor make_view(const Tensor& base, DimsView sizes, DimsView strides, int64_t offset);

}  // namespace tsr
