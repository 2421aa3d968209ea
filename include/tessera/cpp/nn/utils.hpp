// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers for training.
#pragma once

#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera::nn::utils {

// Scales the gradients of the parameters in place so that their joint norm is at most max_norm;
// returns the norm before. norm_type: any p, also infinity.
inline Tensor clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type = 2) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (Tensor gradient = parameter.grad(); gradient.defined()) {
      gradients.push_back(std::move(gradient));
    }
  }
  return gradients.empty() ? zeros({}) : clip_grad_norm(gradients, max_norm, norm_type);
}

}  // namespace tessera::nn::utils
