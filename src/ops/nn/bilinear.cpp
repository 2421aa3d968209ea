// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/bilinear.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/linalg/linalg.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/result.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

void check_bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                    const Tensor& bias) {
  TSR_CHECK(is_floating(input1.dtype()), Code::kDType, "input1", "expected a floating dtype, got ",
            input1.dtype());
  for (const Tensor* tensor : {&input2, &weight, &bias}) {
    if (!tensor->defined()) continue;
    const char* arg = tensor == &input2 ? "input2" : tensor == &weight ? "weight" : "bias";
    check_same_device(input1, *tensor, arg);
    TSR_CHECK(tensor->dtype() == input1.dtype(), Code::kDType, arg, "expected the ", input1.dtype(),
              " of input1, got ", tensor->dtype());
  }
  TSR_CHECK(weight.ndim() == 3, Code::kShape, "weight", "expected 3 dimensions, got shape ",
            weight.sizes());
  TSR_CHECK(input1.ndim() >= 1 && input1.size(input1.ndim() - 1) == weight.size(1), Code::kShape,
            "input1", "expected rows of ", weight.size(1), " numbers, got shape ", input1.sizes());
  Dims expected = input1.sizes();
  expected.back() = weight.size(2);
  TSR_CHECK(input2.sizes() == expected, Code::kShape, "input2", "expected shape ", expected,
            ", got ", input2.sizes());
  TSR_CHECK(!bias.defined() || bias.sizes() == Dims{weight.size(0)}, Code::kShape, "bias",
            "expected ", weight.size(0), " numbers, got shape ",
            bias.defined() ? bias.sizes() : Dims{});
}

}  // namespace

// One matrix product of the outer products with the weight's matrices as rows.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  check_bilinear(input1, input2, weight, bias);
  const Tensor pairs =
      multiply(expand_dims(in_opmath(input1), -1), expand_dims(in_opmath(input2), -2));
  Dims rows = input1.sizes();
  rows.back() = weight.size(1) * weight.size(2);
  const Tensor matrix =
      reshape(in_opmath(weight), Dims{weight.size(0), weight.size(1) * weight.size(2)});
  const Tensor added = bias.defined() ? in_opmath(bias) : bias;
  return astype(linear(reshape(pairs, rows), matrix, added), input1.dtype());
}

}  // namespace tsr::ops
