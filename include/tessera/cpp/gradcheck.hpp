// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// gradcheck: compares derivatives with central differences, for tests of your own functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/create.hpp"

namespace tessera {

namespace detail {

inline constexpr double kCheckStep = 1e-6;
inline constexpr double kCheckRelative = 1e-3;
inline constexpr double kCheckAbsolute = 1e-5;

// One factor for each element of the output, none near 0 and no two the same.
inline Tensor check_weights(const Tensor& output) {
  if (output.dtype() != kFloat64) {
    throw DTypeError(
        "gradcheck: expected a float64 output, got " + std::string(name(output.dtype())),
        "gradcheck");
  }
  std::vector<double> values(static_cast<size_t>(output.numel()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.5 + std::fmod(0.618034 * static_cast<double>(i), 1.0);
  }
  return copy_from(values.data(), output.shape()).to(output.device());
}

// The derivative of the weighted sum by each element of one input, which is changed and restored.
template <class F>
std::vector<double> difference_quotients(const F& f, const std::vector<Tensor>& inputs,
                                         const Tensor& input, const Tensor& weights) {
  const NoGradGuard no_grad;
  const Tensor flat = input.detach();
  const std::vector<double> values = flat.to_vector<double>();
  const auto write = [&](const std::vector<double>& moved) {
    check(tsr_tensor_write(flat.handle(), moved.data(), flat.nbytes()));
  };
  const auto sum_at = [&](size_t index, double value) {
    std::vector<double> moved = values;
    moved[index] = value;
    write(moved);
    return (f(inputs) * weights).sum().template item<double>();
  };
  std::vector<double> quotients;
  try {
    for (size_t i = 0; i < values.size(); ++i) {
      const double above = sum_at(i, values[i] + kCheckStep);
      const double below = sum_at(i, values[i] - kCheckStep);
      quotients.push_back((above - below) / (2 * kCheckStep));
    }
  } catch (...) {
    write(values);
    throw;
  }
  write(values);
  return quotients;
}

}  // namespace detail

// Compares the gradients of f(inputs), which takes a const std::vector<Tensor>& of float64 leaves
// that require grad and returns a float64 Tensor, with central differences. Throws AutogradError,
// which names the first input and element where they differ.
template <class F>
void gradcheck(const F& f, const std::vector<Tensor>& inputs) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() == kFloat64 && inputs[k].requires_grad() && inputs[k].is_leaf()) continue;
    throw DTypeError("gradcheck: inputs: expected float64 leaves that require grad, input " +
                         std::to_string(k) + " is none",
                     "gradcheck", 1);
  }
  const EnableGradGuard recording;
  const Tensor output = f(inputs);
  const Tensor weights = detail::check_weights(output);
  BackwardOptions options;
  options.allow_unused = true;
  const std::vector<Tensor> found = grad(output, inputs, weights, options);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<double> expected =
        detail::difference_quotients(f, inputs, inputs[k], weights);
    const std::vector<double> given =
        found[k].defined() ? found[k].to_vector<double>() : std::vector<double>(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double limit = detail::kCheckAbsolute + detail::kCheckRelative * std::abs(expected[i]);
      if (std::abs(given[i] - expected[i]) <= limit) continue;
      throw AutogradError("gradcheck: input " + std::to_string(k) + ", element " +
                              std::to_string(i) + ": the gradient is " + std::to_string(given[i]) +
                              ", the difference quotient " + std::to_string(expected[i]),
                          "gradcheck");
    }
  }
}

}  // namespace tessera
