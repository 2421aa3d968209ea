// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create.h"

#include "base/error.h"
#include "ops/copy.h"
#include "ops/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {

Tensor full(DimsView shape, const Scalar& value, std::optional<DType> dtype,
            std::optional<Device> device) {
  const DType type = dtype.value_or(promote_scalar(DType::kBool, value));
  TSR_CHECK(value.category() != Category::kComplex || is_complex(type), Code::kDType, "dtype",
            "expected a complex type for ", value, ", got ", type);
  Tensor result = empty(shape, type, device.value_or(Device{}));
  fill_memory(result, value);
  return result;
}

Tensor zeros(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return full(shape, 0, dtype.value_or(default_dtype()), device);
}

Tensor ones(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return full(shape, 1, dtype.value_or(default_dtype()), device);
}

Tensor zeros_like_shape(DimsView sizes, DType dtype, Device device) {
  return full(sizes, 0, dtype, device);
}

Tensor zeros_of(const Tensor& like) {
  return zeros_like_shape(like.sizes(), like.dtype(), like.device());
}

}  // namespace tsr::ops
