// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The partial inverse of maximum pooling, made of scattering.
#include <algorithm>

#include "base/error.h"
#include "ops/composition.h"
#include "ops/create/create.h"
#include "ops/index/scatter.h"
#include "ops/nn/pool.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_positions(const Tensor& input, const Tensor& positions, int32_t axes) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  check_image(input, axes);
  check_same_device(input, positions, "positions");
  TSR_CHECK(positions.dtype() == DType::kInt64, Code::kDType, "positions", "expected int64, got ",
            positions.dtype());
  TSR_CHECK(positions.sizes() == input.sizes(), Code::kShape, "positions", "expected shape ",
            input.sizes(), " as the input, got ", positions.sizes());
}

// The size along an axis: (size - 1) stride - 2 padding + kernel, or the one that was asked for if
// it is less than a stride away from that.
int64_t unpooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                      std::optional<int64_t> asked) {
  TSR_CHECK(size <= INT32_MAX, Code::kShape, "input",
            "expected spatial sizes below 2147483648, got ", size);
  const int64_t least = (size - 1) * stride - 2 * padding + kernel;
  const int64_t found = asked.value_or(least);
  TSR_CHECK(found >= 1 && found > least - stride && found < least + stride, Code::kValue,
            "output_size", "expected sizes above ", std::max<int64_t>(least - stride, 0),
            " and below ", least + stride, ", got ", found);
  return found;
}

// The last `axes` numbers of output_size, which may be the size of the whole result.
SpatialArg spatial_part(const SpatialArg& output_size, const Tensor& input, int32_t axes) {
  if (!output_size.has_value()) return {};
  const auto count = static_cast<int64_t>(output_size->size());
  TSR_CHECK(count == axes || count == input.ndim(), Code::kValue, "output_size", "expected ", axes,
            " or ", input.ndim(), " numbers, got ", *output_size);
  return DimsView(output_size->data() + (count - axes), static_cast<size_t>(axes));
}

}  // namespace

template <int32_t kAxes>
Tensor max_unpool(const Tensor& input, const Tensor& positions, DimsView kernel_size,
                  SpatialArg stride, SpatialArg padding, SpatialArg output_size, Out out) {
  check_positions(input, positions, kAxes);
  const Spatial kernel = spatial_list(kernel_size, kAxes, 1, 1, "kernel_size");
  const bool own = stride.has_value() && !stride->empty();
  const Spatial steps = own ? spatial_list(stride, kAxes, 1, 1, "stride") : kernel;
  const Spatial before = spatial_list(padding, kAxes, 0, 0, "padding");
  const SpatialArg asked = spatial_part(output_size, input, kAxes);
  Dims sizes = input.sizes();
  const size_t kept = sizes.size() - kAxes;
  for (size_t d = 0; d < static_cast<size_t>(kAxes); ++d) {
    sizes[kept + d] = unpooled_size(sizes[kept + d], kernel[d], steps[d], before[d],
                                    asked.has_value() ? std::optional((*asked)[d]) : std::nullopt);
  }
  Dims planes(DimsView(sizes.data(), kept));
  planes.push_back(checked_numel(DimsView(sizes.data() + kept, kAxes), itemsize(input.dtype())));
  const auto first = static_cast<int64_t>(kept);
  const Tensor filled = scatter(zeros(planes, input.dtype(), input.device()), first,
                                flatten(positions, first), flatten(input, first));
  return settle(reshape(filled, sizes), out);
}

template Tensor max_unpool<1>(const Tensor&, const Tensor&, DimsView, SpatialArg, SpatialArg,
                              SpatialArg, Out);
template Tensor max_unpool<2>(const Tensor&, const Tensor&, DimsView, SpatialArg, SpatialArg,
                              SpatialArg, Out);
template Tensor max_unpool<3>(const Tensor&, const Tensor&, DimsView, SpatialArg, SpatialArg,
                              SpatialArg, Out);

}  // namespace tsr::ops
