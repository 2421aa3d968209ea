// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation: statistics and derivatives from the sums over a group of numbers. Always inlined,
// like everything in this folder.
#pragma once

#include <cmath>

#include "base/host_device.h"

namespace tsr::math {

struct GroupMoments {
  double mean, variance;
};

// From the sums of (x - shift) and its square.
[[gnu::always_inline]] TSR_HD inline GroupMoments group_moments(double shift, double sum,
                                                                double squares, double count) {
  const double offset = sum / count;
  const double spread = squares / count - offset * offset;
  return {shift + offset, spread < 0 ? 0 : spread};
}
[[gnu::always_inline]] TSR_HD inline double reciprocal_deviation(double variance, double eps) {
  return 1 / std::sqrt(variance + eps);
}

// The running statistic, updated by a batch.
[[gnu::always_inline]] TSR_HD inline double moved_statistic(double running, double batch,
                                                            double momentum) {
  return (1 - momentum) * running + momentum * batch;
}
[[gnu::always_inline]] TSR_HD inline double unbiased(double variance, double count) {
  return variance * count / (count - 1);
}

// dx = g a - (x - mean) b - c
struct NormSlope {
  double a, b, c;
};

// From the sums of g and g (x - mean); `fixed`: the statistics are constants.
[[gnu::always_inline]] TSR_HD inline NormSlope norm_slope(bool fixed, double weight, double rstd,
                                                          double sum, double dot, double count) {
  const double scale = weight * rstd;
  if (fixed) return {scale, 0, 0};
  return {scale, scale * rstd * rstd * dot / count, scale * sum / count};
}

}  // namespace tsr::math
