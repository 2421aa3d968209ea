// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// group_norm, and instance_norm, whose groups are single channels.
#include <algorithm>

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/nn/norm.h"
#include "ops/nn/norm_passes.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"

namespace tsr::ops {
namespace {

using kernel::NormKind;

void check_input(const Tensor& input, int64_t least, const Tensor& weight, const Tensor& bias) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() >= least, Code::kShape, "input", "expected at least ", least,
            " dimensions, got shape ", input.sizes());
  for (const Tensor* tensor : {&weight, &bias}) {
    const char* arg = tensor == &weight ? "weight" : "bias";
    if (tensor->defined()) check_parameter_dtype(*tensor, arg, input);
    check_channels(*tensor, arg, input);
  }
}

// x has the layout of its memory. The derivative views it as (batch, groups, channels of a group,
// points).
NormShape group_shape(const Tensor& x, int64_t groups, double eps) {
  NormShape shape;
  shape.kind = NormKind::kGroups;
  shape.eps = eps;
  shape.groups = groups;
  shape.outer = x.size(0);
  shape.channels = x.size(1);
  for (int64_t d = 2; d < x.ndim(); ++d) shape.inner *= x.size(d);
  shape.channels_last = is_channels_last(x) || shape.inner == 1;
  const int64_t each = shape.channels / groups;
  shape.view = {shape.outer, groups, each, shape.inner};
  shape.parameter = {1, groups, each, 1};
  shape.statistics = {shape.outer, groups, 1, 1};
  shape.axes = {2, 3};
  shape.parameter_axes = {0, 3};
  return shape;
}

// The running statistics, which may be undefined.
struct Running {
  const Tensor& mean;
  const Tensor& var;
  double momentum;
};

// running += momentum (mean over the samples of `batch` - running), in place.
void move_statistic(const Tensor& running, const Tensor& batch, double momentum) {
  const Dims samples{0};
  const Tensor goal = mean(batch, DimsView(samples));
  const Tensor before = cast_memory(running.detached(), goal.dtype());
  const Tensor moved = add(multiply(before, 1 - momentum), multiply(goal, momentum));
  begin_inplace(running, needs_grad(running));
  copy_memory(running, moved);
}

void move_statistics(const Tensor& input, const Running& running) {
  if (!running.mean.defined()) return;
  const Unrecorded pause;
  const Tensor x = astype(input.detached(), kernel::opmath(input.dtype()));
  Dims points;
  for (int64_t d = 2; d < x.ndim(); ++d) points.push_back(d);
  const Tensor means = mean(x, DimsView(points));
  const Tensor spreads = var(x, DimsView(points), 1);
  move_statistic(running.mean, means, running.momentum);
  move_statistic(running.var, spreads, running.momentum);
}

Tensor run_groups(const char* node, const Tensor& x, int64_t groups, const Tensor& w,
                  const Tensor& b, double eps, const Running& running, const Out& out) {
  const bool grad = needs_grad(x, w, b);
  const Tensor none;
  // Checked now, before the running statistics are written.
  if (grad) check_saves(norm_saves(x, w, none));
  const bool last = is_channels_last(x);
  const Tensor dense = image_memory(x, last);
  const NormShape shape = group_shape(dense, groups, eps);
  const Tensor weight = w.defined() ? contiguous_memory(w) : w;
  const Tensor bias = b.defined() ? contiguous_memory(b) : b;
  const Dims statistics{shape.outer * groups};
  const Tensor mean = empty(statistics, kernel::opmath(x.dtype()), x.device());
  const Tensor rstd = empty(statistics, kernel::opmath(x.dtype()), x.device());
  NormTangent tangent(grad, x, w, b);
  // Neither the input nor the statistics are overwritten before finish().
  Result result = allocate_image(out, x.sizes(), x.dtype(), x.device(), grad,
                                 {&x, &w, &b, &running.mean, &running.var}, last);
  tangent.allocate(dense);
  if (x.numel() != 0) {
    launch_norm(shape, {dense, weight, bias, mean, rstd, result.value()}, tangent);
    move_statistics(x, running);
  }
  Tensor output = result.finish();
  tangent.give(output);
  if (grad && !tangent.used()) record_norm(output, node, shape, x, w, b, dense, mean, rstd);
  return output;
}

void check_running(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                   bool use_input_stats) {
  for (const Tensor* tensor : {&running_mean, &running_var}) {
    const char* arg = tensor == &running_mean ? "running_mean" : "running_var";
    if (tensor->defined()) check_parameter_dtype(*tensor, arg, input);
    check_channels(*tensor, arg, input);
  }
  TSR_CHECK(running_mean.defined() == running_var.defined(), Code::kInvalidArgument,
            running_mean.defined() ? "running_var" : "running_mean",
            "expected both running statistics or none, got one");
  TSR_CHECK(use_input_stats || running_mean.defined(), Code::kInvalidArgument, "running_mean",
            "expected running statistics without use_input_stats, got none");
  int64_t points = 1;
  for (int64_t d = 2; d < input.ndim(); ++d) points *= input.size(d);
  TSR_CHECK(!use_input_stats || points != 1, Code::kShape, "input",
            "expected more than 1 value per sample and channel, got shape ", input.sizes());
}

}  // namespace

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, Out out) {
  check_input(input, 2, weight, bias);
  TSR_CHECK(num_groups >= 1, Code::kValue, "num_groups", "expected at least 1, got ", num_groups);
  TSR_CHECK(input.size(1) % num_groups == 0, Code::kShape, "input",
            "expected a number of channels that ", num_groups, " groups divide, got shape ",
            input.sizes());
  const Tensor none;
  return run_groups("GroupNormBackward", input, num_groups, weight, bias, eps, {none, none, 0},
                    out);
}

Tensor instance_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum, double eps, Out out) {
  check_input(input, 3, weight, bias);
  check_running(input, running_mean, running_var, use_input_stats);
  if (!use_input_stats) {
    return batch_norm(input, running_mean, running_var, weight, bias, false, momentum, eps, out);
  }
  return run_groups("InstanceNormBackward", input, std::max<int64_t>(1, input.size(1)), weight,
                    bias, eps, {running_mean, running_var, momentum}, out);
}

}  // namespace tsr::ops
