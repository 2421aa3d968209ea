// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Modules that own other modules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

using ModulePointer = std::unique_ptr<Module>;

// A module for a container: nn::make<nn::Linear>(4, 2).
template <class Kind, class... Arguments>
ModulePointer make(Arguments&&... arguments) {
  return std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
}

// A list of modules, named by their numbers.
class ModuleList : public Module {
 public:
  ModuleList() = default;

  // Makes a module, appends it and returns it.
  template <class Kind, class... Arguments>
  Kind& append(Arguments&&... arguments) {
    auto made = std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
    Kind& reference = *made;
    append(std::move(made));
    return reference;
  }
  void append(ModulePointer module) {
    register_module(std::to_string(owned_.size()), *module);
    owned_.push_back(std::move(module));
  }

  size_t size() const noexcept { return owned_.size(); }
  Module& operator[](size_t index) const { return *owned_.at(index); }

 protected:
  const std::vector<ModulePointer>& owned() const noexcept { return owned_; }

 private:
  std::vector<ModulePointer> owned_;
};

// Calls its modules one after the other:
//   nn::Sequential net(nn::make<nn::Linear>(4, 16), nn::make<nn::ReLU>());
class Sequential : public ModuleList {
 public:
  template <class... Pointers>
  explicit Sequential(Pointers... modules) {
    (append(std::move(modules)), ...);
  }

  Tensor forward(const Tensor& input) override {
    Tensor result = input;
    for (const ModulePointer& module : owned()) result = module->forward(result);
    return result;
  }
};

}  // namespace tessera::nn
