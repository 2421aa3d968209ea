// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/norm_passes.h"

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::NormKind;
using kernel::NormPlan;

// The tensors of a backward launch; weight, mean and gradients may be undefined.
struct BackwardTensors {
  const Tensor& x;
  const Tensor& weight;
  const Tensor& mean;
  const Tensor& rstd;
  const Tensor& g;
  const Tensor& dx;
  const Tensor& dw;
  const Tensor& db;
};

NormPlan plan_of(const NormShape& shape) {
  NormPlan plan{};
  plan.kind = shape.kind;
  plan.use_statistics = shape.use_statistics ? 1 : 0;
  plan.channels_last = shape.channels_last ? 1 : 0;
  plan.groups = shape.groups;
  plan.outer = shape.outer;
  plan.channels = shape.channels;
  plan.inner = shape.inner;
  plan.eps = shape.eps;
  return plan;
}

DType dtype_or(const Tensor& tensor, DType otherwise) {
  return tensor.defined() ? tensor.dtype() : otherwise;
}

void launch_backward(const NormShape& shape, const BackwardTensors& of) {
  launch_or_widen(
      kernel::kNorm,
      {reads(of.x), reads(of.weight), reads(of.g), writes(of.dx), writes(of.dw), writes(of.db)},
      [&](const Tensor* const* t) {
        const Tensor& x = *t[0];
        NormPlan plan = plan_of(shape);
        plan.backward = 1;
        plan.place = kernel::place_on(x.device());
        plan.dtype = x.dtype();
        plan.weight_dtype = dtype_or(*t[1], dtype_or(*t[4], x.dtype()));
        plan.bias_dtype = dtype_or(*t[5], x.dtype());
        plan.input = x.data();
        plan.weight = data_or_null(*t[1]);
        plan.output = t[2]->data();
        plan.grad_input = data_or_null(*t[3]);
        plan.grad_weight = data_or_null(*t[4]);
        plan.grad_bias = data_or_null(*t[5]);
        plan.mean = data_or_null(of.mean);
        plan.rstd = of.rstd.data();
        return plan;
      });
}

// ---- derivatives ----

// Shape and dtypes of weight and bias, also needed if only their gradients are wanted.
struct ParameterSpec {
  Dims sizes;
  DType weight_dtype, bias_dtype;
};

// One kernel, without autograd. x has the layout that the shape describes.
void set_fused(Backward& ctx, const NormShape& shape, const Tensor& x, const Tensor& w,
               const Tensor& mean, const Tensor& rstd, const ParameterSpec& parameters) {
  const bool last = is_channels_last(x);
  const Tensor g = image_memory(ctx.grad(), last);
  const Tensor weight = w.defined() ? contiguous_memory(w) : w;
  Tensor dx;
  Tensor dw;
  Tensor db;
  if (ctx.needs(0)) dx = empty_image(x.sizes(), x.dtype(), x.device(), last);
  if (ctx.needs(1)) dw = empty(parameters.sizes, parameters.weight_dtype, x.device());
  if (ctx.needs(2)) db = empty(parameters.sizes, parameters.bias_dtype, x.device());
  if (x.numel() != 0) {
    launch_backward(shape, {x, weight, mean, rstd, g, dx, dw, db});
  } else {
    if (dw.defined()) fill_memory(dw, 0);
    if (db.defined()) fill_memory(db, 0);
  }
  ctx.set(0, dx);
  ctx.set(1, dw);
  ctx.set(2, db);
}

// The tensor in the shape in which the axes of `shape` count.
Tensor viewed(const NormShape& shape, const Tensor& t) {
  return shape.view.empty() ? t : reshape(t, shape.view);
}

Tensor viewed_gradient(const Backward& ctx, const NormShape& shape) {
  const Tensor g = in_opmath(ctx.grad());
  return shape.view.empty() ? g : reshape(g, ctx.batched(shape.view));
}

// The sum over the axes that the parameters lack.
Tensor parameter_gradient(const Backward& ctx, const NormShape& shape, const Tensor& g,
                          const Dims& sizes) {
  const Dims others = sample_axes(ctx, shape.parameter_axes);
  return reshape(others.empty() ? g : sum(g, DimsView(others)), ctx.batched(sizes));
}

// x - mean, with the saved mean where the statistics are constants; x itself without a mean.
Tensor centered(const NormShape& shape, const Tensor& x, const Tensor& mean_saved) {
  if (shape.kind == NormKind::kRms) return x;
  return subtract(x, shape.use_statistics ? reshape(mean_saved, shape.statistics)
                                          : mean(x, DimsView(shape.axes), true));
}

// With h = (x - mean) rstd and G = g w: dx = rstd (G - mean(G) - h mean(G h)), without mean(G)
// where h has no mean, or G rstd where the statistics are constants; dw = Σ g h, db = Σ g.
void set_differentiable(Backward& ctx, const NormShape& shape, const Tensor& input, const Tensor& w,
                        const Tensor& mean_saved, const Tensor& rstd_saved,
                        const Dims& parameter_sizes) {
  const DimsView axes(shape.axes);
  const bool fixed = shape.use_statistics;
  const Tensor center = centered(shape, viewed(shape, in_opmath(input)), mean_saved);
  const Tensor r = fixed ? reshape(rstd_saved, shape.statistics)
                         : rsqrt(add(mean(square(center), axes, true), shape.eps));
  const Tensor h = multiply(center, r);
  const Tensor g = viewed_gradient(ctx, shape);
  const Dims along = sample_axes(ctx, axes);
  const auto mean_of = [&](const Tensor& t) { return mean(t, DimsView(along), true); };
  const Tensor scaled = w.defined() ? multiply(g, reshape(w, shape.parameter)) : g;
  if (ctx.needs(0)) {
    Tensor slope = scaled;
    if (!fixed && shape.kind != NormKind::kRms) slope = subtract(slope, mean_of(scaled));
    if (!fixed) slope = subtract(slope, multiply(h, mean_of(multiply(scaled, h))));
    ctx.set(0, reshape(multiply(slope, r), ctx.batched(input.sizes())));
  }
  const auto total = [&](const Tensor& t) {
    return parameter_gradient(ctx, shape, t, parameter_sizes);
  };
  if (ctx.needs(1)) ctx.set(1, total(multiply(g, h)));
  if (ctx.needs(2)) ctx.set(2, total(g));
}

}  // namespace

NormTangent::NormTangent(bool recorded, const Tensor& x, const Tensor& w, const Tensor& b) {
  used_ = recorded && x.device().is_cpu() && lone_.find({x, w, b}) && lone_[0].defined() &&
          lone_.are_plain();
}

void NormTangent::allocate(const Tensor& dense) {
  if (!used_) return;
  const auto parameter = [](const Tensor& t) { return t.defined() ? contiguous_memory(t) : t; };
  const bool last = is_channels_last(dense);
  input_ = image_memory(lone_[0], last);
  weight_ = parameter(lone_[1]);
  bias_ = parameter(lone_[2]);
  output_ = empty_image(dense.sizes(), dense.dtype(), dense.device(), last);
}

void launch_norm(const NormShape& shape, const NormTensors& of, const NormTangent& tangent,
                 const Movement& moved) {
  launch_or_widen(
      kernel::kNorm,
      {reads(of.x), reads(of.weight), reads(of.bias), writes(of.y), reads(tangent.input()),
       reads(tangent.weight()), reads(tangent.bias()), writes(tangent.output())},
      [&](const Tensor* const* t) {
        const Tensor& x = *t[0];
        NormPlan plan = plan_of(shape);
        plan.momentum = moved.momentum;
        plan.place = kernel::place_on(x.device());
        plan.dtype = x.dtype();
        plan.weight_dtype = dtype_or(*t[1], x.dtype());
        plan.bias_dtype = dtype_or(*t[2], x.dtype());
        plan.input = x.data();
        plan.weight = data_or_null(*t[1]);
        plan.bias = data_or_null(*t[2]);
        plan.output = t[3]->data();
        plan.mean = data_or_null(of.mean);
        plan.rstd = of.rstd.data();
        plan.running_mean = moved.mean;
        plan.running_var = moved.var;
        plan.tangent_input = data_or_null(*t[4]);
        plan.tangent_weight = data_or_null(*t[5]);
        plan.tangent_bias = data_or_null(*t[6]);
        plan.tangent_output = data_or_null(*t[7]);
        return plan;
      });
}

std::array<Save, 2> norm_saves(const Tensor& x, const Tensor& w, const Tensor& none) {
  return {save_input(needs_grad(x, w) ? x : none), save_input(needs_grad(x) ? w : none)};
}

// With t the tangent of x less its mean: that of h is rstd (t - h mean(t h)), or rstd t where the
// statistics are constants; y = h w + b.
Tensor pushed(const Forward& ctx, const NormShape& shape, const Tensor& x, const Tensor& w,
              const Tensor& mean_saved, const Tensor& rstd_saved) {
  const DimsView axes(shape.axes);
  const bool fixed = shape.use_statistics;
  const auto parameter = [&](const Tensor& t) { return reshape(in_opmath(t), shape.parameter); };
  const Tensor center = centered(shape, viewed(shape, in_opmath(x)), mean_saved);
  const Tensor r = fixed ? reshape(rstd_saved, shape.statistics)
                         : rsqrt(add(mean(square(center), axes, true), shape.eps));
  const Tensor h = multiply(center, r);
  Tensor result;
  if (ctx.has(0)) {
    Tensor t = viewed(shape, in_opmath(ctx.tangent(0)));
    if (!fixed && shape.kind != NormKind::kRms) t = subtract(t, mean(t, axes, true));
    if (!fixed) t = subtract(t, multiply(h, mean(multiply(t, h), axes, true)));
    result = multiply(t, r);
    if (w.defined()) result = multiply(result, parameter(w));
  }
  if (ctx.has(1)) {
    const Tensor part = multiply(h, parameter(ctx.tangent(1)));
    result = result.defined() ? add(result, part) : part;
  }
  if (ctx.has(2)) {
    const Tensor part = parameter(ctx.tangent(2));
    result = result.defined() ? add(result, part) : broadcast_to(part, h.sizes());
  }
  return reshape(result, x.sizes());
}

// The same in one kernel where only x has a tangent and nothing is to be recorded. The derivative
// by x is symmetric but for the weight, and with it where each channel has statistics of its own.
Tensor pushed_fused(const NormShape& shape, const Tensor& tangent, const Tensor& dense,
                    const Tensor& w, const Tensor& center, const Tensor& rstd) {
  const bool last = is_channels_last(dense);
  const Tensor t = image_memory(tangent, last);
  const Tensor none;
  const Tensor result = empty_image(dense.sizes(), dense.dtype(), dense.device(), last);
  if (result.numel() == 0) return result;
  if (shape.kind == NormKind::kChannels || !w.defined()) {
    const Tensor weight = w.defined() ? contiguous_memory(w) : w;
    launch_backward(shape, {dense, weight, center, rstd, t, result, none, none});
    return result;
  }
  launch_backward(shape, {dense, none, center, rstd, t, result, none, none});
  const Tensor parts = viewed(shape, in_opmath(result));
  multiply(parts, reshape(in_opmath(w), shape.parameter), Out::inplace(parts));
  return reshape(parts, dense.sizes());
}

void record_norm(const Tensor& output, const char* name, const NormShape& shape, const Tensor& x,
                 const Tensor& w, const Tensor& b, const Tensor& dense, const Tensor& center,
                 const Tensor& rstd) {
  const ParameterSpec parameters{w.defined()   ? w.sizes()
                                 : b.defined() ? b.sizes()
                                               : Dims{},
                                 dtype_or(w, x.dtype()), dtype_or(b, x.dtype())};
  const Tensor none;
  const auto [saved_x, saved_w] = norm_saves(x, w, none);
  record(output, name, {x, w, b}, {saved_x, saved_w, save_input(center), save_input(rstd)},
         TakesBatches{[shape, parameters, last = is_channels_last(dense)](Backward& ctx) {
           const Tensor input = ctx.saved(0);
           if (!input.defined()) {  // only the bias needs a gradient
             const Tensor g = viewed_gradient(ctx, shape);
             ctx.set(2, parameter_gradient(ctx, shape, g, parameters.sizes));
             return;
           }
           const Tensor weight = ctx.saved(1);
           if (ctx.create_graph() || ctx.lead() == 1) {
             set_differentiable(ctx, shape, input, weight, ctx.saved(2), ctx.saved(3),
                                parameters.sizes);
           } else {
             set_fused(ctx, shape, image_memory(input, last), weight, ctx.saved(2), ctx.saved(3),
                       parameters);
           }
         }},
         [&](Forward& ctx) {
           const bool of_input_alone = ctx.has(0) && !ctx.has(1) && !ctx.has(2);
           ctx.set(0, of_input_alone && !recording_enabled()
                          ? pushed_fused(shape, ctx.tangent(0), dense, w, center, rstd)
                          : pushed(ctx, shape, x, w, center, rstd));
         });
}

// ---- checks ----

void check_parameter_dtype(const Tensor& tensor, const char* arg, const Tensor& input) {
  const DType wide = kernel::opmath(input.dtype());
  if (tensor.dtype() == input.dtype() || tensor.dtype() == wide) return;
  const std::string either = wide == input.dtype() ? "" : concat(" or ", wide);
  fail(Code::kDType, arg, __FILE__, __LINE__, "expected ", input.dtype(), either, " for a ",
       input.dtype(), " input, got ", tensor.dtype());
}

void check_channels(const Tensor& tensor, const char* arg, const Tensor& input) {
  if (!tensor.defined()) return;
  check_same_device(input, tensor, arg);
  TSR_CHECK(tensor.ndim() == 1 && tensor.size(0) == input.size(1), Code::kShape, arg, "expected ",
            input.size(1), " numbers, one per channel, got shape ", tensor.sizes());
}

}  // namespace tsr::ops
