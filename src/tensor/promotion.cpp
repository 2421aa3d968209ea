// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/promotion.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/error.h"

namespace tsr {
namespace {

std::atomic<DType> g_default_dtype{DType::kFloat32};

// Nothing for uint64 beside a signed integer.
std::optional<DType> promote_integers(DType a, DType b) noexcept {
  if (info(a).is_signed == info(b).is_signed) return itemsize(a) >= itemsize(b) ? a : b;
  const DType plain = info(a).is_signed ? b : a;
  const DType with_sign = info(a).is_signed ? a : b;
  if (itemsize(with_sign) > itemsize(plain)) return with_sign;
  switch (itemsize(plain)) {
    case 1:
      return DType::kInt16;
    case 2:
      return DType::kInt32;
    case 4:
      return DType::kInt64;
    default:
      return std::nullopt;
  }
}

DType promote_floats(DType a, DType b) noexcept {
  if (itemsize(a) == 2 && itemsize(b) == 2) return DType::kFloat32;  // float16 with bfloat16
  return itemsize(a) >= itemsize(b) ? a : b;
}

std::optional<DType> common_type(DType a, DType b) noexcept {
  if (a == b) return a;
  if (category(a) < category(b)) std::swap(a, b);
  switch (category(a)) {
    case Category::kBool:
      return a;
    case Category::kIntegral:
      return category(b) == Category::kBool ? a : promote_integers(a, b);
    case Category::kFloating:
      return category(b) == Category::kFloating ? promote_floats(a, b) : a;
    case Category::kComplex:
      break;
  }
  const bool wide = a == DType::kComplex128 || b == DType::kComplex128 || b == DType::kFloat64;
  return wide ? DType::kComplex128 : DType::kComplex64;
}

}  // namespace

DType promote_types(DType a, DType b, const char* arg) {
  const std::optional<DType> common = common_type(a, b);
  TSR_CHECK(common.has_value(), Code::kDType, arg,
            "expected integer types with a common type, got ", a, " and ", b);
  return *common;
}

bool can_cast(DType from, DType to) noexcept {
  return common_type(from, to) == to;
}

DType promote_scalar(DType tensor, Category scalar) {
  if (scalar <= category(tensor)) return tensor;
  if (scalar == Category::kIntegral) return DType::kInt64;
  if (scalar == Category::kFloating) return default_dtype();
  if (category(tensor) != Category::kFloating) return default_complex_dtype();
  return tensor == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

DType promote_scalar(DType tensor, const Scalar& scalar) {
  return promote_scalar(tensor, scalar.category());
}

DType default_dtype() noexcept {
  return g_default_dtype.load(std::memory_order_relaxed);
}

void set_default_dtype(DType dtype) {
  TSR_CHECK(is_floating(dtype), Code::kDType, "dtype", "expected a floating type, got ", dtype);
  g_default_dtype.store(dtype, std::memory_order_relaxed);
}

DType default_complex_dtype() noexcept {
  return default_dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

}  // namespace tsr
