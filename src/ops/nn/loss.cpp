// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/loss.h"

#include "autograd/forward.h"
#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/nn/loss_reduction.h"
#include "ops/nn/softmax.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

using kernel::ClassReduction;

ClassReduction reduction_of(std::string_view name) {
  if (name == "none") return ClassReduction::kNone;
  if (name == "sum") return ClassReduction::kSum;
  TSR_CHECK(name == "mean", Code::kValue, "reduction",
            "expected \"none\", \"sum\" or \"mean\", got \"", name, "\"");
  return ClassReduction::kMean;
}

Tensor reduce(const Tensor& loss, ClassReduction reduction) {
  if (reduction == ClassReduction::kNone) return loss;
  return reduction == ClassReduction::kSum ? sum(loss) : mean(loss);
}

void check_pair(const Tensor& input, const Tensor& target) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  check_target(input, target);
}

void check_target(const Tensor& input, const Tensor& target) {
  check_same_device(input, target, "target");
  // Broadcasting (4, 1) with (4) would compare every prediction with every target.
  TSR_CHECK(target.sizes() == input.sizes(), Code::kShape, "target", "expected shape ",
            input.sizes(), " as input, got ", target.sizes(),
            "; reshape the one that is wrong, or broadcast_to() where every pair is meant");
}

void check_class_weight(const Tensor& input, const Tensor& weight, int64_t classes) {
  if (!weight.defined()) return;
  check_like(weight, "weight", input);
  TSR_CHECK(weight.ndim() == 1 && weight.size(0) == classes, Code::kShape, "weight", "expected ",
            classes, " numbers, one per class, got shape ", weight.sizes());
}

namespace {

using kernel::ClassLossPlan;

// ---- class targets ----

// The parameters of a classification loss besides its tensors; nodes store it by value.
struct ClassSpec {
  ClassReduction reduction = ClassReduction::kMean;
  int64_t batch = 1, classes = 1, inner = 1;
  int64_t ignore = -100;
  double smoothing = 0;
  Dims input_sizes;
  Dims loss_sizes;  // of the unreduced loss
};

// The tensors that are the same in every pass; weight and lse may be undefined. lse and weights are
// opmath.
struct ClassTensors {
  Tensor target, weight, lse, weights;
};

void check_scores(const Tensor& input, const Tensor& target) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input",
            "expected (batch, classes, ...) or (classes), got shape ", input.sizes());
  check_same_device(input, target, "target");
}

ClassSpec check_classes(const Tensor& input, const Tensor& target, const Tensor& weight,
                        int64_t ignore, std::string_view reduction) {
  check_scores(input, target);
  TSR_CHECK(is_integral(target.dtype()), Code::kDType, "target",
            "class numbers must be integers; expected an integer dtype, got ", target.dtype());
  ClassSpec spec;
  spec.reduction = reduction_of(reduction);
  spec.ignore = ignore;
  spec.input_sizes = input.sizes();
  const bool single = input.ndim() == 1;
  spec.batch = single ? 1 : input.size(0);
  spec.classes = input.size(single ? 0 : 1);
  if (!single) spec.loss_sizes.push_back(spec.batch);
  for (int64_t d = 2; d < input.ndim(); ++d) {
    spec.inner *= input.size(d);
    spec.loss_sizes.push_back(input.size(d));
  }
  TSR_CHECK(target.sizes() == spec.loss_sizes, Code::kShape, "target", "expected shape ",
            spec.loss_sizes, " for an input of shape ", input.sizes(), ", got ", target.sizes());
  TSR_CHECK(spec.classes >= 1, Code::kShape, "input", "expected at least 1 class, got shape ",
            input.sizes());
  check_class_weight(input, weight, spec.classes);
  TSR_CHECK(
      !needs_grad(weight), Code::kNotImplemented, "weight",
      "the loss of class numbers has no derivative towards its weights; expected weights that "
      "require no grad, or probabilities as target");
  return spec;
}

// `weight` is tensors.weight, or a copy of it in opmath.
ClassLossPlan plan_of(const ClassSpec& spec, const Tensor& input, const Tensor& weight,
                      const ClassTensors& tensors) {
  ClassLossPlan plan{};
  plan.log_probabilities = tensors.lse.defined() ? 0 : 1;
  plan.reduction = spec.reduction;
  plan.batch = spec.batch;
  plan.classes = spec.classes;
  plan.inner = spec.inner;
  plan.ignore = spec.ignore;
  plan.smoothing = spec.smoothing;
  plan.place = kernel::place_on(input.device());
  plan.dtype = input.dtype();
  plan.target = tensors.target.data_as<int64_t>();
  plan.weight = data_or_null(weight);
  plan.lse = data_or_null(tensors.lse);
  plan.weights = tensors.weights.data();
  return plan;
}

ClassTensors tensors_for(const Tensor& input, const Tensor& target, const Tensor& weight,
                         const ClassSpec& spec, bool logits) {
  ClassTensors tensors;
  tensors.target = contiguous_memory(cast_memory(target, DType::kInt64));
  tensors.weight = weight.defined() ? contiguous_memory(weight.detached()) : weight;
  const DType opmath = kernel::opmath(input.dtype());
  if (logits) tensors.lse = empty(spec.loss_sizes, opmath, input.device());
  tensors.weights = empty({}, opmath, input.device());
  return tensors;
}

Tensor launch_forward(const ClassSpec& spec, const Tensor& input, const ClassTensors& tensors) {
  const bool reduced = spec.reduction != ClassReduction::kNone;
  Tensor loss = empty(reduced ? Dims{} : spec.loss_sizes, input.dtype(), input.device());
  const Tensor scores = contiguous_memory(input);
  launch_or_widen(kernel::kClassLoss, {reads(scores), reads(tensors.weight), writes(loss)},
                  [&](const Tensor* const* t) {
                    ClassLossPlan plan = plan_of(spec, *t[0], *t[1], tensors);
                    plan.input = t[0]->data();
                    plan.loss = t[2]->data();
                    return plan;
                  });
  return loss;
}

// For log-probabilities `input` is not read and may be undefined.
Tensor launch_backward(const ClassSpec& spec, const Tensor& g, const Tensor& input,
                       const ClassTensors& tensors) {
  Tensor result = empty(spec.input_sizes, g.dtype(), g.device());
  if (result.numel() == 0) return result;
  const Tensor slope = contiguous_memory(g);
  const Tensor scores = input.defined() ? contiguous_memory(input) : result;
  launch_or_widen(kernel::kClassLoss,
                  {reads(scores), reads(tensors.weight), reads(slope), writes(result)},
                  [&](const Tensor* const* t) {
                    ClassLossPlan plan = plan_of(spec, *t[2], *t[1], tensors);
                    plan.backward = 1;
                    plan.input = t[0]->data();
                    plan.grad = t[2]->data();
                    plan.grad_input = t[3]->data();
                    return plan;
                  });
  return result;
}

Tensor nll_transposed(const Tensor& g, const ClassSpec& spec, const ClassTensors& tensors);

// ---- batches of gradients: each is a factor of the derivative of the loss itself ----

int64_t class_axis(const ClassSpec& spec) {
  return spec.input_sizes.size() == 1 ? 0 : 1;
}

Tensor ones_of_loss(const Backward& ctx, const ClassSpec& spec) {
  const Tensor& g = ctx.grad();
  const bool whole = spec.reduction != ClassReduction::kNone;
  return ones(whole ? Dims{} : spec.loss_sizes, g.dtype(), g.device());
}

// The gradient of the loss with an axis for the classes.
Tensor over_classes(const Backward& ctx, const ClassSpec& spec) {
  if (spec.reduction == ClassReduction::kNone) {
    return expand_dims(ctx.grad(), class_axis(spec) + ctx.lead());
  }
  Dims sizes(spec.input_sizes.size(), 1);
  return reshape(ctx.grad(), ctx.batched(sizes));
}

// Sums of each sample: over the classes, or over all where the loss is reduced.
Tensor sum_of_loss(const ClassSpec& spec, const Tensor& terms) {
  Dims axes;
  for (int64_t d = 1; d < terms.ndim(); ++d) {
    if (spec.reduction != ClassReduction::kNone || d == class_axis(spec) + 1) axes.push_back(d);
  }
  return sum(terms, DimsView(axes));
}

// The same without what a forward writes: the sum of the weights.
ClassTensors with_own_sum(const ClassTensors& tensors) {
  const Tensor& sum = tensors.weights;
  return {tensors.target, tensors.weight, {}, empty({}, sum.dtype(), sum.device())};
}

// The loss of log-probabilities, which is linear in them, and its transpose. Each is the other's
// derivative.
Tensor nll_forward(const Tensor& input, const ClassSpec& spec, const ClassTensors& tensors) {
  Tensor output = launch_forward(spec, input, tensors);
  if (needs_grad(input)) {
    record(
        output, "NllLossBackward", {input},
        {save_input(tensors.target), save_input(tensors.weight), save_input(tensors.weights)},
        TakesBatches{[spec](Backward& ctx) {
          const ClassTensors kept{ctx.saved(0), ctx.saved(1), {}, ctx.saved(2)};
          if (ctx.lead() == 0) return ctx.set(0, nll_transposed(ctx.grad(), spec, kept));
          const Tensor one = nll_transposed(ones_of_loss(ctx, spec), spec, kept);
          ctx.set(0, multiply(over_classes(ctx, spec), one));
        }},
        [&](Forward& ctx) { ctx.set(0, nll_forward(ctx.tangent(), spec, with_own_sum(tensors))); });
  }
  return output;
}

Tensor nll_transposed(const Tensor& g, const ClassSpec& spec, const ClassTensors& tensors) {
  Tensor output = launch_backward(spec, g, {}, tensors);
  if (needs_grad(g)) {
    record(output, "NllLossTransposedBackward", {g},
           {save_input(tensors.target), save_input(tensors.weight), save_input(tensors.weights)},
           TakesBatches{[spec](Backward& ctx) {
             ClassTensors kept{ctx.saved(0), ctx.saved(1), {}, ctx.saved(2)};
             if (ctx.lead() == 0) {
               kept.weights = empty({}, kernel::opmath(ctx.grad().dtype()), ctx.grad().device());
               return ctx.set(0, nll_forward(ctx.grad(), spec, kept));
             }
             const Tensor one = nll_transposed(ones_of_loss(ctx, spec), spec, kept);
             ctx.set(0, sum_of_loss(spec, multiply(ctx.grad(), one)));
           }},
           [&](Forward& ctx) { ctx.set(0, nll_transposed(ctx.tangent(), spec, tensors)); });
  }
  return output;
}

// dx = d - softmax(x) Σ d, where d is the derivative with respect to the log-probabilities.
Tensor cross_entropy_derivative(const Tensor& grad, const Tensor& input, const ClassSpec& spec,
                                const ClassTensors& tensors) {
  const Tensor g = in_opmath(grad);
  const Tensor x = in_opmath(input);
  const Tensor weight = in_opmath(tensors.weight);
  const Tensor d = nll_transposed(g, spec, {tensors.target, weight, {}, tensors.weights});
  const int64_t axis = x.ndim() == 1 ? 0 : 1;
  const Dims axes{axis};
  return subtract(d, multiply(softmax(x, axis), sum(d, DimsView(axes), true)));
}

// The tangent of the loss, Σ (dL/dx) t over the classes, or over all where the loss is reduced.
// What is to be recorded is the loss of the tangent of the log-probabilities, t - Σ softmax(x) t.
Tensor pushed_cross_entropy(const Tensor& tangent, const Tensor& x, const ClassSpec& spec,
                            const ClassTensors& tensors) {
  const int64_t axis = x.ndim() == 1 ? 0 : 1;
  const Dims axes{axis};
  const bool whole = spec.reduction != ClassReduction::kNone;
  if (!recording_enabled()) {
    const Tensor one = empty(whole ? Dims{} : spec.loss_sizes, x.dtype(), x.device());
    fill_memory(one, 1);
    const Tensor slope = launch_backward(spec, one, x, tensors);
    const Tensor parts = multiply(in_opmath(slope), in_opmath(tangent));
    return whole ? sum(parts) : sum(parts, DimsView(axes));
  }
  const Tensor t = in_opmath(tangent);
  const Tensor mean = sum(multiply(softmax(in_opmath(x), axis), t), DimsView(axes), true);
  ClassTensors wide = with_own_sum(tensors);
  wide.weight = in_opmath(wide.weight);
  return nll_forward(subtract(t, mean), spec, wide);
}

Tensor class_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                           const ClassSpec& spec) {
  const ClassTensors tensors = tensors_for(x, target, weight, spec, true);
  Tensor output = launch_forward(spec, x, tensors);
  if (needs_grad(x)) {
    record(
        output, "CrossEntropyBackward", {x},
        {save_input(x), save_input(tensors.target), save_input(tensors.weight),
         save_input(tensors.lse), save_input(tensors.weights)},
        TakesBatches{[spec](Backward& ctx) {
          const Tensor scores = ctx.saved(0);
          const ClassTensors kept{ctx.saved(1), ctx.saved(2), ctx.saved(3), ctx.saved(4)};
          const auto slope = [&](const Tensor& g) {
            return ctx.create_graph() ? cross_entropy_derivative(g, scores, spec, kept)
                                      : launch_backward(spec, g, scores, kept);
          };
          ctx.set(0, ctx.lead() == 0
                         ? slope(ctx.grad())
                         : multiply(over_classes(ctx, spec), slope(ones_of_loss(ctx, spec))));
        }},
        [&](Forward& ctx) { ctx.set(0, pushed_cross_entropy(ctx.tangent(), x, spec, tensors)); });
  }
  return output;
}

// ---- probability targets ----

// In opmath, so that 16-bit floats are rounded once, at the end.
Tensor soft_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                          ClassReduction reduction, double smoothing) {
  const Tensor x = in_opmath(input);
  const int64_t axis = x.ndim() == 1 ? 0 : 1;
  const auto classes = x.size(axis);
  Tensor goal = in_opmath(target);
  if (smoothing > 0) {
    goal = add(multiply(goal, 1 - smoothing), smoothing / static_cast<double>(classes));
  }
  if (weight.defined()) {
    Dims shape(static_cast<size_t>(x.ndim()), int64_t{1});
    shape[static_cast<size_t>(axis)] = classes;
    goal = multiply(goal, reshape(in_opmath(weight), shape));
  }
  const Tensor terms = multiply(log_softmax(x, axis), goal);
  const Dims axes{axis};
  return astype(reduce(negative(sum(terms, DimsView(axes))), reduction), input.dtype());
}

void check_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight) {
  TSR_CHECK(target.ndim() + 1 != input.ndim(), Code::kDType, "target",
            "class numbers must be integers; expected an integer dtype for a target of shape ",
            target.sizes(), ", got ", target.dtype());
  TSR_CHECK(target.dtype() == input.dtype(), Code::kDType, "target",
            "expected class numbers of an integer dtype or probabilities of ", input.dtype(),
            ", got ", target.dtype());
  TSR_CHECK(target.sizes() == input.sizes(), Code::kShape, "target", "expected shape ",
            input.sizes(), " for probabilities, got ", target.sizes());
  check_class_weight(input, weight, input.size(input.ndim() == 1 ? 0 : 1));
}

// ---- binary cross entropy ----

// log(1 + exp(-|x|)), so that log σ(x) = min(x, 0) - this.
Tensor log_one_plus(const Tensor& x) {
  return log1p(exp(negative(abs(x))));
}

// (1 - t) x + (1 + (p - 1) t) (log(1 + exp(-|x|)) + max(-x, 0)); without p a kernel computes it.
Tensor logits_value(const Tensor& x, const Tensor& t, const Tensor& p) {
  const Tensor soft = add(log_one_plus(x), relu(negative(x)));
  const Tensor flat = multiply(subtract(1, t), x);
  return add(flat, multiply(add(multiply(subtract(p, 1), t), 1), soft));
}

// dx = (1 - t + p t) σ(x) - p t
Tensor logits_slope(const Tensor& x, const Tensor& t, const Tensor& p) {
  const Tensor own = p.defined() ? multiply(p, t) : t;
  const Tensor s = sigmoid(x);
  if (!p.defined()) return subtract(s, t);
  return subtract(multiply(add(subtract(1, t), own), s), own);
}

// dt = log(1 - σ(x)) - p log σ(x)
Tensor target_slope(const Tensor& x, const Tensor& p) {
  if (!p.defined()) return negative(x);
  const Tensor tail = log_one_plus(x);
  const Tensor log_no = negative(add(tail, relu(x)));
  const Tensor log_yes = negative(add(tail, relu(negative(x))));
  return subtract(log_no, multiply(p, log_yes));
}

// dp = t (log(1 + exp(-|x|)) + max(-x, 0))
Tensor pos_weight_slope(const Tensor& x, const Tensor& t) {
  return multiply(t, add(log_one_plus(x), relu(negative(x))));
}

Tensor logits_loss(const Tensor& x, const Tensor& t, const Tensor& p) {
  const bool grad = needs_grad(x, t, p);
  Tensor output;
  if (p.defined()) {
    const Unrecorded pause;
    output = astype(logits_value(in_opmath(x), in_opmath(t), in_opmath(p)), x.dtype());
  } else {
    output = empty(x.sizes(), x.dtype(), x.device());
    if (output.numel() != 0) {
      const kernel::Elementwise walk(output, {x, t});
      kernel::launch(kernel::kBinary, x.device(), kernel::BinaryOp::kCrossEntropyOfLogits,
                     walk.plan());
    }
  }
  if (grad) {
    record(
        output, "BinaryCrossEntropyWithLogitsBackward", {x, t, p},
        {save_input(x), save_input(t), save_input(p)},
        [](Backward& ctx) {
          const Tensor g = in_opmath(ctx.grad());
          const Tensor a = in_opmath(ctx.saved(0));
          const Tensor b = in_opmath(ctx.saved(1));
          const Tensor c = in_opmath(ctx.saved(2));
          if (ctx.needs(0)) ctx.set(0, multiply(g, logits_slope(a, b, c)));
          if (ctx.needs(1)) ctx.set(1, multiply(g, target_slope(a, c)));
          if (ctx.needs(2)) ctx.set(2, multiply(g, pos_weight_slope(a, b)));
        },
        kElementwise);
  }
  return output;
}

void check_logits(const Tensor& input, const Tensor& tensor, const char* arg) {
  if (!tensor.defined()) return;
  check_like(tensor, arg, input);
  broadcast_strides(tensor.sizes(), tensor.strides(), input.sizes(), arg);
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index, std::string_view reduction, double label_smoothing) {
  TSR_CHECK(label_smoothing >= 0 && label_smoothing <= 1, Code::kValue, "label_smoothing",
            "expected a number in [0, 1], got ", label_smoothing);
  check_scores(input, target);
  if (is_floating(target.dtype())) {
    check_probabilities(input, target, weight);
    return soft_cross_entropy(input, target, weight, reduction_of(reduction), label_smoothing);
  }
  ClassSpec spec = check_classes(input, target, weight, ignore_index, reduction);
  spec.smoothing = label_smoothing;
  return class_cross_entropy(input, target, weight, spec);
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                int64_t ignore_index, std::string_view reduction) {
  const ClassSpec spec = check_classes(input, target, weight, ignore_index, reduction);
  return nll_forward(input, spec, tensors_for(input, target, weight, spec, false));
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(target.sizes() == input.sizes(), Code::kShape, "target", "expected shape ",
            input.sizes(), " as input, got ", target.sizes());
  check_logits(input, target, "target");
  check_logits(input, weight, "weight");
  check_logits(input, pos_weight, "pos_weight");
  if (!weight.defined()) return reduce(logits_loss(input, target, pos_weight), kind);
  const Tensor loss = logits_loss(in_opmath(input), in_opmath(target), in_opmath(pos_weight));
  return astype(reduce(multiply(loss, in_opmath(weight)), kind), input.dtype());
}

}  // namespace tsr::ops
