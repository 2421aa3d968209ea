// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bags: rows of a table, put together in groups.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace tsr::ops {

// The sum, mean or max (`mode`) of the rows of `weight` (rows, features) that each bag names: a
// tensor (bags, features), 0 for an empty bag. A 2-D input of integers has a bag in each row; a 1-D
// one is divided at the offsets, sorted numbers of the first index of each bag, the first of them
// 0; with include_last_offset the last one is the number of indices and begins no bag.
// per_sample_weights (of the input's shape; sums only) multiply the rows. Row padding_idx belongs
// to no bag and gets no gradient. scale_grad_by_freq divides the gradient of a row by how often it
// occurs in the input (not with max). Of equal largest elements the first gets the gradient. Throws
// kShape, kDType, kDevice, kIndex, kValue, kInvalidArgument.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets = {},
                     bool scale_grad_by_freq = false, std::string_view mode = "mean",
                     const Tensor& per_sample_weights = {}, bool include_last_offset = false,
                     std::optional<int64_t> padding_idx = {});

}  // namespace tsr::ops
