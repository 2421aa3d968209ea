// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Losses of pairs: an input and a target element by element, two inputs, three of them, or scores
// and labels of several classes. Floating dtypes. `reduction` is "none", "sum" or "mean"; kl_div
// also takes "batchmean". Distances of vectors stand in ops/nn/distance.h.
#pragma once

#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// ---- an input and a target of its shape; throw kShape, kDType, kDevice, kValue ----

// (input - target)²; dtypes promote.
Tensor mse_loss(const Tensor& input, const Tensor& target, std::string_view reduction = "mean");
// |input - target|
Tensor l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction = "mean");
// d² / (2 beta) up to |d| = beta, |d| - beta / 2 beyond; beta = 0 is l1_loss.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      std::string_view reduction = "mean", double beta = 1);
// d² / 2 up to |d| = delta, delta (|d| - delta / 2) beyond.
Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction = "mean",
                  double delta = 1);
// target (log target - input) for an input of log-probabilities; log_target: the target is one too.
Tensor kl_div(const Tensor& input, const Tensor& target, std::string_view reduction = "mean",
              bool log_target = false);
// -weight (target log(input) + (1 - target) log(1 - input)), each logarithm at least -100. weight
// broadcasts against the input and may be undefined.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            std::string_view reduction = "mean");
// exp(input) - target input, or input - target log(input + eps) unless log_input; `full` adds
// Stirling's approximation of log(target!) where the target is above 1.
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true,
                        bool full = false, double eps = 1e-8, std::string_view reduction = "mean");
// (log v + (input - target)² / v) / 2 with v = max(var, eps); var broadcasts against the input.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         bool full = false, double eps = 1e-6, std::string_view reduction = "mean");
// log(1 + exp(-target input)) for targets -1 and 1.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        std::string_view reduction = "mean");
// input where the target is 1, max(0, margin - input) where it is -1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            std::string_view reduction = "mean");

// ---- several inputs ----

// max(0, -target (input1 - input2) + margin); shapes broadcast.
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin = 0, std::string_view reduction = "mean");
// 1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1. Inputs
// (batch, features) with a target (batch), or (features) with a 0-dim one.
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin = 0, std::string_view reduction = "mean");
// max(0, d(anchor, like) - d(anchor, unlike) + margin) with d = pairwise_distance; `swap` takes
// d(like, unlike) where that is smaller.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& like, const Tensor& unlike,
                           double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                           std::string_view reduction = "mean");

// ---- scores of classes: (batch, classes) or (classes) ----

// Σ_i max(0, margin - x[y] + x[i])^p / classes over i != y, for class numbers (batch); p is 1 or 2,
// weight (classes) or undefined.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, double p, double margin,
                         const Tensor& weight, std::string_view reduction = "mean");
// Σ_ij max(0, 1 - (x[y_j] - x[i])) / classes over the class numbers y_j before the first -1 and all
// i that are none of them.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              std::string_view reduction = "mean");
// The mean over the classes of the binary cross entropies of sigmoid(input).
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   std::string_view reduction = "mean");

}  // namespace tsr::ops
