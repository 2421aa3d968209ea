// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/norm.h"

#include <limits>

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/nn/norm_passes.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"

namespace tsr::ops {
namespace {

using kernel::NormKind;

// ---- batch_norm ----

void check_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                      const Tensor& weight, const Tensor& bias, bool training) {
  const DType dtype = input.dtype();
  TSR_CHECK(is_floating(dtype), Code::kDType, "input", "expected a floating dtype, got ", dtype);
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  for (const Tensor* tensor : {&running_mean, &running_var}) {
    const char* arg = tensor == &running_mean ? "running_mean" : "running_var";
    if (tensor->defined()) check_parameter_dtype(*tensor, arg, input);
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

Tensor in_kernel_memory(const Tensor& statistic) {
  return contiguous_memory(cast_memory(statistic.detached(), kernel::opmath(statistic.dtype())));
}

// A running statistic in contiguous memory of opmath, for the kernel to write; put_back() copies it
// to the target, if that is other memory.
class Running {
 public:
  explicit Running(const Tensor& target) : target_(target) {
    if (!target.defined()) return;
    begin_inplace(target, needs_grad(target));
    memory_ = in_kernel_memory(target);
  }
  [[nodiscard]] void* data() const { return data_or_null(memory_); }
  void put_back() const {
    if (target_.defined() && memory_.data() != target_.data()) copy_memory(target_, memory_);
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
  if (grad) check_saves(norm_saves(x, w, none));
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
    const Unrecorded pause;
    mean = in_kernel_memory(running_mean);
    rstd = rsqrt(add(in_kernel_memory(running_var), eps));
  }
  NormTangent tangent(grad, x, w, b);
  Result result = allocate_image(out, x.sizes(), x.dtype(), x.device(), grad,
                                 {&x, &w, &b, &running_mean, &running_var}, last);
  tangent.allocate(dense);
  if (x.numel() != 0) {
    const Running moved_mean(training ? running_mean : none);
    const Running moved_var(training ? running_var : none);
    launch_norm(shape, {dense, weight, bias, mean, rstd, result.value()}, tangent,
                {momentum, moved_mean.data(), moved_var.data()});
    moved_mean.put_back();
    moved_var.put_back();
  } else if (training) {
    fill_memory(mean, 0);
    fill_memory(rstd, 0);
  }
  Tensor output = result.finish();
  tangent.give(output);
  if (grad && !tangent.used())
    record_norm(output, "BatchNormBackward", shape, x, w, b, dense, mean, rstd);
  return output;
}

// ---- layer_norm and rms_norm ----

void check_rows(const Tensor& input, DimsView shape, const Tensor& weight, const Tensor& bias) {
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

// The distance from 1 to the next number.
double machine_epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-10;
    case DType::kBFloat16:
      return 0x1p-7;
    case DType::kFloat32:
      return std::numeric_limits<float>::epsilon();
    default:
      return std::numeric_limits<double>::epsilon();
  }
}

NormShape row_shape(NormKind kind, const Tensor& x, DimsView normalized, double eps) {
  NormShape shape;
  shape.kind = kind;
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

Tensor run_rows(NormKind kind, const Tensor& x, DimsView normalized, const Tensor& w,
                const Tensor& b, double eps, const Out& out) {
  const bool grad = needs_grad(x, w, b);
  const NormShape shape = row_shape(kind, x, normalized, eps);
  const Tensor dense = contiguous_memory(x);
  const Tensor weight = w.defined() ? contiguous_memory(w) : w;
  const Tensor bias = b.defined() ? contiguous_memory(b) : b;
  const Dims rows{shape.outer};
  Tensor mean;
  if (kind == NormKind::kRows) mean = empty(rows, kernel::opmath(x.dtype()), x.device());
  const Tensor rstd = empty(rows, kernel::opmath(x.dtype()), x.device());
  NormTangent tangent(grad, x, w, b);
  Result result = allocate_apart(out, x.sizes(), x.dtype(), x.device(), grad, {&x, &w, &b}, true);
  tangent.allocate(dense);
  if (x.numel() != 0)
    launch_norm(shape, {dense, weight, bias, mean, rstd, result.value()}, tangent);
  Tensor output = result.finish();
  tangent.give(output);
  const char* node = kind == NormKind::kRows ? "LayerNormBackward" : "RmsNormBackward";
  if (grad && !tangent.used()) record_norm(output, node, shape, x, w, b, dense, mean, rstd);
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
  check_rows(input, normalized_shape, weight, bias);
  return run_rows(NormKind::kRows, input, normalized_shape, weight, bias, eps, out);
}

Tensor rms_norm(const Tensor& input, DimsView normalized_shape, const Tensor& weight,
                std::optional<double> eps, Out out) {
  check_rows(input, normalized_shape, weight, {});
  return run_rows(NormKind::kRms, input, normalized_shape, weight, {},
                  eps.value_or(machine_epsilon(input.dtype())), out);
}

}  // namespace tsr::ops
