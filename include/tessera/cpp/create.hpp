// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors from C++ values: copied from braced lists, or sharing the memory of vectors and other
// owners.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/ops.hpp"

namespace tessera {

namespace detail {

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<std::complex<T>> = true;

// Literals get the dtypes that they get in Python: int64, float32, bool, complex64.
template <class T>
constexpr DType literal_dtype() {
  static_assert(std::is_arithmetic_v<T> || kIsComplex<T>,
                "tensor() takes numbers; stack() and concat() join tensors");
  if constexpr (std::is_same_v<T, bool>) return kBool;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return kInt64;
  if constexpr (std::is_floating_point_v<T>) return kFloat32;
  return kComplex64;
}

template <class T>
Tensor copied(const T* values, const IntList& shape, DType dtype) {
  tsr_tensor out = nullptr;
  check(tsr_empty(shape.data(), shape.size(), bits(dtype_of<T>()), -1, -1, &out));
  const Tensor made = Tensor::take(out);
  check(tsr_tensor_write(out, values, made.nbytes()));
  return made.astype(dtype, false);
}

template <class T>
using Rows = std::initializer_list<T>;

inline void expect_row_length(int64_t expected, int64_t length) {
  if (length == expected) return;
  throw ShapeError("tensor: values: expected rows of equal lengths, got " +
                       std::to_string(expected) + " and " + std::to_string(length),
                   "tensor", 0);
}

// std::vector<bool> stores no bool elements, so bools are stored as bytes.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// Flattens nested braces and records their lengths.
template <class T>
void flatten_braces(const T& value, std::vector<Stored<T>>& values, std::vector<int64_t>& /*shape*/,
                    size_t /*depth*/) {
  values.push_back(static_cast<Stored<T>>(value));
}

template <class T, class Inner>
void flatten_braces(const std::initializer_list<Inner>& rows, std::vector<Stored<T>>& values,
                    std::vector<int64_t>& shape, size_t depth) {
  const auto length = static_cast<int64_t>(rows.size());
  if (shape.size() == depth) shape.push_back(length);
  expect_row_length(shape[depth], length);
  for (const Inner& row : rows) flatten_braces<T>(row, values, shape, depth + 1);
}

struct IntegerLimits {
  int64_t low;
  uint64_t high;
};

template <class T>
constexpr IntegerLimits limits_of() {
  return {static_cast<int64_t>(std::numeric_limits<T>::min()),
          static_cast<uint64_t>(std::numeric_limits<T>::max())};
}

// The numbers that an integer dtype can hold; {0, 0} of other dtypes.
inline IntegerLimits integer_limits(DType dtype) {
  if (dtype == kUInt8) return limits_of<uint8_t>();
  if (dtype == kUInt16) return limits_of<uint16_t>();
  if (dtype == kUInt32) return limits_of<uint32_t>();
  if (dtype == kUInt64) return limits_of<uint64_t>();
  if (dtype == kInt8) return limits_of<int8_t>();
  if (dtype == kInt16) return limits_of<int16_t>();
  if (dtype == kInt32) return limits_of<int32_t>();
  if (dtype == kInt64) return limits_of<int64_t>();
  return {0, 0};
}

template <class T>
bool is_within(T value, IntegerLimits limits) {
  if constexpr (std::is_floating_point_v<T>) {  // false for nan; a fraction is dropped
    const T low = static_cast<T>(limits.low);
    return (value > low - 1 || value == low) && value < 2 * (static_cast<T>(limits.high / 2) + 1);
  } else if constexpr (std::is_signed_v<T>) {
    return value < 0 ? static_cast<int64_t>(value) >= limits.low
                     : static_cast<uint64_t>(value) <= limits.high;
  } else {
    return static_cast<uint64_t>(value) <= limits.high;
  }
}

// Literals never wrap around, as in Python.
template <class T>
void expect_within(const std::vector<T>& values, DType dtype) {
  if constexpr (!kIsComplex<T>) {
    const IntegerLimits limits = integer_limits(dtype);
    if (limits.high == 0) return;
    for (const T value : values) {
      if (is_within(value, limits)) continue;
      throw InvalidValueError("tensor: values: expected numbers that " + std::string(name(dtype)) +
                                  " can hold, got " + std::to_string(value),
                              "tensor", 0);
    }
  }
}

template <class T>
Tensor from_values(const std::vector<Stored<T>>& values, const IntList& shape,
                   std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(literal_dtype<T>());
  expect_within(values, wanted);
  return copied(values.data(), shape, wanted);
}

template <class T, class Braces>
Tensor from_braces(const Braces& braces, std::optional<DType> dtype) {
  std::vector<Stored<T>> values;
  std::vector<int64_t> shape;
  flatten_braces<T>(braces, values, shape, 0);
  return from_values<T>(values, shape, dtype);
}

// Numbers of several kinds as T, the first kind that has all of them.
template <class T, class Convert>
Tensor from_numbers(const std::initializer_list<Scalar>& numbers, std::optional<DType> dtype,
                    Convert convert) {
  std::vector<T> values;
  for (const Scalar& number : numbers) values.push_back(convert(number));
  return from_values<T>(values, static_cast<int64_t>(values.size()), dtype);
}

}  // namespace detail

// ---- from values ----

// A 0-dim tensor.
inline Tensor tensor(const Scalar& value, std::optional<DType> dtype = std::nullopt) {
  return full({}, value, dtype);
}

// tensor({1, 2, 3}), tensor({{1.0, 2.0}, {3.0, 4.0}}), up to three axes. Without a dtype, integers
// give int64, bools bool and floating numbers float32, as in Python.
template <class T>
Tensor tensor(std::initializer_list<T> values, std::optional<DType> dtype = std::nullopt) {
  return detail::from_braces<T>(values, dtype);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values,
              std::optional<DType> dtype = std::nullopt) {
  return detail::from_braces<T>(values, dtype);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::optional<DType> dtype = std::nullopt) {
  return detail::from_braces<T>(values, dtype);
}

// Numbers of several kinds, tensor({1, 2.5}); none at all give a float32 tensor.
// A template so that only programs that call it compile it.
template <class Kind = Scalar::Kind>
Tensor tensor(std::initializer_list<Scalar> values, std::optional<DType> dtype = std::nullopt) {
  const auto any = [&](Kind kind) {
    return std::any_of(values.begin(), values.end(),
                       [&](const Scalar& value) { return value.kind() == kind; });
  };
  if (any(Kind::kComplex)) {
    return detail::from_numbers<std::complex<double>>(values, dtype, [](const Scalar& value) {
      return std::complex<double>(value.real(), value.imag());
    });
  }
  if (any(Kind::kReal) || values.size() == 0) {
    return detail::from_numbers<double>(values, dtype,
                                        [](const Scalar& value) { return value.real(); });
  }
  if (any(Kind::kUnsigned)) {  // beyond int64; expect_within refuses what is below 0
    return detail::from_numbers<uint64_t>(values, dtype, [](const Scalar& value) {
      if (value.kind() != Kind::kUnsigned)
        detail::expect_within<int64_t>({value.integer()}, kUInt64);
      return static_cast<uint64_t>(value.integer());
    });
  }
  return detail::from_numbers<int64_t>(values, dtype,
                                       [](const Scalar& value) { return value.integer(); });
}

// The elements of a vector, copied and converted as literals are; from_vector keeps their dtype.
template <class T>
Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt) {
  const std::vector<detail::Stored<T>> stored(values.begin(), values.end());
  return detail::from_values<T>(stored, static_cast<int64_t>(stored.size()), dtype);
}

// A copy of elements in row-major order, dtype_of<T>().
template <class T>
Tensor copy_from(const T* values, const IntList& shape) {
  return detail::copied(values, shape, dtype_of<T>());
}

// ---- on existing memory ----

// On the caller's memory, which must outlive the tensor and all views of it. Strides are in
// elements and may be negative. From a pointer to const, the tensor is read-only.
template <class T>
Tensor from_borrowed(T* data, const IntList& shape, const OptionalIntList& strides = std::nullopt) {
  using Element = std::remove_const_t<T>;
  tsr_tensor out = nullptr;
  check(tsr_tensor_from_data(const_cast<Element*>(data), detail::bits(dtype_of<Element>()),
                             TSR_DEVICE_CPU, 0, shape.data(), shape.size(), strides.data(),
                             strides.size(), std::is_const_v<T> ? TSR_FROM_DATA_READ_ONLY : 0,
                             nullptr, nullptr, &out));
  return Tensor::take(out);
}

// On the memory of a vector, an array or a span: any container with data() and size().
template <class Container, class = decltype(std::declval<Container&>().data())>
Tensor from_borrowed(Container& container) {
  return from_borrowed(container.data(), {static_cast<int64_t>(container.size())});
}

// On memory that an owner keeps alive. The library stores the owner until the memory is unused. An
// owner may be moved in beside its pointer, from_owner(v.data(), shape, std::move(v)): it is moved
// only after all arguments are known.
template <class T, class Owner>
Tensor from_owner(T* data, const IntList& shape, Owner&& owner,
                  const OptionalIntList& strides = std::nullopt) {
  using Element = std::remove_const_t<T>;
  using Kept = std::decay_t<Owner>;
  auto kept = std::make_unique<Kept>(std::forward<Owner>(owner));
  const tsr_drop_fn drop = [](void* user) { delete static_cast<Kept*>(user); };
  tsr_tensor out = nullptr;
  // A failure drops the owner too, so release it first.
  check(tsr_tensor_from_data(const_cast<Element*>(data), detail::bits(dtype_of<Element>()),
                             TSR_DEVICE_CPU, 0, shape.data(), shape.size(), strides.data(),
                             strides.size(), std::is_const_v<T> ? TSR_FROM_DATA_READ_ONLY : 0,
                             kept.release(), drop, &out));
  return Tensor::take(out);
}

// The elements of a vector, without a copy if the vector is moved in; one axis unless a shape is
// given.
template <class T>
Tensor from_vector(std::vector<T> values, const OptionalIntList& shape = std::nullopt) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to share");
  const auto count = static_cast<int64_t>(values.size());
  // Unsigned, so that an overflow is defined; the library refuses such a shape.
  uint64_t wanted = shape.size() < 0 ? values.size() : 1;
  for (const int64_t size : shape) wanted *= static_cast<uint64_t>(size);
  if (wanted != values.size()) {
    throw ShapeError("from_vector: shape: expected a shape of " + std::to_string(count) +
                         " elements, got " + detail::text_of(shape),
                     "from_vector", 1);
  }
  T* const data = values.data();  // moving a vector does not move its elements
  const IntList flat(&count, 1);
  return from_owner(data, shape.size() < 0 ? flat : shape, std::move(values));
}

// ---- ranges ----

// Numbers from 0 up to but not including stop.
inline Tensor arange(const Scalar& stop) {
  return arange(0, stop);
}
inline Tensor arange(const Scalar& stop, DType dtype, std::optional<Device> device = std::nullopt) {
  return arange(0, stop, 1, dtype, device);
}

}  // namespace tessera
