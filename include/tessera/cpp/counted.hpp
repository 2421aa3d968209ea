// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Owners of handles of any kind but tensors: Counted of reference-counted ones, Owned of others.
#pragma once

#include <utility>

namespace tessera {
namespace detail {

// Copies share the object behind the handle. Null is allowed.
template <class Handle, void (*kRetain)(Handle), void (*kRelease)(Handle)>
class Counted {
 public:
  Counted() noexcept = default;
  explicit Counted(Handle handle) noexcept : handle_(handle) {}
  Counted(const Counted& other) noexcept : handle_(other.handle_) { kRetain(handle_); }
  Counted(Counted&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Counted() { kRelease(handle_); }

  Handle get() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};

// Releases a handle that is not counted. Null is allowed.
template <class Handle, void (*kRelease)(Handle)>
class Owned {
 public:
  explicit Owned(Handle handle) noexcept : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { kRelease(handle_); }

  Handle get() const noexcept { return handle_; }

 private:
  Handle handle_;
};

}  // namespace detail
}  // namespace tessera
