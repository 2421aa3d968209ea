// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Creation: tensors from shapes and numbers.
#pragma once

#include <optional>

#include "base/scalar.h"
#include "ops/result.h"

namespace tsr::ops {

// In all functions dtype defaults to default_dtype(), device to the thread's default device.
// Impossible shapes throw kShape, missing memory throws kOutOfMemory. The *_like forms take shape,
// dtype, device and memory order from the input.

// The contents are undefined.
Tensor empty(DimsView shape, std::optional<DType> dtype, std::optional<Device> device);
Tensor zeros(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {});
Tensor ones(DimsView shape, std::optional<DType> dtype = {}, std::optional<Device> device = {});
// Dtype defaults to the value's kind: bool, int64, default_dtype() or its complex dtype.
Tensor full(DimsView shape, const Scalar& value, std::optional<DType> dtype = {},
            std::optional<Device> device = {});

Tensor empty_like(const Tensor& input, std::optional<DType> dtype = {},
                  std::optional<Device> device = {});
Tensor zeros_like(const Tensor& input, std::optional<DType> dtype = {},
                  std::optional<Device> device = {});
Tensor ones_like(const Tensor& input, std::optional<DType> dtype = {},
                 std::optional<Device> device = {});
Tensor full_like(const Tensor& input, const Scalar& value, std::optional<DType> dtype = {},
                 std::optional<Device> device = {});

// start, start + step, ... below stop (above it for a negative step). Dtype defaults to int64 when
// all three are integers. Throws kValue for a step of 0 or numbers that are not finite.
Tensor arange(const Scalar& start, const Scalar& stop, const Scalar& step,
              std::optional<DType> dtype = {}, std::optional<Device> device = {});
// `num` equally spaced numbers from start to stop (not including stop when endpoint is false),
// exact at both ends and symmetric; complex when one of them is. Throws kValue when num is
// negative.
Tensor linspace(const Scalar& start, const Scalar& stop, int64_t num,
                std::optional<DType> dtype = {}, bool endpoint = true,
                std::optional<Device> device = {});
// `num` powers of `base` whose exponents are linspace's; computed in float64.
Tensor logspace(double start, double stop, int64_t num, double base = 10,
                std::optional<DType> dtype = {}, bool endpoint = true,
                std::optional<Device> device = {});
// As empty, with strides that are not negative; the memory covers their extent.
Tensor empty_strided(DimsView shape, DimsView strides, std::optional<DType> dtype = {},
                     std::optional<Device> device = {});
// Ones on diagonal k, zeros elsewhere; columns default to rows. Throws kValue for negative sizes.
Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, int64_t k = 0,
           std::optional<DType> dtype = {}, std::optional<Device> device = {});
// The input as a tensor of this dtype and device. Copies if `copy` is true or a change is needed;
// throws kValue if a change is needed and `copy` is false. Differentiable.
Tensor asarray(const Tensor& input, std::optional<DType> dtype = {},
               std::optional<Device> device = {}, std::optional<bool> copy = {});

}  // namespace tsr::ops
