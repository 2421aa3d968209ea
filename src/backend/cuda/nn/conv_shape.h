// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A convolution in the form that cuDNN takes: at least two spatial axes, equal padding at both
// ends, and the same layout for images and weight. Other tensors are copied.
#pragma once

#include <array>

#include "kernel/nn.h"

namespace tsr::cuda {

inline constexpr int kMaxDims = kernel::kMaxSpatial + 2;
using DimArray = std::array<int64_t, kMaxDims>;

// One tensor in the caller's form and in cuDNN's (the "wanted" one). Both are (batch, channels,
// spatial...); element (.., i, ..) of the caller's is element (.., i + front, ..) of cuDNN's.
struct ConvTensor {
  void* data = nullptr;
  DimArray sizes{}, strides{};
  DimArray wanted_sizes{}, wanted_strides{};
  DimArray front{};

  // Whether both forms have the same elements, and whether they also share memory.
  [[nodiscard]] bool same_elements() const { return sizes == wanted_sizes && front == DimArray{}; }
  [[nodiscard]] bool direct() const { return same_elements() && strides == wanted_strides; }
  [[nodiscard]] int64_t wanted_numel(int dims) const {
    int64_t numel = 1;
    for (int d = 0; d < dims; ++d) numel *= wanted_sizes[static_cast<size_t>(d)];
    return numel;
  }
};

struct ConvShape {
  explicit ConvShape(const kernel::ConvPlan& plan);

  [[nodiscard]] int dims() const { return spatial + 2; }

  int spatial;  // 2 or 3
  std::array<int64_t, kernel::kMaxSpatial> stride{}, padding{}, dilation{};
  ConvTensor input, weight, output;
};

}  // namespace tsr::cuda
