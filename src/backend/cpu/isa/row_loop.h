// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// row_loop: runs a functor over contiguous elements, a register at a time. The last, partial
// register goes through the same arithmetic on padded lanes, so a result does not depend on its
// position.
#pragma once

#include "backend/common/complex.h"
#include "backend/common/functor_call.h"
#include "backend/common/functor_types.h"
#include "backend/common/math_any.h"
#include "backend/common/math_complex.h"
#include "backend/cpu/isa/half_vec.h"
#include "backend/cpu/pointwise/pointwise_rows.h"

namespace tsr::cpu::TSR_ISA {

using kernel::Parameter;

// ---- Access: how a value type is read from and written to memory ----

// M is the value type itself, or a tag of half_vec.h.
template <class M>
struct Access;

template <class T>
struct Access<Vec<T>> {
  using Value = Vec<T>;
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
  // Every lane holds one element.
  [[gnu::always_inline]] static Vec<T> spread(const void* element) {
    T number;
    __builtin_memcpy(&number, element, sizeof(T));
    return Vec<T>(number);
  }
};

template <class Short>
requires kIsShort<Short>
struct Access<Short> {
  using Value = VF;
  static constexpr int kLanes = VF::kSize;
  [[gnu::always_inline]] static VF load(const void* data, int64_t i) {
    return Short::load(static_cast<const uint16_t*>(data) + i);
  }
  [[gnu::always_inline]] static VF load_part(const void* data, int64_t i, int64_t count) {
    return load_short_part<Short>(static_cast<const uint16_t*>(data) + i, count);
  }
  [[gnu::always_inline]] static VF parameter(const Parameter& value) {
    return Access<VF>::parameter(value);
  }
  [[gnu::always_inline]] static VF spread(const void* element) {
    return Access<VF>::spread(element);
  }
};

template <class T>
struct Access<math::Complex<Vec<T>>> {
  using V = math::Complex<Vec<T>>;
  using Value = V;
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
  [[gnu::always_inline]] static V parameter(const Parameter& value) { return spread(&value); }
  [[gnu::always_inline]] static V spread(const void* element) {
    T numbers[2];
    __builtin_memcpy(numbers, element, sizeof(numbers));
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

// As memory of M holds the result: a VF may be narrowed, a mask becomes bytes.
template <class M, class R>
[[gnu::always_inline]] inline void store_as(R value, void* data, int64_t i) {
  if constexpr (kIsShort<M> && std::is_same_v<R, VF>)
    M::store(value, static_cast<uint16_t*>(data) + i);
  else
    store(value, data, i);
}
template <class M, class R>
[[gnu::always_inline]] inline void store_part_as(R value, void* data, int64_t i, int64_t count) {
  if constexpr (kIsShort<M> && std::is_same_v<R, VF>)
    store_short_part<M>(value, static_cast<uint16_t*>(data) + i, count);
  else
    store_part(value, data, i, count);
}

// ---- The loop ----

// Whether a functor is a handful of instructions.
template <class F>
inline constexpr bool kIsBrief = requires {
  requires F::kBrief;
};

// The registers of results that are computed before the first of them is stored. A processor holds
// back a load if the last 12 bits of its address are those of a store that it has not finished, so
// a result that begins just behind an operand, counted modulo 4096, delays every load. Those that
// come before the stores of their step are not delayed. (Zen 4 loads 32 bytes without delay.)
template <class F, class M>
inline constexpr int kRegistersAtOnce = kIsBrief<F>&& kVecBytes == 64 ? 4 : 1;
// A register of complex numbers is a pair of registers, made of a pair: there is nothing to gain.
template <class F, class T>
inline constexpr int kRegistersAtOnce<F, math::Complex<T>> = 1;

// Whether steps of several registers pay. They cost time in rows that are short or read a buffer of
// the first-level cache, where a result takes its operand's place, which delays no load, and where
// every store touches two lines of the cache.
template <class... Data>
[[gnu::always_inline]] inline bool takes_steps(int64_t registers, const void* out, Data... in) {
  constexpr int64_t kLongRow = 128;
  return registers > kLongRow && reinterpret_cast<uintptr_t>(out) % kVecBytes == 0 &&
         (... && (in != out));
}

// The compiler moves no load or store across this. In its own order the first lines of a step are
// not always read first, and the processor fetches those behind them too late.
template <int kAtOnce>
[[gnu::always_inline]] inline void keep_order() {
  if constexpr (kAtOnce > 1) asm volatile("" ::: "memory");
}

// Computes and stores whole registers, kAtOnce in a step; `call(i)` gives the results from element
// i on. Returns the number of elements that are done.
template <int kAtOnce, class M, class Call>
[[gnu::always_inline]] inline int64_t whole_registers(int64_t count, int64_t i, void* out,
                                                      const Call& call) {
  constexpr int kLanes = Access<M>::kLanes;
  for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes) {
    decltype(call(i)) results[kAtOnce];
#pragma GCC unroll 4
    for (int k = 0; k < kAtOnce; ++k) {
      results[k] = call(i + k * kLanes);
      keep_order<kAtOnce>();
    }
#pragma GCC unroll 4
    for (int k = 0; k < kAtOnce; ++k) store_as<M>(results[k], out, i + k * kLanes);
  }
  return i;
}
// The same with the step of a functor; `function` is called with a register of each input.
template <class F, class M, class Function, class... Data>
[[gnu::always_inline]] inline int64_t whole_registers(int64_t count, void* out,
                                                      const Function& function, Data... in) {
  const auto call = [&](int64_t i) { return function(Access<M>::load(in, i)...); };
  constexpr int kAtOnce = kRegistersAtOnce<F, M>;
  int64_t i = 0;
  if constexpr (kAtOnce > 1) {
    if (takes_steps(count / Access<M>::kLanes, out, in...))
      i = whole_registers<kAtOnce, M>(count, i, out, call);
  }
  return whole_registers<1, M>(count, i, out, call);
}

template <class F, class M, int... kOperand>
[[gnu::always_inline]] inline bool row_loop(int64_t count, void* out, const void* const* in,
                                            const Parameter* params) {
  using A = Access<M>;
  using V = typename A::Value;
  const V values[2] = {A::parameter(params[0]), A::parameter(params[1])};
  const auto call = [&](auto... operands) { return math::call_functor<F, V>(values, operands...); };
  const int64_t i = whole_registers<F, M>(count, out, call, in[kOperand]...);
  if (i < count) {
    store_part_as<M>(math::call_functor<F, V>(values, A::load_part(in[kOperand], i, count - i)...),
                     out, i, count - i);
  }
  return true;
}

template <class F, class M, int... kOperand>
bool functor_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  return row_loop<F, M, kOperand...>(count, out, in, params);
}

// Two operands of which one is an element that stays in a register.
template <class F, class M, bool kFirst>
[[gnu::always_inline]] inline void loop_beside(const BesideRows& all) {
  using A = Access<M>;
  using V = typename A::Value;
  constexpr int kAtOnce = kRegistersAtOnce<F, M>;
  const int64_t count = all.count;
  const bool steps = kAtOnce > 1 && all.out_step % kVecBytes == 0 &&
                     takes_steps(count / A::kLanes, all.out, all.many);
  for (int64_t r = 0; r < all.rows; ++r) {
    char* const out = static_cast<char*>(all.out) + r * all.out_step;
    const char* const many = static_cast<const char*>(all.many) + r * all.many_step;
    const V one = A::spread(static_cast<const char*>(all.element) + r * all.element_step);
    const auto of = [&](V x) { return kFirst ? F{}(one, x) : F{}(x, one); };
    const auto call = [&](int64_t i) { return of(A::load(many, i)); };
    int64_t i = 0;
    if constexpr (kAtOnce > 1) {
      if (steps) i = whole_registers<kAtOnce, M>(count, i, out, call);
    }
    i = whole_registers<1, M>(count, i, out, call);
    if (i < count) store_part_as<M>(of(A::load_part(many, i, count - i)), out, i, count - i);
  }
}
template <class F, class M>
void row_beside(const BesideRows& all) {
  if (all.first)
    loop_beside<F, M, true>(all);
  else
    loop_beside<F, M, false>(all);
}

// Three operands of which the second is an element that stays in a register.
template <class F, class V>
bool row_alone(int64_t count, void* out, const void* const* in, const Parameter* params) {
  using A = Access<V>;
  const V values[2] = {A::parameter(params[0]), A::parameter(params[1])};
  const V one = A::spread(in[1]);
  const auto call = [&](V a, V c) { return math::call_functor<F, V>(values, a, one, c); };
  const int64_t i = whole_registers<F, V>(count, out, call, in[0], in[2]);
  if (i < count) {
    store_part(call(A::load_part(in[0], i, count - i), A::load_part(in[2], i, count - i)), out, i,
               count - i);
  }
  return true;
}

// A functor that takes the two parts of complex numbers by themselves has the row of real numbers.
template <class F, class V, int... kOperand>
bool parts_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  return functor_row<F, V, kOperand...>(2 * count, out, in, params);
}

// Checks for operands that the functor refuses, then runs the loop.
template <class F, class V, int... kOperand>
bool checked_row(int64_t count, void* out, const void* const* in, const Parameter* params) {
  using T = typename V::Element;
  const T* operands = static_cast<const T*>(in[1]);
  bool refused = false;
  for (int64_t i = 0; i < count; ++i) refused |= F::refuses(operands[i]);
  return !refused && row_loop<F, V, kOperand...>(count, out, in, params);
}

// ---- From a functor to the row of a dtype ----

// Whether a functor asks for rows that spare its operands a way through a buffer.
template <class F>
inline constexpr bool kIsLight = requires {
  requires F::kLight;
};

template <class V>
inline constexpr bool kIsMask = false;
template <class T>
inline constexpr bool kIsMask<Mask<T>> = true;
template <class V>
inline constexpr bool kIsIntegral = false;
template <class T>
inline constexpr bool kIsIntegral<Vec<T>> = std::is_integral_v<T>;

template <class V>
inline constexpr bool kIsComplex = false;
template <class V>
inline constexpr bool kIsComplex<math::Complex<V>> = true;
template <class F>
inline constexpr bool kTakesParts = requires {
  requires F::kByPart;
};

// The types of which one operand may be a single element without a buffer.
template <class V>
inline constexpr bool kTakesBeside =
    std::is_same_v<V, VF> || std::is_same_v<V, VD> || std::is_same_v<V, VL>;

template <class F, class V, int... kOperand>
PointwiseKernel instance(DType dtype) {
  using Result = decltype(math::call_functor<F, V>(nullptr, (static_cast<void>(kOperand), V())...));
  PointwiseKernel found{&functor_row<F, V, kOperand...>, dtype, nullptr};
  if constexpr (kIsMask<Result>)
    found.result = DType::kBool;
  else if constexpr (kIsComplex<Result> && !kIsComplex<V>)
    found.result = dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  else if constexpr (!std::is_same_v<Result, V>)
    found.result = real_dtype(dtype);  // a magnitude
  if constexpr (kIsIntegral<V> && requires { F::kRefusal; }) {
    found.row = &checked_row<F, V, kOperand...>;
    found.refusal = F::kRefusal;
  }
  if constexpr (kIsLight<F> && sizeof...(kOperand) == 2 && kTakesBeside<V>)
    found.beside = &row_beside<F, V>;
  if constexpr (sizeof...(kOperand) == 3 && kTakesBeside<V> && requires { F::kSecondAlone; })
    found.alone = &row_alone<F, V>;
  return found;
}

// The row over 16-bit floats; without it they pass through buffers of float32.
template <class F, class Short, int... kOperand>
PointwiseKernel short_instance(DType dtype) {
  PointwiseKernel found{&functor_row<F, Short, kOperand...>, dtype, nullptr};
  if constexpr (sizeof...(kOperand) == 2) found.beside = &row_beside<F, Short>;
  return found;
}

// The rows over signed integers, also used for unsigned ones of the same width.
template <class F, int... kOperand>
PointwiseKernel by_width(DType dtype) {
  if (dtype == DType::kInt8 || dtype == DType::kUInt8)
    return instance<F, Vec<int8_t>, kOperand...>(dtype);
  if (dtype == DType::kInt16 || dtype == DType::kUInt16)
    return instance<F, Vec<int16_t>, kOperand...>(dtype);
  if (dtype == DType::kInt32 || dtype == DType::kUInt32)
    return instance<F, Vec<int32_t>, kOperand...>(dtype);
  if (dtype == DType::kInt64 || dtype == DType::kUInt64)
    return instance<F, Vec<int64_t>, kOperand...>(dtype);
  return {};
}

// The row of functor F for a dtype, or none: see Note [Functors].
template <class F, int... kOperand>
PointwiseKernel serve(DType dtype) {
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  if constexpr (kHas(math::kReal)) {
    if (dtype == DType::kFloat32) return instance<F, VF, kOperand...>(dtype);
    if (dtype == DType::kFloat64) return instance<F, VD, kOperand...>(dtype);
    if constexpr (requires { typename F::OnShorts; }) {
      if (dtype == DType::kFloat16 || dtype == DType::kBFloat16)
        return instance<typename F::OnShorts, Vec<int16_t>, kOperand...>(dtype);
    } else if constexpr (kIsLight<F>) {
      if (dtype == DType::kFloat16) return short_instance<F, Float16, kOperand...>(dtype);
      if (dtype == DType::kBFloat16) return short_instance<F, Brain16, kOperand...>(dtype);
    }
  }
  if constexpr (kHas(math::kComplexes) && kTakesParts<F>) {
    if (dtype == DType::kComplex64) return {&parts_row<F, VF, kOperand...>, dtype, nullptr};
    if (dtype == DType::kComplex128) return {&parts_row<F, VD, kOperand...>, dtype, nullptr};
  } else if constexpr (kHas(math::kComplexes)) {
    if (dtype == DType::kComplex64) return instance<F, math::Complex<VF>, kOperand...>(dtype);
    if (dtype == DType::kComplex128) return instance<F, math::Complex<VD>, kOperand...>(dtype);
  }
  if constexpr (kHas(math::kBools)) {
    if (dtype == DType::kBool) return instance<F, Vec<int8_t>, kOperand...>(dtype);
  } else if constexpr (requires { typename F::OnBools; }) {
    if (dtype == DType::kBool) return serve<typename F::OnBools, kOperand...>(dtype);
  }
  if constexpr (kHas(math::kIntegers)) {
    if (dtype == DType::kUInt8) return instance<F, Vec<uint8_t>, kOperand...>(dtype);
    if (dtype == DType::kUInt16) return instance<F, Vec<uint16_t>, kOperand...>(dtype);
    if (dtype == DType::kUInt32) return instance<F, Vec<uint32_t>, kOperand...>(dtype);
    if (dtype == DType::kUInt64) return instance<F, Vec<uint64_t>, kOperand...>(dtype);
  }
  if constexpr (kHas(math::kIntegers | math::kSignless))
    return by_width<F, kOperand...>(dtype);
  else if constexpr (requires { typename F::OnIntegers; })
    return by_width<typename F::OnIntegers, kOperand...>(dtype);
  else
    return {};
}

}  // namespace tsr::cpu::TSR_ISA
