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

// Grad mode and inference mode off: a state made in inference mode could not be written later.
struct Quiet : GradModeScope {
  Quiet() noexcept : GradModeScope({false, false, t_grad_mode.record_outside}) {}
};

// The state of one parameter, made at its first step.
struct ParamState {
  int64_t step = 0;             // the number of updates of the parameter
  double momentum_product = 1;  // NAdam
  std::array<Tensor, kMaxStates> tensors;
};

struct Group {
  Options options;
  std::vector<Tensor> params;
};

// The contents of a saved file: tensors named `<group>.<index in the group>.<state>`, which share
// memory with the optimizer, and the kind and options as JSON.
struct NamedState {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  std::string description;
};

// Owns its parameters. A state belongs to the parameter object (the TensorImpl), even if its
// memory, dtype or device changes. Not synchronized: one thread at a time, as for a tensor that is
// written.
class Optimizer final : public Object {
 public:
  // Starts with one group. Throws kValue for an empty list, and the errors of add_group and
  // Options::check.
  Optimizer(const Options& options, std::span<const Tensor> params);
  static void destroy(Optimizer* optimizer) noexcept;

  [[nodiscard]] const KindRow& row() const noexcept { return defaults_.row(); }
  [[nodiscard]] const Options& defaults() const noexcept { return defaults_; }
  [[nodiscard]] std::span<const Group> groups() const noexcept { return groups_; }
  // The group of this number; throws kIndex.
  [[nodiscard]] const Group& group(int64_t number) const;

  // Throws kValue for a tensor that is not a leaf or is in a group already, kShape for one that the
  // kind cannot take, kInvalidArgument for options of another kind.
  void add_group(const Options& options, std::span<const Tensor> params);
  void set_options(int64_t group, const Options& options);
  // Parameters that stay keep their state; the state of removed ones is dropped. Throws as
  // add_group.
  void set_params(int64_t group, std::span<const Tensor> params);

  // Updates every parameter that has a gradient, in place, without recording. An error during the
  // preparation changes nothing; an error of a kernel may leave only some parameters updated.
  void step();
  // The same with the given gradients, one for each parameter in the order of the groups. A
  // parameter with an undefined gradient is skipped. Throws kInvalidArgument for a wrong number of
  // gradients.
  void step(std::span<const Tensor> gradients);
  // Drops the gradients, or fills the existing ones with zeros.
  void zero_grad(bool set_to_none);

  // Drops the states of the parameters for which `drop(param)` is true; their next step is a first
  // one.
  template <class Drop>
  void forget_states(const Drop& drop) {
    for (const Group& group : groups_) {
      for (const Tensor& param : group.params) {
        if (drop(param)) states_.erase(param.impl());
      }
    }
  }

  [[nodiscard]] NamedState state() const;
  // Takes over the options and copies the state, in the dtype and on the device of each parameter.
  // Throws kValue, kShape, kDType for a state that does not fit, and then changes nothing.
  void load(std::string_view description, std::span<const std::string> names,
            std::span<const Tensor> tensors);

 private:
  using States = std::unordered_map<const TensorImpl*, ParamState>;
  struct Work;

  ~Optimizer() = default;
  [[nodiscard]] size_t count_params() const noexcept;
  void check_options(const Options& options) const;
  // `skipped`: a group whose own parameters are allowed again.
  void check_params(std::span<const Tensor> params, const Group* skipped) const;
  [[nodiscard]] Work prepare(const Options& options, const Tensor& param, Tensor gradient) const;
  void update(const Group& group, std::vector<Work> work);
  [[nodiscard]] States read_states(std::span<const Group> groups,
                                   std::span<const std::string> names,
                                   std::span<const Tensor> tensors) const;

  Options defaults_;
  std::vector<Group> groups_;
  States states_;  // of parameters in groups
  Owners owned_;   // the parameters in groups
};

}  // namespace tsr::optim
