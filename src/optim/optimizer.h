// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer: groups of parameters with their options, the state of each parameter, and the step.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "autograd/grad_mode.h"
#include "base/intrusive_ptr.h"
#include "optim/kinds.h"
#include "optim/owners.h"
#include "tensor/tensor.h"

namespace tsr::optim {

inline constexpr auto kOptimizerTag = static_cast<ObjectTag>(0x54534f50U);

// No recording, and no inference mode, so that a state made now can be written at any later step.
struct Quiet : GradModeScope {
  Quiet() noexcept : GradModeScope({false, false, t_grad_mode.record_outside}) {}
};

// What is kept for one parameter; made at its first step.
struct ParamState {
  int64_t step = 0;             // how often the parameter was changed
  double momentum_product = 1;  // NAdam
  std::array<Tensor, kMaxStates> tensors;
};

struct Group {
  Options options;
  std::vector<Tensor> params;
};

// What a file keeps: names `<group>.<index in the group>.<state>` with their tensors, which share
// memory with the optimizer, and the kind and options as JSON.
struct NamedState {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  std::string description;
};

// Owns its parameters. The state belongs to the parameter object (the TensorImpl), whatever memory,
// dtype or device that has at the time. Not synchronized: one thread at a time, as for a tensor
// that is written to.
class Optimizer final : public Object {
 public:
  // One group. Throws kValue for an empty list, and as add_group and Options::check.
  Optimizer(const Options& options, std::span<const Tensor> params);
  static void destroy(Optimizer* optimizer) noexcept;

  [[nodiscard]] const KindRow& row() const noexcept { return defaults_.row(); }
  [[nodiscard]] const Options& defaults() const noexcept { return defaults_; }
  [[nodiscard]] std::span<const Group> groups() const noexcept { return groups_; }
  // The number of a group; throws kIndex.
  [[nodiscard]] const Group& group(int64_t number) const;

  // Throws kValue for a tensor that is no leaf or stands in a group already, kShape for one that
  // the kind cannot take, kInvalidArgument for options of another kind.
  void add_group(const Options& options, std::span<const Tensor> params);
  void set_options(int64_t group, const Options& options);
  // Parameters that stay keep their state, the state of others is dropped. Throws as add_group.
  void set_params(int64_t group, std::span<const Tensor> params);

  // Changes every parameter that has a gradient, in place. Nothing is recorded. After an error in
  // the preparation nothing has changed; an error of a kernel may leave some parameters stepped.
  void step();
  // The same with these gradients, one per parameter in the order of the groups; undefined ones
  // leave their parameter. Throws kInvalidArgument for another number of them.
  void step(std::span<const Tensor> gradients);
  // Drops the gradients, or fills those that are there with zeros.
  void zero_grad(bool set_to_none);

  [[nodiscard]] NamedState state() const;
  // Takes over the options and a copy of the state, in the dtype and on the device of each
  // parameter. Throws kValue, kShape, kDType and changes nothing for a state that does not fit.
  void load(std::string_view description, std::span<const std::string> names,
            std::span<const Tensor> tensors);

 private:
  using States = std::unordered_map<const TensorImpl*, ParamState>;
  struct Work;

  ~Optimizer() = default;
  [[nodiscard]] size_t count_params() const noexcept;
  void check_options(const Options& options) const;
  // `skipped`: the group whose own parameters may be named again.
  void check_params(std::span<const Tensor> params, const Group* skipped) const;
  [[nodiscard]] Work prepare(const Options& options, const Tensor& param, Tensor gradient) const;
  void update(const Group& group, std::vector<Work> work);
  [[nodiscard]] States read_states(std::span<const Group> groups,
                                   std::span<const std::string> names,
                                   std::span<const Tensor> tensors) const;

  Options defaults_;
  std::vector<Group> groups_;
  States states_;  // of parameters in groups only
  Owners owned_;   // the parameters in groups
};

}  // namespace tsr::optim
