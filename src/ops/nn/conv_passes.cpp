// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/conv_passes.h"

#include <algorithm>

#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/reduce/reduce.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;

Dims image_sizes(int64_t batch, int64_t channels, const int64_t* size, int32_t spatial) {
  Dims sizes{batch, channels};
  for (int32_t d = 0; d < spatial; ++d) sizes.push_back(size[d]);
  return sizes;
}

Dims weight_sizes(int64_t out_channels, int64_t in_channels, const ConvGeometry& geometry) {
  return image_sizes(out_channels, in_channels / geometry.groups, geometry.kernel,
                     geometry.spatial);
}

void copy_strides(const Tensor& tensor, int64_t* strides) {
  std::copy(tensor.strides().begin(), tensor.strides().end(), strides);
}

// Marks the tensor that a pass writes.
KernelOperand operand_of(const Tensor& tensor, bool written) {
  return written ? writes(tensor) : reads(tensor);
}

// Images are row-major or channels last, the weight is row-major; `bias` may be undefined.
void launch_conv(ConvPass pass, const Tensor& x, const Tensor& w, const Tensor& bias,
                 const Tensor& y, const ConvGeometry& geometry) {
  const bool weight = pass == ConvPass::kBackwardWeight;
  launch_or_widen(kernel::kConv,
                  {operand_of(x, pass == ConvPass::kBackwardInput), operand_of(w, weight),
                   operand_of(bias, weight), operand_of(y, pass == ConvPass::kForward)},
                  [&](const Tensor* const* t) {
                    ConvPlan plan{};
                    static_cast<ConvGeometry&>(plan) = geometry;
                    plan.pass = pass;
                    plan.batch = t[0]->size(0);
                    plan.in_channels = t[0]->size(1);
                    plan.out_channels = t[3]->size(1);
                    copy_strides(*t[0], plan.input_strides);
                    copy_strides(*t[1], plan.weight_strides);
                    copy_strides(*t[3], plan.output_strides);
                    plan.place = kernel::place_on(t[0]->device());
                    plan.dtype = t[0]->dtype();
                    plan.precision = kernel::g_matmul_precision.load(std::memory_order_relaxed);
                    plan.input = t[0]->data();
                    plan.weight = t[1]->data();
                    plan.bias = data_or_null(*t[2]);
                    plan.output = t[3]->data();
                    return plan;
                  });
}

// The gradient of the bias: sums over all dims but the channels (and the samples).
Tensor sum_channels(const Backward& ctx) {
  const Tensor& g = ctx.grad();
  Dims axes;
  for (int64_t d = ctx.lead(); d < g.ndim(); ++d) {
    if (d != ctx.lead() + 1) axes.push_back(d);
  }
  return sum(g, DimsView(axes));
}

// ---- batches of gradients ----
// A pass that sums over the batch, or that shares its image, keeps samples apart as channels of
// their own: the channels of each group stand once for each sample.

// (samples, n, groups · channels, ...) to (n, groups · samples · channels, ...), and back.
Tensor samples_to_channels(const Tensor& t, int64_t groups) {
  const int64_t samples = t.size(0);
  const int64_t each = t.size(2) / groups;
  const Tensor apart = unflatten(t, 2, Dims{groups, each});
  Dims order{1, 2, 0};
  for (int64_t d = 3; d < apart.ndim(); ++d) order.push_back(d);
  Dims sizes{t.size(1), groups * samples * each};
  for (int64_t d = 3; d < t.ndim(); ++d) sizes.push_back(t.size(d));
  return reshape(permute_dims(apart, order), sizes);
}
Tensor channels_to_samples(const Tensor& t, int64_t samples, int64_t groups) {
  const int64_t each = t.size(1) / (groups * samples);
  const Tensor apart = unflatten(t, 1, Dims{groups, samples, each});
  Dims order{2, 0, 1};
  for (int64_t d = 3; d < apart.ndim(); ++d) order.push_back(d);
  Dims sizes{samples, t.size(0), groups * each};
  for (int64_t d = 2; d < t.ndim(); ++d) sizes.push_back(t.size(d));
  return reshape(permute_dims(apart, order), sizes);
}

// The weight has its channels of the output in front: a batch of one.
Tensor weights_to_channels(const Tensor& w, int64_t groups) {
  return squeeze(samples_to_channels(expand_dims(w, 1), groups), Dims{0});
}
Tensor channels_to_weights(const Tensor& w, int64_t samples, int64_t groups) {
  return squeeze(channels_to_samples(expand_dims(w, 0), samples, groups), Dims{1});
}

Tensor input_gradient(const Backward& ctx, const Tensor& w, const ConvGeometry& geometry) {
  return split_samples(ctx, conv_input(join_samples(ctx, ctx.grad()), w, {}, geometry));
}
Tensor weight_gradient(const Backward& ctx, const Tensor& x, const ConvGeometry& geometry) {
  if (ctx.lead() == 0) return conv_weight(x, ctx.grad(), geometry);
  const int64_t groups = geometry.groups;
  const Tensor all = conv_weight(x, samples_to_channels(ctx.grad(), groups), geometry);
  return channels_to_weights(all, ctx.samples(), groups);
}
// Of conv_input(g, w), whose gradient has the channels of an input.
Tensor weight_gradient_of_input(const Backward& ctx, const Tensor& g,
                                const ConvGeometry& geometry) {
  if (ctx.lead() == 0) return conv_weight(ctx.grad(), g, geometry);
  const Tensor all = conv_weight(samples_to_channels(ctx.grad(), geometry.groups), g, geometry);
  return channels_to_samples(all, ctx.samples(), 1);
}

bool use_channels_last(const Tensor& x, const Tensor& g) {
  return is_channels_last(x) || (is_channels_last(g) && !x.is_contiguous());
}

// Writes the gradient of the weight and, if `db` is defined, of the bias.
void run_weight(const Tensor& x, const Tensor& g, const Tensor& dw, const Tensor& db,
                const ConvGeometry& geometry) {
  if (x.numel() == 0 || g.numel() == 0) {
    if (dw.numel() != 0) fill_memory(dw, 0);
    if (db.defined() && db.numel() != 0) fill_memory(db, 0);
    return;
  }
  const bool last = use_channels_last(x, g);
  launch_conv(ConvPass::kBackwardWeight, image_memory(x, last), dw, db, image_memory(g, last),
              geometry);
}

// The gradients of weight and bias by one kernel.
void set_fused(Backward& ctx, const Tensor& x, const ConvGeometry& geometry) {
  const Tensor& g = ctx.grad();
  const Tensor dw = empty(weight_sizes(g.size(1), x.size(1), geometry), g.dtype(), g.device());
  const Tensor db = empty(Dims{g.size(1)}, g.dtype(), g.device());
  run_weight(x, g, dw, db, geometry);
  ctx.set(1, dw);
  ctx.set(2, db);
}

// The tangent of the bias for an image.
Tensor per_channel(const Tensor& bias, const Tensor& image) {
  Dims shape(static_cast<size_t>(image.ndim()), 1);
  shape[1] = bias.numel();
  return reshape(bias, shape);
}

}  // namespace

// y = x * w + b: dx = conv_input(g, w), dw = conv_weight(x, g), db = Σ g over all but the channels.
Tensor conv_forward(const Tensor& x, const Tensor& w, const Tensor& b, const ConvGeometry& geometry,
                    Out out) {
  const bool grad = needs_grad(x, w, b);
  const bool last = is_channels_last(x);
  Result result =
      allocate_image(out, image_sizes(x.size(0), w.size(0), geometry.output_size, geometry.spatial),
                     x.dtype(), x.device(), grad, {&x, &w, &b}, last);
  if (result.value().numel() != 0) {
    launch_conv(ConvPass::kForward, image_memory(x, last), contiguous_memory(w),
                b.defined() ? contiguous_memory(b) : b, result.value(), geometry);
  }
  Tensor output = result.finish();
  if (grad) {
    const Tensor none;
    record(output, "ConvBackward", {x, w, b},
           {save_input(needs_grad(w) ? x : none), save_input(needs_grad(x) ? w : none)},
           TakesBatches{[geometry](Backward& ctx) {
             if (ctx.needs(0)) ctx.set(0, input_gradient(ctx, ctx.saved(1), geometry));
             if (ctx.needs(1) && ctx.needs(2) && !ctx.create_graph() && ctx.lead() == 0) {
               set_fused(ctx, ctx.saved(0), geometry);
               return;
             }
             if (ctx.needs(1)) ctx.set(1, weight_gradient(ctx, ctx.saved(0), geometry));
             if (ctx.needs(2)) ctx.set(2, sum_channels(ctx));
           }},
           [&](Forward& ctx) {
             if (ctx.has(0)) ctx.add(0, conv_forward(ctx.tangent(0), w, ctx.tangent(2), geometry));
             if (ctx.has(1)) {
               const Tensor& bias = ctx.has(0) ? none : ctx.tangent(2);
               ctx.add(0, conv_forward(x, ctx.tangent(1), bias, geometry));
             }
             if (!ctx.has(0) && !ctx.has(1)) ctx.add(0, per_channel(ctx.tangent(2), output));
           });
  }
  return output;
}

Tensor conv_input(const Tensor& g, const Tensor& w, const Tensor& b, const ConvGeometry& geometry,
                  Out out) {
  const bool grad = needs_grad(g, w, b);
  const bool last = is_channels_last(g);
  const int64_t channels = w.size(1) * geometry.groups;
  Result result =
      allocate_image(out, image_sizes(g.size(0), channels, geometry.input_size, geometry.spatial),
                     g.dtype(), g.device(), grad, {&g, &w, &b}, last);
  const Tensor& x = result.value();
  if (x.numel() != 0) {
    launch_conv(ConvPass::kBackwardInput, x, contiguous_memory(w),
                b.defined() ? contiguous_memory(b) : b, image_memory(g, last), geometry);
  }
  Tensor output = result.finish();
  if (grad) {
    const Tensor none;
    record(output, "ConvInputBackward", {g, w, b},
           {save_input(needs_grad(w) ? g : none), save_input(needs_grad(g) ? w : none)},
           TakesBatches{[geometry](Backward& ctx) {
             if (ctx.needs(0)) {
               const Tensor joined = join_samples(ctx, ctx.grad());
               ctx.set(0, split_samples(ctx, conv_forward(joined, ctx.saved(1), {}, geometry)));
             }
             if (ctx.needs(1)) ctx.set(1, weight_gradient_of_input(ctx, ctx.saved(0), geometry));
             if (ctx.needs(2)) ctx.set(2, sum_channels(ctx));
           }},
           [&](Forward& ctx) {
             if (ctx.has(0)) ctx.add(0, conv_input(ctx.tangent(0), w, ctx.tangent(2), geometry));
             if (ctx.has(1)) {
               const Tensor& bias = ctx.has(0) ? none : ctx.tangent(2);
               ctx.add(0, conv_input(g, ctx.tangent(1), bias, geometry));
             }
             if (!ctx.has(0) && !ctx.has(1)) ctx.add(0, per_channel(ctx.tangent(2), output));
           });
  }
  return output;
}

Tensor conv_weight(const Tensor& x, const Tensor& g, const ConvGeometry& geometry) {
  const Tensor output = empty(weight_sizes(g.size(1), x.size(1), geometry), x.dtype(), x.device());
  run_weight(x, g, output, {}, geometry);
  if (needs_grad(x, g)) {
    const Tensor none;
    record(output, "ConvWeightBackward", {x, g},
           {save_input(needs_grad(g) ? x : none), save_input(needs_grad(x) ? g : none)},
           TakesBatches{[geometry](Backward& ctx) {
             const Tensor& w = ctx.grad();
             const int64_t groups = geometry.groups;
             const bool one = ctx.lead() == 0;
             if (ctx.needs(0)) {
               const Tensor weights = one ? w : samples_to_channels(w, 1);
               const Tensor dx = conv_input(ctx.saved(1), weights, {}, geometry);
               ctx.set(0, one ? dx : channels_to_samples(dx, ctx.samples(), groups));
             }
             if (ctx.needs(1)) {
               const Tensor weights = one ? w : weights_to_channels(w, groups);
               const Tensor dg = conv_forward(ctx.saved(0), weights, {}, geometry);
               ctx.set(1, one ? dg : channels_to_samples(dg, ctx.samples(), groups));
             }
           }},
           [&](Forward& ctx) {
             if (ctx.has(0)) ctx.add(0, conv_weight(ctx.tangent(0), g, geometry));
             if (ctx.has(1)) ctx.add(0, conv_weight(x, ctx.tangent(1), geometry));
           });
  }
  return output;
}

}  // namespace tsr::ops
