// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/compare.h"

#include <bit>

#include "autograd/forward.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/sort.h"
#include "ops/opmath.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// Up to so many numbers are compared one after the other; more are sorted and searched.
constexpr int64_t kFewNumbers = 24;

// The dtype that distances are measured in: they need a sign and a fraction.
Tensor measurable(const Tensor& x) {
  return is_integral_or_bool(x.dtype()) ? astype(x, DType::kFloat64) : in_opmath(x);
}

// One comparison for each entry of the 1-D `numbers`.
Tensor found_by_trial(const Tensor& x, const Tensor& numbers) {
  Tensor found = equal(x, reshape(narrow_memory(numbers, 0, 0, 1), {}));
  for (int64_t k = 1; k < numbers.size(0); ++k) {
    found = logical_or(found, equal(x, reshape(narrow_memory(numbers, 0, k, 1), {})));
  }
  return found;
}

// Binary search in the sorted numbers: `place` grows to the last number that is not above x.
Tensor found_by_search(const Tensor& x, const Tensor& numbers) {
  const Tensor sorted = sort(numbers);
  const int64_t last = sorted.size(0) - 1;
  Tensor place = zeros(x.sizes(), DType::kInt64, x.device());
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(last))); step > 0;
       step /= 2) {
    const Tensor next = add(place, step);
    const Tensor number = take(sorted, minimum(next, last), 0);
    const Tensor moves = logical_and(less_equal(next, last), less_equal(number, x));
    place = where(moves, next, place);
  }
  return equal(take(sorted, place, 0), x);
}

}  // namespace

Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TSR_CHECK(rtol >= 0, Code::kValue, "rtol", "expected at least 0, got ", rtol);
  TSR_CHECK(atol >= 0, Code::kValue, "atol", "expected at least 0, got ", atol);
  const Unrecorded pause;
  Tensor close = equal(input, other);
  if (equal_nan) close = logical_or(close, logical_and(isnan(input), isnan(other)));
  if (rtol == 0 && atol == 0) return close;
  const Tensor a = measurable(input);
  const Tensor b = measurable(other);
  const Tensor distance = abs(subtract(a, b));
  const Tensor allowed = add(multiply(abs(b), rtol), atol);
  const Tensor near = logical_and(isfinite(b), less_equal(distance, allowed));
  return logical_or(close, near);
}

Tensor allclose(const Tensor& input, const Tensor& other, double rtol, double atol,
                bool equal_nan) {
  return all(isclose(input, other, rtol, atol, equal_nan));
}

Tensor array_equal(const Tensor& input, const Tensor& other) {
  check_same_device(input, other, "other");
  if (input.sizes() != other.sizes()) return full({}, false, DType::kBool, input.device());
  // An element equals itself, unless it is a NaN.
  const bool same_elements = input.data() == other.data() && input.dtype() == other.dtype() &&
                             input.strides() == other.strides();
  if (same_elements && is_integral_or_bool(input.dtype()))
    return full({}, true, DType::kBool, input.device());
  return all(equal(input, other));
}

Tensor isin(const Tensor& input, const Arg& other, bool invert) {
  const Unrecorded pause;
  Tensor found;
  if (!other.is_tensor()) {
    found = equal(input, other);
  } else {
    check_same_device(input, other.tensor(), "other");
    DType dtype = operands_dtype(input, other);
    if (dtype == DType::kBool) dtype = DType::kUInt8;
    const Tensor x = astype(input, dtype);
    const Dims flat{other.tensor().numel()};
    const Tensor numbers = reshape(astype(other.tensor(), dtype), flat);
    if (flat[0] == 0) {
      found = zeros(input.sizes(), DType::kBool, input.device());
    } else if (flat[0] <= kFewNumbers || is_complex(dtype)) {
      found = found_by_trial(x, numbers);
    } else {
      found = found_by_search(x, numbers);
    }
  }
  return invert ? logical_not(found) : found;
}

Tensor isin(const Scalar& input, const Tensor& other, bool invert) {
  const Unrecorded pause;
  const Tensor found = any(equal(other, input));
  return invert ? logical_not(found) : found;
}

}  // namespace tsr::ops
