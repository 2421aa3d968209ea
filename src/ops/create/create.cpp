// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create/create.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "base/determinism.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/special.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// Memory with the input's order of dims, if the input has no gaps.
Tensor allocate_like(const Tensor& input, std::optional<DType> dtype,
                     std::optional<Device> device) {
  const DType type = dtype.value_or(input.dtype());
  const Device where = device.value_or(input.device());
  if (input.is_contiguous() || !is_dense(input.sizes(), input.strides()))
    return tsr::empty(input.sizes(), type, where);
  return tsr::empty_strided(input.sizes(), dense_strides_like(input.sizes(), input.strides()), type,
                            where);
}

Tensor filled(Tensor result, const Scalar& value) {
  TSR_CHECK(value.category() != Category::kComplex || is_complex(result.dtype()), Code::kDType,
            "dtype", "expected a complex dtype for ", value, ", got ", result.dtype());
  check_fits(value, result.dtype(), "value");
  fill_memory(result, value);
  return result;
}

Tensor allocate(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return tsr::empty(shape, dtype.value_or(default_dtype()), device.value_or(t_default_device));
}

// What a program notices that reads memory before it has written it.
Scalar most_visible(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return true;
    case DType::kUInt8:
      return int64_t{UINT8_MAX};
    case DType::kInt8:
      return int64_t{INT8_MAX};
    case DType::kUInt16:
      return int64_t{UINT16_MAX};
    case DType::kInt16:
      return int64_t{INT16_MAX};
    case DType::kUInt32:
      return int64_t{UINT32_MAX};
    case DType::kInt32:
      return int64_t{INT32_MAX};
    case DType::kUInt64:
    case DType::kInt64:
      return INT64_MAX;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// A byte other than 0 and 1 is not a bool: a sum over such bytes would exceed their number.
Tensor without_garbage(Tensor result) {
  if (fills_new_memory()) [[unlikely]] {
    fill_memory(result, most_visible(result.dtype()));
    return result;
  }
  if (result.dtype() == DType::kBool) fill_memory(result, 0);
  return result;
}

// The number of elements of arange; exact for integers.
int64_t arange_count(const Scalar& start, const Scalar& stop, const Scalar& step, bool integral) {
  if (integral) {
    const auto first = static_cast<__int128>(start.to<int64_t>());
    const auto last = static_cast<__int128>(stop.to<int64_t>());
    const auto stride = static_cast<__int128>(step.to<int64_t>());
    TSR_CHECK(stride != 0, Code::kValue, "step", "expected a step that is not 0");
    const __int128 span = last - first;
    if ((span > 0) != (stride > 0) || span == 0) return 0;
    const __int128 count = (span + stride - (stride > 0 ? 1 : -1)) / stride;
    TSR_CHECK(count <= INT64_MAX, Code::kShape, "stop", "expected fewer than 2^63 elements, got ",
              static_cast<uint64_t>(count));
    return static_cast<int64_t>(count);
  }
  const double first = start.to<double>();
  const double last = stop.to<double>();
  const double stride = step.to<double>();
  TSR_CHECK(stride != 0, Code::kValue, "step", "expected a step that is not 0");
  TSR_CHECK(std::isfinite(first) && std::isfinite(last) && std::isfinite(stride), Code::kValue,
            "stop", "expected finite numbers, got start ", first, ", stop ", last, ", step ",
            stride);
  const double count = std::ceil((last - first) / stride);
  TSR_CHECK(count < 9.2e18, Code::kShape, "stop", "expected fewer than 2^63 elements, got ", count);
  return count <= 0 ? 0 : static_cast<int64_t>(count);
}

// All numbers of a sequence lie between the first and the last, so checking these two is enough.
void check_ends(const Scalar& first, int64_t step, int64_t count, DType type) {
  const __int128 last =
      static_cast<__int128>(first.to<int64_t>()) + static_cast<__int128>(step) * (count - 1);
  const auto nearest = static_cast<int64_t>(std::clamp<__int128>(last, INT64_MIN, INT64_MAX));
  check_fits(nearest, type, "stop");
}

void launch_sequence(const Tensor& result, kernel::SequencePlan& plan) {
  if (result.numel() == 0) return;
  plan.numel = result.numel();
  plan.place = kernel::place_on(result.device());
  plan.dtype = result.dtype();
  plan.output = result.data();
  kernel::launch(kernel::kSequence, result.device(), plan);
}

void refuse_bool(DType dtype) {
  TSR_CHECK(dtype != DType::kBool, Code::kDType, "dtype", "expected a numeric dtype, got bool");
}

}  // namespace

Tensor empty(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return without_garbage(allocate(shape, dtype, device));
}

Tensor full(DimsView shape, const Scalar& value, std::optional<DType> dtype,
            std::optional<Device> device) {
  const DType natural = promote_scalar(DType::kBool, value);
  return filled(tsr::empty(shape, dtype.value_or(natural), device.value_or(t_default_device)),
                value);
}

Tensor zeros(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return filled(allocate(shape, dtype, device), 0);
}

Tensor ones(DimsView shape, std::optional<DType> dtype, std::optional<Device> device) {
  return filled(allocate(shape, dtype, device), 1);
}

Tensor empty_like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device) {
  return without_garbage(allocate_like(input, dtype, device));
}

Tensor zeros_like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device) {
  return filled(allocate_like(input, dtype, device), 0);
}

Tensor ones_like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device) {
  return filled(allocate_like(input, dtype, device), 1);
}

Tensor full_like(const Tensor& input, const Scalar& value, std::optional<DType> dtype,
                 std::optional<Device> device) {
  return filled(allocate_like(input, dtype, device), value);
}

Tensor arange(const Scalar& start, const Scalar& stop, const Scalar& step,
              std::optional<DType> dtype, std::optional<Device> device) {
  const Category kind = std::max({start.category(), stop.category(), step.category()});
  TSR_CHECK(kind != Category::kComplex, Code::kType, "start",
            "expected real numbers, got complex ones");
  const bool integral = kind <= Category::kIntegral;
  const DType type = dtype.value_or(integral ? DType::kInt64 : default_dtype());
  refuse_bool(type);
  const Dims shape{arange_count(start, stop, step, integral)};
  if (is_integral(type) && shape[0] > 0) {
    check_fits(start, type, "start");
    check_fits(step, DType::kInt64, "step");
    check_ends(start, step.to<int64_t>(), shape[0], type);
  }
  Tensor result = tsr::empty(shape, type, device.value_or(t_default_device));
  kernel::SequencePlan plan{};
  plan.start = start.to<double>();
  plan.step = step.to<double>();
  plan.start_integer = start.to<int64_t>();
  plan.step_integer = step.to<int64_t>();
  launch_sequence(result, plan);
  return result;
}

namespace {

// The real and the imaginary parts are sequences of their own.
Tensor complex_linspace(std::complex<double> start, std::complex<double> stop, int64_t num,
                        std::optional<DType> dtype, bool endpoint, std::optional<Device> device) {
  const DType type = dtype.value_or(default_complex_dtype());
  TSR_CHECK(is_complex(type), Code::kDType, "dtype",
            "expected a complex dtype for complex numbers, got ", type);
  const DType part = real_dtype(type);
  return complex(linspace(start.real(), stop.real(), num, part, endpoint, device),
                 linspace(start.imag(), stop.imag(), num, part, endpoint, device));
}

}  // namespace

Tensor linspace(const Scalar& start, const Scalar& stop, int64_t num, std::optional<DType> dtype,
                bool endpoint, std::optional<Device> device) {
  TSR_CHECK(num >= 0, Code::kValue, "num", "expected a count that is not negative, got ", num);
  if (start.category() == Category::kComplex || stop.category() == Category::kComplex) {
    return complex_linspace(start.to<std::complex<double>>(), stop.to<std::complex<double>>(), num,
                            dtype, endpoint, device);
  }
  const DType type = dtype.value_or(default_dtype());
  refuse_bool(type);
  if (num > 0) check_fits(start, type, "start");
  if (num > 1) check_fits(stop, type, "stop");
  const auto steps = static_cast<double>(endpoint ? num - 1 : num);
  // Integers are rounded down from the real sequence, as NumPy does.
  const DType compute = is_integral(type) ? DType::kFloat64 : type;
  Tensor result = tsr::empty(Dims{num}, compute, device.value_or(t_default_device));
  kernel::SequencePlan plan{};
  plan.start = start.to<double>();
  plan.stop = stop.to<double>();
  if (steps > 0) plan.step = (plan.stop - plan.start) / steps;
  // The distance of two numbers may be larger than all numbers.
  if (std::isinf(plan.step) && std::isfinite(plan.start) && std::isfinite(plan.stop))
    plan.step = plan.stop / steps - plan.start / steps;
  if (num > 1) plan.symmetric = endpoint ? 1 : 2;
  launch_sequence(result, plan);
  return cast_memory(result, type);
}

Tensor logspace(double start, double stop, int64_t num, double base, std::optional<DType> dtype,
                bool endpoint, std::optional<Device> device) {
  const DType type = dtype.value_or(default_dtype());
  refuse_bool(type);
  const Tensor exponents = linspace(start, stop, num, DType::kFloat64, endpoint, device);
  return cast_memory(pow(base, exponents), type);
}

Tensor empty_strided(DimsView shape, DimsView strides, std::optional<DType> dtype,
                     std::optional<Device> device) {
  return without_garbage(tsr::empty_strided(shape, strides, dtype.value_or(default_dtype()),
                                            device.value_or(t_default_device)));
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, int64_t k, std::optional<DType> dtype,
           std::optional<Device> device) {
  const int64_t width = columns.value_or(rows);
  TSR_CHECK(rows >= 0, Code::kValue, "n_rows", "expected a count that is not negative, got ", rows);
  TSR_CHECK(width >= 0, Code::kValue, "n_cols", "expected a count that is not negative, got ",
            width);
  Tensor result = zeros(Dims{rows, width}, dtype, device);
  if (k <= -rows || k >= width) return result;
  const int64_t length = k >= 0 ? std::min(rows, width - k) : std::min(rows + k, width);
  if (length <= 0) return result;
  fill_memory(make_view(result, Dims{length}, Dims{width + 1}, k >= 0 ? k : -k * width), 1);
  return result;
}

Tensor asarray(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device,
               std::optional<bool> copy) {
  const bool changes = dtype.value_or(input.dtype()) != input.dtype() ||
                       device.value_or(input.device()) != input.device();
  TSR_CHECK(!changes || copy.value_or(true), Code::kValue, "copy",
            "expected that a copy is allowed, because ", input.dtype(), " on ", input.device(),
            " must become ", dtype.value_or(input.dtype()), " on ",
            device.value_or(input.device()));
  return to(input, device, dtype, copy.value_or(false));
}

Tensor zeros_like_shape(DimsView sizes, DType dtype, Device device) {
  return filled(tsr::empty(sizes, dtype, device), 0);
}

Tensor zeros_of(const Tensor& like) {
  return zeros_like_shape(like.sizes(), like.dtype(), like.device());
}

}  // namespace tsr::ops
