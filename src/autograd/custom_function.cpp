// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/custom_function.h"

#include <algorithm>

#include "autograd/error_node.h"
#include "autograd/forward.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "kernel/kept_launch.h"

namespace tsr {

CustomNode::CustomNode(std::string name, std::span<const Tensor> inputs,
                       std::unique_ptr<CustomFunction> function)
    : Node(""), text_(std::move(name)), function_(std::move(function)) {
  set_name(text_.c_str());
  for (const Tensor& input : inputs) {
    needs_.push_back(needs_history(input));
    records_ = records_ || needs_.back();
  }
  const bool dual = std::any_of(inputs.begin(), inputs.end(), has_tangent);
  TSR_CHECK(!dual || function_->has_jvp(), Code::kAutograd, "inputs", "expected tensors without ",
            "tangent, because ", text_, " has no jvp, got a dual tensor");
  if (!records_ && !dual) return;
  inputs_.assign(inputs.begin(), inputs.end());
  if (dual) keep_tangents();
}

void CustomFunction::jvp(CustomNode& node, std::span<const Tensor>, std::span<Tensor>) {
  TSR_ASSERT(false, node.name(), " has no jvp");
}

void CustomNode::keep_tangents() {
  for (ForwardLevel* level = t_forward_mode.level; level != nullptr; level = outer_level(*level)) {
    std::vector<Tensor> found;
    for (const Tensor& input : inputs_) found.push_back(tangent_of(input, *level));
    const bool any = std::any_of(found.begin(), found.end(),
                                 [](const Tensor& tangent) { return tangent.defined(); });
    if (any) tangents_.emplace_back(number_of(*level), std::move(found));
  }
}

IntrusivePtr<CustomNode> CustomNode::create(std::string name, std::span<const Tensor> inputs,
                                            std::unique_ptr<CustomFunction> function) {
  return IntrusivePtr<CustomNode>::adopt(
      new CustomNode(std::move(name), inputs, std::move(function)));
}

bool CustomNode::needs_input_grad(size_t input) const {
  TSR_CHECK(input < needs_.size(), Code::kIndex, nullptr, "expected the number of one of ",
            needs_.size(), " inputs, got ", input);
  return needs_[input];
}

void CustomNode::save(std::span<const Tensor> tensors) {
  if (!records_ && tangents_.empty()) return;
  for (const Tensor& tensor : tensors) pending_.push_back(tensor);
  if (attached_) save_pending({});
}

void CustomNode::mark_dirty(std::span<const Tensor> tensors) {
  dirty_.insert(dirty_.end(), tensors.begin(), tensors.end());
}

void CustomNode::mark_non_differentiable(std::span<const Tensor> outputs) {
  non_differentiable_.insert(non_differentiable_.end(), outputs.begin(), outputs.end());
}

namespace {

bool contains(std::span<const Tensor> tensors, const Tensor& tensor) noexcept {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& each) { return each.is_same(tensor); });
}

}  // namespace

bool CustomNode::is_dirty(const Tensor& tensor) const noexcept {
  return contains(dirty_, tensor);
}

void CustomNode::check_outputs(std::span<const Tensor> outputs) const {
  for (const Tensor& tensor : dirty_) {
    TSR_CHECK(contains(outputs, tensor), Code::kAutograd, "outputs", "expected every tensor that ",
              name(), " marked dirty to be one of its outputs, got one that is not");
  }
  for (const Tensor& input : inputs_) {
    TSR_CHECK(!input.defined() || is_dirty(input) || !contains(outputs, input), Code::kAutograd,
              "outputs", "expected new tensors, or inputs that ", name(),
              " marked dirty, got an input as it is; return an alias of it");
  }
}

bool CustomNode::has_gradient(const Tensor& output) const noexcept {
  return output.defined() && !contains(non_differentiable_, output) &&
         is_differentiable(output.dtype());
}

// The node of a write through a view runs as a part of the node of the base. Another output would
// run it a second time.
void CustomNode::check_dirty_views(std::span<const Tensor> outputs) const {
  const auto differentiable = std::count_if(
      outputs.begin(), outputs.end(), [&](const Tensor& output) { return has_gradient(output); });
  if (!records_ || differentiable < 2) return;
  for (const Tensor& output : outputs) {
    const bool through_base = has_gradient(output) && contains(inputs_, output) &&
                              output.has(kViewFlag) && looks_into_base(output, *record_of(output));
    TSR_CHECK(!through_base, Code::kAutograd, "outputs", "expected ", name(),
              " to have one differentiable output, because it writes into a view in place, got ",
              differentiable, "; return the view alone, or write into a clone");
  }
}

ForwardLevel& CustomNode::open_level(int64_t number) const {
  ForwardLevel* level = find_level(number);
  TSR_CHECK(level != nullptr, Code::kAutograd, nullptr, "expected the outputs of ", name(),
            " to be attached while level ", number,
            " of forward mode, at which an input was dual, is open on this thread, got a level "
            "that has been left or is another thread's");
  return *level;
}

void CustomNode::attach(std::span<const Tensor> outputs) {
  TSR_CHECK(!attached_, Code::kAutograd, nullptr, "expected one call of attach, got a second");
  check_outputs(outputs);
  check_dirty_views(outputs);
  for (const auto& [level, tangents] : tangents_) (void)open_level(level);
  attached_ = true;
  for (const Tensor& output : outputs) {
    if (!output.defined() || !is_dirty(output)) continue;
    // The tangent is written below.
    const ForwardOff off(t_forward_mode.off || !tangents_.empty());
    begin_inplace(output, records_);
  }
  if (records_ || !tangents_.empty()) record_outputs(outputs);
  if (!tangents_.empty()) push_forward(outputs);
  forget_arguments();
}

void CustomNode::forget_arguments() noexcept {
  forward_saved_.clear();
  inputs_.clear();
  dirty_.clear();
  non_differentiable_.clear();
}

void CustomNode::record_outputs(std::span<const Tensor> outputs) {
  for (const Tensor& input : inputs_) {
    add_edge(records_ && input.defined() ? gradient_edge(input) : Edge{});
  }
  for (const Tensor& output : outputs) {
    add_output(output, has_gradient(output));
  }
  save_pending(outputs);
  for (uint32_t k = 0; records_ && k < outputs.size(); ++k) attach_output(outputs[k], k);
}

void CustomNode::push_forward(std::span<const Tensor> outputs) {
  auto by_level = std::exchange(tangents_, {});
  std::reverse(by_level.begin(), by_level.end());  // from the outermost, as for every op
  for (auto& [number, tangents] : by_level) {
    ForwardLevel& level = open_level(number);
    const BelowLevel below(level);
    std::vector<Tensor> results(outputs.size());
    function_->jvp(*this, tangents, results);
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!this->outputs()[k].differentiable) continue;
      check_tangent(results[k], k);
      // A view that forward returns has the tangent of jvp, and not the one of its base.
      if (outputs[k].has(kViewFlag) && !is_dirty(outputs[k])) leave_base(outputs[k]);
      set_tangent(outputs[k], level, std::move(results[k]));
    }
  }
  for (uint32_t k = 0; records_ && k < outputs.size(); ++k) copy_output_tangents(k, outputs[k]);
}

void CustomNode::check_tangent(const Tensor& result, size_t output) const {
  if (!result.defined()) return;
  const OutputMeta& meta = outputs()[output];
  TSR_CHECK(result.sizes() == meta.sizes && result.device() == meta.device &&
                is_complex(result.dtype()) == is_complex(meta.dtype),
            Code::kAutograd, nullptr, "expected the jvp of ", name(),
            " to return a tangent for its output ", output, " like the output, ", meta.dtype, " ",
            meta.sizes, " on ", meta.device, ", got ", result.dtype(), " ", result.sizes(), " on ",
            result.device());
}

void CustomNode::save_for_forward(std::span<const Tensor> tensors) {
  forward_saved_.assign(tensors.begin(), tensors.end());
}

const Tensor& CustomNode::saved_for_forward(size_t index) const {
  TSR_CHECK(index < forward_saved_.size(), Code::kIndex, nullptr,
            "expected the number of one of the ", forward_saved_.size(),
            " tensors that are saved for forward, got ", index);
  return forward_saved_[index];
}

void CustomNode::attach_output(const Tensor& output, uint32_t index) {
  if (!this->outputs()[index].differentiable) return;
  const auto input = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const Tensor& other) { return other.is_same(output); });
  NodePtr self = NodePtr::share(this);
  if (input != inputs_.end()) {
    rebase_history(output, std::move(self), index, static_cast<size_t>(input - inputs_.begin()));
    return;
  }
  set_history(output, std::move(self), index);
  if (output.has(kViewFlag)) record_of(output)->view_kind = ViewKind::kCustom;
}

void CustomNode::save_pending(std::span<const Tensor> outputs) {
  for (const Tensor& tensor : std::exchange(pending_, {})) Node::save(make_saved(tensor, outputs));
}

// Outputs are recognised by identity, or after attach by their history.
SavedTensor CustomNode::make_saved(const Tensor& tensor, std::span<const Tensor> outputs) const {
  using Kind = SavedTensor::Kind;
  if (!tensor.defined()) return {};
  const auto same = [&](const Tensor& other) { return other.is_same(tensor); };
  const auto output = std::find_if(outputs.begin(), outputs.end(), same);
  if (output != outputs.end()) {
    const auto k = static_cast<uint32_t>(output - outputs.begin());
    if (this->outputs()[k].differentiable) return {tensor, Kind::kOutput, k};
    return {tensor.detached(), Kind::kPrivate, 0};
  }
  const TensorRecord* record = record_of(tensor);
  if (record != nullptr && record->grad_fn.get() == this) {
    return {tensor, Kind::kOutput, record->output};
  }
  const auto input = std::find_if(inputs_.begin(), inputs_.end(), same);
  if (input != inputs_.end()) {
    return {tensor, Kind::kInput, static_cast<uint32_t>(input - inputs_.begin())};
  }
  return {requires_grad(tensor) ? tensor : tensor.detached(), Kind::kPrivate, 0};
}

// Another real dtype is cast, as for every node. Casting a complex gradient would drop its
// imaginary part silently, so the author of the function must take the real part.
void CustomNode::check_result(const Tensor& result, size_t input) const {
  if (!result.defined() || !is_complex(result.dtype())) return;
  const Edge& edge = next_edge(input);
  const DType wanted = edge.node->outputs()[edge.output].dtype;
  TSR_CHECK(is_complex(wanted), Code::kAutograd, nullptr, "expected ", name(),
            " to return a real gradient for its input ", input, " of dtype ", wanted, ", got ",
            result.dtype());
}

void CustomNode::apply(Backward& ctx) {
  kernel::note_host_decision("a custom function");
  SmallVector<Tensor, 2> grads;
  for (size_t k = 0; k < ctx.grad_count(); ++k) {
    const bool zeros = materialize_ && outputs()[k].exists;
    grads.push_back(zeros ? ctx.grad_or_zeros(k) : ctx.grad(k));
  }
  SmallVector<Tensor, 4> results(ctx.result_count());
  if (!once_ || !ctx.create_graph()) {
    function_->backward(*this, grads, {results.data(), results.size()});
  } else {
    {
      const NoGrad guard;
      function_->backward(*this, grads, {results.data(), results.size()});
    }
    for (Tensor& result : results) {
      result = delay_error(result, grads,
                           concat("expected to differentiate ", name(),
                                  " once, because its derivative is marked once_differentiable, "
                                  "got a second derivative"));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!ctx.needs(i)) continue;
    check_result(results[i], i);
    ctx.set(i, std::move(results[i]));
  }
}

}  // namespace tsr
