// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/norm.h"

#include <array>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/nn/image.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

using kernel::NormPlan;

// The parameters of a normalisation besides its tensors; the node stores it by value.
struct NormShape {
  bool per_channel = true;
  bool use_statistics = false;
  int64_t outer = 1, channels = 1, inner = 1;
  double eps = 1e-5;
  Dims parameter;       // the shape of weight and bias, to broadcast with the input
  Dims statistics;      // the same for mean and rstd
  Dims axes;            // the axes that are normalised over
  Dims parameter_axes;  // the axes that the parameters lack
};

// The tensors of a launch; weight, bias and gradients may be undefined. Statistics are opmath.
struct ForwardTensors {
  const Tensor& x;
  const Tensor& weight;
  const Tensor& bias;
  const Tensor& mean;
  const Tensor& rstd;
  const Tensor& y;
};
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
// How to update the running statistics; null pointers: no update.
struct Movement {
  double momentum = 0;
  void* mean = nullptr;
  void* var = nullptr;
};

NormPlan plan_of(const NormShape& shape) {
  NormPlan plan{};
  plan.per_channel = shape.per_channel ? 1 : 0;
  plan.use_statistics = shape.use_statistics ? 1 : 0;
  plan.outer = shape.outer;
  plan.channels = shape.channels;
  plan.inner = shape.inner;
  plan.eps = shape.eps;
  return plan;
}

DType dtype_or(const Tensor& tensor, DType otherwise) {
  return tensor.defined() ? tensor.dtype() : otherwise;
}

void launch_forward(const NormShape& shape, const ForwardTensors& of, const Movement& moved = {}) {
  launch_or_widen(kernel::kNorm, {reads(of.x), reads(of.weight), reads(of.bias), writes(of.y)},
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
                    plan.mean = of.mean.data();
                    plan.rstd = of.rstd.data();
                    plan.running_mean = moved.mean;
                    plan.running_var = moved.var;
                    return plan;
                  });
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
        plan.mean = of.mean.data();
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

// With h = (x - mean) rstd and G = g w: dx = rstd (G - mean(G) - h mean(G h)), or G rstd when the
// statistics are constants; dw = Σ g h, db = Σ g.
void set_differentiable(Backward& ctx, const NormShape& shape, const Tensor& input, const Tensor& w,
                        const Tensor& mean_saved, const Tensor& rstd_saved,
                        const Dims& parameter_sizes) {
  const Tensor x = in_opmath(input);
  const DimsView axes(shape.axes);
  const bool fixed = shape.use_statistics;
  const Tensor center =
      subtract(x, fixed ? reshape(mean_saved, shape.statistics) : mean(x, axes, true));
  const Tensor r = fixed ? reshape(rstd_saved, shape.statistics)
                         : rsqrt(add(mean(square(center), axes, true), shape.eps));
  const Tensor h = multiply(center, r);
  const Tensor g = in_opmath(ctx.grad());
  const Tensor scaled = w.defined() ? multiply(g, reshape(w, shape.parameter)) : g;
  if (ctx.needs(0)) {
    const Tensor slope = fixed ? scaled
                               : subtract(subtract(scaled, mean(scaled, axes, true)),
                                          multiply(h, mean(multiply(scaled, h), axes, true)));
    ctx.set(0, multiply(slope, r));
  }
  const DimsView others(shape.parameter_axes);
  const auto total = [&](const Tensor& t) {
    return reshape(others.empty() ? t : sum(t, others), parameter_sizes);
  };
  if (ctx.needs(1)) ctx.set(1, total(multiply(g, h)));
  if (ctx.needs(2)) ctx.set(2, total(g));
}

// The inputs that the derivative reads; `none` replaces the others.
std::array<Save, 2> input_saves(const Tensor& x, const Tensor& w, const Tensor& none) {
  return {save_input(needs_grad(x, w) ? x : none), save_input(needs_grad(x) ? w : none)};
}

void record_norm(const Tensor& output, const char* name, const NormShape& shape, const Tensor& x,
                 const Tensor& w, const Tensor& b, const Tensor& dense, const Tensor& mean,
                 const Tensor& rstd) {
  const ParameterSpec parameters{w.defined()   ? w.sizes()
                                 : b.defined() ? b.sizes()
                                               : Dims{},
                                 dtype_or(w, x.dtype()), dtype_or(b, x.dtype())};
  const Tensor none;
  const auto [saved_x, saved_w] = input_saves(x, w, none);
  record(output, name, {x, w, b}, {saved_x, saved_w, save_input(mean), save_input(rstd)},
         [shape, parameters, last = is_channels_last(dense)](Backward& ctx) {
           const Tensor input = ctx.saved(0);
           if (!input.defined()) {  // only the bias needs a gradient
             const Tensor g = ctx.grad();
             ctx.set(2, reshape(sum(g, DimsView(shape.parameter_axes)), parameters.sizes));
             return;
           }
           const Tensor weight = ctx.saved(1);
           if (ctx.create_graph()) {
             set_differentiable(ctx, shape, input, weight, ctx.saved(2), ctx.saved(3),
                                parameters.sizes);
           } else {
             set_fused(ctx, shape, image_memory(input, last), weight, ctx.saved(2), ctx.saved(3),
                       parameters);
           }
         });
}

// ---- batch_norm ----

// Parameters have the dtype of the input or its opmath dtype: a model of 16-bit floats may keep
// them in float32.
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

void check_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& weight, const Tensor& bias, bool training) {
  const DType dtype = input.dtype();
  TSR_CHECK(is_floating(dtype), Code::kDType, "input", "expected a floating dtype, got ", dtype);
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  for (const Tensor* tensor : {&running_mean, &running_var}) {
    const char* arg = tensor == &running_mean ? "running_mean" : "running_var";
    TSR_CHECK(!tensor->defined() || tensor->dtype() == kernel::opmath(dtype), Code::kDType, arg,
              "expected ", kernel::opmath(dtype), " for a ", dtype, " input, got ",
              tensor->dtype());
    check_channels(*tensor, arg, input);
  }
  for (const Tensor* tensor : {&weight, &bias}) {
    const char* arg = tensor == &weight ? "weight" : "bias";
    if (tensor->defined()) check_parameter_dtype(*tensor, arg, input);
    check_channels(*tensor, arg, input);
  }
  TSR_CHECK(running_mean.defined() == running_var.defined(), Code::kInvalidArgument,
            running_mean.defined() ? "running_var" : "running_mean",
            "expected both running statistics or none, got one");
  TSR_CHECK(training || running_mean.defined(), Code::kInvalidArgument, "running_mean",
            "expected running statistics outside of training, got none");
  TSR_CHECK(!training || input.numel() != input.size(1), Code::kShape, "input",
            "expected more than 1 value per channel when training, got shape ", input.sizes());
}

NormShape channel_shape(const Tensor& x, bool training, double eps) {
  NormShape shape;
  shape.use_statistics = !training;
  shape.eps = eps;
  shape.channels = x.size(1);
  shape.outer = x.size(0);
  for (int64_t d = 2; d < x.ndim(); ++d) shape.inner *= x.size(d);
  if (is_channels_last(x) || shape.inner == 1) {
    shape.outer *= shape.inner;
    shape.inner = 1;
  }
  for (int64_t d = 0; d < x.ndim(); ++d) {
    shape.parameter.push_back(d == 1 ? x.size(1) : 1);
    if (d != 1) shape.axes.push_back(d);
  }
  shape.statistics = shape.parameter;
  shape.parameter_axes = shape.axes;
  return shape;
}

// The running statistics in contiguous memory, for the kernel to write; put_back() copies them to
// the target.
class Running {
 public:
  explicit Running(const Tensor& target) : target_(target) {
    if (!target.defined()) return;
    begin_inplace(target, needs_grad(target));
    memory_ = contiguous_memory(target.detached());
  }
  [[nodiscard]] void* data() const { return data_or_null(memory_); }
  void put_back() const {
    if (target_.defined() && !target_.is_contiguous()) copy_memory(target_, memory_);
  }

 private:
  const Tensor& target_;
  Tensor memory_;
};

Tensor run_batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& w, const Tensor& b, bool training, double momentum, double eps,
                      const Out& out) {
  const bool grad = needs_grad(x, w, b);
  const Tensor none;
  // Checked now, before the running statistics are written.
  if (grad) check_saves(input_saves(x, w, none));
  const bool last = is_channels_last(x);
  const Tensor dense = image_memory(x, last);
  const NormShape shape = channel_shape(dense, training, eps);
  const Tensor weight = w.defined() ? contiguous_memory(w) : w;
  const Tensor bias = b.defined() ? contiguous_memory(b) : b;
  const Dims channels{x.size(1)};
  Tensor mean;
  Tensor rstd;
  if (training) {
    mean = empty(channels, kernel::opmath(x.dtype()), x.device());
    rstd = empty(channels, kernel::opmath(x.dtype()), x.device());
  } else {
    const NoGrad pause;
    mean = contiguous_memory(running_mean.detached());
    rstd = rsqrt(add(running_var.detached(), eps));
  }
  Result result = allocate_image(out, x.sizes(), x.dtype(), x.device(), grad,
                                 {&x, &w, &b, &running_mean, &running_var}, last);
  if (x.numel() != 0) {
    const Running moved_mean(training ? running_mean : none);
    const Running moved_var(training ? running_var : none);
    launch_forward(shape, {dense, weight, bias, mean, rstd, result.value()},
                   {momentum, moved_mean.data(), moved_var.data()});
    moved_mean.put_back();
    moved_var.put_back();
  } else if (training) {
    fill_memory(mean, 0);
    fill_memory(rstd, 0);
  }
  Tensor output = result.finish();
  if (grad) record_norm(output, "BatchNormBackward", shape, x, w, b, dense, mean, rstd);
  return output;
}

// ---- layer_norm ----

void check_layer_norm(const Tensor& input, DimsView shape, const Tensor& weight,
                      const Tensor& bias) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(!shape.empty(), Code::kShape, "normalized_shape",
            "expected at least 1 number, got none");
  const auto rank = static_cast<int64_t>(shape.size());
  const bool fits =
      rank <= input.ndim() && std::equal(shape.begin(), shape.end(), input.sizes().end() - rank);
  TSR_CHECK(fits, Code::kShape, "input", "expected a shape that ends in ", shape, ", got ",
            input.sizes());
  for (const Tensor* tensor : {&weight, &bias}) {
    if (!tensor->defined()) continue;
    const char* arg = tensor == &weight ? "weight" : "bias";
    check_same_device(input, *tensor, arg);
    check_parameter_dtype(*tensor, arg, input);
    TSR_CHECK(tensor->sizes() == Dims(shape), Code::kShape, arg, "expected shape ", shape, ", got ",
              tensor->sizes());
  }
}

NormShape row_shape(const Tensor& x, DimsView normalized, double eps) {
  NormShape shape;
  shape.per_channel = false;
  shape.eps = eps;
  shape.parameter = Dims(normalized);
  const int64_t kept = x.ndim() - static_cast<int64_t>(normalized.size());
  for (int64_t d = 0; d < x.ndim(); ++d) {
    (d < kept ? shape.outer : shape.inner) *= x.size(d);
    (d < kept ? shape.parameter_axes : shape.axes).push_back(d);
    shape.statistics.push_back(d < kept ? x.size(d) : 1);
  }
  return shape;
}

Tensor run_layer_norm(const Tensor& x, DimsView normalized, const Tensor& w, const Tensor& b,
                      double eps, const Out& out) {
  const bool grad = needs_grad(x, w, b);
  const NormShape shape = row_shape(x, normalized, eps);
  const Tensor dense = contiguous_memory(x);
  const Tensor weight = w.defined() ? contiguous_memory(w) : w;
  const Tensor bias = b.defined() ? contiguous_memory(b) : b;
  const Dims rows{shape.outer};
  const Tensor mean = empty(rows, kernel::opmath(x.dtype()), x.device());
  const Tensor rstd = empty(rows, kernel::opmath(x.dtype()), x.device());
  Result result = allocate_apart(out, x.sizes(), x.dtype(), x.device(), grad, {&x, &w, &b}, true);
  if (x.numel() != 0) launch_forward(shape, {dense, weight, bias, mean, rstd, result.value()});
  Tensor output = result.finish();
  if (grad) record_norm(output, "LayerNormBackward", shape, x, w, b, dense, mean, rstd);
  return output;
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum,
                  double eps, Out out) {
  check_batch_norm(input, running_mean, running_var, weight, bias, training);
  return run_batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps,
                        out);
}

Tensor layer_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, Out out) {
  check_layer_norm(input, normalized_shape, weight, bias);
  return run_layer_norm(input, normalized_shape, weight, bias, eps, out);
}

}  // namespace tsr::ops
