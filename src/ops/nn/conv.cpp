// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/conv.h"

#include <algorithm>

#include "base/error.h"
#include "ops/nn/conv_passes.h"

namespace tsr::ops {
namespace {

// The options that the caller of a convolution chooses.
struct ConvOptions {
  int32_t spatial;
  SpatialArg stride, padding, dilation;
  int64_t groups;
  bool same = false;               // convolution only
  SpatialArg output_padding = {};  // transposed convolution only
};

void check_operands(const Tensor& x, const Tensor& w, const Tensor& b, const ConvOptions& options,
                    bool transposed) {
  const int32_t spatial = options.spatial;
  const int64_t groups = options.groups;
  check_same_device(x, w, "weight");
  // The weight of a layer is given, so an error names the input.
  TSR_CHECK(x.dtype() == w.dtype() || !is_floating(w.dtype()), Code::kDType, "input", "expected ",
            w.dtype(), " as the weight, got ", x.dtype(), "; cast one to the other's dtype");
  TSR_CHECK(is_floating(x.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            x.dtype());
  check_like(w, "weight", x, spatial + 2);
  TSR_CHECK(groups >= 1, Code::kValue, "groups", "expected at least 1, got ", groups);
  TSR_CHECK(w.size(0) % groups == 0 && w.size(0) > 0 && w.size(1) > 0, Code::kShape, "weight",
            "expected a number of channels that ", groups, " groups divide, got shape ", w.sizes());
  const int64_t wanted = transposed ? w.size(0) : w.size(1) * groups;
  TSR_CHECK(x.size(1) == wanted, Code::kShape, "input", "expected ", wanted,
            " channels for a weight of shape ", w.sizes(), " and ", groups, " groups, got shape ",
            x.sizes());
  for (int32_t d = 0; d < spatial; ++d) {
    TSR_CHECK(w.size(2 + d) >= 1 && w.size(2 + d) <= INT32_MAX, Code::kShape, "weight",
              "expected a kernel of at least 1 and below 2147483648, got shape ", w.sizes());
    TSR_CHECK(x.size(2 + d) >= 1 && x.size(2 + d) <= INT32_MAX, Code::kShape, "input",
              "expected spatial sizes of at least 1 and below 2147483648, got shape ", x.sizes());
  }
  if (!b.defined()) return;
  check_like(b, "bias", x, 1);
  const int64_t channels = transposed ? w.size(1) * groups : w.size(0);
  TSR_CHECK(b.size(0) == channels, Code::kShape, "bias", "expected ", channels,
            " numbers, got shape ", b.sizes());
}

void set_list(int64_t* to, const Spatial& list) {
  std::copy(list.begin(), list.end(), to);
}

ConvGeometry start_geometry(const Tensor& w, const ConvOptions& options) {
  const int32_t spatial = options.spatial;
  ConvGeometry geometry{};
  geometry.spatial = spatial;
  geometry.groups = options.groups;
  set_list(geometry.stride, spatial_list(options.stride, spatial, 1, 1, "stride"));
  set_list(geometry.padding, spatial_list(options.padding, spatial, 0, 0, "padding"));
  set_list(geometry.dilation, spatial_list(options.dilation, spatial, 1, 1, "dilation"));
  for (int32_t d = 0; d < spatial; ++d) geometry.kernel[d] = w.size(2 + d);
  return geometry;
}

int64_t reach_of(const ConvGeometry& geometry, size_t d) {
  return (geometry.kernel[d] - 1) * geometry.dilation[d] + 1;
}

void set_output(ConvGeometry& geometry, const Tensor& x, bool same) {
  for (size_t d = 0; d < static_cast<size_t>(geometry.spatial); ++d) {
    const int64_t size = x.size(static_cast<int64_t>(d) + 2);
    const int64_t reach = reach_of(geometry, d);
    geometry.input_size[d] = size;
    if (same) {
      TSR_CHECK(geometry.stride[d] == 1, Code::kValue, "stride",
                "expected 1, because `same` is set, got ", geometry.stride[d]);
      geometry.padding[d] = (reach - 1) / 2;
      geometry.output_size[d] = size;
      continue;
    }
    const int64_t padded = size + 2 * geometry.padding[d];
    TSR_CHECK(padded >= reach, Code::kShape, "input", "expected a padded size of at least ", reach,
              ", the size of the dilated kernel, along spatial axis ", d, ", got ", padded);
    geometry.output_size[d] = (padded - reach) / geometry.stride[d] + 1;
  }
}

void set_input(ConvGeometry& geometry, const Tensor& g, const Spatial& output_padding) {
  for (size_t d = 0; d < static_cast<size_t>(geometry.spatial); ++d) {
    const int64_t size = g.size(static_cast<int64_t>(d) + 2);
    TSR_CHECK(output_padding[d] < std::max(geometry.stride[d], geometry.dilation[d]), Code::kValue,
              "output_padding", "expected less than stride or dilation, got ", output_padding[d]);
    geometry.output_size[d] = size;
    geometry.input_size[d] = (size - 1) * geometry.stride[d] - 2 * geometry.padding[d] +
                             reach_of(geometry, d) + output_padding[d];
    TSR_CHECK(geometry.input_size[d] >= 1, Code::kShape, "input",
              "expected an output of at least 1 ", "along spatial axis ", d, ", got ",
              geometry.input_size[d]);
  }
}

Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias,
            const ConvOptions& options, const Out& out) {
  TSR_CHECK(!options.same || !options.padding.has_value(), Code::kValue, "padding",
            "expected no padding, because `same` is set, got ", *options.padding);
  return batched(input, options.spatial, out, [&](const Tensor& x, const Out& target) {
    check_operands(x, weight, bias, options, false);
    ConvGeometry geometry = start_geometry(weight, options);
    set_output(geometry, x, options.same);
    return conv_forward(x, weight, bias, geometry, target);
  });
}

Tensor conv_transpose(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const ConvOptions& options, const Out& out) {
  return batched(input, options.spatial, out, [&](const Tensor& x, const Out& target) {
    check_operands(x, weight, bias, options, true);
    ConvGeometry geometry = start_geometry(weight, options);
    set_input(geometry, x,
              spatial_list(options.output_padding, options.spatial, 0, 0, "output_padding"));
    return conv_input(x, weight, bias, geometry, target);
  });
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride,
              SpatialArg padding, SpatialArg dilation, int64_t groups, bool same, Out out) {
  return conv(input, weight, bias, {1, stride, padding, dilation, groups, same}, out);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride,
              SpatialArg padding, SpatialArg dilation, int64_t groups, bool same, Out out) {
  return conv(input, weight, bias, {2, stride, padding, dilation, groups, same}, out);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, SpatialArg stride,
              SpatialArg padding, SpatialArg dilation, int64_t groups, bool same, Out out) {
  return conv(input, weight, bias, {3, stride, padding, dilation, groups, same}, out);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride, SpatialArg padding, SpatialArg output_padding,
                        int64_t groups, SpatialArg dilation, Out out) {
  return conv_transpose(input, weight, bias,
                        {1, stride, padding, dilation, groups, false, output_padding}, out);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride, SpatialArg padding, SpatialArg output_padding,
                        int64_t groups, SpatialArg dilation, Out out) {
  return conv_transpose(input, weight, bias,
                        {2, stride, padding, dilation, groups, false, output_padding}, out);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        SpatialArg stride, SpatialArg padding, SpatialArg output_padding,
                        int64_t groups, SpatialArg dilation, Out out) {
  return conv_transpose(input, weight, bias,
                        {3, stride, padding, dilation, groups, false, output_padding}, out);
}

}  // namespace tsr::ops
