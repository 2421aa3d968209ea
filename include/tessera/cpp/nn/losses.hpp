// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Losses as modules of two inputs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

// Base class of losses. reduction: "none", "mean" or "sum".
class Loss : public Module {
 public:
  using Module::forward;
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }

 protected:
  explicit Loss(std::string reduction) : reduction_(std::move(reduction)) {
    if (reduction_ != "none" && reduction_ != "mean" && reduction_ != "sum") {
      throw InvalidValueError("reduction: expected 'none', 'mean' or 'sum', got '" + reduction_ +
                              "'");
    }
  }
  const std::string& reduction() const noexcept { return reduction_; }

 private:
  std::string reduction_;
};

class MSELoss : public Loss {
 public:
  explicit MSELoss(std::string reduction = "mean") : Loss(std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return mse_loss(input, target, reduction());
  }
};

// Cross entropy of logits and class numbers.
class CrossEntropyLoss : public Loss {
 public:
  Tensor weight;

  explicit CrossEntropyLoss(Tensor class_weight = {}, int64_t ignore_index = -100,
                            std::string reduction = "mean", double label_smoothing = 0)
      : Loss(std::move(reduction)),
        weight(std::move(class_weight)),
        ignore_index_(ignore_index),
        label_smoothing_(label_smoothing) {
    register_buffer("weight", weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return cross_entropy(input, target, weight, ignore_index_, reduction(), label_smoothing_);
  }

 private:
  int64_t ignore_index_;
  double label_smoothing_;
};

// Negative log-likelihood of log-probabilities and class numbers.
class NLLLoss : public Loss {
 public:
  Tensor weight;

  explicit NLLLoss(Tensor class_weight = {}, int64_t ignore_index = -100,
                   std::string reduction = "mean")
      : Loss(std::move(reduction)), weight(std::move(class_weight)), ignore_index_(ignore_index) {
    register_buffer("weight", weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return nll_loss(input, target, weight, ignore_index_, reduction());
  }

 private:
  int64_t ignore_index_;
};

// Binary cross entropy of logits.
class BCEWithLogitsLoss : public Loss {
 public:
  Tensor weight, pos_weight;

  explicit BCEWithLogitsLoss(Tensor element_weight = {}, std::string reduction = "mean",
                             Tensor positive_weight = {})
      : Loss(std::move(reduction)),
        weight(std::move(element_weight)),
        pos_weight(std::move(positive_weight)) {
    register_buffer("weight", weight);
    register_buffer("pos_weight", pos_weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction());
  }
};

}  // namespace tessera::nn
