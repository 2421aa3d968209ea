// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The adaptive softmax of Grave et al., "Efficient softmax approximation for GPUs" (2017): rare
// classes stand in clusters, which are computed only for the rows that need them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/create.hpp"
#include "tessera/cpp/nn/containers.hpp"
#include "tessera/cpp/nn/layers.hpp"

namespace tessera::nn {

// The log-probability of each row's target, and the mean of their negatives.
struct AdaptiveLogSoftmaxResult {
  Tensor output, loss;
};

// Classes must be sorted from the most frequent to the rarest. Those below cutoffs[0] are scored by
// `head`, together with one score for each cluster; cluster i has the classes from cutoffs[i] on
// and in_features / div_value^(i + 1) inner features. forward(input) is log_prob.
class AdaptiveLogSoftmaxWithLoss : public Module {
 public:
  AdaptiveLogSoftmaxWithLoss(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs,
                             double div_value = 4, bool head_bias = false,
                             std::optional<DType> dtype = std::nullopt)
      : cutoffs_(checked(std::move(cutoffs), n_classes, div_value)),
        in_features_(in_features),
        head(in_features, cutoffs_[0] + static_cast<int64_t>(cutoffs_.size()) - 1, head_bias,
             dtype) {
    for (size_t i = 0; i + 1 < cutoffs_.size(); ++i) {
      // How often the width goes into in_features, without the rounding of their quotient.
      const double width = std::pow(div_value, static_cast<double>(i + 1));
      const auto size = static_cast<double>(in_features);
      const auto inner = static_cast<int64_t>(std::round((size - std::fmod(size, width)) / width));
      ModulePointer first(new Linear(in_features, inner, false, dtype));
      ModulePointer second(new Linear(inner, cutoffs_[i + 1] - cutoffs_[i], false, dtype));
      tail.append(ModulePointer(new Sequential(std::move(first), std::move(second))));
    }
    register_modules({{"head", head}, {"tail", tail}});
  }

  using Module::forward;
  using Module::operator();
  Tensor forward(const Tensor& input) override { return log_prob(input); }
  // `target` has one class for each row; it has no axes if the input is one row.
  AdaptiveLogSoftmaxResult forward(const Tensor& input, const Tensor& target) {
    check(input);
    std::vector<int64_t> lead = input.shape();
    lead.pop_back();
    if (lead != target.shape()) {
      throw ShapeError("target: expected one class for each row of " + text(input) +
                       ", got shape " + text(target));
    }
    const Tensor rows = input.reshape({-1, in_features_});
    const Tensor classes = target.reshape(-1).astype(kInt64);
    if (any(logical_or(classes < 0, classes >= cutoffs_.back())).item<bool>()) {
      throw OutOfRangeError("target: expected classes from 0 to " +
                            std::to_string(cutoffs_.back() - 1) + ", got numbers from " +
                            std::to_string(classes.min().item<int64_t>()) + " to " +
                            std::to_string(classes.max().item<int64_t>()));
    }
    Tensor tails = zeros(classes.shape(), input.dtype(), input.device());
    Tensor columns = classes;
    for (size_t i = 0; i < tail.size(); ++i) {
      const int64_t low = cutoffs_[i];
      const Tensor inside = logical_and(classes >= low, classes < cutoffs_[i + 1]);
      columns = where(inside, cutoffs_[0] + static_cast<int64_t>(i), columns);
      const Tensor found = nonzero(inside)[0];
      if (found.numel() == 0) continue;
      const Tensor scores = log_softmax(tail[i].forward(rows.index_select(0, found)), 1);
      const Tensor own = (classes.index_select(0, found) - low).expand_dims(1);
      tails = tails.index_add(0, found, scores.gather(1, own).reshape(-1));
    }
    const Tensor scores = log_softmax(head.forward(rows), 1);
    const Tensor output = scores.gather(1, columns.expand_dims(1)).reshape(-1) + tails;
    return {output.reshape(target.shape()), -output.mean()};
  }
  AdaptiveLogSoftmaxResult operator()(const Tensor& input, const Tensor& target) {
    return forward(input, target);
  }

  // The log-probabilities of all classes.
  Tensor log_prob(const Tensor& input) {
    check(input);
    const Tensor scores = log_softmax(head.forward(input), -1);
    std::vector<Tensor> parts{scores.narrow(-1, 0, cutoffs_[0])};
    for (size_t i = 0; i < tail.size(); ++i) {
      const Tensor cluster = scores.narrow(-1, cutoffs_[0] + static_cast<int64_t>(i), 1);
      parts.push_back(log_softmax(tail[i].forward(input), -1) + cluster);
    }
    return concat(parts, -1);
  }

  // The most probable class of each row.
  Tensor predict(const Tensor& input) { return log_prob(input).argmax(-1); }

 private:
  // Declared first, because the head's size follows from them.
  const std::vector<int64_t> cutoffs_;  // the last one is the number of classes
  const int64_t in_features_;

 public:
  Linear head;
  ModuleList tail;

 private:
  static std::vector<int64_t> checked(std::vector<int64_t> cutoffs, int64_t classes, double div) {
    int64_t before = 0;
    bool rising = !cutoffs.empty();
    cutoffs.push_back(classes);
    for (const int64_t end : cutoffs) {
      rising = rising && end > before;
      before = end;
    }
    if (!rising) {
      cutoffs.pop_back();
      throw InvalidValueError("cutoffs: expected rising numbers from 1 to " +
                              std::to_string(classes - 1) + ", got " +
                              tessera::detail::text_of(cutoffs));
    }
    if (!(div > 0)) {
      throw InvalidValueError("div_value: expected a number above 0, got " + std::to_string(div));
    }
    return cutoffs;
  }

  static std::string text(const Tensor& tensor) { return tessera::detail::text_of(tensor.shape()); }

  void check(const Tensor& input) const {
    const int64_t axes = input.ndim();
    if ((axes == 1 || axes == 2) && input.size(-1) == in_features_) return;
    const std::string features = std::to_string(in_features_);
    throw ShapeError("input: expected (batch, " + features + ") or (" + features + "), got shape " +
                     text(input));
  }
};

}  // namespace tessera::nn
