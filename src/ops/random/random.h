// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random tensors. Numbers depend on the generator's seed and counter only: the same on every device
// and for any number of threads. Nothing here is differentiable.
#pragma once

#include <optional>

#include "base/generator.h"
#include "ops/result.h"

namespace tsr::ops {

// In all functions: a null generator means the thread's current one; dtype defaults to
// default_dtype() (int64 for integers).

// Uniform in [0, 1), and standard normal; floating dtypes.
Tensor rand(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {},
            Generator* generator = nullptr);
Tensor randn(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {},
             Generator* generator = nullptr);
// Integers in [low, high). Throws kValue if the range is empty.
Tensor randint(int64_t low, int64_t high, DimsView shape, std::optional<DType> dtype = {},
               std::optional<Device> device = {}, Generator* generator = nullptr);
// As above, of the input's shape; dtype and device default to the input's.
Tensor rand_like(const Tensor& input, std::optional<DType> dtype = {},
                 std::optional<Device> device = {}, Generator* generator = nullptr);
Tensor randn_like(const Tensor& input, std::optional<DType> dtype = {},
                  std::optional<Device> device = {}, Generator* generator = nullptr);
Tensor randint_like(const Tensor& input, int64_t low, int64_t high, std::optional<DType> dtype = {},
                    std::optional<Device> device = {}, Generator* generator = nullptr);
// A random order of 0 .. n - 1.
Tensor randperm(int64_t n, std::optional<DType> dtype = {}, std::optional<Device> device = {},
                Generator* generator = nullptr);
// 0 or 1 in the input's dtype; each element of the (floating) input is the probability of 1. Throws
// kValue for probabilities outside [0, 1].
Tensor bernoulli(const Tensor& input, Generator* generator = nullptr);

// In place, real floating dtypes; the gradient of the overwritten values is 0.
Tensor uniform_(const Tensor& input, double low = 0, double high = 1,
                Generator* generator = nullptr);
Tensor normal_(const Tensor& input, double centre = 0, double std = 1,
               Generator* generator = nullptr);

// 1 / (1 - p) with probability 1 - p, else 0: the factor of dropout. Floating dtypes.
Tensor dropout_mask(DimsView shape, double p, DType dtype, Device device, Generator* generator);

}  // namespace tsr::ops
