// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/push_forward.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "autograd/engine.h"
#include "autograd/forward.h"
#include "autograd/gradient_ops.h"
#include "autograd/ownership.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"

namespace tsr {

Tensor Forward::tangent_or_zeros(size_t i, const Tensor& input) const {
  if (has(i)) return tangent(i);
  return gradient_ops().zeros(input.sizes(), input.dtype(), input.device());
}

void Forward::add(size_t k, const Tensor& tangent) {
  Tensor& sum = results_[k];
  sum = sum.defined() ? gradient_ops().add(sum, tangent) : tangent;
}

namespace detail {
namespace {

uint64_t bit_of(size_t input) {
  return input < 64 ? uint64_t{1} << input : 0;
}

Tensor conj_of(Tensor tensor) {
  return is_complex(tensor.dtype()) ? gradient_ops().conj(tensor) : std::move(tensor);
}

// Adds in place where nobody can tell.
void add_to(Tensor& sum, Tensor part) {
  if (!sum.defined()) {
    sum = std::move(part);
  } else if (!recording_enabled() && owns_alone(sum) && sum.sizes() == part.sizes() &&
             sum.dtype() == part.dtype() && !may_overlap_itself(sum.sizes(), sum.strides())) {
    gradient_ops().add_inplace(sum, part);
  } else {
    sum = gradient_ops().add(sum, part);
  }
}

Tensor push_elementwise(Node* node, const ForwardRule& rule, const ForwardUse& use,
                        const Tensor& output, std::span<const Tensor> tangents) {
  constexpr size_t kFew = 4;
  std::array<Tensor, kFew> few;
  SmallVector<Tensor, 1> many;
  if (tangents.size() > kFew) many.resize(tangents.size());
  const std::span<Tensor> parts(many.empty() ? few.data() : many.data(), tangents.size());
  Tensor sum;
  for (size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) continue;
    Tensor grad = tangents[i];
    if (!fits_as_tangent(grad, output)) {
      grad = fit_tangent(std::move(grad), output.sizes(), output.dtype());
    }
    grad = conj_of(std::move(grad));
    Backward ctx(node, use, {&grad, 1}, parts, bit_of(i));
    rule.derive(ctx);
    if (parts[i].defined()) add_to(sum, conj_of(std::move(parts[i])));
    // The derivative may have set what was not asked for.
    for (Tensor& part : parts) part = {};
  }
  return sum;
}

}  // namespace

// The derivative is a linear map from gradients of outputs to gradients of inputs. Applied to
// variables and differentiated by them in the direction of the tangents it gives its transpose.
void push_transposed(Node& node, const ForwardUse& use, const TensorRefs& outputs,
                     std::span<const Tensor> tangents, std::span<Tensor> results) {
  std::vector<Tensor> variables;
  std::vector<size_t> places;
  SmallVector<Tensor, 2> grads(std::max<size_t>(outputs.size(), 1));
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!node.outputs()[k].differentiable) continue;
    const Tensor& output = outputs[k];
    grads[k] = gradient_ops().zeros(output.sizes(), output.dtype(), output.device());
    set_requires_grad(grads[k], true);
    variables.push_back(grads[k]);
    places.push_back(k);
  }
  SmallVector<Tensor, 4> parts(tangents.size());
  {
    const EnableGrad on;
    const SavedTensorHooksOff unseen;
    uint64_t needs = 0;
    for (size_t i = 0; i < tangents.size(); ++i) needs |= tangents[i].defined() ? bit_of(i) : 0;
    Backward ctx(&node, use, {grads.data(), grads.size()}, {parts.data(), parts.size()}, needs);
    node.apply(ctx);
  }
  std::vector<Tensor> found;
  std::vector<Tensor> weights;
  for (size_t i = 0; i < parts.size(); ++i) {
    // What does not depend on the variables is zero.
    if (!tangents[i].defined() || !parts[i].defined() || !requires_grad(parts[i])) continue;
    found.push_back(parts[i]);
    weights.push_back(fit_tangent(tangents[i], parts[i].sizes(), parts[i].dtype()));
  }
  if (found.empty()) return;
  const std::vector<Tensor> pushed =
      grad(found, variables, weights, {.create_graph = grad_enabled()}, true);
  for (size_t k = 0; k < places.size(); ++k) results[places[k]] = pushed[k];
}

void push_rule(Node* node, const ForwardRule& rule, const ForwardUse& use,
               const TensorRefs& outputs, std::span<const Tensor> tangents,
               std::span<Tensor> results) {
  if (rule.is_elementwise()) {
    results[0] = push_elementwise(node, rule, use, outputs[0], tangents);
  } else {
    Forward ctx(node, use, tangents, results);
    rule(ctx);
  }
}

}  // namespace detail
}  // namespace tsr
