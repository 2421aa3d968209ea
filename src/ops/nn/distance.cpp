// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/distance.h"

#include "base/error.h"
#include "ops/composition.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_vector(const Tensor& input, const char* arg) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, arg,
            "expected a floating or complex dtype, got ", input.dtype());
}

// The p-norms along the axis, which stays with size 1, or eps where they are below it.
Tensor length_of(const Tensor& x, double p, int64_t axis, double eps) {
  const Dims axes{axis};
  return maximum(vector_norm(x, DimsView(axes), true, p), eps);
}

}  // namespace

Tensor cosine_similarity(const Tensor& input1, const Tensor& input2, int64_t axis, double eps) {
  TSR_CHECK(is_floating(input1.dtype()), Code::kDType, "input1", "expected a floating dtype, got ",
            input1.dtype());
  TSR_CHECK(is_floating(input2.dtype()), Code::kDType, "input2", "expected a floating dtype, got ",
            input2.dtype());
  check_same_device(input1, input2, "input2");
  const DType dtype = promote_types(input1.dtype(), input2.dtype());
  const Dims shape = broadcast_shapes(input1.sizes(), input2.sizes());
  const int64_t along = wrap_axis(axis, static_cast<int64_t>(shape.size()));
  // Both with all the dims, so that one axis names the same elements of both.
  const Tensor a = broadcast_to(in_opmath(input1), shape);
  const Tensor b = broadcast_to(in_opmath(input2), shape);
  const Dims axes{along};
  const Tensor product = sum(multiply(a, b), DimsView(axes), true);
  const Tensor lengths = multiply(length_of(a, 2, along, eps), length_of(b, 2, along, eps));
  return astype(sum(divide(product, lengths), DimsView(axes)), dtype);
}

Tensor pairwise_distance(const Tensor& input1, const Tensor& input2, double p, double eps,
                         bool keepdims) {
  check_vector(input1, "input1");
  check_vector(input2, "input2");
  check_same_device(input1, input2, "input2");
  const DType dtype = real_dtype(promote_types(input1.dtype(), input2.dtype()));
  const Tensor difference = add(subtract(in_opmath(input1), in_opmath(input2)), eps);
  const Dims axes{-1};
  return astype(vector_norm(difference, DimsView(axes), keepdims, p), dtype);
}

Tensor normalize(const Tensor& input, double p, int64_t axis, double eps, Out out) {
  check_vector(input, "input");
  const int64_t along = wrap_axis(axis, input.ndim());
  const Tensor x = in_opmath(input);
  return settle(astype(divide(x, length_of(x, p, along, eps)), input.dtype()), out);
}

}  // namespace tsr::ops
