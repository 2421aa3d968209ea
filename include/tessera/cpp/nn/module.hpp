// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Module: layers and models as classes that know their parameters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/io.hpp"

namespace tessera::nn {

// The keys that load_state_dict could not match.
struct StateDictKeys {
  std::vector<std::string> missing, unexpected;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Base class of layers and models. A model has its layers as members and registers them in its
// constructor:
//
//   struct Net : nn::Module {
//     nn::Linear hidden{4, 16}, last{16, 3};
//     Net() { register_modules({{"hidden", hidden}, {"last", last}}); }
//     Tensor forward(const Tensor& x) override { return last(hidden(x).relu()); }
//   };
//
// Registered members are found by their addresses, so modules can neither be copied nor moved, and
// a Tensor or module must not be an element of a std::vector that grows: ParameterList,
// ParameterDict, ModuleList and ModuleDict hold them.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  // The result for one input. A module with other arguments declares its own forward instead.
  virtual Tensor forward(const Tensor& input) {
    static_cast<void>(input);
    throw NotSupportedError(
        "Module: expected a class with a method forward of one tensor, got none", "forward");
  }
  Tensor operator()(const Tensor& input) { return forward(input); }

  // ---- registration ----

  // Makes the tensor a leaf that requires grad; an undefined tensor is an absent parameter.
  void register_parameter(const std::string& name, Tensor& parameter) {
    claim(name);
    if (parameter.defined()) parameter = parameter.detach().requires_grad_();
    parameters_.push_back({name, &parameter});
  }
  // A tensor that belongs to the state but is not trained. It is saved only if persistent.
  void register_buffer(const std::string& name, Tensor& buffer, bool persistent = true) {
    claim(name);
    buffers_.push_back({name, &buffer, persistent});
  }
  // A buffer that accumulates small contributions of many batches. It never gets a 16-bit dtype,
  // which would lose them.
  void register_statistic(const std::string& name, Tensor& buffer) {
    register_buffer(name, buffer);
    buffers_.back().statistic = true;
  }
  void register_module(const std::string& name, Module& module) {
    claim(name);
    modules_.push_back({name, &module});
  }
  // Several at once: register_modules({{"conv", conv}, {"head", head}}).
  struct Named {
    std::string name;
    Module& module;
  };
  void register_modules(std::initializer_list<Named> modules) {
    for (const Named& entry : modules) register_module(entry.name, entry.module);
  }

  // ---- walks ----

  // This module and all modules below it, with their paths; each once.
  std::vector<std::pair<std::string, Module*>> named_modules() {
    std::vector<std::pair<std::string, Module*>> found;
    std::unordered_set<const void*> seen;
    collect("", found, seen);
    return found;
  }
  const std::vector<std::pair<std::string, Module*>>& named_children() const noexcept {
    return modules_;
  }
  NamedTensors named_parameters() { return named(&Module::parameters_); }
  NamedTensors named_buffers() { return named(&Module::buffers_); }
  std::vector<Tensor> parameters() { return tensors(named_parameters()); }
  std::vector<Tensor> buffers() { return tensors(named_buffers()); }

  // ---- state ----

  // All parameters and persistent buffers by path, a shared module under each of its names. The
  // tensors share memory with the model.
  TensorMap state_dict() {
    TensorMap state;
    std::vector<Module*> above;
    add_state(state, "", above);
    return state;
  }

  // Copies a state into this model. strict: every key must match.
  StateDictKeys load_state_dict(const TensorMap& state, bool strict = true) {
    TensorMap own = state_dict();
    StateDictKeys keys;
    std::string problems;
    for (const auto& [name, tensor] : own) {
      const auto given = state.find(name);
      if (given == state.end()) {
        keys.missing.push_back(name);
        if (strict) problems += "\n\tmissing key '" + name + "'";
      } else if (given->second.shape() != tensor.shape()) {
        problems += "\n\tsize mismatch for '" + name + "': expected shape " +
                    tessera::detail::text_of(tensor.shape()) + ", got shape " +
                    tessera::detail::text_of(given->second.shape());
      }
    }
    for (const auto& [name, tensor] : state) {
      if (own.count(name) != 0) continue;
      keys.unexpected.push_back(name);
      if (strict) problems += "\n\tunexpected key '" + name + "'";
    }
    if (!problems.empty()) {
      throw InvalidValueError("load_state_dict: the state does not fit:" + problems,
                              "load_state_dict");
    }
    const NoGradGuard no_grad;
    for (auto& [name, tensor] : own) {
      if (const auto given = state.find(name); given != state.end()) tensor.copy_(given->second);
    }
    return keys;
  }

  // ---- modes and conversion ----

  bool is_training() const noexcept { return training_; }
  void train(bool mode = true) {
    for (const auto& [path, module] : named_modules()) module->training_ = mode;
  }
  void eval() { train(false); }
  void requires_grad_(bool value = true) {
    for (Tensor& parameter : parameters()) parameter.requires_grad_(value);
  }
  void zero_grad() {
    for (Tensor& parameter : parameters()) parameter.set_grad({});
  }
  // Converts floating parameters with their gradients, and buffers, in place. The Tensor objects
  // stay the same, so that an existing optimizer still updates them. Running statistics never get a
  // 16-bit dtype.
  void to(DType dtype) {
    const bool half = dtype == kFloat16 || dtype == kBFloat16;
    convert([dtype, half](const Tensor& x, bool statistic) {
      return is_floating_point(x.dtype()) ? x.to(statistic && half ? kFloat32 : dtype) : x;
    });
  }
  void to(Device device) {
    convert([device](const Tensor& x, bool) { return x.to(device); });
  }
  // Calls the function with every module, children first.
  template <class Function>
  void apply(Function function) {
    for (const auto& [name, child] : modules_) child->apply(function);
    function(*this);
  }

 private:
  struct Entry {
    std::string name;
    Tensor* tensor;
    bool persistent = true;
    bool statistic = false;
  };
  using Entries = std::vector<Entry>;

  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  void claim(const std::string& name) const {
    if (name.empty() || name.find('.') != std::string::npos) {
      throw InvalidValueError("a name must not be empty or have a dot in it: '" + name + "'");
    }
    bool taken = false;
    for (const Entry& entry : parameters_) taken = taken || entry.name == name;
    for (const Entry& entry : buffers_) taken = taken || entry.name == name;
    for (const auto& [known, module] : modules_) taken = taken || known == name;
    if (taken) throw InvalidValueError("the name '" + name + "' is registered already");
  }

  void collect(const std::string& path, std::vector<std::pair<std::string, Module*>>& found,
               std::unordered_set<const void*>& seen) {
    if (!seen.insert(this).second) return;
    found.push_back({path, this});
    for (const auto& [name, child] : modules_) child->collect(join(path, name), found, seen);
  }

  // `above` are the modules around this one: a module inside itself ends the walk.
  void add_state(TensorMap& state, const std::string& path, std::vector<Module*>& above) {
    for (const Module* module : above) {
      if (module == this) return;
    }
    above.push_back(this);
    for (const Entries* entries : {&parameters_, &buffers_}) {
      for (const Entry& entry : *entries) {
        if (!entry.tensor->defined() || !entry.persistent) continue;
        const std::string key = join(path, entry.name);
        state[key] = entry.tensor->detach();
      }
    }
    for (const auto& [name, child] : modules_) child->add_state(state, join(path, name), above);
    above.pop_back();
  }

  // Tensors of all modules by path; a shared tensor only under its first name.
  NamedTensors named(Entries Module::*entries) {
    NamedTensors found;
    std::unordered_set<const void*> seen;
    for (const auto& [path, module] : named_modules()) {
      for (const Entry& entry : module->*entries) {
        if (entry.tensor->defined() && seen.insert(entry.tensor->handle()).second) {
          found.push_back({join(path, entry.name), *entry.tensor});
        }
      }
    }
    return found;
  }

  static std::vector<Tensor> tensors(NamedTensors named) {
    std::vector<Tensor> found;
    for (auto& [name, tensor] : named) found.push_back(std::move(tensor));
    return found;
  }

  // conversion(tensor without history, whether it is a statistic) returns the converted tensor.
  template <class Conversion>
  void convert(Conversion conversion) {
    const NoGradGuard no_grad;
    for (const auto& [path, module] : named_modules()) {
      for (const Entry& entry : module->parameters_) give(*entry.tensor, conversion, false);
      for (const Entry& entry : module->buffers_) give(*entry.tensor, conversion, entry.statistic);
    }
  }

  template <class Conversion>
  static void give(Tensor& tensor, Conversion conversion, bool statistic) {
    if (!tensor.defined()) return;
    const Tensor made = conversion(tensor.detach(), statistic);
    if (made.dtype() == tensor.dtype() && made.device() == tensor.device()) return;
    const Tensor grad = tensor.grad();
    const Tensor converted = grad.defined() ? conversion(grad.detach(), statistic) : Tensor();
    tensor.set_grad({});
    tensor.set_data(made);
    tensor.set_grad(converted);
  }

  Entries parameters_, buffers_;
  std::vector<std::pair<std::string, Module*>> modules_;
  bool training_ = true;
};

}  // namespace tessera::nn
