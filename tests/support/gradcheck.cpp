// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradcheck.h"

#include <array>
#include <cmath>
#include <random>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "support/start_up.h"

namespace tsr::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

// A tensor's numbers as doubles, in row-major order; a complex element is two of them.
class Components {
 public:
  explicit Components(const Tensor& tensor) : tensor_(tensor) {
    const int64_t width = is_complex(tensor.dtype()) ? 2 : 1;
    std::vector<int64_t> offsets{0};
    for (int64_t d = 0; d < tensor.ndim(); ++d) {
      std::vector<int64_t> next;
      for (const int64_t start : offsets) {
        for (int64_t i = 0; i < tensor.size(d); ++i) next.push_back(start + i * tensor.stride(d));
      }
      offsets = std::move(next);
    }
    for (const int64_t offset : offsets) {
      for (int64_t part = 0; part < width; ++part) places_.push_back(offset * width + part);
    }
  }
  [[nodiscard]] size_t size() const { return places_.size(); }
  double& operator[](size_t i) const { return tensor_.data_as<double>()[places_[i]]; }

 private:
  Tensor tensor_;
  std::vector<int64_t> places_;
};

bool is_checked(const Tensor& tensor) {
  return tensor.defined() && tsr::requires_grad(tensor);
}

// The outputs that require grad, without their graph.
std::vector<Tensor> differentiable(std::vector<Tensor> outputs) {
  std::erase_if(outputs, [](const Tensor& output) { return !is_checked(output); });
  return outputs;
}

// d Re(conj(v) f) / d(input component), for v = 1 or i at each output component in turn: one row
// for each output component, in the order of the outputs.
using Matrix = std::vector<std::vector<double>>;

std::vector<double> evaluate(const Differentiable& fn, const std::vector<Tensor>& inputs,
                             const std::vector<bool>& taken) {
  const NoGrad guard;
  std::vector<double> result;
  const std::vector<Tensor> outputs = fn(inputs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!taken[k]) continue;
    const Components components(outputs[k]);
    for (size_t i = 0; i < components.size(); ++i) result.push_back(components[i]);
  }
  return result;
}

Matrix numerical(const Differentiable& fn, const std::vector<Tensor>& inputs, const Tensor& input,
                 const std::vector<bool>& taken, double eps) {
  Matrix columns;
  const Components components(input);
  for (size_t i = 0; i < components.size(); ++i) {
    const double saved = components[i];
    components[i] = saved + eps;
    std::vector<double> column = evaluate(fn, inputs, taken);
    components[i] = saved - eps;
    const std::vector<double> below = evaluate(fn, inputs, taken);
    components[i] = saved;
    for (size_t r = 0; r < column.size(); ++r) column[r] = (column[r] - below[r]) / (2 * eps);
    columns.push_back(std::move(column));
  }
  return columns;
}

Tensor filled_like(const Tensor& tensor, size_t one_at) {
  Tensor result = empty(tensor.sizes(), tensor.dtype());
  const Components components(result);
  for (size_t i = 0; i < components.size(); ++i) components[i] = i == one_at ? 1 : 0;
  return result;
}

AssertionResult compare_row(const std::vector<Tensor>& grads, const std::vector<Tensor>& checked,
                            const std::vector<Matrix>& expected, size_t row,
                            const GradcheckOptions& options) {
  for (size_t n = 0; n < checked.size(); ++n) {
    if (grads[n].defined() &&
        (grads[n].sizes() != checked[n].sizes() || grads[n].dtype() != checked[n].dtype())) {
      return AssertionFailure() << "gradient of input " << n << " has the wrong shape or dtype";
    }
    const Components got(grads[n].defined() ? grads[n] : checked[n]);
    for (size_t i = 0; i < got.size(); ++i) {
      const double value = grads[n].defined() ? got[i] : 0;
      const double want = expected[n][i][row];
      if (std::abs(value - want) <= options.atol + options.rtol * std::abs(want)) continue;
      return AssertionFailure() << "d(output component " << row << ") / d(component " << i
                                << " of differentiable input " << n << "): backward gives " << value
                                << ", central differences give " << want;
    }
  }
  return AssertionSuccess();
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t n = 0; n < a.size(); ++n) {
    if (a[n].defined() != b[n].defined()) return false;
    if (!a[n].defined()) continue;
    const Components x(a[n]);
    const Components y(b[n]);
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
    }
  }
  return true;
}

AssertionResult check_output(const Tensor& output, const std::vector<Tensor>& checked,
                             const std::vector<Matrix>& expected, size_t first_row,
                             const GradcheckOptions& options) {
  const size_t rows = Components(output).size();
  for (size_t row = 0; row < rows; ++row) {
    const std::array<Tensor, 1> outputs{output};
    const std::array<Tensor, 1> weights{filled_like(output, row)};
    const BackwardOptions keep{.retain_graph = true};
    const auto grads = tsr::grad(outputs, checked, weights, keep, true);
    const auto again = tsr::grad(outputs, checked, weights, keep, true);
    if (!same_bits(grads, again)) {
      return AssertionFailure() << "backward gives another result the second time";
    }
    if (auto result = compare_row(grads, checked, expected, first_row + row, options); !result) {
      return result;
    }
  }
  return AssertionSuccess();
}

AssertionResult check_inputs(const std::vector<Tensor>& inputs) {
  for (const Tensor& input : inputs) {
    if (!is_checked(input)) continue;
    if (input.dtype() != DType::kFloat64 && input.dtype() != DType::kComplex128) {
      return AssertionFailure() << "gradcheck needs float64 or complex128, got "
                                << name(input.dtype());
    }
    if (may_overlap_itself(input.sizes(), input.strides())) {
      return AssertionFailure() << "gradcheck needs inputs without overlapping elements";
    }
  }
  return AssertionSuccess();
}

AssertionResult check_jacobian(const Differentiable& fn, const std::vector<Tensor>& inputs,
                               const GradcheckOptions& options) {
  std::vector<Tensor> checked = differentiable(inputs);
  if (checked.empty()) return AssertionFailure() << "no input requires grad";
  std::vector<Tensor> outputs = fn(inputs);
  std::vector<bool> taken;
  for (const Tensor& output : outputs) taken.push_back(is_checked(output));
  outputs = differentiable(std::move(outputs));
  if (outputs.empty()) return AssertionFailure() << "no output requires grad";
  std::vector<Matrix> expected;
  for (const Tensor& input : checked) {
    expected.push_back(numerical(fn, inputs, input, taken, options.eps));
  }
  size_t row = 0;
  for (const Tensor& output : outputs) {
    if (auto result = check_output(output, checked, expected, row, options); !result) return result;
    row += Components(output).size();
  }
  return AssertionSuccess();
}

}  // namespace

AssertionResult gradcheck(const Differentiable& fn, const std::vector<Tensor>& inputs,
                          GradcheckOptions options) {
  start_up();
  if (auto result = check_inputs(inputs); !result) return result;
  try {
    return check_jacobian(fn, inputs, options);
  } catch (const Error& error) {
    return AssertionFailure() << error.message();
  }
}

AssertionResult gradgradcheck(const Differentiable& fn, const std::vector<Tensor>& inputs,
                              GradcheckOptions options) {
  start_up();
  const std::vector<Tensor> outputs = differentiable(fn(inputs));
  const size_t count = inputs.size();
  std::vector<Tensor> all = inputs;
  for (uint32_t k = 0; k < outputs.size(); ++k) {
    all.push_back(random_leaf(outputs[k].sizes(), 1000 + k, -1, 1, outputs[k].dtype()));
  }
  const auto gradients = [&](std::span<const Tensor> given) {
    // Central differences call this without grad mode, but computing a gradient needs it.
    const bool create_graph = grad_enabled();
    const EnableGrad guard;
    std::vector<Tensor> first = differentiable(fn(given.subspan(0, count)));
    std::vector<Tensor> checked;
    for (const Tensor& input : given.subspan(0, count)) {
      if (is_checked(input)) checked.push_back(input);
    }
    std::vector<Tensor> grads =
        tsr::grad(first, checked, given.subspan(count), {.create_graph = create_graph}, true);
    // An input on which no output depends has no gradient to differentiate.
    std::erase_if(grads, [](const Tensor& grad) { return !grad.defined(); });
    return grads;
  };
  const std::vector<Tensor> probe = gradients(all);
  if (differentiable(probe).empty()) return AssertionSuccess();  // linear in every input
  return gradcheck(gradients, all, options);
}

Tensor random_leaf(DimsView sizes, uint32_t seed, double low, double high, DType dtype) {
  Tensor result = empty(sizes, dtype);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  const Components components(result);
  for (size_t i = 0; i < components.size(); ++i) components[i] = uniform(random);
  set_requires_grad(result, true);
  return result;
}

}  // namespace tsr::testing
