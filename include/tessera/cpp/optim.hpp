// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers: groups of parameters with their options, and the state of each parameter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/io.hpp"

namespace tessera::optim {

namespace detail {

// Throws unless an option is at least 0.
inline void expect_positive(const char* name, double value) {
  if (!(value >= 0)) {
    throw InvalidValueError(std::string(name) + ": expected at least 0, got " +
                            std::to_string(value));
  }
}

}  // namespace detail

// What an optimizer remembers of one parameter. It holds the parameter, so that no other tensor can
// come to stand at its address and be taken for it.
struct ParameterState {
  Tensor parameter;
  int64_t step = 0;
  std::map<std::string, Tensor> tensors;
};

// Base of optimizers whose groups have Options. Derived classes say how a group is updated.
template <class Options>
class Optimizer {
 public:
  struct Group {
    std::vector<Tensor> parameters;
    Options options;  // may be changed between steps, say for the learning rate
  };

  Optimizer(std::vector<Tensor> parameters, const Options& options) {
    add_group(std::move(parameters), options);
  }
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  void add_group(std::vector<Tensor> parameters, const Options& options) {
    if (parameters.empty()) {
      throw InvalidValueError("an optimizer needs at least one parameter in a group");
    }
    std::unordered_set<tsr_tensor> known;
    for (const Group& group : groups_) {
      for (const Tensor& parameter : group.parameters) known.insert(parameter.handle());
    }
    for (const Tensor& parameter : parameters) {
      if (!parameter.is_leaf()) throw InvalidValueError("only leaves can be optimized");
      if (!known.insert(parameter.handle()).second) {
        throw InvalidValueError("a parameter stands in more than one group, or twice");
      }
    }
    groups_.push_back({std::move(parameters), options});
  }

  std::vector<Group>& groups() noexcept { return groups_; }
  void set_learning_rate(double rate) {
    for (Group& group : groups_) group.options.learning_rate = rate;
  }

  void zero_grad() {
    for (Group& group : groups_) {
      for (Tensor& parameter : group.parameters) parameter.set_grad({});
    }
  }

  // Changes the parameters by their gradients; those without one stay as they are.
  void step() {
    const NoGradGuard no_grad;
    for (Group& group : groups_) {
      std::vector<Tensor> live;
      std::vector<Tensor> gradients;
      for (const Tensor& parameter : group.parameters) {
        if (Tensor gradient = parameter.grad(); gradient.defined()) {
          live.push_back(parameter);
          gradients.push_back(std::move(gradient));
        }
      }
      if (!live.empty()) {
        follow(live);
        update(group.options, live, gradients);
      }
    }
  }

  // Computes the loss anew first, as the closure says.
  template <class Closure>
  Tensor step(Closure closure) {
    Tensor loss;
    {
      const EnableGradGuard enable_grad;
      loss = closure();
    }
    step();
    return loss;
  }

  // The state of all parameters, named by their numbers ("3.exp_avg"), so that a file can keep it.
  TensorMap state_dict() const {
    TensorMap found;
    size_t number = 0;
    for (const Group& group : groups_) {
      for (const Tensor& parameter : group.parameters) {
        const std::string head = std::to_string(number++) + ".";
        const auto known = states_.find(parameter.handle());
        if (known == states_.end()) continue;
        found.emplace(head + "step", full({}, known->second.step, kInt64));
        for (const auto& [name, tensor] : known->second.tensors) found.emplace(head + name, tensor);
      }
    }
    return found;
  }

  // Takes over a copy of the state of an optimizer of the same parameters.
  void load_state_dict(const TensorMap& state) {
    std::vector<Tensor> order;
    for (const Group& group : groups_) {
      order.insert(order.end(), group.parameters.begin(), group.parameters.end());
    }
    std::unordered_map<tsr_tensor, ParameterState> loaded;
    for (const TensorMap::value_type& entry : state) {
      const std::string& key = entry.first;
      const Tensor& tensor = entry.second;
      const size_t dot = key.find('.');
      constexpr size_t kMostDigits = 18;  // of a number that fits, far above any number here
      if (dot == std::string::npos || key.find_first_not_of("0123456789") != dot || dot == 0 ||
          dot > kMostDigits || std::stoull(key.substr(0, dot)) >= order.size()) {
        throw InvalidValueError("load_state_dict: '" + key + "' names no parameter's state");
      }
      const Tensor& parameter = order[std::stoull(key.substr(0, dot))];
      ParameterState& known = loaded[parameter.handle()];
      known.parameter = parameter;
      const std::string name = key.substr(dot + 1);
      if (name == "step") {
        known.step = tensor.item<int64_t>();
      } else {
        known.tensors[name] = tensor.clone();
      }
    }
    states_ = std::move(loaded);
  }

 protected:
  virtual void update(const Options& options, const std::vector<Tensor>& parameters,
                      const std::vector<Tensor>& gradients) = 0;

  ParameterState& state_of(const Tensor& parameter) {
    ParameterState& state = states_[parameter.handle()];
    if (!state.parameter.defined()) state.parameter = parameter;
    return state;
  }

  // A tensor of zeros that belongs to a parameter, made when it is first asked for.
  Tensor& zeros_of(const Tensor& parameter, const std::string& name) {
    Tensor& tensor = state_of(parameter).tensors[name];
    if (!tensor.defined()) tensor = zeros_like(parameter);
    return tensor;
  }

 private:
  // Brings the state to parameters that were converted since.
  void follow(const std::vector<Tensor>& parameters) {
    for (const Tensor& parameter : parameters) {
      const auto known = states_.find(parameter.handle());
      if (known == states_.end()) continue;
      for (auto& [name, tensor] : known->second.tensors) {
        if (tensor.dtype() != parameter.dtype()) tensor = tensor.to(parameter.dtype());
        if (tensor.device() != parameter.device()) tensor = tensor.to(parameter.device());
      }
    }
  }

  std::vector<Group> groups_;
  std::unordered_map<tsr_tensor, ParameterState> states_;
};

struct SGDOptions {
  double learning_rate = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

// Gradient descent, with momentum (Nesterov's on request) and weight decay.
class SGD : public Optimizer<SGDOptions> {
 public:
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {})
      : Optimizer(std::move(parameters), checked(options)) {}

 private:
  static const SGDOptions& checked(const SGDOptions& options) {
    detail::expect_positive("learning_rate", options.learning_rate);
    detail::expect_positive("momentum", options.momentum);
    detail::expect_positive("weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
      throw InvalidValueError("nesterov needs a momentum and no dampening");
    }
    return options;
  }

  void update(const SGDOptions& options, const std::vector<Tensor>& parameters,
              const std::vector<Tensor>& gradients) override {
    if (options.momentum == 0) {
      change(options, parameters, gradients, {}, false);
      return;
    }
    // The first step of a parameter takes its gradient as it is: such steps go in a call of theirs.
    for (const bool first : {true, false}) {
      std::vector<Tensor> chosen;
      std::vector<Tensor> their_gradients;
      std::vector<Tensor> buffers;
      for (size_t i = 0; i < parameters.size(); ++i) {
        int64_t& steps = state_of(parameters[i]).step;
        if ((steps == 0) != first) continue;
        chosen.push_back(parameters[i]);
        their_gradients.push_back(gradients[i]);
        buffers.push_back(zeros_of(parameters[i], "momentum_buffer"));
      }
      if (!chosen.empty()) change(options, chosen, their_gradients, buffers, first);
    }
    for (const Tensor& parameter : parameters) ++state_of(parameter).step;
  }

  static void change(const SGDOptions& options, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& gradients, const std::vector<Tensor>& buffers,
                     bool first) {
    sgd_step(parameters, gradients, buffers, options.learning_rate, options.momentum,
             options.dampening, options.weight_decay, options.nesterov, options.maximize, first);
  }
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
};

// An aggregate, so that C++20 can name the options in braces.
struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};

namespace detail {

// What Adam and AdamW share: all but the function of one step.
template <class Options>
class AdamBase : public Optimizer<Options> {
 public:
  AdamBase(std::vector<Tensor> parameters, const Options& options)
      : Optimizer<Options>(std::move(parameters), checked(options)) {}

 private:
  static const Options& checked(const Options& options) {
    expect_positive("learning_rate", options.learning_rate);
    expect_positive("eps", options.eps);
    expect_positive("weight_decay", options.weight_decay);
    for (const double beta : {options.beta1, options.beta2}) {
      if (!(beta >= 0 && beta < 1)) throw InvalidValueError("betas: expected from 0 to below 1");
    }
    return options;
  }

  void update(const Options& options, const std::vector<Tensor>& parameters,
              const std::vector<Tensor>& gradients) override {
    // Parameters with different numbers of steps have different corrections.
    std::map<int64_t, std::vector<size_t>> by_step;
    for (size_t i = 0; i < parameters.size(); ++i) {
      by_step[++this->state_of(parameters[i]).step].push_back(i);
    }
    for (const auto& [step, chosen] : by_step) {
      std::vector<Tensor> own, grads, averages, squares, largest;
      for (const size_t i : chosen) {
        own.push_back(parameters[i]);
        grads.push_back(gradients[i]);
        averages.push_back(this->zeros_of(parameters[i], "exp_avg"));
        squares.push_back(this->zeros_of(parameters[i], "exp_avg_sq"));
        if (options.amsgrad) largest.push_back(this->zeros_of(parameters[i], "max_exp_avg_sq"));
      }
      constexpr auto kStep = std::is_same_v<Options, AdamWOptions> ? &adamw_step : &adam_step;
      kStep(own, grads, averages, squares, largest, step, options.learning_rate, options.beta1,
            options.beta2, options.eps, options.weight_decay, options.maximize);
    }
  }
};

}  // namespace detail

// Steps scaled by running moments of the gradients; weight decay adds to the gradient.
class Adam : public detail::AdamBase<AdamOptions> {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {})
      : AdamBase(std::move(parameters), options) {}
};

// As Adam, but weight decay shrinks the parameters directly.
class AdamW : public detail::AdamBase<AdamWOptions> {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {})
      : AdamBase(std::move(parameters), options) {}
};

}  // namespace tessera::optim
