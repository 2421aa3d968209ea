// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Parameters in a list or by name, as modules that train them.
#pragma once

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

// Parameters in a list, named by their numbers. A std::vector cannot hold them: when it grows, the
// Tensors move away from the addresses that a module knows.
//   nn::ParameterList scales;
//   for (int64_t width : widths) scales.append(ones({width}));
class ParameterList : public Module {
 public:
  ParameterList() = default;
  explicit ParameterList(const TensorList& tensors) {
    for (const Tensor& tensor : tensors) append(tensor);
  }

  // Appends the tensor as a leaf that requires grad, and returns it.
  Tensor& append(const Tensor& tensor) {
    Tensor& place = values_.emplace_back(tensor.detach().requires_grad_());
    register_parameter(std::to_string(values_.size() - 1), place);
    return place;
  }

  size_t size() const noexcept { return values_.size(); }
  Tensor& operator[](size_t index) {
    if (index < values_.size()) return values_[index];
    throw OutOfRangeError("ParameterList: index: expected a number below " +
                              std::to_string(values_.size()) + ", got " + std::to_string(index),
                          "ParameterList");
  }
  auto begin() noexcept { return values_.begin(); }
  auto end() noexcept { return values_.end(); }

 private:
  std::deque<Tensor> values_;  // its elements stay where they are when it grows
};

// Parameters by name, in the order in which they were set:
//   nn::ParameterDict scales;
//   scales.insert("left", ones({4}));
//   for (auto& [name, scale] : scales) ...
class ParameterDict : public Module {
 public:
  ParameterDict() = default;
  explicit ParameterDict(std::initializer_list<std::pair<std::string, Tensor>> tensors) {
    for (const auto& [name, tensor] : tensors) insert(name, tensor);
  }

  // Adds the tensor as a leaf that requires grad, and returns it. InvalidValueError if there is one
  // of this name.
  Tensor& insert(const std::string& name, const Tensor& tensor) {
    values_.emplace_back(name, tensor.detach().requires_grad_());
    try {
      register_parameter(name, values_.back().second);
    } catch (...) {
      values_.pop_back();
      throw;
    }
    return values_.back().second;
  }

  size_t size() const noexcept { return values_.size(); }
  bool contains(std::string_view name) const noexcept {
    for (const auto& [known, value] : values_) {
      if (known == name) return true;
    }
    return false;
  }
  Tensor& operator[](std::string_view name) {
    for (auto& [known, value] : values_) {
      if (known == name) return value;
    }
    throw OutOfRangeError(
        "ParameterDict: name: expected one of its names, got '" + std::string(name) + "'",
        "ParameterDict");
  }
  auto begin() noexcept { return values_.begin(); }
  auto end() noexcept { return values_.end(); }

 private:
  std::deque<std::pair<const std::string, Tensor>> values_;
};

}  // namespace tessera::nn
