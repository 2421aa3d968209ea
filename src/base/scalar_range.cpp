// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/scalar_range.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace tsr {
namespace {

int value_bits(DType dtype) noexcept {
  return static_cast<int>(itemsize(dtype)) * 8 - (info(dtype).is_signed ? 1 : 0);
}

}  // namespace

int64_t lowest_of(DType dtype) noexcept {
  return info(dtype).is_signed ? -1 - highest_of(dtype) : 0;
}

int64_t highest_of(DType dtype) noexcept {
  const int bits = value_bits(dtype);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

double largest_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.FEp127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

Fit fit_of(const Scalar& value, DType dtype) noexcept {
  if (!is_integral(dtype)) return Fit::kInside;
  if (value.is_large()) return dtype == DType::kUInt64 ? Fit::kInside : Fit::kAbove;
  if (value.category() <= Category::kIntegral) {
    const auto number = value.to<int64_t>();
    if (number < lowest_of(dtype)) return Fit::kBelow;
    return number > highest_of(dtype) ? Fit::kAbove : Fit::kInside;
  }
  const double whole = std::trunc(value.to<double>());
  if (whole < static_cast<double>(lowest_of(dtype))) return Fit::kBelow;
  return whole < std::ldexp(1.0, value_bits(dtype)) ? Fit::kInside : Fit::kAbove;
}

Scalar rounded_to(const Scalar& value, DType dtype) noexcept {
  if (dtype == DType::kFloat16) return double{static_cast<float>(value.to<Half>())};
  if (dtype == DType::kBFloat16) return double{static_cast<float>(value.to<BFloat16>())};
  return value;
}

void fail_range(const Scalar& value, DType dtype, const char* arg) {
  const uint64_t high = dtype == DType::kUInt64 ? std::numeric_limits<uint64_t>::max()
                                                : static_cast<uint64_t>(highest_of(dtype));
  fail(Code::kValue, arg, __FILE__, __LINE__, "expected a number in [", lowest_of(dtype), ", ",
       high, "] for ", dtype, ", got ", value);
}

void check_holds(const Scalar& value, DType dtype, const char* arg) {
  TSR_CHECK(value.category() != Category::kComplex || is_complex(dtype), Code::kDType, arg,
            "expected a real number for ", dtype, ", got ", value);
  if (!is_integral_or_bool(dtype)) return;
  const bool whole = value.category() <= Category::kIntegral ||
                     value.to<double>() == std::trunc(value.to<double>());
  TSR_CHECK(whole, Code::kDType, arg, "expected a whole number for ", dtype, ", got ", value);
  check_fits(value, dtype, arg);
}

}  // namespace tsr
