// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sharded_optimizer.h"

#include <algorithm>

#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "base/json.h"
#include "dist/agreement.h"
#include "ops/create/copy.h"

namespace tsr::dist {
namespace {

using optim::NamedState;
using optim::Optimizer;
using optim::Quiet;

std::vector<Tensor> params_of(const Optimizer& optimizer) {
  std::vector<Tensor> params;
  for (const optim::Group& group : optimizer.groups()) {
    params.insert(params.end(), group.params.begin(), group.params.end());
  }
  return params;
}

// The parameter of a state with the name <group>.<index>.<state>, which this library wrote.
const Tensor& param_of(const Optimizer& optimizer, const std::string& name) {
  const size_t dot = name.find('.');
  const auto number = [](const std::string& text) {
    return static_cast<size_t>(std::stoull(text));
  };
  return optimizer.groups()[number(name)].params[number(name.substr(dot + 1))];
}

// What a rank says about its states before it sends them.
Json describe(const NamedState& state) {
  Json list = Json::array();
  for (size_t i = 0; i < state.names.size(); ++i) {
    const Tensor& tensor = state.tensors[i];
    list.push_back({state.names[i], static_cast<int32_t>(tensor.dtype()),
                    std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())});
  }
  return list;
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(IntrusivePtr<Optimizer> optimizer, GroupPtr group)
    : Object(kShardedOptimizerTag),
      optimizer_(std::move(optimizer)),
      group_(std::move(group)),
      loads_(static_cast<size_t>(group_->size()), 0) {
  std::vector<std::string> described;
  for (const Tensor& param : params_of(*optimizer_)) {
    described.push_back(concat("parameter ", described.size(), " of shape ", param.sizes(),
                               " and dtype ", param.dtype()));
  }
  check_equal_lists(*group_, params_of(*optimizer_)[0].device(), described, "optimizer");
  assign();
}

void ShardedOptimizer::destroy(ShardedOptimizer* optimizer) noexcept {
  optimizer->tag = ObjectTag::kDead;
  delete optimizer;
}

void ShardedOptimizer::assign() {
  std::vector<Tensor> fresh;
  for (const Tensor& param : params_of(*optimizer_)) {
    if (!owners_.contains(param.impl())) fresh.push_back(param);
  }
  std::stable_sort(fresh.begin(), fresh.end(),
                   [](const Tensor& a, const Tensor& b) { return a.nbytes() > b.nbytes(); });
  for (const Tensor& param : fresh) {
    const auto least = std::min_element(loads_.begin(), loads_.end());
    *least += param.nbytes();
    owners_[param.impl()] = least - loads_.begin();
  }
}

bool ShardedOptimizer::owns(const Tensor& param) const {
  const auto found = owners_.find(param.impl());
  return found != owners_.end() && found->second == group_->rank();
}

// After a load, which brings the states of all parameters.
void ShardedOptimizer::forget_others() {
  optimizer_->forget_states([this](const Tensor& param) { return !owns(param); });
}

void ShardedOptimizer::step() {
  const Quiet quiet;
  assign();
  forget_others();
  const std::vector<Tensor> params = params_of(*optimizer_);
  std::vector<Tensor> gradients(params.size());
  std::vector<std::vector<Tensor>> shares(loads_.size());
  for (size_t i = 0; i < params.size(); ++i) {
    if (owns(params[i])) gradients[i] = grad_of(params[i]);
    // Equal on all ranks, unlike whether there is a gradient.
    if (params[i].requires_grad()) {
      shares[static_cast<size_t>(owners_.at(params[i].impl()))].push_back(params[i]);
    }
  }
  optimizer_->step(gradients);
  for (size_t rank = 0; rank < shares.size(); ++rank) {
    if (shares[rank].empty()) continue;
    group_->broadcast(shares[rank], static_cast<int32_t>(rank))->wait();
  }
}

IntrusivePtr<Optimizer> ShardedOptimizer::gather(int64_t to) {
  TSR_CHECK(to >= -1 && to < group_->size(), Code::kIndex, "to", "expected a rank from 0 below ",
            group_->size(), ", or -1, got ", to);
  const Quiet quiet;
  assign();
  forget_others();
  const NamedState own = optimizer_->state();
  const Device device = params_of(*optimizer_)[0].device();
  const auto lists = gather_texts(*group_, device, describe(own).dump());
  NamedState all;
  all.description = own.description;
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    const bool mine = static_cast<int64_t>(rank) == group_->rank();
    std::vector<Tensor> sent;
    const Json entries = Json::parse(lists[rank]);
    for (const Json& entry : entries) {
      const auto name = entry[0].get<std::string>();
      const auto sizes = entry[2].get<std::vector<int64_t>>();
      // Counts of steps are kept on the CPU, but some groups know one device only.
      const Device there = param_of(*optimizer_, name).device();
      sent.push_back(mine ? ops::to(own.tensors[sent.size()], there, std::nullopt)
                          : empty(sizes, static_cast<DType>(entry[1].get<int32_t>()), there));
      all.names.push_back(name);
    }
    if (sent.empty()) continue;
    group_->broadcast(sent, static_cast<int32_t>(rank))->wait();
    if (to == -1 || to == group_->rank()) {
      all.tensors.insert(all.tensors.end(), sent.begin(), sent.end());
    }
  }
  if (to != -1 && to != group_->rank()) return {};
  const optim::Group& first = optimizer_->groups()[0];
  auto whole = IntrusivePtr<Optimizer>::adopt(new Optimizer(optimizer_->defaults(), first.params));
  for (const optim::Group& group : optimizer_->groups().subspan(1)) {
    whole->add_group(group.options, group.params);
  }
  whole->load(all.description, all.names, all.tensors);
  return whole;
}

std::string ShardedOptimizer::report() {
  assign();
  forget_others();
  Json groups = Json::array();
  for (const optim::Group& group : optimizer_->groups()) {
    Json owners = Json::array();
    for (const Tensor& param : group.params) owners.push_back(owners_.at(param.impl()));
    groups.push_back(std::move(owners));
  }
  int64_t bytes = 0;
  for (const Tensor& tensor : optimizer_->state().tensors) {
    if (tensor.ndim() > 0) bytes += tensor.nbytes();
  }
  return Json{{"owners", std::move(groups)}, {"state_bytes", bytes}}.dump_in_order();
}

}  // namespace tsr::dist
