// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The convolutions of the stand-in for cuDNN, as simple loops.
#pragma once

#include <array>
#include <vector>

#include "base/half.h"
#include "cudnn.h"

namespace cudnn_on_host {

struct Tensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t id = 0;
  int64_t alignment = 1;
  std::vector<int64_t> sizes, strides;
};
struct Windows {
  std::vector<int64_t> before, after, stride, dilation;
};
struct Convolution {
  cudnnBackendDescriptorType_t pass = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  Windows windows;
  Tensor x, w, y;
};

// Reads an element of a tensor as double, by its position in the order of the dims.
inline double load(const Tensor& t, const void* data, int64_t at) {
  switch (t.type) {
    case CUDNN_DATA_HALF:
      return static_cast<float>(static_cast<const tsr::Half*>(data)[at]);
    case CUDNN_DATA_BFLOAT16:
      return static_cast<float>(static_cast<const tsr::BFloat16*>(data)[at]);
    case CUDNN_DATA_FLOAT:
      return static_cast<const float*>(data)[at];
    default:
      return static_cast<const double*>(data)[at];
  }
}
inline void store(const Tensor& t, void* data, int64_t at, double value) {
  switch (t.type) {
    case CUDNN_DATA_HALF:
      static_cast<tsr::Half*>(data)[at] = tsr::Half(static_cast<float>(value));
      return;
    case CUDNN_DATA_BFLOAT16:
      static_cast<tsr::BFloat16*>(data)[at] = tsr::BFloat16(static_cast<float>(value));
      return;
    case CUDNN_DATA_FLOAT:
      static_cast<float*>(data)[at] = static_cast<float>(value);
      return;
    default:
      static_cast<double*>(data)[at] = value;
  }
}

// Sizes, strides and windows of three axes; missing axes come first with size 1.
struct Axes {
  std::array<int64_t, 3> x, w, y, xs, ws, ys, stride, before, dilation;

  explicit Axes(const Convolution& f) {
    const size_t missing = 5 - f.x.sizes.size();
    const auto fill = [&](std::array<int64_t, 3>& to, const std::vector<int64_t>& from, size_t skip,
                          int64_t other) {
      for (size_t d = 0; d < 3; ++d) to[d] = d < missing ? other : from[skip + d - missing];
    };
    fill(x, f.x.sizes, 2, 1);
    fill(w, f.w.sizes, 2, 1);
    fill(y, f.y.sizes, 2, 1);
    fill(xs, f.x.strides, 2, 0);
    fill(ws, f.w.strides, 2, 0);
    fill(ys, f.y.strides, 2, 0);
    fill(stride, f.windows.stride, 0, 1);
    fill(before, f.windows.before, 0, 0);
    fill(dilation, f.windows.dilation, 0, 1);
  }
};

// Calls visit(x, w, y) with the offsets of every product y += x w.
template <class Visit>
void each_product(const Convolution& f, const Visit& visit) {
  const Axes a(f);
  const int64_t inputs = f.w.sizes[1];
  const int64_t outputs_per_group = f.y.sizes[1] / (f.x.sizes[1] / inputs);
  const int64_t points = a.y[0] * a.y[1] * a.y[2];
  const int64_t taps = a.w[0] * a.w[1] * a.w[2];
  const auto index = [](int64_t linear, const std::array<int64_t, 3>& n) {
    return std::array<int64_t, 3>{linear / (n[1] * n[2]), linear / n[2] % n[1], linear % n[2]};
  };
  for (int64_t p = 0; p < points; ++p) {
    for (int64_t t = 0; t < taps; ++t) {
      const auto o = index(p, a.y);
      const auto k = index(t, a.w);
      int64_t at[3] = {0, 0, 0};
      bool inside = true;
      for (size_t d = 0; d < 3; ++d) {
        const int64_t i = o[d] * a.stride[d] - a.before[d] + k[d] * a.dilation[d];
        inside = inside && i >= 0 && i < a.x[d];
        at[0] += i * a.xs[d];
        at[1] += k[d] * a.ws[d];
        at[2] += o[d] * a.ys[d];
      }
      if (!inside) continue;
      for (int64_t n = 0; n < f.x.sizes[0]; ++n) {
        for (int64_t c = 0; c < f.y.sizes[1]; ++c) {
          const int64_t first = c / outputs_per_group * inputs;
          for (int64_t i = 0; i < inputs; ++i) {
            visit(at[0] + n * f.x.strides[0] + (first + i) * f.x.strides[1],
                  at[1] + c * f.w.strides[0] + i * f.w.strides[1],
                  at[2] + n * f.y.strides[0] + c * f.y.strides[1]);
          }
        }
      }
    }
  }
}

inline int64_t numel(const Tensor& t) {
  int64_t count = 1;
  for (const int64_t n : t.sizes) count *= n;
  return count;
}

// Multiplies every input by `factor`, so that an engine may give recognisably wrong results.
inline void convolve(const Convolution& f, double factor, void* x, void* w, void* y) {
  const bool forward = f.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const bool data = f.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const Tensor& target = forward ? f.y : data ? f.x : f.w;
  void* const to = forward ? y : data ? x : w;
  std::vector<double> sums(static_cast<size_t>(numel(target)), 0.0);
  each_product(f, [&](int64_t i, int64_t k, int64_t o) {
    if (forward)
      sums[static_cast<size_t>(o)] += factor * load(f.x, x, i) * load(f.w, w, k);
    else if (data)
      sums[static_cast<size_t>(i)] += factor * load(f.y, y, o) * load(f.w, w, k);
    else
      sums[static_cast<size_t>(k)] += factor * load(f.x, x, i) * load(f.y, y, o);
  });
  for (size_t i = 0; i < sums.size(); ++i) store(target, to, static_cast<int64_t>(i), sums[i]);
}

}  // namespace cudnn_on_host
