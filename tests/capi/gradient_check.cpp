// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// check_gradient: the backward of a function of the C ABI against finite differences of its
// forward.
#include <cmath>
#include <string>

#include "capi/abi_support.h"

namespace tsr::test {
namespace {

constexpr double kStep = 1e-6;
constexpr double kRelative = 1e-3, kAbsolute = 1e-5;

struct Results {
  Results() = default;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results() { tsr_tensor_release_many(handles, 8); }
  tsr_tensor handles[8] = {};
  int32_t count = 0;
};

tsr_info info_of(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  return info;
}

std::vector<double> values_of(tsr_tensor tensor) {
  std::vector<double> values(static_cast<size_t>(info_of(tensor).numel));
  ok(tsr_tensor_read(tensor, values.data(), static_cast<int64_t>(values.size() * sizeof(double))));
  return values;
}

// Different for each element, of both signs, never near 0.
double weight(size_t result, size_t element) {
  const double value = 0.5 + 0.37 * static_cast<double>((7 * result + 3 * element) % 5);
  return element % 2 == 0 ? value : -value;
}

bool takes_part(tsr_tensor tensor) {
  int32_t value = 0;
  if (tensor == nullptr || info_of(tensor).dtype != TSR_FLOAT64) return false;
  ok(tsr_tensor_requires_grad(tensor, &value));
  return value != 0;
}

struct Problem {
  std::vector<Literal> inputs;
  const Differentiable& call;
  std::vector<bool> counted;  // by result: whether it is part of the sum

  [[nodiscard]] bool run(Results& results, bool leaves, std::vector<Tensor>& tensors) const {
    std::vector<tsr_tensor> handles;
    for (const Literal& input : inputs) {
      tensors.emplace_back(input);
      handles.push_back(tensors.back());
      if (leaves) ok(tsr_tensor_set_requires_grad(handles.back(), 1));
    }
    return call(handles.data(), results.handles, &results.count) == TSR_OK;
  }

  [[nodiscard]] double weighted_sum() const {
    Results results;
    std::vector<Tensor> tensors;
    if (!run(results, false, tensors)) return NAN;
    double sum = 0;
    for (size_t r = 0; r < counted.size(); ++r) {
      if (!counted[r]) continue;
      const std::vector<double> values = values_of(results.handles[r]);
      for (size_t i = 0; i < values.size(); ++i) sum += weight(r, i) * values[i];
    }
    return sum;
  }

  [[nodiscard]] double slope(size_t input, size_t element) {
    double& place = inputs[input].real[element];
    const double middle = place;
    place = middle + kStep;
    const double above = weighted_sum();
    place = middle - kStep;
    const double below = weighted_sum();
    place = middle;
    return (above - below) / (2 * kStep);
  }
};

// Runs the backward of the weighted sum; false when no result takes part.
bool run_backward(Problem& problem, const Results& results) {
  std::vector<tsr_tensor> roots, weights;
  std::vector<Tensor> owners;
  for (int32_t r = 0; r < results.count; ++r) {
    problem.counted.push_back(takes_part(results.handles[r]));
    if (!problem.counted.back()) continue;
    const tsr_info info = info_of(results.handles[r]);
    Literal literal =
        reals(TSR_FLOAT64, std::vector<int64_t>(info.sizes, info.sizes + info.ndim), {});
    for (int64_t i = 0; i < info.numel; ++i) {
      literal.real.push_back(weight(static_cast<size_t>(r), static_cast<size_t>(i)));
    }
    owners.emplace_back(literal);
    weights.push_back(owners.back());
    roots.push_back(results.handles[r]);
  }
  const auto count = static_cast<int32_t>(roots.size());
  if (count > 0) ok(tsr_backward(roots.data(), count, weights.data(), count, nullptr, 0, 0));
  return count > 0;
}

}  // namespace

void check_gradient(const std::vector<Literal>& inputs, const Differentiable& call, Where where) {
  Problem problem{inputs, call, {}};
  std::vector<Tensor> leaves;
  Results results;
  const testing::ScopedTrace trace(where.file_name(), where.line(), "gradient");
  ASSERT_TRUE(problem.run(results, true, leaves)) << "the forward fails";
  ASSERT_TRUE(run_backward(problem, results)) << "no float64 result requires grad";
  int gradients = 0;
  for (size_t input = 0; input < inputs.size(); ++input) {
    Tensor grad;
    ok(tsr_tensor_grad(leaves[input], grad.slot()));
    if (static_cast<tsr_tensor>(grad) == nullptr) continue;
    ++gradients;
    const std::vector<double> found = values_of(grad);
    for (size_t i = 0; i < found.size(); ++i) {
      const double expected = problem.slope(input, i);
      EXPECT_NEAR(found[i], expected, kAbsolute + kRelative * std::abs(expected))
          << "input " << input << ", element " << i;
    }
  }
  EXPECT_GT(gradients, 0) << "no input got a gradient";
}

}  // namespace tsr::test
