// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The network of the digits programs, and its accuracy.
#pragma once

#include <tessera/tessera.hpp>

namespace digits {

namespace nn = tessera::nn;
using tessera::Tensor;

inline nn::ConvOptions same_size() {
  nn::ConvOptions options;
  options.padding = 1;
  return options;
}

// Two convolutions, one pooling, two dense layers.
struct Net : nn::Module {
  nn::Conv2d conv1{1, 32, 3, same_size()};
  nn::BatchNorm2d norm1{32};
  nn::Conv2d conv2{32, 64, 3, same_size()};
  nn::BatchNorm2d norm2{64};
  nn::Dropout dropout{0.3};
  nn::Linear dense1{64 * 4 * 4, 128};
  nn::Linear dense2{128, 10};

  Net() {
    register_module("conv1", conv1);
    register_module("norm1", norm1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    register_module("dropout", dropout);
    register_module("dense1", dense1);
    register_module("dense2", dense2);
  }

  Tensor forward(const Tensor& input) override {
    Tensor x = relu(norm1(conv1(input)));
    x = relu(norm2(conv2(x)));
    x = flatten(max_pool2d(x, 2), 1);
    x = dropout(relu(dense1(x)));
    return dense2(x);
  }
};

// The logits of images, in evaluation mode and without recording.
inline Tensor logits_of(Net& model, const Tensor& images) {
  const tessera::NoGradGuard no_grad;
  model.eval();
  Tensor logits = model(images);
  model.train();
  return logits;
}

inline double share_right(const Tensor& logits, const Tensor& classes) {
  return (logits.argmax(1) == classes).to(tessera::kFloat32).mean().item<double>();
}

}  // namespace digits
