// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/pair_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/nn/activation.h"
#include "ops/nn/distance.h"
#include "ops/nn/loss_reduction.h"
#include "ops/opmath.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary_run.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;
using kernel::ClassReduction;

// 16-bit losses compute in float32 and are rounded once, when they are reduced.
Tensor finished(const Tensor& loss, ClassReduction reduction, const Tensor& input) {
  return astype(reduce(loss, reduction), input.dtype());
}

// max(x, 0), whose gradient passes at 0, as PyTorch's clamp does.
Tensor not_below_zero(const Tensor& x) {
  return clip(x, Scalar(0), std::nullopt);
}

// An input and a target that may be complex, which only a complex input's may be.
void check_numbers(const Tensor& input, const Tensor& target) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
  TSR_CHECK(is_complex(input.dtype()) || !is_complex(target.dtype()), Code::kDType, "target",
            "expected a real dtype as input, got ", target.dtype());
  check_target(input, target);
}

// ---- losses of a difference: one kernel for the value, one for the derivative ----

struct Huber {
  const char* node;
  double delta, scale;
};

Tensor huber_slope(const Huber& loss, const Tensor& g, const Tensor& a, const Tensor& b) {
  const Tensor x = subtract(a, b);
  const bool limited = std::isfinite(loss.delta);
  return multiply(
      g, multiply(limited ? clip(x, Scalar(-loss.delta), Scalar(loss.delta)) : x, loss.scale));
}
Tensor fused_huber_slope(const Huber& loss, const Tensor& g, const Tensor& a, const Tensor& b) {
  Result result = allocate({}, a.sizes(), a.dtype(), a.device(), false, {&a, &b});
  if (result.value().numel() != 0) {
    kernel::Elementwise walk(result.value(), {g, a, b});
    walk.param(0, loss.delta, a.dtype()).param(1, loss.scale, a.dtype());
    kernel::launch(kernel::kTernary, a.device(), kernel::TernaryOp::kHuberOfPairGrad, walk.plan());
  }
  return result.finish();
}

Tensor huber_of(const Huber& loss, const Tensor& a, const Tensor& b) {
  const bool grad = needs_grad(a, b);
  Result result = allocate({}, a.sizes(), a.dtype(), a.device(), grad, {&a, &b});
  if (result.value().numel() != 0) {
    kernel::Elementwise walk(result.value(), {a, b});
    walk.param(0, loss.delta, a.dtype()).param(1, loss.scale, a.dtype());
    kernel::launch(kernel::kBinary, a.device(), BinaryOp::kHuberOfPair, walk.plan());
  }
  Tensor output = result.finish();
  if (!grad) return output;
  record(
      output, loss.node, {a, b}, {save_input(a), save_input(b)},
      [loss](Backward& ctx) {
        // The fused pass has no axis of samples.
        const Tensor slope = ctx.create_graph() || ctx.lead() != 0
                                 ? huber_slope(loss, ctx.grad(), ctx.saved(0), ctx.saved(1))
                                 : fused_huber_slope(loss, ctx.grad(), ctx.saved(0), ctx.saved(1));
        if (ctx.needs(0)) ctx.set(0, slope);
        if (ctx.needs(1)) ctx.set(1, negative(slope));
      },
      kElementwise);
  return output;
}

// The loss of input and target in their common dtype.
Tensor huber_loss_of(const Huber& loss, const Tensor& input, const Tensor& target,
                     ClassReduction reduction) {
  check_pair(input, target);
  const DType dtype = promote_types(input.dtype(), target.dtype(), "target");
  TSR_CHECK(is_floating(dtype), Code::kDType, "target", "expected a real dtype, got ",
            target.dtype());
  return reduce(huber_of(loss, astype(input, dtype), astype(target, dtype)), reduction);
}

// ---- binary cross entropy of probabilities ----

Tensor limited_log(const Tensor& value) {
  return clip(value, Scalar(-100.0), std::nullopt);
}

// (p - t) / max(p (1 - p), 1e-12)
Tensor entropy_slope(const Tensor& g, const Tensor& p, const Tensor& t) {
  const Tensor spread = maximum(multiply(subtract(1, p), p), 1e-12);
  return multiply(g, divide(subtract(p, t), spread));
}
Tensor fused_entropy_slope(const Tensor& g, const Tensor& p, const Tensor& t) {
  Tensor result = empty(p.sizes(), p.dtype(), p.device());
  if (result.numel() == 0) return result;
  const kernel::Elementwise walk(result, {g, p, t});
  kernel::launch(kernel::kTernary, p.device(), kernel::TernaryOp::kCrossEntropyOfPairGrad,
                 walk.plan());
  return result;
}

Tensor entropy_of_pair(const Tensor& p, const Tensor& t) {
  const bool grad = needs_grad(p, t);
  const Tensor output = empty(p.sizes(), p.dtype(), p.device());
  if (output.numel() != 0) {
    const kernel::Elementwise walk(output, {p, t});
    kernel::launch(kernel::kBinary, p.device(), BinaryOp::kCrossEntropyOfPair, walk.plan());
  }
  if (grad) {
    record(output, "BinaryCrossEntropyBackward", {p, t}, {save_input(p), save_input(t)},
           TakesBatches{[](Backward& ctx) {
             const Tensor a = ctx.saved(0);
             const Tensor b = ctx.saved(1);
             if (ctx.needs(0)) {
               ctx.set(0, ctx.create_graph() || ctx.lead() == 1
                              ? entropy_slope(ctx.grad(), a, b)
                              : fused_entropy_slope(ctx.grad(), a, b));
             }
             if (ctx.needs(1)) {
               const Tensor wide = in_opmath(a);
               const Tensor no = limited_log(log1p(negative(wide)));
               ctx.set(1, multiply(ctx.grad(), subtract(no, limited_log(log(wide)))));
             }
           }});
  }
  return output;
}

// log(t!) for t above 1 by Stirling's formula, 0 elsewhere.
Tensor log_factorial(const Tensor& t) {
  const Tensor small = less_equal(t, 1);
  const Tensor x = where(small, 1.0, t);
  const Tensor root = multiply(log(multiply(x, 2 * std::numbers::pi)), 0.5);
  return where(small, 0.0, add(subtract(multiply(x, log(x)), x), root));
}

// ---- classes ----

struct Scores {
  Tensor x;  // (batch, classes) in opmath
  int64_t batch, classes;
  Dims loss_sizes;  // of the unreduced loss
};
Scores scores_of(const Tensor& input) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK((input.ndim() == 1 || input.ndim() == 2) && input.size(input.ndim() - 1) > 0,
            Code::kShape, "input",
            "expected (batch, classes) or (classes) with at least 1 class, got shape ",
            input.sizes());
  const bool single = input.ndim() == 1;
  Scores scores{in_opmath(input), single ? 1 : input.size(0), input.size(single ? 0 : 1), {}};
  if (single) scores.x = expand_dims(scores.x, 0);
  if (!single) scores.loss_sizes.push_back(scores.batch);
  return scores;
}

void check_labels(const Tensor& input, const Tensor& target, DimsView shape) {
  check_same_device(input, target, "target");
  TSR_CHECK(is_integral(target.dtype()), Code::kDType, "target",
            "class numbers must be integers; expected an integer dtype, got ", target.dtype());
  TSR_CHECK(std::ranges::equal(target.sizes(), shape), Code::kShape, "target", "expected shape ",
            shape, " for an input of shape ", input.sizes(), ", got ", target.sizes());
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
  check_target(input, target);
  return reduce(abs(subtract(input, target)), kind);
}

Tensor mse_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  const Huber squares{"MseLossBackward", std::numeric_limits<double>::infinity(), 2};
  return huber_loss_of(squares, input, target, kind);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                      double beta) {
  TSR_CHECK(beta >= 0, Code::kValue, "beta", "expected at least 0, got ", beta);
  if (beta == 0) return l1_loss(input, target, reduction);
  const ClassReduction kind = reduction_of(reduction);
  return huber_loss_of({"SmoothL1LossBackward", beta, 1 / beta}, input, target, kind);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                  double delta) {
  TSR_CHECK(delta > 0, Code::kValue, "delta", "expected a number above 0, got ", delta);
  const ClassReduction kind = reduction_of(reduction);
  return huber_loss_of({"HuberLossBackward", delta, 1}, input, target, kind);
}

Tensor kl_div(const Tensor& input, const Tensor& target, std::string_view reduction,
              bool log_target) {
  const bool per_batch = reduction == "batchmean";
  const ClassReduction kind = per_batch ? ClassReduction::kSum : reduction_of(reduction);
  check_pair(input, target);
  const Tensor x = in_opmath(input);
  const Tensor t = in_opmath(target);
  const Tensor loss =
      log_target ? multiply(exp(t), subtract(t, x)) : subtract(xlogy(t, t), multiply(t, x));
  if (!per_batch) return finished(loss, kind, input);
  const int64_t batch = input.ndim() == 0 ? 1 : input.size(0);
  return astype(divide(reduce(loss, kind), batch), input.dtype());
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  check_pair(input, target);
  check_like(target, "target", input);
  if (weight.defined()) {
    check_like(weight, "weight", input);
    broadcast_strides(weight.sizes(), weight.strides(), input.sizes(), "weight");
  }
  if (!weight.defined()) return reduce(entropy_of_pair(input, target), kind);
  const Tensor loss = entropy_of_pair(in_opmath(input), in_opmath(target));
  return finished(multiply(loss, in_opmath(weight)), kind, input);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  check_numbers(input, target);
  TSR_CHECK(!full || !is_complex(input.dtype()), Code::kDType, "input",
            "expected a floating dtype with full, got ", input.dtype());
  const Tensor x = in_opmath(input);
  const Tensor t = in_opmath(target);
  Tensor loss =
      log_input ? subtract(exp(x), multiply(t, x)) : subtract(x, multiply(t, log(add(x, eps))));
  if (full) loss = add(loss, log_factorial(t));
  return finished(loss, kind, input);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, std::string_view reduction) {
  TSR_CHECK(eps > 0, Code::kValue, "eps", "expected a number above 0, got ", eps);
  const ClassReduction kind = reduction_of(reduction);
  check_pair(input, target);
  check_like(var, "var", input);
  // One variance for each last axis may come without it.
  const bool lacks_axis = input.ndim() > 0 && var.ndim() == input.ndim() - 1;
  Tensor v = in_opmath(lacks_axis ? expand_dims(var, -1) : var);
  broadcast_strides(v.sizes(), v.strides(), input.sizes(), "var");
  // The limit changes the value and lets the gradient through.
  v = add(maximum(v.detached(), eps), subtract(v, v.detached()));
  const Tensor squared = square(subtract(in_opmath(input), in_opmath(target)));
  Tensor loss = multiply(add(log(v), divide(squared, v)), 0.5);
  if (full) loss = add(loss, 0.5 * std::log(2 * std::numbers::pi));
  return finished(loss, kind, input);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  check_numbers(input, target);
  const Tensor agreement = multiply(in_opmath(input), target);
  if (is_complex(input.dtype())) return finished(log1p(exp(negative(agreement))), kind, input);
  return finished(negative(logsigmoid(agreement)), kind, input);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  check_pair(input, target);
  const Tensor x = in_opmath(input);
  const Tensor far = where(not_equal(target, 1), not_below_zero(subtract(margin, x)), 0.0);
  const Tensor near = where(not_equal(target, -1), x, 0.0);
  return finished(add(far, near), kind, input);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  TSR_CHECK(is_floating(input1.dtype()), Code::kDType, "input1", "expected a floating dtype, got ",
            input1.dtype());
  check_same_device(input1, input2, "input2");
  check_same_device(input1, target, "target");
  const Tensor lead = subtract(in_opmath(input2), in_opmath(input1));
  const Tensor loss = not_below_zero(add(multiply(lead, target), margin));
  return finished(loss, kind, input1);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, std::string_view reduction) {
  constexpr double kEps = 1e-12;  // added to each squared length, as in PyTorch
  const ClassReduction kind = reduction_of(reduction);
  check_pair(input1, input2);
  check_same_device(input1, target, "target");
  TSR_CHECK(input1.ndim() == 1 || input1.ndim() == 2, Code::kShape, "input1",
            "expected (batch, features) or (features), got shape ", input1.sizes());
  const Dims wanted(input1.sizes().begin(), input1.sizes().end() - 1);
  TSR_CHECK(target.sizes() == wanted, Code::kShape, "target", "expected shape ", wanted,
            " for inputs of shape ", input1.sizes(), ", got ", target.sizes());
  const Tensor a = in_opmath(input1);
  const Tensor b = in_opmath(input2);
  const Dims axes{-1};
  const Tensor product = sum(multiply(a, b), DimsView(axes));
  const Tensor size_a = add(sum(square(a), DimsView(axes)), kEps);
  const Tensor size_b = add(sum(square(b), DimsView(axes)), kEps);
  const Tensor cosine = divide(product, sqrt(multiply(size_a, size_b)));
  const Tensor alike = where(equal(target, 1), subtract(1, cosine), 0.0);
  const Tensor apart = where(equal(target, -1), not_below_zero(subtract(cosine, margin)), 0.0);
  return finished(add(alike, apart), kind, input1);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& like, const Tensor& unlike,
                           double margin, double p, double eps, bool swap,
                           std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  TSR_CHECK(is_differentiable(anchor.dtype()), Code::kDType, "anchor",
            "expected a floating or complex dtype, got ", anchor.dtype());
  const Tensor a = in_opmath(anchor);
  const Tensor b = in_opmath(like);
  const Tensor c = in_opmath(unlike);
  const Tensor near = pairwise_distance(a, b, p, eps);
  Tensor far = pairwise_distance(a, c, p, eps);
  if (swap) far = minimum(far, pairwise_distance(b, c, p, eps));
  const Tensor loss = reduce(not_below_zero(add(subtract(near, far), margin)), kind);
  return astype(loss, real_dtype(anchor.dtype()));
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, double p, double margin,
                         const Tensor& weight, std::string_view reduction) {
  TSR_CHECK(p == 1 || p == 2, Code::kValue, "p", "expected 1 or 2, got ", p);
  const ClassReduction kind = reduction_of(reduction);
  const Scores scores = scores_of(input);
  check_labels(input, target, scores.loss_sizes);
  check_class_weight(input, weight, scores.classes);
  const Dims column{scores.batch, 1};
  const Tensor labels = reshape(astype(target, DType::kInt64), column);
  const Tensor own = gather(scores.x, 1, labels);
  Tensor excess = relu(add(subtract(scores.x, own), margin));
  if (p == 2) excess = square(excess);
  if (weight.defined()) {
    const Dims flat{scores.batch};
    const Tensor chosen = index_select(in_opmath(weight), 0, reshape(labels, flat));
    excess = multiply(excess, reshape(chosen, column));
  }
  const Tensor numbers = arange(0, scores.classes, 1, DType::kInt64, input.device());
  const Tensor others = where(equal(numbers, labels), 0.0, excess);
  const Dims axes{1};
  const Tensor loss = reshape(mean(others, DimsView(axes)), scores.loss_sizes);
  return finished(loss, kind, input);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  const Scores scores = scores_of(input);
  check_labels(input, target, input.sizes());
  const Dims shape{scores.batch, scores.classes};
  const Tensor given = reshape(astype(target, DType::kInt64), shape);
  const Tensor ended = cumulative_sum(astype(equal(given, -1), DType::kInt64), 1);
  const Tensor whole = equal(ended, 0);
  // The labels stand in front, and are mostly few: the differences below are one for each label and
  // class.
  const bool empty = scores.batch == 0 || scores.classes == 0;
  const Dims along{1};
  const Tensor counts = sum(whole, DimsView(along), false, DType::kInt64);
  const int64_t most = empty ? 0 : std::max<int64_t>(1, read<int64_t>(max(counts)));
  const Tensor valid = narrow(whole, 1, 0, most);
  const Tensor labels = where(valid, narrow(given, 1, 0, most), 0);
  const DType dtype = scores.x.dtype();
  const Tensor none = zeros(shape, dtype, input.device());
  const Tensor hits = scatter_add(none, 1, labels, astype(valid, dtype));
  const Tensor others = equal(hits, 0);
  // (batch, label, class)
  const Tensor own = expand_dims(gather(scores.x, 1, labels), 2);
  const Tensor excess = relu(add(subtract(expand_dims(scores.x, 1), own), 1));
  // Chosen, not multiplied by a mask: a place without a label may have an infinite excess.
  const Tensor counted =
      where(logical_and(expand_dims(valid, 2), expand_dims(others, 1)), excess, 0.0);
  const Dims axes{1, 2};
  const Tensor total = divide(sum(counted, DimsView(axes)), scores.classes);
  return finished(reshape(total, scores.loss_sizes), kind, input);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   std::string_view reduction) {
  const ClassReduction kind = reduction_of(reduction);
  check_pair(input, target);
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input", "expected at least 1 dimension, got 0");
  const Tensor x = in_opmath(input);
  const Tensor t = in_opmath(target);
  const Tensor yes = multiply(t, logsigmoid(x));
  Tensor loss = negative(add(yes, multiply(subtract(1, t), logsigmoid(negative(x)))));
  if (weight.defined()) {
    check_same_device(input, weight, "weight");
    broadcast_strides(weight.sizes(), weight.strides(), input.sizes(), "weight");
    loss = multiply(loss, in_opmath(weight));
  }
  const Dims axes{-1};
  return finished(mean(loss, DimsView(axes)), kind, input);
}

}  // namespace tsr::ops
