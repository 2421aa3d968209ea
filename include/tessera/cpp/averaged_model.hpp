// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Averages of a model's parameters over training (Izmailov and others, "Averaging weights leads to
// wider optima and better generalization", 2018), and exponential moving averages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cpp/create.hpp"
#include "tessera/cpp/nn/module.hpp"

namespace tessera::optim {

struct AveragedModelOptions {
  // Each update takes decay times the average and 1 - decay times the model; absent: the mean of
  // all models.
  std::optional<double> decay = std::nullopt;
  bool use_buffers = false;  // buffers are averaged, too, instead of copied
};

// Averages of the parameters that a model has at each update(), in another model of the same kind,
// whose own values are overwritten. State dicts have the names of Python's AveragedModel:
//
//   Net model, average_of_model;
//   optim::AveragedModel average(average_of_model, {0.999});
//   optimizer.step();
//   average.update(model);
class AveragedModel : public nn::Module {
 public:
  // The module must outlive this object.
  explicit AveragedModel(nn::Module& module, const AveragedModelOptions& options = {})
      : n_averaged(zeros({}, kInt64)), module_(module), options_(options) {
    if (options.decay && !(*options.decay >= 0 && *options.decay <= 1)) {
      throw InvalidValueError("decay: expected a number between 0 and 1, got " +
                              std::to_string(*options.decay));
    }
    register_buffer("n_averaged", n_averaged);
    register_module("module", module);
  }

  Tensor forward(const Tensor& input) override { return module_.forward(input); }

  // Takes the parameters of a model into the average; the first ones are copied.
  void update(nn::Module& model) {
    const NoGradGuard no_grad;
    const auto count = n_averaged.item<int64_t>();
    const std::vector<Tensor> parameters = model.parameters();
    const std::vector<Tensor> buffers = model.buffers();
    expect_same_shapes("parameter", module_.parameters(), parameters);
    expect_same_shapes("buffer", module_.buffers(), buffers);
    average(module_.parameters(), parameters, count);
    average(module_.buffers(), buffers, options_.use_buffers ? count : 0);
    n_averaged += 1;
  }

  Tensor n_averaged;

 private:
  static void expect_same_shapes(const std::string& what, const std::vector<Tensor>& own,
                                 const std::vector<Tensor>& given) {
    if (own.size() != given.size()) {
      throw InvalidValueError("AveragedModel: expected a model with " + std::to_string(own.size()) +
                              " " + what + "s, got " + std::to_string(given.size()));
    }
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].shape() != given[i].shape()) {
        throw InvalidValueError("AveragedModel: " + what + " " + std::to_string(i) +
                                ": expected shape " + tessera::detail::text_of(own[i].shape()) +
                                ", got " + tessera::detail::text_of(given[i].shape()));
      }
    }
  }

  void average(const std::vector<Tensor>& own, const std::vector<Tensor>& given,
               int64_t count) const {
    for (size_t i = 0; i < own.size(); ++i) {
      Tensor target = own[i].detach();
      const Tensor now = given[i].detach().to(target.device());
      if (count == 0) {
        target.copy_(now);
      } else if (options_.decay) {
        target.copy_(*options_.decay * target + (1 - *options_.decay) * now);
      } else {
        target.copy_(target + (now - target) / (count + 1));
      }
    }
  }

  nn::Module& module_;
  AveragedModelOptions options_;
};

}  // namespace tessera::optim
