// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/align_loss.h"

#include <algorithm>
#include <limits>

#include "autograd/engine.h"
#include "autograd/record.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/nn/loss_reduction.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::AlignLossPlan;
using kernel::ClassReduction;

struct AlignSpec {
  int64_t time = 0, batch = 0, classes = 0;
  int64_t states = 1;  // of the longest target
  int64_t blank = 0;
  bool zero_infinity = false;
};

// The integers of the plan, on the device of the log-probabilities: labels of all sequences, where
// each begins, and the two lengths.
struct AlignTensors {
  Tensor targets, starts, target_lengths, input_lengths;
};

// ---- arguments ----

// A row-major copy in the host's memory.
std::vector<int64_t> numbers_of(const Tensor& tensor, const char* arg) {
  TSR_CHECK(is_integral(tensor.dtype()), Code::kDType, arg, "expected an integer dtype, got ",
            tensor.dtype());
  const Tensor here =
      contiguous_memory(cast_memory(to(tensor.detached(), Device{}, std::nullopt), DType::kInt64));
  kernel::note_host_decision("targets and lengths of an alignment");
  const auto* first = here.data_as<int64_t>();
  return {first, first + here.numel()};
}
Tensor on_device(const std::vector<int64_t>& numbers, Device device) {
  const Tensor here = empty(Dims{static_cast<int64_t>(numbers.size())}, DType::kInt64);
  std::copy(numbers.begin(), numbers.end(), here.data_as<int64_t>());
  return to(here, device, std::nullopt);
}

std::vector<int64_t> lengths_of(const Tensor& tensor, const char* arg, int64_t batch,
                                int64_t limit) {
  std::vector<int64_t> lengths = numbers_of(tensor, arg);
  TSR_CHECK(static_cast<int64_t>(lengths.size()) == batch && tensor.ndim() <= 1, Code::kShape, arg,
            "expected ", batch, " numbers, one for each sequence, got shape ", tensor.sizes());
  for (const int64_t length : lengths) {
    TSR_CHECK(length >= 0 && length <= limit, Code::kValue, arg, "expected numbers from 0 to ",
              limit, ", got ", length);
  }
  return lengths;
}

void check_labels(const std::vector<int64_t>& labels, int64_t start, int64_t count,
                  int64_t classes) {
  for (int64_t i = start; i < start + count; ++i) {
    const int64_t label = labels[static_cast<size_t>(i)];
    TSR_CHECK(label >= 0 && label < classes, Code::kIndex, "targets",
              "expected class numbers from 0 to ", classes - 1, ", got ", label);
  }
}

// x is (time, batch, classes).
AlignTensors check_targets(AlignSpec& spec, const Tensor& x, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths, bool single) {
  const std::vector<int64_t> labels = numbers_of(targets, "targets");
  const auto given = static_cast<int64_t>(labels.size());
  const bool padded = targets.ndim() == 2 && !single;
  TSR_CHECK(padded ? targets.size(0) == spec.batch : targets.ndim() == 1, Code::kShape, "targets",
            "expected (batch, longest) with a batch of ", spec.batch,
            " or one dimension, got shape ", targets.sizes());
  const auto inputs = lengths_of(input_lengths, "input_lengths", spec.batch, spec.time);
  const auto lengths =
      lengths_of(target_lengths, "target_lengths", spec.batch, padded ? targets.size(1) : given);
  std::vector<int64_t> starts;
  int64_t total = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    starts.push_back(padded ? static_cast<int64_t>(b) * targets.size(1) : total);
    total += lengths[b];
    TSR_CHECK(padded || total <= given, Code::kShape, "targets", "expected at least ", total,
              " labels, the sum of target_lengths, got ", given);
    check_labels(labels, starts.back(), lengths[b], spec.classes);
    spec.states = std::max(spec.states, 2 * lengths[b] + 1);
  }
  TSR_CHECK(padded || total == given, Code::kShape, "targets", "expected ", total,
            " labels, the sum of target_lengths, got ", given);
  return {on_device(labels, x.device()), on_device(starts, x.device()),
          on_device(lengths, x.device()), on_device(inputs, x.device())};
}

// ---- launches ----

AlignLossPlan plan_of(const AlignSpec& spec, const Tensor& x, const AlignTensors& of,
                      const Tensor& alpha, const Tensor& total) {
  AlignLossPlan plan{};
  plan.zero_infinity = spec.zero_infinity ? 1 : 0;
  plan.time = spec.time;
  plan.batch = spec.batch;
  plan.classes = spec.classes;
  plan.states = spec.states;
  plan.blank = spec.blank;
  plan.place = kernel::place_on(x.device());
  plan.dtype = x.dtype();
  plan.log_probs = x.data();
  plan.targets = of.targets.data_as<int64_t>();
  plan.target_starts = of.starts.data_as<int64_t>();
  plan.target_lengths = of.target_lengths.data_as<int64_t>();
  plan.input_lengths = of.input_lengths.data_as<int64_t>();
  plan.alpha = alpha.data();
  plan.total = total.data();
  return plan;
}

Tensor launch_backward(const AlignSpec& spec, const Tensor& g, const Tensor& input,
                       const AlignTensors& of, const Tensor& alpha, const Tensor& total) {
  const Tensor x = contiguous_memory(input);
  const Tensor slope = contiguous_memory(g);
  Tensor result = empty(x.sizes(), x.dtype(), x.device());
  if (result.numel() == 0) return result;
  const Tensor work = empty(Dims{spec.batch, 3, spec.states}, x.dtype(), x.device());
  AlignLossPlan plan = plan_of(spec, x, of, alpha, total);
  plan.backward = 1;
  plan.work = work.data();
  plan.grad = slope.data();
  plan.grad_input = result.data();
  kernel::launch(kernel::kAlignLoss, x.device(), plan);
  return result;
}

// ---- out of ordinary ops, for derivatives of derivatives ----

// Stands for log 0, because the derivative of log(e**a + e**b) is NaN where both are -inf.
constexpr double kNever = -1e30;

// Column s of the result is column s - places.
Tensor shifted(const Tensor& alpha, int64_t places) {
  const int64_t columns = alpha.size(1);
  const int64_t gone = std::min(places, columns);
  const Tensor parts[] = {full(Dims{alpha.size(0), gone}, kNever, alpha.dtype(), alpha.device()),
                          narrow(alpha, 1, 0, columns - gone)};
  return ops::concat(parts, 1);
}

Tensor composed_loss(const AlignSpec& spec, const Tensor& x, const AlignTensors& of) {
  const Device device = x.device();
  const auto column = [](const Tensor& t) { return expand_dims(t, 1); };
  const Tensor s = expand_dims(arange(0, spec.states, 1, DType::kInt64, device), 0);
  const Tensor count = column(of.target_lengths);
  // Labels and skips (see AlignPath); what stands behind a target's end is never used.
  const Tensor which = floor_divide(s, 2);
  const Tensor inside = logical_and(equal(remainder(s, 2), 1), less(which, count));
  const Tensor place = where(inside, add(column(of.starts), which), 0);
  const bool any = of.targets.numel() > 0;
  const Tensor found = any ? take(of.targets, place) : place;
  const Tensor label = where(inside, found, spec.blank);
  const Tensor third = logical_and(inside, greater_equal(s, 3));
  const Tensor earlier = where(third, subtract(place, 1), 0);
  const Tensor before = any ? take(of.targets, earlier) : earlier;
  const Tensor skips = logical_and(third, not_equal(label, before));
  const Tensor scores = take_along_axis(x, expand_dims(label, 0), 2);
  Tensor alpha = where(less(s, 2), select(scores, 0, 0), kNever);
  const Dims way{0};
  for (int64_t t = 1; t < spec.time; ++t) {
    const Tensor ways[] = {alpha, shifted(alpha, 1), where(skips, shifted(alpha, 2), kNever)};
    const Tensor next = add(logsumexp(stack(ways), DimsView(way)), select(scores, 0, t));
    alpha = where(greater(column(of.input_lengths), t), next, alpha);
  }
  const Tensor end = multiply(count, 2);
  const Tensor ends = logical_or(equal(s, end), equal(s, subtract(end, 1)));
  const Dims across{1};
  const Tensor total = negative(logsumexp(where(ends, alpha, kNever), DimsView(across)));
  // Without time steps and where no path fits there is nothing to differentiate.
  const Tensor constant =
      logical_or(equal(of.input_lengths, 0), greater(total, Scalar(-kNever / 2)));
  return where(constant, 0, total);
}

Tensor differentiable_gradient(const AlignSpec& spec, const Tensor& g, const Tensor& input,
                               const AlignTensors& of) {
  const bool recorded = grad_enabled();
  const EnableGrad record_all;
  const Tensor x = multiply(input, 1);  // cuts the history
  if (x.numel() == 0) return x;
  if (!requires_grad(x)) set_requires_grad(x, true);
  const Tensor roots[] = {composed_loss(spec, x, of)};
  const Tensor wanted[] = {x};
  const Tensor grads[] = {g};
  const Tensor found = grad(roots, wanted, grads, {.create_graph = true}).front();
  // Without grad mode only the tangents of the gradient are wanted.
  return recorded ? found : ops::detach(found);
}

// The gradient of the input for the gradient g of the losses.
Tensor loss_gradient(const Backward& ctx, const AlignSpec& spec, const Tensor& g) {
  const AlignTensors kept{ctx.saved(3), ctx.saved(4), ctx.saved(5), ctx.saved(6)};
  if (ctx.create_graph()) return differentiable_gradient(spec, g, ctx.saved(0), kept);
  return launch_backward(spec, g, ctx.saved(0), kept, ctx.saved(1), ctx.saved(2));
}

Tensor losses(const AlignSpec& spec, const Tensor& input, const AlignTensors& of) {
  const Tensor x = contiguous_memory(input.detached());
  const Tensor alpha = empty(Dims{spec.batch, spec.time, spec.states}, x.dtype(), x.device());
  const Tensor total = empty(Dims{spec.batch}, x.dtype(), x.device());
  Tensor output = empty(Dims{spec.batch}, x.dtype(), x.device());
  AlignLossPlan plan = plan_of(spec, x, of, alpha, total);
  plan.loss = output.data();
  kernel::launch(kernel::kAlignLoss, x.device(), plan);
  if (needs_grad(input)) {
    record(output, "CtcLossBackward", {input},
           {save_input(input), save_input(alpha), save_input(total), save_input(of.targets),
            save_input(of.starts), save_input(of.target_lengths), save_input(of.input_lengths)},
           TakesBatches{[spec](Backward& ctx) {
             const Tensor& g = ctx.grad();
             if (ctx.lead() == 0) return ctx.set(0, loss_gradient(ctx, spec, g));
             // The derivative of each loss once; the gradients of the samples are factors.
             const Tensor slope =
                 loss_gradient(ctx, spec, full(Dims{spec.batch}, 1, g.dtype(), g.device()));
             ctx.set(0, multiply(expand_dims(expand_dims(g, 1), -1), slope));
           }});
  }
  return output;
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, std::string_view reduction,
                bool zero_infinity) {
  const ClassReduction kind = reduction_of(reduction);
  TSR_CHECK(is_floating(log_probs.dtype()), Code::kDType, "log_probs",
            "expected a floating dtype, got ", log_probs.dtype());
  TSR_CHECK(log_probs.ndim() == 2 || log_probs.ndim() == 3, Code::kShape, "log_probs",
            "expected (time, batch, classes) or (time, classes), got shape ", log_probs.sizes());
  const bool single = log_probs.ndim() == 2;
  const Tensor wide = in_opmath(log_probs);
  const Tensor x = single ? expand_dims(wide, 1) : wide;
  AlignSpec spec;
  spec.time = x.size(0);
  spec.batch = x.size(1);
  spec.classes = x.size(2);
  spec.blank = blank;
  spec.zero_infinity = zero_infinity;
  TSR_CHECK(blank >= 0 && blank < spec.classes, Code::kValue, "blank",
            "expected a class number from 0 to ", spec.classes - 1, ", got ", blank);
  const AlignTensors of = check_targets(spec, x, targets, input_lengths, target_lengths, single);
  Tensor loss = losses(spec, x, of);
  if (kind == ClassReduction::kMean)
    loss = divide(loss, astype(clip(of.target_lengths, Scalar(1), std::nullopt), loss.dtype()));
  if (kind == ClassReduction::kNone && single) loss = reshape(loss, Dims{});
  return astype(reduce(loss, kind), log_probs.dtype());
}

}  // namespace tsr::ops
