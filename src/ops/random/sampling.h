// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Further distributions, filled in place, and samples whose parameters are tensors. What random.h
// says holds here.
#pragma once

#include <optional>

#include "ops/pointwise/binary.h"
#include "ops/random/random.h"

namespace tsr::ops {

// ---- in place, real floating dtypes (kDType); computed in float64; bad parameters throw kValue
// ----

// Density rate e^(-rate x) for x > 0.
Tensor exponential_(const Tensor& input, double rate = 1, Generator* generator = nullptr);
Tensor cauchy_(const Tensor& input, double median = 0, double sigma = 1,
               Generator* generator = nullptr);
// e to a normal number of this mean and standard deviation.
Tensor log_normal_(const Tensor& input, double centre = 1, double std = 2,
                   Generator* generator = nullptr);
// Normal numbers, given that they lie in [low, high].
Tensor trunc_normal_(const Tensor& input, double centre = 0, double std = 1, double low = -2,
                     double high = 2, Generator* generator = nullptr);

// ---- in place, any real dtype ----

// Trials up to and with the first success of probability p: 1, 2, ...; no bool.
Tensor geometric_(const Tensor& input, double p, Generator* generator = nullptr);
// Whole numbers in [low, high), equally likely; without `high` up to the dtype's largest number, of
// floats to the first that leaves out others.
Tensor random_(const Tensor& input, int64_t low = 0, std::optional<int64_t> high = {},
               Generator* generator = nullptr);
// 1 with probability p, else 0.
Tensor bernoulli_(const Tensor& input, double p = 0.5, Generator* generator = nullptr);

// ---- of tensors; the result takes no part in any graph ----

// Normal numbers with a mean and a standard deviation for each, which broadcast together and
// promote; one may be a number. Floating dtypes; a negative deviation throws kValue.
Tensor normal_tensors(const Arg& centre, const Arg& std, Generator* generator = nullptr);
// Counts of events that are expected input[i] times, in the input's (floating) dtype. Rates that
// are negative or not finite throw kValue.
Tensor poisson(const Tensor& input, Generator* generator = nullptr);
// Numbers of the gamma distribution of rate 1 and the shapes input[i], in the input's (floating)
// dtype; differentiable once with respect to the shapes. Shapes that are negative or not finite
// throw kValue.
Tensor standard_gamma(const Tensor& input, Generator* generator = nullptr);
// How many of count[i] trials succeed, each with the probability prob[i]; both floating. The result
// takes no part in any graph. Counts that are not whole numbers of at least 0 and probabilities
// outside [0, 1] throw kValue.
Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator = nullptr);
// `n` positions of the last axis, drawn with the probabilities that the input (1-D or 2-D,
// floating) names, up to a factor for each row; int64. Without `replacement` each position at most
// once, in the order of the draws. kValue for weights that are negative, not finite or all zero, or
// too few.
Tensor multinomial(const Tensor& input, int64_t n, bool replacement = false,
                   Generator* generator = nullptr);

}  // namespace tsr::ops
