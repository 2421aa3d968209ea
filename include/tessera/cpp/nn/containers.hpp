// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Modules that own other modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
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

// A list of modules of one kind, or of classes derived from it, named by their numbers:
//   nn::ModuleListOf<nn::LSTMCell> cells;
//   cells.append(8, 16);
//   for (nn::LSTMCell& cell : cells) ...
template <class Base>
class ModuleListOf : public Module {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Base;
    using difference_type = std::ptrdiff_t;
    using pointer = Base*;
    using reference = Base&;

    Iterator() = default;
    explicit Iterator(const std::unique_ptr<Base>* place) noexcept : place_(place) {}
    Base& operator*() const noexcept { return **place_; }
    Base* operator->() const noexcept { return place_->get(); }
    Iterator& operator++() noexcept { return ++place_, *this; }
    Iterator operator++(int) noexcept { return Iterator(place_++); }
    friend bool operator==(Iterator a, Iterator b) noexcept { return a.place_ == b.place_; }
    friend bool operator!=(Iterator a, Iterator b) noexcept { return a.place_ != b.place_; }

   private:
    const std::unique_ptr<Base>* place_ = nullptr;
  };

  ModuleListOf() = default;

  // Makes a module, appends it and returns it.
  template <class Kind = Base, class... Arguments,
            std::enable_if_t<std::is_constructible_v<Kind, Arguments&&...>, int> = 0>
  Kind& append(Arguments&&... arguments) {
    auto made = std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
    Kind& reference = *made;
    append(std::unique_ptr<Base>(std::move(made)));
    return reference;
  }
  void append(std::unique_ptr<Base> module) {
    register_module(std::to_string(owned_.size()), *module);
    owned_.push_back(std::move(module));
  }

  size_t size() const noexcept { return owned_.size(); }
  Base& operator[](size_t index) const {
    if (index < owned_.size()) return *owned_[index];
    throw OutOfRangeError("ModuleList: index: expected a number below " +
                              std::to_string(owned_.size()) + ", got " + std::to_string(index),
                          "ModuleList");
  }
  Iterator begin() const noexcept { return Iterator(owned_.data()); }
  Iterator end() const noexcept { return Iterator(owned_.data() + owned_.size()); }

 private:
  std::vector<std::unique_ptr<Base>> owned_;
};

// A list of modules, named by their numbers.
using ModuleList = ModuleListOf<Module>;

// Modules of one kind by name, in the order in which they were set:
//   nn::ModuleDictOf<nn::Linear> heads;
//   heads.insert("age", 16, 1);
//   for (auto& [name, head] : heads) losses[name] = (*head)(x);
template <class Base>
class ModuleDictOf : public Module {
 public:
  ModuleDictOf() = default;

  // Makes a module, adds it and returns it. InvalidValueError if there is one of this name.
  template <class Kind = Base, class... Arguments,
            std::enable_if_t<std::is_constructible_v<Kind, Arguments&&...>, int> = 0>
  Kind& insert(const std::string& name, Arguments&&... arguments) {
    auto made = std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
    Kind& reference = *made;
    insert(name, std::unique_ptr<Base>(std::move(made)));
    return reference;
  }
  void insert(const std::string& name, std::unique_ptr<Base> module) {
    register_module(name, *module);
    owned_.emplace_back(name, std::move(module));
  }

  size_t size() const noexcept { return owned_.size(); }
  bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  Base& operator[](std::string_view name) const {
    if (Base* const found = find(name)) return *found;
    throw OutOfRangeError(
        "ModuleDict: name: expected one of its names, got '" + std::string(name) + "'",
        "ModuleDict");
  }
  auto begin() const noexcept { return owned_.begin(); }
  auto end() const noexcept { return owned_.end(); }

 private:
  Base* find(std::string_view name) const noexcept {
    for (const auto& [known, module] : owned_) {
      if (known == name) return module.get();
    }
    return nullptr;
  }

  std::vector<std::pair<std::string, std::unique_ptr<Base>>> owned_;
};

// Modules by name.
using ModuleDict = ModuleDictOf<Module>;

// A function of one tensor as a module, for Sequential:
//   nn::make<nn::Functional>([](const Tensor& x) { return x.flatten(1); })
struct Functional : Module {
  explicit Functional(std::function<Tensor(const Tensor&)> call) : function(std::move(call)) {}
  Tensor forward(const Tensor& input) override { return function(input); }

  const std::function<Tensor(const Tensor&)> function;
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
    for (Module& module : *this) result = module.forward(result);
    return result;
  }
};

}  // namespace tessera::nn
