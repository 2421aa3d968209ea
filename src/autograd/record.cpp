// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/record.h"

#include <algorithm>
#include <array>

#include "autograd/forward.h"
#include "autograd/gradient_ops.h"
#include "autograd/push_forward.h"
#include "autograd/tensor_record.h"
#include "autograd/view.h"
#include "base/error.h"

namespace tsr::detail {
namespace {

constexpr size_t kNone = SIZE_MAX;

size_t index_of(const Tensor& tensor, const TensorRefs& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (tensor.defined() && list[i].is_same(tensor)) return i;
  }
  return kNone;
}

// Outputs that are inputs: what the in-place form wrote.
bool overwrites(const TensorRefs& outputs, const TensorRefs& inputs, const Tensor& tensor) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& output = outputs[k];
    if (output.defined() && output.storage() == tensor.storage() &&
        index_of(output, inputs) != kNone) {
      return true;
    }
  }
  return false;
}

SavedTensor make_saved(const Save& save, const TensorRefs& outputs, const TensorRefs& inputs) {
  using Kind = SavedTensor::Kind;
  const Tensor& tensor = *save.tensor;
  if (!tensor.defined()) return {};
  if (save.input == nullptr) {
    const size_t k = index_of(tensor, outputs);
    TSR_ASSERT(k != kNone, "save_output of a tensor that is no output");
    return {tensor, Kind::kOutput, static_cast<uint32_t>(k)};
  }
  if (overwrites(outputs, inputs, tensor)) return {tensor, Kind::kOverwritten, 0};
  const size_t i = index_of(*save.input, inputs);
  if (i == kNone) return {tensor, Kind::kPrivate, 0};
  return {tensor, Kind::kInput, static_cast<uint32_t>(i)};
}

}  // namespace

namespace {

// These two are parts of connect, the path of every recorded op.
[[gnu::always_inline]] inline void add_outputs(Node& node, const TensorRefs& outputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    node.add_output(outputs[k], outputs[k].defined() && is_differentiable(outputs[k].dtype()));
  }
}

// The last output takes the reference over, so that a node with one output is counted once.
[[gnu::always_inline]] inline void attach(NodePtr node, const TensorRefs& outputs,
                                          const TensorRefs& inputs) {
  const size_t last = outputs.size() - 1;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!node->outputs()[k].differentiable) continue;
    const size_t input = index_of(outputs[k], inputs);
    NodePtr owned = k == last ? std::move(node) : node;
    if (input == kNone) {
      set_history(outputs[k], std::move(owned), static_cast<uint32_t>(k));
    } else {
      rebase_history(outputs[k], std::move(owned), static_cast<uint32_t>(k), input);
    }
  }
}

// ---- forward mode ----

using Tangents = SmallVector<Tensor, 4>;

// Whether the output is a view of an input, whose tangent is that of the base, so that no rule is
// needed.
bool shows_input(const Tensor& output, const TensorRefs& inputs) {
  if (!output.has(kViewFlag) || index_of(output, inputs) != kNone) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined() && inputs[i].storage() == output.storage()) return true;
  }
  return false;
}

bool any_to_compute(const Node& node, const TensorRefs& outputs, const TensorRefs& inputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (node.outputs()[k].differentiable && !shows_input(outputs[k], inputs)) return true;
  }
  return false;
}

bool any_overwritten(const Saves& saves, const TensorRefs& outputs, const TensorRefs& inputs) {
  return std::any_of(saves.begin(), saves.end(), [&](const Save& save) {
    return save.input != nullptr && save.tensor->defined() &&
           overwrites(outputs, inputs, *save.tensor);
  });
}

// Whether the tangent of a level can be computed in no_grad mode, because nothing requires grad.
// Then a derivative may use its fused kernel: Backward::create_graph().
bool are_plain(bool attached, std::span<const Tensor> tangents) {
  if (attached) return false;
  return std::none_of(tangents.begin(), tangents.end(), [](const Tensor& tangent) {
    return tangent.defined() && (tangent.requires_grad() || tangent.has(kViewFlag));
  });
}

// The part of connect_forward for one level.
void push_level(Node& node, const ForwardRule* rule, const TensorRefs& outputs,
                const TensorRefs& inputs, std::span<const Tensor> tangents, ForwardLevel& level,
                const ForwardUse& use, bool plain) {
  const BelowLevel below(level, plain);
  Tangents results(outputs.size());
  const std::span<Tensor> found(results.data(), results.size());
  if (rule == nullptr) {
    push_transposed(node, use, outputs, tangents, found);
  } else {
    push_rule(&node, *rule, use, outputs, tangents, found);
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!node.outputs()[k].differentiable || shows_input(outputs[k], inputs)) continue;
    if (results[k].defined() || index_of(outputs[k], inputs) != kNone) {
      set_tangent(outputs[k], level, std::move(results[k]));
    }
  }
}

}  // namespace

bool push_alone(const Tensor& output, const TensorRefs& inputs, const Saves& saves,
                const ForwardRule& rule) {
  constexpr size_t kMostSaves = 8;
  if (saves.size() > kMostSaves || !output.defined() || output.has(kViewFlag) ||
      !is_differentiable(output.dtype()) || index_of(output, inputs) != kNone) {
    return false;
  }
  LoneTangents lone;
  if (!lone.find(inputs)) return false;
  if (!lone.any()) return true;
  const std::span<const Tensor> given = lone.all();
  std::array<const Tensor*, kMostSaves> lent;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  size_t count = 0;
  for (const Save& save : saves) lent[count++] = save.tensor;
  const ForwardUse use{lent.data(), given.data()};
  ForwardLevel& level = *t_forward_mode.level;
  const BelowLevel below(level, lone.are_plain());
  Tensor result;
  push_rule(nullptr, rule, use, {output}, given, {&result, 1});
  if (result.defined()) set_tangent(output, level, std::move(result));
  return true;
}

namespace {

// As connect, while ops see a level of forward mode. The node is dropped if nothing requires grad.
[[gnu::noinline, gnu::cold]] void connect_forward(const NodePtr& node, const TensorRefs& outputs,
                                                  const TensorRefs& inputs, const Saves& saves,
                                                  const ForwardRule* rule) {
  add_outputs(*node, outputs);
  Edges edges;
  bool attached = false;
  for (size_t i = 0; grad_enabled() && i < inputs.size(); ++i) {
    edges.emplace_back(inputs[i].defined() ? gradient_edge(inputs[i]) : Edge{});
    attached = attached || edges.back().node;
  }
  SmallVector<const Tensor*, 4> lent;
  if (attached) {
    for (Edge& edge : edges) node->add_edge(std::move(edge));
  }
  if (attached || any_overwritten(saves, outputs, inputs)) {
    for (size_t i = 0; !attached && i < inputs.size(); ++i) node->add_edge({});
    for (const Save& save : saves) node->save(make_saved(save, outputs, inputs));
  } else {
    for (const Save& save : saves) lent.push_back(save.tensor);
  }
  Tangents tangents(inputs.size());
  const ForwardUse use{lent.empty() ? nullptr : lent.data(), tangents.data()};
  // Before the tangents, which an in-place form of a view changes together with the history.
  if (attached) attach(node, outputs, inputs);
  if (!any_to_compute(*node, outputs, inputs)) return;
  // From the outermost level: the tangent at an inner level is computed from values, also saved
  // outputs, that have tangents at the outer ones.
  SmallVector<ForwardLevel*, 4> levels;
  for (ForwardLevel* each = t_forward_mode.level; each != nullptr; each = outer_level(*each)) {
    levels.push_back(each);
  }
  while (!levels.empty()) {
    ForwardLevel* level = levels.back();
    levels.pop_back();
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      tangents[i] = tangent_of(inputs[i], *level);
      any = any || tangents[i].defined();
    }
    if (!any) continue;
    const std::span<const Tensor> given(tangents.data(), tangents.size());
    push_level(*node, rule, outputs, inputs, given, *level, use, are_plain(attached, given));
    for (size_t k = 0; attached && k < outputs.size(); ++k) {
      if (outputs[k].defined()) node->copy_output_tangents(static_cast<uint32_t>(k), outputs[k]);
    }
  }
}

}  // namespace

void connect(Node* raw, TensorRefs outputs, TensorRefs inputs, Saves saves,
             const ForwardRule* rule) {
  NodePtr node = NodePtr::adopt(raw);
  if (forward_enabled()) [[unlikely]]
    return connect_forward(node, outputs, inputs, saves, rule);
  for (size_t i = 0; i < inputs.size(); ++i) {
    node->add_edge(inputs[i].defined() ? gradient_edge(inputs[i]) : Edge{});
  }
  add_outputs(*node, outputs);
  for (const Save& save : saves) node->save(make_saved(save, outputs, inputs));
  attach(std::move(node), outputs, inputs);
}

}  // namespace tsr::detail

namespace tsr {

LoneTangents::~LoneTangents() {
  for (size_t i = 0; borrowed_ != 0; ++i, borrowed_ >>= 1) {
    if ((borrowed_ & 1U) != 0) (void)tangents_[i].detach_impl();
  }
}

bool LoneTangents::look(const TensorRefs& inputs, bool borrow) {
  if (!forward_enabled() || inputs.size() > tangents_.size()) return false;
  const ForwardLevel& level = *t_forward_mode.level;
  if (outer_level(level) != nullptr) return false;
  count_ = inputs.size();
  const bool grad = grad_enabled();
  for (size_t i = 0; i < count_; ++i) {
    if (grad && detail::one_needs_grad(inputs[i])) return false;
    TensorImpl* lent = borrow ? lent_tangent(inputs[i], level) : nullptr;
    if (lent != nullptr) borrowed_ |= 1U << i;
    tangents_[i] = lent != nullptr ? Tensor::adopt(lent) : tangent_of(inputs[i], level);
  }
  return true;
}

bool LoneTangents::any() const noexcept {
  return std::any_of(tangents_.begin(), tangents_.end(),
                     [](const Tensor& tangent) { return tangent.defined(); });
}

bool LoneTangents::are_plain() const noexcept {
  return detail::are_plain(false, all());
}

void LoneTangents::give(const Tensor& output, Tensor tangent) const {
  set_fitting_tangent(output, *t_forward_mode.level, std::move(tangent));
}

void check_saves(Saves saves) {
  for (const Save& save : saves) {
    if (save.input != nullptr && save.tensor->defined()) check_savable(*save.tensor);
  }
}

Tensor copy_before_write(const Tensor& target) {
  const NoGrad guard;
  return gradient_ops().clone(target);
}

}  // namespace tsr
