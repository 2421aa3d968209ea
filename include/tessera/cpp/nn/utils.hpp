// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers for training.
#pragma once

#include "tessera/cpp/ops.hpp"

namespace tessera::nn::utils {

// PyTorch's names of tessera::clip_grad_norm and clip_grad_value. Both change the gradients of the
// parameters, not the parameters; parameters without a gradient are skipped.

// Scales the gradients in place so that their common norm is at most max_norm; returns the norm
// before. norm_type: any p, also infinity. error_if_nonfinite: throw, and change nothing, if the
// norm is NaN or infinite.
inline Tensor clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type = 2,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm(parameters, max_norm, norm_type, error_if_nonfinite);
}

// Clips each element of the gradients in place to [-clip_value, clip_value].
inline void clip_grad_value_(const TensorList& parameters, double clip_value) {
  clip_grad_value(parameters, clip_value);
}

}  // namespace tessera::nn::utils
