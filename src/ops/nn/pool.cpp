// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/pool.h"

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/samples.h"

namespace tsr::ops {
namespace {

using kernel::PoolOp;
using kernel::PoolPlan;

// The parameters of a pooling besides its tensors; nodes store it by value.
struct PoolGeometry {
  PoolOp op = PoolOp::kMax;
  int32_t axes = 2;
  bool adaptive = false;
  Spatial input{}, output{}, kernel{}, stride{}, padding{}, dilation{};
  bool count_include_pad = true;
  int64_t divisor = 0;
};

// The windows that a caller asks for.
struct PoolWindows {
  int32_t axes;
  DimsView kernel_size;
  SpatialArg stride, padding, dilation;
  bool ceil_mode;
};

using ValuesAndPositions = std::tuple<Tensor, Tensor>;

// ---- CHECK and INFER ----

void check_input(const Tensor& input, int32_t axes) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  check_image(input, axes);
  const int64_t first = input.ndim() - axes - 1;
  for (int64_t d = first; d < input.ndim(); ++d) {
    TSR_CHECK(input.size(d) >= 1 && input.size(d) <= INT32_MAX, Code::kShape, "input",
              "expected channels and spatial sizes of at least 1 and below 2147483648, got shape ",
              input.sizes());
  }
}

int64_t pooled_size(const PoolGeometry& geometry, size_t d, int64_t size, bool ceil_mode) {
  const int64_t stride = geometry.stride[d];
  // What the first window leaves of the padded input, with what ceil_mode lets the last one exceed.
  const int64_t room = size + 2 * geometry.padding[d] -
                       (geometry.kernel[d] - 1) * geometry.dilation[d] - 1 +
                       (ceil_mode ? stride - 1 : 0);
  TSR_CHECK(room >= 0, Code::kShape, "input",
            "expected a padded input at least as large as the window along axis ", d,
            ", got a size of ", size, " for a kernel of ", geometry.kernel[d]);
  int64_t count = room / stride + 1;
  // The last window must start inside the input or the padding before it.
  if (ceil_mode && (count - 1) * stride >= size + geometry.padding[d]) --count;
  return count;
}

int64_t spatial_size(const Tensor& input, int32_t axes, size_t d) {
  return input.size(input.ndim() - axes + static_cast<int64_t>(d));
}

PoolGeometry window_geometry(PoolOp op, const Tensor& input, const PoolWindows& windows) {
  const int32_t axes = windows.axes;
  check_input(input, axes);
  PoolGeometry geometry;
  geometry.op = op;
  geometry.axes = axes;
  geometry.kernel = spatial_list(windows.kernel_size, axes, 1, 1, "kernel_size");
  const bool own = windows.stride.has_value() && !windows.stride->empty();
  geometry.stride = own ? spatial_list(windows.stride, axes, 1, 1, "stride") : geometry.kernel;
  geometry.padding = spatial_list(windows.padding, axes, 0, 0, "padding");
  geometry.dilation = spatial_list(windows.dilation, axes, 1, 1, "dilation");
  for (size_t d = 0; d < static_cast<size_t>(axes); ++d) {
    TSR_CHECK(geometry.padding[d] <= geometry.kernel[d] / 2, Code::kValue, "padding",
              "expected at most half the kernel of ", geometry.kernel[d], ", got ",
              geometry.padding[d]);
    const int64_t size = spatial_size(input, axes, d);
    geometry.input[d] = size;
    geometry.output[d] = pooled_size(geometry, d, size, windows.ceil_mode);
  }
  return geometry;
}

PoolGeometry adaptive_geometry(PoolOp op, const Tensor& input, int32_t axes, DimsView output_size) {
  check_input(input, axes);
  PoolGeometry geometry;
  geometry.op = op;
  geometry.axes = axes;
  geometry.output = spatial_list(output_size, axes, 1, 0, "output_size");
  // Windows of one size are those of ordinary pooling, whose kernels need not look them up.
  geometry.adaptive = false;
  for (size_t d = 0; d < static_cast<size_t>(axes); ++d) {
    const int64_t size = spatial_size(input, axes, d);
    geometry.input[d] = size;
    geometry.kernel[d] = geometry.stride[d] = geometry.dilation[d] = 1;
    const int64_t windows = geometry.output[d];
    geometry.adaptive |= windows < 2 || size == 0 || size % windows != 0;
  }
  for (size_t d = 0; !geometry.adaptive && d < static_cast<size_t>(axes); ++d)
    geometry.kernel[d] = geometry.stride[d] = geometry.input[d] / geometry.output[d];
  return geometry;
}

Dims with_size(const Tensor& like, const PoolGeometry& geometry, const Spatial& size) {
  Dims sizes{like.size(0), like.size(1)};
  for (size_t d = 0; d < static_cast<size_t>(geometry.axes); ++d) sizes.push_back(size[d]);
  return sizes;
}

// ---- LAUNCH ----

PoolPlan plan_of(const PoolGeometry& geometry) {
  PoolPlan plan{};
  plan.op = geometry.op;
  plan.adaptive = geometry.adaptive ? 1 : 0;
  plan.spatial = geometry.axes;
  plan.count_include_pad = geometry.count_include_pad ? 1 : 0;
  plan.divisor = geometry.divisor;
  for (size_t d = 0; d < static_cast<size_t>(geometry.axes); ++d) {
    plan.input_size[d] = geometry.input[d];
    plan.output_size[d] = geometry.output[d];
    plan.kernel[d] = geometry.kernel[d];
    plan.stride[d] = geometry.stride[d];
    plan.padding[d] = geometry.padding[d];
    plan.dilation[d] = geometry.dilation[d];
  }
  return plan;
}

enum class Pass { kForward, kBackward };

// `input` and `output` have the same layout. Forward writes the output, backward the input.
void launch_pool(const PoolGeometry& geometry, Pass pass, const Tensor& input, const Tensor& output,
                 const Tensor& positions) {
  if (input.numel() == 0 || output.numel() == 0) return;
  const bool backward = pass == Pass::kBackward;
  launch_or_widen(
      kernel::kPool,
      {backward ? writes(input) : reads(input), backward ? reads(output) : writes(output)},
      [&](const Tensor* const* t) {
        PoolPlan plan = plan_of(geometry);
        plan.backward = backward ? 1 : 0;
        plan.channels_last = is_channels_last(*t[0]) || is_channels_last(*t[1]) ? 1 : 0;
        plan.batch = t[0]->size(0);
        plan.channels = t[0]->size(1);
        plan.place = kernel::place_on(t[0]->device());
        plan.dtype = t[0]->dtype();
        plan.input = t[0]->data();
        plan.output = t[1]->data();
        plan.positions = positions.defined() ? positions.data_as<int64_t>() : nullptr;
        return plan;
      });
}

// ---- linear passes: each is the other's derivative ----

Tensor pool_transposed(const Tensor& g, const Tensor& positions, const PoolGeometry& geometry);

// The saved positions, if there are any, for a batch of images of all samples.
Tensor places_of(const Backward& ctx) {
  const Tensor positions = for_samples(ctx, ctx.saved(0));
  return positions.defined() ? contiguous_memory(join_samples(ctx, positions)) : positions;
}

void set_transposed(Backward& ctx, const PoolGeometry& geometry) {
  const Tensor g = join_samples(ctx, ctx.grad());
  ctx.set(0, split_samples(ctx, pool_transposed(g, places_of(ctx), geometry)));
}

// Average, or picking at positions: both are linear in x.
Tensor pool_forward(const Tensor& x, const Tensor& positions, const PoolGeometry& geometry,
                    const Out& out = {}) {
  const bool grad = needs_grad(x);
  const bool last = positions.defined() ? is_channels_last(positions) : is_channels_last(x);
  Result result = allocate_image(out, with_size(x, geometry, geometry.output), x.dtype(),
                                 x.device(), grad, {&x}, last);
  launch_pool(geometry, Pass::kForward, image_memory(x, last), result.value(), positions);
  Tensor output = result.finish();
  if (grad) {
    record(output, "PoolBackward", {x}, {save_input(positions)},
           TakesBatches{[geometry](Backward& ctx) { set_transposed(ctx, geometry); }},
           [&](Forward& ctx) { ctx.set(0, pool_forward(ctx.tangent(), positions, geometry)); });
  }
  return output;
}

Tensor pool_transposed(const Tensor& g, const Tensor& positions, const PoolGeometry& geometry) {
  const bool last = positions.defined() ? is_channels_last(positions) : is_channels_last(g);
  const Tensor output =
      empty_image(with_size(g, geometry, geometry.input), g.dtype(), g.device(), last);
  launch_pool(geometry, Pass::kBackward, output, image_memory(g, last), positions);
  if (needs_grad(g)) {
    record(output, "PoolTransposedBackward", {g}, {save_input(positions)},
           TakesBatches{[geometry](Backward& ctx) {
             const Tensor joined = join_samples(ctx, ctx.grad());
             ctx.set(0, split_samples(ctx, pool_forward(joined, places_of(ctx), geometry)));
           }},
           [&](Forward& ctx) { ctx.set(0, pool_transposed(ctx.tangent(), positions, geometry)); });
  }
  return output;
}

// ---- maximum ----

struct Maximum {
  Tensor values, positions;
};

Maximum run_max(const Tensor& x, const PoolGeometry& geometry, bool want_positions,
                const Out& out) {
  const bool grad = needs_grad(x);
  const bool last = is_channels_last(x);
  const Dims sizes = with_size(x, geometry, geometry.output);
  Result result = allocate_image(out, sizes, x.dtype(), x.device(), grad, {&x}, last);
  Tensor positions;
  if (grad || want_positions) positions = empty_image(sizes, DType::kInt64, x.device(), last);
  launch_pool(geometry, Pass::kForward, image_memory(x, last), result.value(), positions);
  Tensor output = result.finish();
  if (grad) {
    PoolGeometry pick = geometry;
    pick.op = PoolOp::kPick;
    record(output, "MaxPoolBackward", {x}, {save_input(positions)},
           TakesBatches{[pick](Backward& ctx) { set_transposed(ctx, pick); }},
           [&](Forward& ctx) { ctx.set(0, pool_forward(ctx.tangent(), positions, pick)); });
  }
  return {output, positions};
}

Tensor max_values(const Tensor& input, const PoolGeometry& geometry, const Out& out) {
  return batched(input, geometry.axes, out, [&](const Tensor& x, const Out& target) {
    return run_max(x, geometry, false, target).values;
  });
}

ValuesAndPositions max_both(const Tensor& input, const PoolGeometry& geometry) {
  Tensor positions;
  const Tensor values = batched(input, geometry.axes, {}, [&](const Tensor& x, const Out&) {
    const Maximum found = run_max(x, geometry, true, {});
    positions = input.ndim() == geometry.axes + 2 ? found.positions : drop_batch(found.positions);
    return found.values;
  });
  return {values, positions};
}

Tensor average(const Tensor& input, const PoolGeometry& geometry, const Out& out) {
  return batched(input, geometry.axes, out, [&](const Tensor& x, const Out& target) {
    return pool_forward(x, {}, geometry, target);
  });
}

}  // namespace

template <int32_t kAxes>
Tensor max_pool(const Tensor& input, DimsView kernel_size, SpatialArg stride, SpatialArg padding,
                SpatialArg dilation, bool ceil_mode, Out out) {
  const PoolWindows windows{kAxes, kernel_size, stride, padding, dilation, ceil_mode};
  return max_values(input, window_geometry(PoolOp::kMax, input, windows), out);
}

template <int32_t kAxes>
ValuesAndPositions max_pool_with_positions(const Tensor& input, DimsView kernel_size,
                                           SpatialArg stride, SpatialArg padding,
                                           SpatialArg dilation, bool ceil_mode) {
  const PoolWindows windows{kAxes, kernel_size, stride, padding, dilation, ceil_mode};
  return max_both(input, window_geometry(PoolOp::kMax, input, windows));
}

template <int32_t kAxes>
Tensor adaptive_max_pool(const Tensor& input, DimsView output_size, Out out) {
  return max_values(input, adaptive_geometry(PoolOp::kMax, input, kAxes, output_size), out);
}

template <int32_t kAxes>
ValuesAndPositions adaptive_max_pool_with_positions(const Tensor& input, DimsView output_size) {
  return max_both(input, adaptive_geometry(PoolOp::kMax, input, kAxes, output_size));
}

template <int32_t kAxes>
Tensor avg_pool(const Tensor& input, DimsView kernel_size, SpatialArg stride, SpatialArg padding,
                bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
                Out out) {
  const PoolWindows windows{kAxes, kernel_size, stride, padding, {}, ceil_mode};
  PoolGeometry geometry = window_geometry(PoolOp::kAverage, input, windows);
  geometry.count_include_pad = count_include_pad;
  TSR_CHECK(divisor_override.value_or(1) != 0, Code::kValue, "divisor_override",
            "expected a number other than 0, got 0");
  geometry.divisor = divisor_override.value_or(0);
  return average(input, geometry, out);
}

template <int32_t kAxes>
Tensor adaptive_avg_pool(const Tensor& input, DimsView output_size, Out out) {
  return average(input, adaptive_geometry(PoolOp::kAverage, input, kAxes, output_size), out);
}

template Tensor max_pool<1>(const Tensor&, DimsView, SpatialArg, SpatialArg, SpatialArg, bool, Out);
template ValuesAndPositions max_pool_with_positions<1>(const Tensor&, DimsView, SpatialArg,
                                                       SpatialArg, SpatialArg, bool);
template Tensor adaptive_max_pool<1>(const Tensor&, DimsView, Out);
template ValuesAndPositions adaptive_max_pool_with_positions<1>(const Tensor&, DimsView);
template Tensor avg_pool<1>(const Tensor&, DimsView, SpatialArg, SpatialArg, bool, bool,
                            std::optional<int64_t>, Out);
template Tensor adaptive_avg_pool<1>(const Tensor&, DimsView, Out);
template Tensor max_pool<2>(const Tensor&, DimsView, SpatialArg, SpatialArg, SpatialArg, bool, Out);
template ValuesAndPositions max_pool_with_positions<2>(const Tensor&, DimsView, SpatialArg,
                                                       SpatialArg, SpatialArg, bool);
template Tensor adaptive_max_pool<2>(const Tensor&, DimsView, Out);
template ValuesAndPositions adaptive_max_pool_with_positions<2>(const Tensor&, DimsView);
template Tensor avg_pool<2>(const Tensor&, DimsView, SpatialArg, SpatialArg, bool, bool,
                            std::optional<int64_t>, Out);
template Tensor adaptive_avg_pool<2>(const Tensor&, DimsView, Out);
template Tensor max_pool<3>(const Tensor&, DimsView, SpatialArg, SpatialArg, SpatialArg, bool, Out);
template ValuesAndPositions max_pool_with_positions<3>(const Tensor&, DimsView, SpatialArg,
                                                       SpatialArg, SpatialArg, bool);
template Tensor adaptive_max_pool<3>(const Tensor&, DimsView, Out);
template ValuesAndPositions adaptive_max_pool_with_positions<3>(const Tensor&, DimsView);
template Tensor avg_pool<3>(const Tensor&, DimsView, SpatialArg, SpatialArg, bool, bool,
                            std::optional<int64_t>, Out);
template Tensor adaptive_avg_pool<3>(const Tensor&, DimsView, Out);

}  // namespace tsr::ops
