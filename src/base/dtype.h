// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DType: the element types, their table of facts, and visit_dtype, which turns a DType into a C++
// type.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "base/half.h"

namespace tsr {

// Internal numbering (dense, for tables). The ABI and DLPack number dtypes by dtype_to_abi below.
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kDTypeCount = 15;

// Order matters: a higher category wins a promotion.
enum class Category : uint8_t { kBool, kIntegral, kFloating, kComplex };

struct DTypeInfo {
  const char* name;  // "float32"
  Category category;
  uint8_t itemsize;  // bytes
  bool is_signed;
  uint8_t dlpack_code;
};

inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypeInfo{{
    {"bool", Category::kBool, 1, false, 6},
    {"uint8", Category::kIntegral, 1, false, 1},
    {"uint16", Category::kIntegral, 2, false, 1},
    {"uint32", Category::kIntegral, 4, false, 1},
    {"uint64", Category::kIntegral, 8, false, 1},
    {"int8", Category::kIntegral, 1, true, 0},
    {"int16", Category::kIntegral, 2, true, 0},
    {"int32", Category::kIntegral, 4, true, 0},
    {"int64", Category::kIntegral, 8, true, 0},
    {"float16", Category::kFloating, 2, true, 2},
    {"bfloat16", Category::kFloating, 2, true, 4},
    {"float32", Category::kFloating, 4, true, 2},
    {"float64", Category::kFloating, 8, true, 2},
    {"complex64", Category::kComplex, 8, true, 5},
    {"complex128", Category::kComplex, 16, true, 5},
}};

constexpr const DTypeInfo& info(DType dtype) {
  return kDTypeInfo[static_cast<size_t>(dtype)];
}
constexpr int64_t itemsize(DType dtype) {
  return info(dtype).itemsize;
}
constexpr const char* name(DType dtype) {
  return info(dtype).name;
}
constexpr Category category(DType dtype) {
  return info(dtype).category;
}
constexpr bool is_floating(DType dtype) {
  return category(dtype) == Category::kFloating;
}
constexpr bool is_complex(DType dtype) {
  return category(dtype) == Category::kComplex;
}
constexpr bool is_integral(DType dtype) {
  return category(dtype) == Category::kIntegral;
}
constexpr bool is_integral_or_bool(DType dtype) {
  return category(dtype) <= Category::kIntegral;
}
// Only these may require a gradient.
constexpr bool is_differentiable(DType dtype) {
  return category(dtype) >= Category::kFloating;
}

// The real type of a complex type (complex64 -> float32); other types are returned as they are.
constexpr DType real_dtype(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

// The bits of DLPack's DLDataType: code | bits << 8 | lanes << 16.
constexpr int32_t dtype_to_abi(DType dtype) {
  const DTypeInfo& facts = info(dtype);
  return facts.dlpack_code | (facts.itemsize * 8) << 8 | 1 << 16;
}
// nullopt for bits that name no dtype of ours.
std::optional<DType> dtype_from_abi(int32_t bits) noexcept;

inline void append_text(std::string& out, DType dtype) {
  out += name(dtype);
}

template <class T>
struct TypeTag {
  using type = T;
};

// The C++ type that stores one element of each dtype, and the way back.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kUInt8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::kUInt16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::kUInt32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::kUInt64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::kInt8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::kInt16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kInt32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kInt64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::kFloat16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::kBFloat16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kFloat64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DType::kComplex64;
  else {
    static_assert(std::is_same_v<T, std::complex<double>>, "no dtype stores this C++ type");
    return DType::kComplex128;
  }
}

// Calls fn(TypeTag<T>{}) with the C++ type of `dtype` and returns its result. The switch is the
// only one over dtypes: kernels restrict the set with `if constexpr` inside fn.
template <class Fn>
constexpr decltype(auto) visit_dtype(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kBool:
      return fn(TypeTag<bool>{});
    case DType::kUInt8:
      return fn(TypeTag<uint8_t>{});
    case DType::kUInt16:
      return fn(TypeTag<uint16_t>{});
    case DType::kUInt32:
      return fn(TypeTag<uint32_t>{});
    case DType::kUInt64:
      return fn(TypeTag<uint64_t>{});
    case DType::kInt8:
      return fn(TypeTag<int8_t>{});
    case DType::kInt16:
      return fn(TypeTag<int16_t>{});
    case DType::kInt32:
      return fn(TypeTag<int32_t>{});
    case DType::kInt64:
      return fn(TypeTag<int64_t>{});
    case DType::kFloat16:
      return fn(TypeTag<Half>{});
    case DType::kBFloat16:
      return fn(TypeTag<BFloat16>{});
    case DType::kFloat32:
      return fn(TypeTag<float>{});
    case DType::kFloat64:
      return fn(TypeTag<double>{});
    case DType::kComplex64:
      return fn(TypeTag<std::complex<float>>{});
    case DType::kComplex128:
      break;
  }
  return fn(TypeTag<std::complex<double>>{});
}

}  // namespace tsr
