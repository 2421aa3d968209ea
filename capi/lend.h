// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Handles across callbacks: lends tensors to host code and takes over the handles that it returns.
#pragma once

#include <span>

#include "base/small_vector.h"
#include "capi/handle.h"

namespace tsr::capi {

// Borrowed handles for the duration of a callback.
class Lent {
 public:
  explicit Lent(std::span<const Tensor> tensors) : tensors_(tensors) {
    for (const Tensor& tensor : tensors_) {
      if (tensor.defined()) hand_out(tensor.impl());
    }
  }
  explicit Lent(const Tensor& tensor) : Lent(std::span<const Tensor>(&tensor, 1)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    for (const Tensor& tensor : tensors_) {
      if (tensor.defined()) static_cast<void>(take_back(tensor.impl()));
    }
  }

  [[nodiscard]] const tsr_tensor* handles() const noexcept {
    return reinterpret_cast<const tsr_tensor*>(tensors_.data());
  }
  [[nodiscard]] tsr_tensor first() const noexcept {
    return reinterpret_cast<tsr_tensor>(tensors_.front().impl());
  }
  [[nodiscard]] int32_t count() const noexcept { return static_cast<int32_t>(tensors_.size()); }

 private:
  std::span<const Tensor> tensors_;
};

// Takes over the reference of a handle that host code made; NULL gives an undefined tensor.
Tensor consume_handle(tsr_tensor handle, const char* what);

// Slots that a callback fills with owned handles.
class Returned {
 public:
  explicit Returned(size_t count) : handles_(count, nullptr) {}
  [[nodiscard]] tsr_tensor* places() noexcept { return handles_.data(); }
  [[nodiscard]] int32_t count() const noexcept { return static_cast<int32_t>(handles_.size()); }
  // Call once, after the callback has succeeded.
  void consume(std::span<Tensor> results, const char* what) {
    for (size_t i = 0; i < handles_.size(); ++i) results[i] = consume_handle(handles_[i], what);
  }

 private:
  SmallVector<tsr_tensor, 8> handles_;
};

}  // namespace tsr::capi
