// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Dropout of elements and of channels.
#pragma once

#include "tessera/cpp/nn/module.hpp"

namespace tessera::nn {

// In training sets elements to 0 with probability p and scales the others by 1 / (1 - p).
struct Dropout : Module {
  explicit Dropout(double probability = 0.5) : p(probability) {
    if (!(p >= 0 && p <= 1)) {
      tessera::detail::throw_value("Dropout", "p", "a probability from 0 to 1", std::to_string(p));
    }
  }
  Tensor forward(const Tensor& input) override { return dropout(input, p, is_training()); }

  const double p;
};

// The same for whole channels of (N, C, L) or (C, L).
struct Dropout1d : Dropout {
  using Dropout::Dropout;
  Tensor forward(const Tensor& input) override { return dropout1d(input, p, is_training()); }
};

// The same for whole channels of (N, C, H, W) or (N, C, L).
struct Dropout2d : Dropout {
  using Dropout::Dropout;
  Tensor forward(const Tensor& input) override { return dropout2d(input, p, is_training()); }
};

// The same for whole channels of (N, C, D, H, W) or (C, D, H, W).
struct Dropout3d : Dropout {
  using Dropout::Dropout;
  Tensor forward(const Tensor& input) override { return dropout3d(input, p, is_training()); }
};

// Dropout that keeps mean 0 and variance 1, for networks with SELU.
struct AlphaDropout : Dropout {
  using Dropout::Dropout;
  Tensor forward(const Tensor& input) override { return alpha_dropout(input, p, is_training()); }
};

// The same for whole channels (axis 1).
struct FeatureAlphaDropout : Dropout {
  using Dropout::Dropout;
  Tensor forward(const Tensor& input) override {
    return feature_alpha_dropout(input, p, is_training());
  }
};

}  // namespace tessera::nn
