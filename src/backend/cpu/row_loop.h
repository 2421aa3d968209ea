// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// row_loop: runs a functor over contiguous elements, a register at a time. The last, partial
// register goes through the same arithmetic on padded lanes, so a result does not depend on its
// position.
#pragma once

#include "backend/common/complex.h"
#include "backend/common/math_complex.h"
#include "backend/common/math_f64.h"
#include "backend/cpu/rows.h"

namespace tsr::cpu::TSR_ISA {

using kernel::Parameter;

// ---- Access: how a value type is read from and written to memory ----

template <class V>
struct Access;

template <class T>
struct Access<Vec<T>> {
  static constexpr int kLanes = Vec<T>::kSize;
  [[gnu::always_inline]] static Vec<T> load(const void* data, int64_t i) {
    return Vec<T>::load(static_cast<const T*>(data) + i);
  }
  [[gnu::always_inline]] static Vec<T> load_part(const void* data, int64_t i, int64_t count) {
    return Vec<T>::load_part(static_cast<const T*>(data) + i, count, T{1});
  }
  [[gnu::always_inline]] static Vec<T> parameter(const Parameter& value) {
    T number;
    __builtin_memcpy(&number, &value, sizeof(T));
    return Vec<T>(number);
  }
};

template <class T>
struct Access<math::Complex<Vec<T>>> {
  using V = math::Complex<Vec<T>>;
  static constexpr int kLanes = Vec<T>::kSize;
  [[gnu::always_inline]] static V load(const void* data, int64_t i) {
    return load_pairs(static_cast<const T*>(data) + 2 * i);
  }
  [[gnu::always_inline]] static V load_part(const void* data, int64_t i, int64_t count) {
    T numbers[2 * kLanes] = {};
    const T* source = static_cast<const T*>(data) + 2 * i;
    for (int64_t k = 0; k < 2 * count; ++k) numbers[k] = source[k];
    return load_pairs(numbers);
  }
  [[gnu::always_inline]] static V parameter(const Parameter& value) {
    T numbers[2];
    __builtin_memcpy(numbers, &value, sizeof(numbers));
    return V(Vec<T>(numbers[0]), Vec<T>(numbers[1]));
  }
};

// ---- Store: results are values of a type or, as bytes, masks ----

template <class T>
[[gnu::always_inline]] inline void store(Vec<T> value, void* data, int64_t i) {
  value.store(static_cast<T*>(data) + i);
}
template <class T>
[[gnu::always_inline]] inline void store_part(Vec<T> value, void* data, int64_t i, int64_t count) {
  value.store_part(static_cast<T*>(data) + i, count);
}
template <class T>
[[gnu::always_inline]] inline void store(math::Complex<Vec<T>> value, void* data, int64_t i) {
  store_pairs(value, static_cast<T*>(data) + 2 * i);
}
template <class T>
[[gnu::always_inline]] inline void store_part(math::Complex<Vec<T>> value, void* data, int64_t i,
                                              int64_t count) {
  T numbers[2 * Vec<T>::kSize];
  store_pairs(value, numbers);
  T* target = static_cast<T*>(data) + 2 * i;
  for (int64_t k = 0; k < 2 * count; ++k) target[k] = numbers[k];
}
template <class T>
[[gnu::always_inline]] inline void store(Mask<T> value, void* data, int64_t i) {
  store_bools(value, static_cast<uint8_t*>(data) + i);
}
template <class T>
[[gnu::always_inline]] inline void store_part(Mask<T> value, void* data, int64_t i, int64_t count) {
  uint8_t bytes[Vec<T>::kSize];
  store_bools(value, bytes);
  uint8_t* target = static_cast<uint8_t*>(data) + i;
  for (int64_t k = 0; k < count; ++k) target[k] = bytes[k];
}

// ---- The loop ----

// Passes as many parameters behind the operands as the functor takes.
template <class F, class V, class... Operands>
[[gnu::always_inline]] inline auto call(const V* params, Operands... operands) {
  if constexpr (requires(F f) { f(operands...); })
    return F{}(operands...);
  else if constexpr (requires(F f) { f(operands..., params[0]); })
    return F{}(operands..., params[0]);
  else
    return F{}(operands..., params[0], params[1]);
}

template <class F, class V, int... kOperand>
[[gnu::always_inline]] inline bool row_loop(int64_t count, void* out, const void* const* in,
                                            const Parameter* params) {
  using A = Access<V>;
  const V values[2] = {A::parameter(params[0]), A::parameter(params[1])};
  int64_t i = 0;
  for (; i + A::kLanes <= count; i += A::kLanes) {
    store(call<F, V>(values, A::load(in[kOperand], i)...), out, i);
  }
  if (i < count) {
    store_part(call<F, V>(values, A::load_part(in[kOperand], i, count - i)...), out, i, count - i);
  }
  return true;
}

template <class F, class V>
bool unary_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  return row_loop<F, V, 0>(count, out, in, params);
}
template <class F, class V>
bool binary_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  return row_loop<F, V, 0, 1>(count, out, in, params);
}
template <class F, class V>
bool ternary_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  return row_loop<F, V, 0, 1, 2>(count, out, in, params);
}

// ---- Which types an op is compiled for ----

enum Types : unsigned {
  kReal = 1,       // float32, float64
  kComplexes = 2,  // complex64, complex128
  kIntegers = 4,
  kSignless = 8,  // integers whose signed and unsigned rows are the same code
  kNumbers = kReal | kComplexes | kIntegers,
};

// Picks the instance of `Make<V>` for a dtype, or null.
template <unsigned kTypes, class Make>
inline Row pick(DType dtype, Make make) {
  if constexpr ((kTypes & kReal) != 0) {
    if (dtype == DType::kFloat32) return make.template operator()<VF>();
    if (dtype == DType::kFloat64) return make.template operator()<VD>();
  }
  if constexpr ((kTypes & kComplexes) != 0) {
    if (dtype == DType::kComplex64) return make.template operator()<math::Complex<VF>>();
    if (dtype == DType::kComplex128) return make.template operator()<math::Complex<VD>>();
  }
  if constexpr ((kTypes & (kIntegers | kSignless)) != 0) {
    if constexpr ((kTypes & kSignless) == 0) {
      if (dtype == DType::kUInt8) return make.template operator()<Vec<uint8_t>>();
      if (dtype == DType::kUInt16) return make.template operator()<Vec<uint16_t>>();
      if (dtype == DType::kUInt32) return make.template operator()<Vec<uint32_t>>();
      if (dtype == DType::kUInt64) return make.template operator()<Vec<uint64_t>>();
    }
    if (dtype == DType::kInt8 || dtype == DType::kUInt8)
      return make.template operator()<Vec<int8_t>>();
    if (dtype == DType::kInt16 || dtype == DType::kUInt16)
      return make.template operator()<Vec<int16_t>>();
    if (dtype == DType::kInt32 || dtype == DType::kUInt32)
      return make.template operator()<Vec<int32_t>>();
    if (dtype == DType::kInt64 || dtype == DType::kUInt64)
      return make.template operator()<Vec<int64_t>>();
  }
  return nullptr;
}
template <class F, unsigned kTypes>
inline Row pick_unary(DType dtype) {
  return pick<kTypes>(dtype, []<class V>() -> Row { return &unary_row<F, V>; });
}
template <class F, unsigned kTypes>
inline Row pick_binary(DType dtype) {
  return pick<kTypes>(dtype, []<class V>() -> Row { return &binary_row<F, V>; });
}
template <class F, unsigned kTypes>
inline Row pick_ternary(DType dtype) {
  return pick<kTypes>(dtype, []<class V>() -> Row { return &ternary_row<F, V>; });
}

// The rows of this level, one function per family; see Level.
Row find_unary(kernel::UnaryOp op, DType compute);
Row find_binary(kernel::BinaryOp op, DType compute);
Row find_ternary(kernel::TernaryOp op, DType compute);
CastRow find_cast(DType from, DType to);
ReduceRow find_reduce(Fold fold, DType element);
MultiplyAddRow find_multiply_add(DType dtype);
void stream_copy(void* to, const void* from, int64_t nbytes);

}  // namespace tsr::cpu::TSR_ISA
