// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The memory that a tensor's elements span.
#pragma once

#include <cstddef>

#include "tensor/tensor.h"

namespace tsr::capi::program {

struct Bytes {
  std::byte* low;
  std::byte* high;
  [[nodiscard]] bool holds(const void* address) const { return address >= low && address < high; }
  [[nodiscard]] size_t size() const { return static_cast<size_t>(high - low); }
};
inline Bytes bytes_of(const Tensor& tensor) {
  const Extent extent = extent_of(tensor.sizes(), tensor.strides());
  auto* first = tensor.data_as<std::byte>();
  return {first + extent.low * tensor.itemsize(), first + extent.high * tensor.itemsize()};
}

}  // namespace tsr::capi::program
