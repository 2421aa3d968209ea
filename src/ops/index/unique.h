// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sets: the different elements of a tensor, or its different slices, and where they occur.
#pragma once

#include <optional>
#include <tuple>

#include "tensor/tensor.h"

namespace tsr::ops {

// Everywhere: every NaN is different from every other, -0 equals 0; any dtype, complex numbers are
// ordered by real part, then imaginary part. The results have no gradient, and making them waits
// for the device. Counts, positions and inverse (the number of each element's value) are int64.

struct UniqueAll {
  Tensor values;           // in order, 1-D
  Tensor indices;          // the first position of each in the flattened input
  Tensor inverse_indices;  // of the input's shape
  Tensor counts;
};
UniqueAll unique_all(const Tensor& input);
// (values, counts), (values, inverse_indices).
std::tuple<Tensor, Tensor> unique_counts(const Tensor& input);
std::tuple<Tensor, Tensor> unique_inverse(const Tensor& input);
Tensor unique_values(const Tensor& input);

struct Unique {
  Tensor values;
  Tensor inverse_indices;
  Tensor counts;
};
// The different slices along an axis, ordered as words are. kShape for a 0-dim input.
Unique unique_axis(const Tensor& input, int64_t axis);
// The first of each run of equal elements of the flattened input, or of equal slices along an axis.
Unique unique_consecutive(const Tensor& input, std::optional<int64_t> axis = {});
// (values, counts), and the values alone, of the same.
std::tuple<Tensor, Tensor> unique_consecutive_counts(const Tensor& input,
                                                     std::optional<int64_t> axis = {});
Tensor unique_consecutive_values(const Tensor& input, std::optional<int64_t> axis = {});

}  // namespace tsr::ops
