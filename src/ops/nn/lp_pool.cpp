// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling by p-norms, made of average pooling and powers.
#include <cmath>

#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/nn/pool.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {
namespace {

Tensor power(const Tensor& x, double p) {
  if (p == 1) return x;
  return p == 2 ? square(x) : pow(x, p);
}

// sums^(1/p). A sum of 0 has no derivative there; it is taken as the constant 0.
Tensor root(const Tensor& sums, double p) {
  if (p == 1) return sums;
  const Tensor zero = equal(sums, 0);
  const Tensor others = where(zero, 1, sums);
  return where(zero, 0, p == 2 ? sqrt(others) : pow(others, 1 / p));
}

// n times the mean of each window, where n is the kernel's number of elements.
template <int32_t kAxes>
Tensor sums_of(const Tensor& powers, DimsView kernel_size, SpatialArg stride, bool ceil_mode) {
  if (!ceil_mode) return avg_pool<kAxes>(powers, kernel_size, stride, {}, false, true, 1);
  const Spatial kernel = spatial_list(kernel_size, kAxes, 1, 1, "kernel_size");
  double count = 1;
  for (size_t d = 0; d < static_cast<size_t>(kAxes); ++d) count *= static_cast<double>(kernel[d]);
  return multiply(avg_pool<kAxes>(powers, kernel_size, stride, {}, true), count);
}

}  // namespace

template <int32_t kAxes>
Tensor lp_pool(const Tensor& input, double norm_type, DimsView kernel_size, SpatialArg stride,
               bool ceil_mode, Out out) {
  TSR_CHECK(std::isfinite(norm_type) && norm_type > 0, Code::kValue, "norm_type",
            "expected a finite number above 0, got ", norm_type);
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  const Tensor powers = power(in_opmath(input), norm_type);
  const Tensor sums = sums_of<kAxes>(powers, kernel_size, stride, ceil_mode);
  return settle(astype(root(sums, norm_type), input.dtype()), out);
}

template Tensor lp_pool<1>(const Tensor&, double, DimsView, SpatialArg, bool, Out);
template Tensor lp_pool<2>(const Tensor&, double, DimsView, SpatialArg, bool, Out);
template Tensor lp_pool<3>(const Tensor&, double, DimsView, SpatialArg, bool, Out);

}  // namespace tsr::ops
