// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How elements are stored in memory and converted to values: Storage<dtype> for kernels that are
// compiled per dtype, load_as and store_as for kernels that test the dtype at run time.
#pragma once

#include <cuda_runtime.h>
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "backend/common/float_to_int.h"
#include "backend/cuda/host.h"
#include "backend/cuda/number_complex.cuh"
#include "base/dtype.h"

namespace tsr::cuda {

// Two parts side by side, aligned so that one instruction moves both.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

// ---- Per dtype ----
// Type is the type in memory, Value the value type of functors.

template <class T>
struct Plain {
  using Type = T;
  using Value = Number<T>;
  __device__ static Value load(Type raw) { return Value(raw); }
  __device__ static Type store(Value value) { return value.v; }
};
// ---- 16-bit floats ----
// A device has instructions for what base/half.h computes. The results are the same, except that
// they may choose other bits for a NaN.

__device__ inline float to_float(Half value) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(value.bits));
#else
  return static_cast<float>(value);
#endif
}
__device__ inline float to_float(BFloat16 value) {
  return static_cast<float>(value);  // a shift
}
template <class T>
__device__ T to_short(float value) {
#if defined(__CUDA_ARCH__)
  T found;
  if constexpr (std::is_same_v<T, Half>)
    found.bits = __half_as_ushort(__float2half_rn(value));
  else
    found.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
  return found;
#else
  return T(value);
#endif
}

// They compute in float32.
template <class T>
struct Short {
  using Type = T;
  using Value = Number<float>;
  __device__ static Value load(Type raw) { return Value(to_float(raw)); }
  __device__ static Type store(Value value) { return to_short<T>(value.v); }
};
template <class T>
struct Paired {
  using Type = Pair<T>;
  using Value = ComplexNumber<T>;
  __device__ static Value load(Type raw) { return {Number<T>(raw.re), Number<T>(raw.im)}; }
  __device__ static Type store(Value value) { return {value.re.v, value.im.v}; }
};
// A byte that holds 0 or 1; what is stored may be a mask.
struct Truth {
  using Type = uint8_t;
  using Value = Number<int8_t>;
  __device__ static Value load(Type raw) { return Value(raw); }
  __device__ static Type store(Value value) { return static_cast<Type>(value.v); }
  __device__ static Type store(bool value) { return value ? 1 : 0; }
};

// ---- By dtype at run time ----
// Wide is double, int64_t, uint64_t or ComplexNumber<double>: the type a kernel works in.

// A float outside the range of an integer type becomes what float_to_int.h says, as on the CPU.
template <class To, class From>
__device__ To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return math::to_integer<To>(value);
  else
    return static_cast<To>(value);
}

template <class Wide>
inline constexpr bool kIsComplexWide = std::is_same_v<Wide, ComplexNumber<double>>;

template <class Wide, class T>
__device__ Wide widen_element(T value) {
  if constexpr (kIsComplexWide<Wide>)
    return Wide(Number<double>(convert<double>(value)), Number<double>(0));
  else
    return convert<Wide>(value);
}
template <class Wide, class T>
__device__ Wide widen_pair(Pair<T> value) {
  if constexpr (kIsComplexWide<Wide>)
    return Wide(Number<double>(value.re), Number<double>(value.im));
  else
    return convert<Wide>(value.re);
}

template <class Wide>
__device__ Wide load_as(DType dtype, const void* data) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return widen_element<Wide>(*static_cast<const uint8_t*>(data));
    case DType::kUInt16:
      return widen_element<Wide>(*static_cast<const uint16_t*>(data));
    case DType::kUInt32:
      return widen_element<Wide>(*static_cast<const uint32_t*>(data));
    case DType::kUInt64:
      return widen_element<Wide>(*static_cast<const uint64_t*>(data));
    case DType::kInt8:
      return widen_element<Wide>(*static_cast<const int8_t*>(data));
    case DType::kInt16:
      return widen_element<Wide>(*static_cast<const int16_t*>(data));
    case DType::kInt32:
      return widen_element<Wide>(*static_cast<const int32_t*>(data));
    case DType::kInt64:
      return widen_element<Wide>(*static_cast<const int64_t*>(data));
    case DType::kFloat16:
      return widen_element<Wide>(to_float(*static_cast<const Half*>(data)));
    case DType::kBFloat16:
      return widen_element<Wide>(to_float(*static_cast<const BFloat16*>(data)));
    case DType::kFloat32:
      return widen_element<Wide>(*static_cast<const float*>(data));
    case DType::kFloat64:
      return widen_element<Wide>(*static_cast<const double*>(data));
    case DType::kComplex64:
      return widen_pair<Wide>(*static_cast<const Pair<float>*>(data));
    case DType::kComplex128:
      return widen_pair<Wide>(*static_cast<const Pair<double>*>(data));
  }
  return Wide{};
}

template <class Wide>
__device__ auto real_part(Wide value) {
  if constexpr (kIsComplexWide<Wide>)
    return value.re.v;
  else
    return value;
}
template <class Wide>
__device__ double imaginary_part(Wide value) {
  if constexpr (kIsComplexWide<Wide>)
    return value.im.v;
  else
    return 0.0;
}

template <class Wide>
__device__ void store_as(DType dtype, void* data, Wide value) {
  const auto real = real_part(value);
  switch (dtype) {
    case DType::kBool:
      *static_cast<uint8_t*>(data) = real != 0 || imaginary_part(value) != 0 ? 1 : 0;
      return;
    case DType::kUInt8:
      *static_cast<uint8_t*>(data) = convert<uint8_t>(real);
      return;
    case DType::kUInt16:
      *static_cast<uint16_t*>(data) = convert<uint16_t>(real);
      return;
    case DType::kUInt32:
      *static_cast<uint32_t*>(data) = convert<uint32_t>(real);
      return;
    case DType::kUInt64:
      *static_cast<uint64_t*>(data) = convert<uint64_t>(real);
      return;
    case DType::kInt8:
      *static_cast<int8_t*>(data) = convert<int8_t>(real);
      return;
    case DType::kInt16:
      *static_cast<int16_t*>(data) = convert<int16_t>(real);
      return;
    case DType::kInt32:
      *static_cast<int32_t*>(data) = convert<int32_t>(real);
      return;
    case DType::kInt64:
      *static_cast<int64_t*>(data) = convert<int64_t>(real);
      return;
    case DType::kFloat16:
      *static_cast<Half*>(data) = to_short<Half>(static_cast<float>(real));
      return;
    case DType::kBFloat16:
      *static_cast<BFloat16*>(data) = to_short<BFloat16>(static_cast<float>(real));
      return;
    case DType::kFloat32:
      *static_cast<float*>(data) = static_cast<float>(real);
      return;
    case DType::kFloat64:
      *static_cast<double*>(data) = static_cast<double>(real);
      return;
    case DType::kComplex64:
      *static_cast<Pair<float>*>(data) = {static_cast<float>(real),
                                          static_cast<float>(imaginary_part(value))};
      return;
    case DType::kComplex128:
      *static_cast<Pair<double>*>(data) = {static_cast<double>(real), imaginary_part(value)};
      return;
  }
}

// The same for the value types of functors, which wrap a wide type.
template <class V>
__device__ V load_value(DType dtype, const void* data) {
  if constexpr (requires { typename V::Element; })
    return V(load_as<typename V::Element>(dtype, data));
  else
    return load_as<V>(dtype, data);
}
template <class V>
__device__ void store_value(DType dtype, void* data, V value) {
  if constexpr (requires { typename V::Element; })
    store_as(dtype, data, value.v);
  else
    store_as(dtype, data, value);
}

// Whether an element is nonzero, whatever its dtype.
__device__ inline bool is_nonzero(DType dtype, const void* data) {
  const auto value = load_as<ComplexNumber<double>>(dtype, data);
  return value.re.v != 0 || value.im.v != 0;
}

// Calls visit.operator()<Storage>() for the real floating dtypes. `text` is the error message for
// any other dtype.
template <class Visit>
kernel::Status visit_floating(DType dtype, const char* text, const Visit& visit) {
  switch (dtype) {
    case DType::kFloat16:
      return visit.template operator()<Short<Half>>();
    case DType::kBFloat16:
      return visit.template operator()<Short<BFloat16>>();
    case DType::kFloat32:
      return visit.template operator()<Plain<float>>();
    case DType::kFloat64:
      return visit.template operator()<Plain<double>>();
    default:
      return failure(Code::kNotImplemented, text);
  }
}

// Calls visit.operator()<V>() with the value type in which sums and products of `dtype` are formed:
// integers of either sign wrap alike.
template <class Visit>
auto visit_arithmetic(DType dtype, const Visit& visit) {
  if (is_complex(dtype)) return visit.template operator()<ComplexNumber<double>>();
  if (is_floating(dtype)) return visit.template operator()<Number<double>>();
  return visit.template operator()<Number<int64_t>>();
}

// Calls visit.operator()<Wide>() with the type that holds every number of `dtype` exactly.
template <class Visit>
auto visit_wide(DType dtype, const Visit& visit) {
  if (is_complex(dtype)) return visit.template operator()<ComplexNumber<double>>();
  if (is_floating(dtype)) return visit.template operator()<double>();
  if (dtype == DType::kUInt64) return visit.template operator()<uint64_t>();
  return visit.template operator()<int64_t>();
}

// Calls visit.operator()<T>() with a type of the size of an element, for kernels that only move it.
template <class Visit>
auto visit_size(DType dtype, const Visit& visit) {
  switch (itemsize(dtype)) {
    case 1:
      return visit.template operator()<uint8_t>();
    case 2:
      return visit.template operator()<uint16_t>();
    case 4:
      return visit.template operator()<uint32_t>();
    case 8:
      return visit.template operator()<uint64_t>();
    default:
      return visit.template operator()<Pair<double>>();
  }
}

}  // namespace tsr::cuda
