// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/nn/image.h"
#include "ops/nn/resample_windows.h"
#include "ops/opmath.h"
#include "ops/samples.h"

namespace tsr::ops {
namespace {

// A resampling besides its tensors; nodes store it by value.
struct Resampling {
  size_t spatial = 0;
  std::array<ResampledAxis, kernel::kMaxResampledAxes> axes{};
};

// ---- CHECK ----

struct NamedMode {
  std::string_view name;
  size_t spatial;  // 0: any number of axes
  ResampleMode mode;
};
constexpr NamedMode kModes[] = {
    {"nearest", 0, ResampleMode::kNearest},  {"nearest-exact", 0, ResampleMode::kNearestExact},
    {"area", 0, ResampleMode::kArea},        {"linear", 1, ResampleMode::kLinear},
    {"bilinear", 2, ResampleMode::kLinear},  {"bicubic", 2, ResampleMode::kCubic},
    {"trilinear", 3, ResampleMode::kLinear},
};

ResampleMode find_mode(std::string_view name, size_t spatial, bool antialias) {
  const auto* found = std::find_if(std::begin(kModes), std::end(kModes),
                                   [&](const NamedMode& mode) { return mode.name == name; });
  TSR_CHECK(found != std::end(kModes), Code::kValue, "mode",
            "expected nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear, got \"",
            name, "\"");
  TSR_CHECK(found->spatial == 0 || found->spatial == spatial, Code::kValue, "mode", "expected ",
            found->spatial, " spatial axes for \"", name, "\", got ", spatial);
  if (!antialias) return found->mode;
  TSR_CHECK(name == "bilinear" || name == "bicubic", Code::kValue, "antialias",
            "expected the mode bilinear or bicubic, got \"", name, "\"");
  return found->mode == ResampleMode::kLinear ? ResampleMode::kLinearAntialias
                                              : ResampleMode::kCubicAntialias;
}

bool has_corners(ResampleMode mode) {
  return mode != ResampleMode::kNearest && mode != ResampleMode::kNearestExact &&
         mode != ResampleMode::kArea;
}

int64_t scaled_size(int64_t size, double factor) {
  TSR_CHECK(factor > 0 && std::isfinite(factor), Code::kValue, "scale_factor",
            "expected positive finite numbers, got ", factor);
  const double scaled = std::floor(static_cast<double>(size) * factor);
  TSR_CHECK(scaled <= INT32_MAX, Code::kValue, "scale_factor",
            "expected result sizes below 2147483648, got ", scaled);
  return static_cast<int64_t>(scaled);
}

void set_sizes(Resampling& made, const Tensor& input, std::span<const double> factors,
               const std::optional<DimsView>& size, bool recompute) {
  TSR_CHECK(size.has_value() == factors.empty(), Code::kValue, "size",
            "expected either size or scale_factor, got ", factors.empty() ? "neither" : "both");
  TSR_CHECK(size.has_value() || factors.size() == 1 || factors.size() == made.spatial, Code::kValue,
            "scale_factor", "expected 1 or ", made.spatial, " numbers, got ", factors.size());
  TSR_CHECK(!size.has_value() || !recompute, Code::kValue, "recompute_scale_factor",
            "expected scale_factor, got size");
  Spatial sizes{};
  if (size.has_value())
    sizes = spatial_list(size, static_cast<int32_t>(made.spatial), 1, 1, "size");
  for (size_t d = 0; d < made.spatial; ++d) {
    ResampledAxis& axis = made.axes[d];
    axis.input = input.size(static_cast<int64_t>(d) + 2);
    TSR_CHECK(axis.input >= 1 && axis.input <= INT32_MAX, Code::kShape, "input",
              "expected spatial sizes of at least 1 and below 2147483648, got shape ",
              input.sizes());
    axis.output = sizes[d];
    if (size.has_value()) continue;
    const double factor = factors[factors.size() == 1 ? 0 : d];
    axis.output = scaled_size(axis.input, factor);
    axis.factor = recompute ? 0 : factor;
    TSR_CHECK(axis.output >= 1, Code::kValue, "scale_factor",
              "expected result sizes of at least 1, got 0 for a size of ", axis.input);
  }
}

// ---- LAUNCH ----

// The tables of one axis as tensors on the device; undefined where the axis stays as it is.
struct Table {
  kernel::ResampleAxis axis{1, 1, 1, nullptr, nullptr};
  Tensor begin, weights;
};

template <class T>
Tensor tensor_of(const std::vector<T>& numbers, Device device) {
  const Dims shape{static_cast<int64_t>(numbers.size())};
  const Tensor here = empty(shape, dtype_of<T>(), Device{});
  if (!numbers.empty()) std::memcpy(here.data(), numbers.data(), numbers.size() * sizeof(T));
  return to(here, device, std::nullopt);
}

bool stays(const ResampledAxis& axis) {
  const bool plain = axis.factor == 0 || axis.factor == 1;
  return axis.input == axis.output && (plain || axis.align_corners);
}

template <class T>
Table table_of(const ResampledAxis& axis, bool transpose, Device device) {
  Table made;
  made.axis.input = transpose ? axis.output : axis.input;
  made.axis.output = transpose ? axis.input : axis.output;
  if (stays(axis)) return made;
  ResampleWindows<T> windows = resample_windows<T>(axis);
  if (transpose) windows = transposed(windows);
  made.axis.taps = windows.taps;
  made.begin = tensor_of(windows.begin, device);
  made.axis.begin = made.begin.data_as<int32_t>();
  if (windows.weights.empty()) return made;
  made.weights = tensor_of(windows.weights, device);
  made.axis.weights = made.weights.data();
  return made;
}

// Both images have the same layout.
void launch_resample(const Resampling& resampling, bool transpose, const Tensor& from,
                     const Tensor& to) {
  if (to.numel() == 0) return;
  std::array<Table, kernel::kMaxResampledAxes> tables;
  const size_t first = tables.size() - resampling.spatial;
  for (size_t d = 0; d < resampling.spatial; ++d) {
    const ResampledAxis& axis = resampling.axes[d];
    tables[first + d] = from.dtype() == DType::kFloat64
                            ? table_of<double>(axis, transpose, from.device())
                            : table_of<float>(axis, transpose, from.device());
  }
  launch_or_widen(kernel::kResample, {reads(from), writes(to)}, [&](const Tensor* const* t) {
    kernel::ResamplePlan plan{};
    const bool last = is_channels_last(*t[0]) || is_channels_last(*t[1]);
    plan.planes = last ? t[0]->size(0) : t[0]->size(0) * t[0]->size(1);
    plan.channels = last ? t[0]->size(1) : 1;
    for (size_t d = 0; d < tables.size(); ++d) plan.axes[d] = tables[d].axis;
    plan.place = kernel::place_on(t[0]->device());
    plan.dtype = t[0]->dtype();
    plan.input = t[0]->data();
    plan.output = t[1]->data();
    return plan;
  });
}

// The map or, with `transpose`, its transpose; each is the derivative of the other.
Tensor resample(const Tensor& x, const Resampling& resampling, bool transpose,
                const Out& out = {}) {
  const bool grad = needs_grad(x);
  const bool last = is_channels_last(x);
  Dims sizes{x.size(0), x.size(1)};
  for (size_t d = 0; d < resampling.spatial; ++d)
    sizes.push_back(transpose ? resampling.axes[d].input : resampling.axes[d].output);
  Result result = allocate_image(out, sizes, x.dtype(), x.device(), grad, {&x}, last);
  launch_resample(resampling, transpose, image_memory(x, last), result.value());
  Tensor output = result.finish();
  if (grad) {
    record(output, transpose ? "InterpolateTransposedBackward" : "InterpolateBackward", {x}, {},
           TakesBatches{[resampling, transpose](Backward& ctx) {
             const Tensor g = join_samples(ctx, ctx.grad());
             ctx.set(0, split_samples(ctx, resample(g, resampling, !transpose)));
           }},
           [&](Forward& ctx) { ctx.set(0, resample(ctx.tangent(), resampling, transpose)); });
  }
  return output;
}

// The nearest elements of a dtype that has no kernel.
Tensor pick_nearest(const Tensor& input, const Resampling& resampling, const Out& out) {
  Tensor picked = input;
  for (size_t d = 0; d < resampling.spatial; ++d) {
    const ResampleWindows<float> windows = resample_windows<float>(resampling.axes[d]);
    picked =
        index_select(picked, static_cast<int64_t>(d) + 2, tensor_of(windows.begin, input.device()));
  }
  return settle(picked, out);
}

}  // namespace

Tensor interpolate(const Tensor& input, std::span<const double> scale_factor,
                   std::optional<DimsView> size, std::string_view mode,
                   std::optional<bool> align_corners, bool recompute_scale_factor, bool antialias,
                   Out out) {
  TSR_CHECK(input.ndim() >= 3 && input.ndim() <= 5, Code::kShape, "input",
            "expected (batch, channels, spatial...) with 1 to 3 spatial axes, got shape ",
            input.sizes());
  Resampling made;
  made.spatial = static_cast<size_t>(input.ndim() - 2);
  const ResampleMode found = find_mode(mode, made.spatial, antialias);
  TSR_CHECK(!align_corners.has_value() || has_corners(found), Code::kValue, "align_corners",
            "expected none for the mode \"", mode, "\", got a value");
  for (ResampledAxis& axis : made.axes) axis = {found, align_corners.value_or(false), 1, 1, 0};
  set_sizes(made, input, scale_factor, size, recompute_scale_factor);
  const bool nearest = found == ResampleMode::kNearest || found == ResampleMode::kNearestExact;
  if (nearest && !is_floating(input.dtype())) return pick_nearest(input, made, out);
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype for \"",
            mode, "\", got ", input.dtype());
  return resample(input, made, false, out);
}

}  // namespace tsr::ops
