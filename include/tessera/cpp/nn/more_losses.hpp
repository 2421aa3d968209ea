// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Losses with settings, and distances, as modules.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tessera/cpp/nn/losses.hpp"

namespace tessera::nn {

struct L1Loss : Loss {
  explicit L1Loss(std::string reduction = "mean") : Loss(std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return l1_loss(input, target, reduction());
  }
};

struct SmoothL1Loss : Loss {
  explicit SmoothL1Loss(double width = 1, std::string reduction = "mean")
      : Loss(std::move(reduction)), beta(width) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return smooth_l1_loss(input, target, reduction(), beta);
  }

  const double beta;
};

struct HuberLoss : Loss {
  explicit HuberLoss(double width = 1, std::string reduction = "mean")
      : Loss(std::move(reduction)), delta(width) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return huber_loss(input, target, reduction(), delta);
  }

  const double delta;
};

struct SoftMarginLoss : Loss {
  explicit SoftMarginLoss(std::string reduction = "mean") : Loss(std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return soft_margin_loss(input, target, reduction());
  }
};

struct MultiLabelMarginLoss : Loss {
  explicit MultiLabelMarginLoss(std::string reduction = "mean") : Loss(std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return multilabel_margin_loss(input, target, reduction());
  }
};

struct HingeEmbeddingLoss : Loss {
  explicit HingeEmbeddingLoss(double distance = 1, std::string reduction = "mean")
      : Loss(std::move(reduction)), margin(distance) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return hinge_embedding_loss(input, target, margin, reduction());
  }

  const double margin;
};

struct PoissonNLLLoss : Loss {
  explicit PoissonNLLLoss(bool logarithms = true, bool whole = false, double least = 1e-8,
                          std::string reduction = "mean")
      : Loss(std::move(reduction)), log_input(logarithms), full(whole), eps(least) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return poisson_nll_loss(input, target, log_input, full, eps, reduction());
  }

  const bool log_input, full;
  const double eps;
};

// Of log-probabilities; the reduction may also be "batchmean", which is that of the definition.
class KLDivLoss : public Loss {
 public:
  explicit KLDivLoss(const std::string& reduction = "mean", bool logarithms = false)
      : Loss(reduction == "batchmean" ? "sum" : reduction),
        log_target(logarithms),
        how_(reduction) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return kl_div(input, target, how_, log_target);
  }

  const bool log_target;

 private:
  std::string how_;
};

// Base class of losses with a weight for each class or element, a buffer that may be absent.
class WeightedLoss : public Loss {
 public:
  Tensor weight;

 protected:
  WeightedLoss(Tensor given, std::string reduction)
      : Loss(std::move(reduction)), weight(std::move(given)) {
    register_buffer("weight", weight);
  }
};

// Binary cross entropy of probabilities.
class BCELoss : public WeightedLoss {
 public:
  explicit BCELoss(Tensor element_weight = {}, std::string reduction = "mean")
      : WeightedLoss(std::move(element_weight), std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return binary_cross_entropy(input, target, weight, reduction());
  }
};

class MultiLabelSoftMarginLoss : public WeightedLoss {
 public:
  explicit MultiLabelSoftMarginLoss(Tensor class_weight = {}, std::string reduction = "mean")
      : WeightedLoss(std::move(class_weight), std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return multilabel_soft_margin_loss(input, target, weight, reduction());
  }
};

class MultiMarginLoss : public WeightedLoss {
 public:
  explicit MultiMarginLoss(double power = 1, double distance = 1, Tensor class_weight = {},
                           std::string reduction = "mean")
      : WeightedLoss(std::move(class_weight), std::move(reduction)), p(power), margin(distance) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return multi_margin_loss(input, target, p, margin, weight, reduction());
  }

  const double p, margin;
};

// Base class of losses of three inputs.
class TripleLoss : public Loss {
 public:
  using Module::forward;
  virtual Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third) = 0;
  Tensor operator()(const Tensor& first, const Tensor& second, const Tensor& third) {
    return forward(first, second, third);
  }
  Tensor forward(const Tensor& /*input*/, const Tensor& /*target*/) override {
    throw InvalidArgumentError("forward: expected three tensors, got two");
  }

 protected:
  using Loss::Loss;
};

struct GaussianNLLLoss : TripleLoss {
  explicit GaussianNLLLoss(bool whole = false, double least = 1e-6, std::string reduction = "mean")
      : TripleLoss(std::move(reduction)), full(whole), eps(least) {}
  using TripleLoss::forward;
  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var) override {
    return gaussian_nll_loss(input, target, var, full, eps, reduction());
  }

  const bool full;
  const double eps;
};

struct MarginRankingLoss : TripleLoss {
  explicit MarginRankingLoss(double distance = 0, std::string reduction = "mean")
      : TripleLoss(std::move(reduction)), margin(distance) {}
  using TripleLoss::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target) override {
    return margin_ranking_loss(input1, input2, target, margin, reduction());
  }

  const double margin;
};

struct CosineEmbeddingLoss : TripleLoss {
  explicit CosineEmbeddingLoss(double distance = 0, std::string reduction = "mean")
      : TripleLoss(std::move(reduction)), margin(distance) {}
  using TripleLoss::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target) override {
    return cosine_embedding_loss(input1, input2, target, margin, reduction());
  }

  const double margin;
};

struct TripletMarginLoss : TripleLoss {
  explicit TripletMarginLoss(double distance = 1, double power = 2, double least = 1e-6,
                             bool swapped = false, std::string reduction = "mean")
      : TripleLoss(std::move(reduction)), margin(distance), p(power), eps(least), swap(swapped) {}
  using TripleLoss::forward;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) override {
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction());
  }

  const double margin, p, eps;
  const bool swap;
};

// TripletMarginLoss with your own distance function, which gives one number for each row.
struct TripletMarginWithDistanceLoss : TripleLoss {
  using Distance = std::function<Tensor(const Tensor&, const Tensor&)>;

  explicit TripletMarginWithDistanceLoss(Distance function = {}, double distance = 1,
                                         bool swapped = false, std::string reduction = "mean")
      : TripleLoss(std::move(reduction)),
        distance_function(std::move(function)),
        margin(distance),
        swap(swapped) {}
  using TripleLoss::forward;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) override {
    const auto apart = [this](const Tensor& a, const Tensor& b) {
      return distance_function ? distance_function(a, b) : pairwise_distance(a, b);
    };
    Tensor far = apart(anchor, negative);
    if (swap) far = minimum(far, apart(positive, negative));
    const Tensor loss = clip(apart(anchor, positive) - far + margin, 0);
    return reduction() == "none" ? loss : reduction() == "sum" ? loss.sum() : loss.mean();
  }

  const Distance distance_function;  // by default pairwise_distance
  const double margin;
  const bool swap;
};

// Base class of modules that compare two tensors.
class Comparison : public Module {
 public:
  using Module::forward;
  virtual Tensor forward(const Tensor& input1, const Tensor& input2) = 0;
  Tensor operator()(const Tensor& input1, const Tensor& input2) { return forward(input1, input2); }
};

struct CosineSimilarity : Comparison {
  explicit CosineSimilarity(int64_t along = 1, double least = 1e-8) : axis(along), eps(least) {}
  using Comparison::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2) override {
    return cosine_similarity(input1, input2, axis, eps);
  }

  const int64_t axis;
  const double eps;
};

struct PairwiseDistance : Comparison {
  explicit PairwiseDistance(double power = 2, double least = 1e-6, bool keep = false)
      : p(power), eps(least), keepdims(keep) {}
  using Comparison::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2) override {
    return pairwise_distance(input1, input2, p, eps, keepdims);
  }

  const double p, eps;
  const bool keepdims;
};

}  // namespace tessera::nn
