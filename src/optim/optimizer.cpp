// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "optim/optimizer.h"

#include <map>
#include <tuple>
#include <unordered_set>

#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"

namespace tsr::optim {
namespace {

void check_gradient(const KindRow& row, const Tensor& param, const Tensor& gradient) {
  TSR_CHECK(is_leaf(param), Code::kAutograd, nullptr, row.name,
            ": expected parameters that are leaves, got one that was computed in place");
  TSR_CHECK(is_floating(param.dtype()), Code::kDType, nullptr, row.name,
            ": expected parameters of a real floating dtype, got ", param.dtype());
  TSR_CHECK(gradient.sizes() == param.sizes(), Code::kShape, "gradients", row.name,
            ": expected a gradient of shape ", param.sizes(), ", got ", gradient.sizes());
  TSR_CHECK(gradient.dtype() == param.dtype(), Code::kDType, "gradients", row.name,
            ": expected a gradient of dtype ", param.dtype(), ", got ", gradient.dtype());
  TSR_CHECK(gradient.device() == param.device(), Code::kDevice, "gradients", row.name,
            ": expected a gradient on ", param.device(), ", got ", gradient.device());
}

// The state, converted to the dtype and device of its parameter, which may have changed.
Tensor followed(const Tensor& state, const Tensor& param) {
  if (state.dtype() == param.dtype() && state.device() == param.device()) return state;
  return ops::to(state, param.device(), param.dtype());
}

}  // namespace

// One parameter during a step.
struct Optimizer::Work {
  Tensor param, gradient;
  ParamState next;
  bool fresh = false;
};

Optimizer::Optimizer(const Options& options, std::span<const Tensor> params)
    : Object(kOptimizerTag), defaults_(options) {
  TSR_CHECK(!params.empty(), Code::kValue, "params", row().name,
            ": expected at least one parameter, got an empty list");
  add_group(options, params);
}

void Optimizer::destroy(Optimizer* optimizer) noexcept {
  optimizer->tag = ObjectTag::kDead;
  delete optimizer;
}

const Group& Optimizer::group(int64_t number) const {
  TSR_CHECK(number >= 0 && static_cast<size_t>(number) < groups_.size(), Code::kIndex, "group",
            "expected the number of a group from 0 below ", groups_.size(), ", got ", number);
  return groups_[static_cast<size_t>(number)];
}

size_t Optimizer::count_params() const noexcept {
  size_t count = 0;
  for (const Group& group : groups_) count += group.params.size();
  return count;
}

void Optimizer::check_options(const Options& options) const {
  TSR_CHECK(options.kind() == defaults_.kind(), Code::kInvalidArgument, "options",
            "expected options of ", row().name, ", got some of ", options.row().name);
  options.check();
}

void Optimizer::check_params(std::span<const Tensor> params, const Group* skipped) const {
  std::unordered_set<const TensorImpl*> known;
  for (const Group& group : groups_) {
    if (&group == skipped) continue;
    for (const Tensor& param : group.params) known.insert(param.impl());
  }
  for (size_t i = 0; i < params.size(); ++i) {
    TSR_CHECK(is_leaf(params[i]), Code::kValue, "params", row().name,
              ": expected leaves, got a computed tensor at position ", i);
    TSR_CHECK(known.insert(params[i].impl()).second, Code::kValue, "params", row().name,
              ": expected each parameter once in all groups, got one again at position ", i);
    TSR_CHECK(!row().matrices || params[i].sizes().size() == 2, Code::kShape, "params", row().name,
              ": expected matrices, got shape ", params[i].sizes(), " at position ", i);
  }
}

void Optimizer::add_group(const Options& options, std::span<const Tensor> params) {
  check_options(options);
  check_params(params, nullptr);
  Group group{options, {params.begin(), params.end()}};
  groups_.reserve(groups_.size() + 1);
  owned_.add(params);
  groups_.push_back(std::move(group));
}

void Optimizer::set_options(int64_t number, const Options& options) {
  static_cast<void>(group(number));
  check_options(options);
  groups_[static_cast<size_t>(number)].options = options;
}

void Optimizer::set_params(int64_t number, std::span<const Tensor> params) {
  check_params(params, &group(number));
  std::unordered_set<const TensorImpl*> kept;
  for (const Tensor& param : params) kept.insert(param.impl());
  // The old parameters are released at the end, when the optimizer is consistent again.
  std::vector<Tensor> old(params.begin(), params.end());
  owned_.add(params);
  old.swap(groups_[static_cast<size_t>(number)].params);
  for (const Tensor& param : old) {
    owned_.remove(param.impl());
    if (!kept.contains(param.impl())) states_.erase(param.impl());
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  const Quiet quiet;
  for (const Group& group : groups_) {
    for (const Tensor& param : group.params) {
      if (set_to_none) {
        set_grad(param, {});
      } else if (const Tensor grad = grad_of(param); grad.defined()) {
        ops::zero_(grad);
      }
    }
  }
}

// ---- step ----

Optimizer::Work Optimizer::prepare(const Options& options, const Tensor& param,
                                   Tensor gradient) const {
  check_gradient(row(), param, gradient);
  Work work{param, std::move(gradient), {}, false};
  const auto known = states_.find(param.impl());
  if (known != states_.end()) work.next = known->second;
  for (size_t i = 0; i < kMaxStates; ++i) {
    const StateRow& state = row().states[i];
    if (!state.kept(options)) continue;
    Tensor& tensor = work.next.tensors[i];
    if (tensor.defined()) {
      tensor = followed(tensor, param);
    } else {
      const double start = state.starts_as == Option::kNone ? 0 : options.get(state.starts_as);
      tensor = ops::full_like(param, start);
      work.fresh = true;
    }
    TSR_CHECK(tensor.sizes() == param.sizes(), Code::kShape, "optimizer", row().name,
              ": expected a parameter of shape ", tensor.sizes(), " as at its last step, got ",
              param.sizes());
  }
  ++work.next.step;
  if (options.kind() == Kind::kNadam) {
    work.next.momentum_product *= kernel::nadam_momentum(
        options.get(Option::kBeta1), options.get(Option::kMomentumDecay), work.next.step);
  }
  return work;
}

// A parameter without a gradient skips a step, so counts may differ: each count is a batch.
void Optimizer::update(const Group& group, std::vector<Work> work) {
  std::map<std::tuple<int64_t, bool, double>, std::vector<Work*>> batches;
  for (Work& one : work) {
    batches[{one.next.step, one.fresh, one.next.momentum_product}].push_back(&one);
  }
  for (const auto& [key, members] : batches) {
    std::vector<Tensor> params, grads;
    std::array<std::vector<Tensor>, kMaxStates> states;
    for (const Work* one : members) {
      params.push_back(one->param);
      grads.push_back(one->gradient);
      for (size_t i = 0; i < kMaxStates; ++i) {
        if (row().states[i].kept(group.options)) states[i].push_back(one->next.tensors[i]);
      }
    }
    const auto [step, fresh, product] = key;
    row().update(
        row(),
        {group.options, step, fresh, product, params, grads, {states[0], states[1], states[2]}});
    for (Work* one : members) states_[one->param.impl()] = std::move(one->next);
  }
}

void Optimizer::step() {
  std::vector<Tensor> gradients;
  gradients.reserve(count_params());
  for (const Group& group : groups_) {
    for (const Tensor& param : group.params) gradients.push_back(grad_of(param));
  }
  step(gradients);
}

void Optimizer::step(std::span<const Tensor> gradients) {
  TSR_CHECK(gradients.size() == count_params(), Code::kInvalidArgument, "gradients", row().name,
            ": expected ", count_params(), " gradients, one per parameter, got ", gradients.size());
  const Quiet quiet;
  std::vector<std::vector<Work>> prepared(groups_.size());
  size_t number = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const Tensor& param : groups_[g].params) {
      const Tensor& gradient = gradients[number++];
      if (gradient.defined()) {
        prepared[g].push_back(prepare(groups_[g].options, param, gradient));
      }
    }
  }
  for (size_t g = 0; g < groups_.size(); ++g) update(groups_[g], std::move(prepared[g]));
}

}  // namespace tsr::optim
