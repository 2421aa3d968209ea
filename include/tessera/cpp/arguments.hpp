// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Argument types besides tensors: numbers, lists of integers, devices, and the dtypes of C++ types.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/error.hpp"
#include "tessera/cpp/random.hpp"

namespace tessera {

// ---- Numbers ----

// A number of any kind, made from any arithmetic or complex value.
class Scalar {
 public:
  // In the order of promotion: each kind can represent the kinds before it. The last one is for
  // integers beyond int64, which only uint64 can hold.
  enum class Kind : int32_t {
    kTruth = TSR_NUMBER_BOOL,
    kInteger = TSR_NUMBER_INTEGER,
    kReal = TSR_NUMBER_REAL,
    kComplex = TSR_NUMBER_COMPLEX,
    kUnsigned = TSR_NUMBER_UNSIGNED
  };

  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Scalar(T value) {  // NOLINT(google-explicit-constructor): numbers stand where tensors stand
    if constexpr (std::is_same_v<T, bool>) {
      number_.kind = TSR_NUMBER_BOOL;
      number_.integer = value ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      number_.kind = TSR_NUMBER_INTEGER;
      number_.integer = static_cast<int64_t>(value);
      if (std::is_unsigned_v<T> && number_.integer < 0) number_.kind = TSR_NUMBER_UNSIGNED;
    } else {
      number_.kind = TSR_NUMBER_REAL;
      number_.real = static_cast<double>(value);
    }
    if constexpr (std::is_integral_v<T>) number_.real = static_cast<double>(value);
  }

  template <class T>
  Scalar(std::complex<T> value)  // NOLINT(google-explicit-constructor)
      : number_{TSR_NUMBER_COMPLEX, 0, 0, static_cast<double>(value.real()),
                static_cast<double>(value.imag())} {}

  Kind kind() const noexcept { return static_cast<Kind>(number_.kind); }
  int64_t integer() const noexcept { return number_.integer; }
  double real() const noexcept { return number_.real; }
  double imag() const noexcept { return number_.imaginary; }
  // The number as a C argument; valid while this object lives.
  const tsr_number* number() const noexcept { return &number_; }

 private:
  tsr_number number_ = {TSR_NUMBER_BOOL, 0, 0, 0, 0};
};

// ---- Lists of integers ----

namespace detail {

// Whether a container, such as std::span<const int64_t>, lends an array of integers.
template <class Container, class = void>
struct LendsIntegers : std::false_type {};
template <class Container>
struct LendsIntegers<Container, std::void_t<decltype(std::declval<const Container&>().data()),
                                            decltype(std::declval<const Container&>().size())>>
    : std::is_convertible<decltype(std::declval<const Container&>().data()), const int64_t*> {};

}  // namespace detail

// A shape, axes or strides: borrowed for one call from a braced list, a vector, an array, a span or
// a number.
class IntList {
 public:
  // The braced list lives as long as the call that it is an argument of.
  IntList(std::initializer_list<int64_t> values) : size_(static_cast<int32_t>(values.size())) {
    data_ = values.begin();
  }
  IntList(const std::vector<int64_t>& values)  // NOLINT(google-explicit-constructor)
      : data_(values.data()), size_(static_cast<int32_t>(values.size())) {}
  template <size_t kSize>
  IntList(const std::array<int64_t, kSize>& values)  // NOLINT(google-explicit-constructor)
      : data_(values.data()), size_(static_cast<int32_t>(kSize)) {}
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  IntList(T value)  // NOLINT(google-explicit-constructor)
      : size_(kSingle), single_(static_cast<int64_t>(value)) {}
  template <class Container,
            std::enable_if_t<std::conjunction_v<std::negation<std::is_base_of<IntList, Container>>,
                                                detail::LendsIntegers<Container>>,
                             int> = 0>
  IntList(const Container& values)  // NOLINT(google-explicit-constructor)
      : data_(values.data()), size_(static_cast<int32_t>(values.size())) {}
  IntList(const int64_t* data, size_t size) : data_(data), size_(static_cast<int32_t>(size)) {}

  const int64_t* data() const noexcept { return size_ == kSingle ? &single_ : data_; }
  // The number of integers, -1 for an absent list.
  int32_t size() const noexcept { return size_ == kSingle ? 1 : size_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + (size() < 0 ? 0 : size()); }
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }

 protected:
  struct Absent {};
  explicit IntList(Absent /*mark*/) : size_(-1) {}

 private:
  static constexpr int32_t kSingle = -2;

  const int64_t* data_ = nullptr;
  int32_t size_ = 0;
  int64_t single_ = 0;
};

namespace detail {

// "[2, 3]"
inline std::string text_of(const IntList& list) {
  std::string text = "[";
  for (const int64_t value : list) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

}  // namespace detail

// A list that may be absent: std::nullopt.
class OptionalIntList : public IntList {
 public:
  using IntList::IntList;
  OptionalIntList(std::nullopt_t /*absent*/)  // NOLINT(google-explicit-constructor)
      : IntList(Absent{}) {}
  OptionalIntList(const IntList& list)  // NOLINT(google-explicit-constructor)
      : IntList(list) {}
};

// Numbers: a braced list, a vector, an array or one number.
class FloatList {
 public:
  // The braced list lives as long as the call that it is an argument of.
  FloatList(std::initializer_list<double> values) : size_(static_cast<int32_t>(values.size())) {
    data_ = values.begin();
  }
  FloatList(const std::vector<double>& values)  // NOLINT(google-explicit-constructor)
      : data_(values.data()), size_(static_cast<int32_t>(values.size())) {}
  template <size_t kSize>
  FloatList(const std::array<double, kSize>& values)  // NOLINT(google-explicit-constructor)
      : data_(values.data()), size_(static_cast<int32_t>(kSize)) {}
  FloatList(double value)  // NOLINT(google-explicit-constructor)
      : size_(kSingle), single_(value) {}

  const double* data() const noexcept { return size_ == kSingle ? &single_ : data_; }
  int32_t size() const noexcept { return size_ == kSingle ? 1 : size_; }

 private:
  static constexpr int32_t kSingle = -2;

  const double* data_ = nullptr;
  int32_t size_ = 0;
  double single_ = 0;
};

// ---- Devices ----

struct Device {
  tsr_device_type type = TSR_DEVICE_CPU;
  int32_t index = 0;

  static constexpr Device cpu() noexcept { return {}; }
  static constexpr Device cuda(int32_t index = 0) noexcept { return {TSR_DEVICE_CUDA, index}; }

  // "cpu", "cuda:0"
  std::string str() const {
    if (type == TSR_DEVICE_CPU) return "cpu";
    const std::string head =
        type == TSR_DEVICE_CUDA ? "cuda:" : "device" + std::to_string(type) + ":";
    return head + std::to_string(index);
  }
};

inline bool operator==(Device a, Device b) noexcept {
  return a.type == b.type && a.index == b.index;
}
inline bool operator!=(Device a, Device b) noexcept {
  return !(a == b);
}

// ---- Dtypes ----

// The bits of a float16 number; astype(kFloat32) converts them to numbers.
struct Float16 {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

constexpr bool is_bool(DType dtype) noexcept {
  return dtype == kBool;
}
constexpr bool is_complex(DType dtype) noexcept {
  return dtype == kComplex64 || dtype == kComplex128;
}
constexpr bool is_floating_point(DType dtype) noexcept {
  return dtype == kFloat16 || dtype == kBFloat16 || dtype == kFloat32 || dtype == kFloat64;
}
constexpr bool is_integral(DType dtype) noexcept {
  return !is_bool(dtype) && !is_complex(dtype) && !is_floating_point(dtype);
}

// The size of an element in bytes.
constexpr int64_t itemsize(DType dtype) noexcept {
  return (static_cast<int64_t>(dtype) >> 8 & 0xff) / 8;  // DLPack's field of bits
}

// The dtype of an operation on tensors of two dtypes. Throws DTypeError for uint64 and a signed
// integer, which have no common dtype.
inline DType promote_types(DType first, DType second) {
  tsr_dtype common = 0;
  check(tsr_promote_types(static_cast<tsr_dtype>(first), static_cast<tsr_dtype>(second), &common));
  return static_cast<DType>(common);
}

// Whether an operation that promotes `source` and `target` always has the dtype `target`.
inline bool can_cast(DType source, DType target) {
  int32_t can = 0;
  check(tsr_can_cast(static_cast<tsr_dtype>(source), static_cast<tsr_dtype>(target), &can));
  return can != 0;
}

// What an operator makes of integers that cannot stay what they are, and what functions that make
// tensors of floats take when no dtype is given. It belongs to the process; float32 at first.
inline DType default_dtype() {
  tsr_dtype dtype = 0;
  check(tsr_default_dtype(&dtype));
  return static_cast<DType>(dtype);
}
// Throws DTypeError for a dtype that is not floating.
inline void set_default_dtype(DType dtype) {
  check(tsr_set_default_dtype(static_cast<tsr_dtype>(dtype)));
}

namespace detail {

template <class T>
constexpr DType integer_dtype() {
  constexpr bool kSigned = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return kSigned ? kInt8 : kUInt8;
  if constexpr (sizeof(T) == 2) return kSigned ? kInt16 : kUInt16;
  if constexpr (sizeof(T) == 4) return kSigned ? kInt32 : kUInt32;
  if constexpr (sizeof(T) == 8) return kSigned ? kInt64 : kUInt64;
}

template <class T>
constexpr bool kNoDType = false;

}  // namespace detail

// The dtype whose elements have the layout of T.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return kBool;
  } else if constexpr (std::is_integral_v<T>) {
    return detail::integer_dtype<T>();
  } else if constexpr (std::is_same_v<T, float>) {
    return kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return kFloat64;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return kFloat16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return kBFloat16;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return kComplex64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return kComplex128;
  } else {
    static_assert(detail::kNoDType<T>, "no dtype has elements of this type");
  }
}

// ---- Conversion to C ----

namespace detail {

constexpr tsr_dtype bits(DType dtype) noexcept {
  return static_cast<tsr_dtype>(dtype);
}
constexpr tsr_dtype bits(std::optional<DType> dtype) noexcept {
  return dtype ? bits(*dtype) : -1;
}

constexpr Device device_of(std::optional<Device> device) noexcept {
  return device ? *device : Device{-1, -1};
}

constexpr int64_t length(std::string_view text) noexcept {
  return static_cast<int64_t>(text.size());
}

inline const tsr_number* number(const std::optional<Scalar>& number) noexcept {
  return number ? number->number() : nullptr;
}

}  // namespace detail

}  // namespace tessera
