// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products, quotients, sines and cosines with their tangents, of one instruction-set level. The
// arithmetic is that of the rows of the value and of the tangent.
#include <algorithm>

#include "backend/common/functors_binary.h"
#include "backend/common/functors_unary.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {
namespace {

// out[i] = f(inputs[i]...) for i < count.
template <class M, class F, class... In>
[[gnu::always_inline]] inline void loop(int64_t count, void* out, const F& f, const In*... in) {
  using A = Access<M>;
  int64_t i = 0;
  for (; i + A::kLanes <= count; i += A::kLanes) store_as<M>(f(A::load(in, i)...), out, i);
  if (i < count) store_part_as<M>(f(A::load_part(in, i, count - i)...), out, i, count - i);
}

// The tangent of a product.
template <bool kFirst, bool kSecond, class V>
[[gnu::always_inline]] inline V tangent_of(V a, V b, V t, V u) {
  if constexpr (kFirst && kSecond)
    return t * b + a * u;
  else
    return kFirst ? t * b : u * a;
}

// One loop, which is bound by its loads and stores. A step writes a cache line of the value, then
// one of the tangent: stores that follow each other go to the cache together if they are to one
// line.
template <class M, bool kFirst, bool kSecond>
void product_row(int64_t count, void* value, void* tangent, const void* const* in) {
  using A = Access<M>;
  using V = typename A::Value;
  constexpr int64_t kStored = kIsShort<M> ? 2 * A::kLanes : sizeof(V);
  constexpr int64_t kVectors = kStored < 64 ? 64 / kStored : 1;
  constexpr int64_t kStep = kVectors * A::kLanes;
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    V a[kVectors];
    V b[kVectors];
    for (int64_t k = 0; k < kVectors; ++k) {
      a[k] = A::load(in[0], i + k * A::kLanes);
      b[k] = A::load(in[1], i + k * A::kLanes);
      store_as<M>(a[k] * b[k], value, i + k * A::kLanes);
    }
    for (int64_t k = 0; k < kVectors; ++k) {
      const V t = kFirst ? A::load(in[2], i + k * A::kLanes) : V();
      const V u = kSecond ? A::load(in[3], i + k * A::kLanes) : V();
      store_as<M>(tangent_of<kFirst, kSecond>(a[k], b[k], t, u), tangent, i + k * A::kLanes);
    }
  }
  for (; i < count; i += A::kLanes) {
    const int64_t rest = std::min<int64_t>(count - i, A::kLanes);
    const V a = A::load_part(in[0], i, rest);
    const V b = A::load_part(in[1], i, rest);
    const V t = kFirst ? A::load_part(in[2], i, rest) : V();
    const V u = kSecond ? A::load_part(in[3], i, rest) : V();
    store_part_as<M>(a * b, value, i, rest);
    store_part_as<M>(tangent_of<kFirst, kSecond>(a, b, t, u), tangent, i, rest);
  }
}

// The tangent is (t - y u) / b. Two loops: the divisions of one would leave fewer loads in flight.
// Without in[0] the value is there already.
template <class M, bool kFirst, bool kSecond>
void quotient_row(int64_t count, void* value, void* tangent, const void* const* in) {
  using V = typename Access<M>::Value;
  const auto quotient = [](V a, V b) { return a / b; };
  const auto of_second = [](V y, V u, V b) { return -(y * u) / b; };
  const auto of_both = [](V t, V y, V u, V b) { return (t - y * u) / b; };
  const void* values = value;
  if (in[0] != nullptr) loop<M>(count, value, quotient, in[0], in[1]);
  if constexpr (kFirst && kSecond)
    loop<M>(count, tangent, of_both, in[2], values, in[3], in[1]);
  else if constexpr (kFirst)
    loop<M>(count, tangent, quotient, in[2], in[1]);
  else
    loop<M>(count, tangent, of_second, values, in[3], in[1]);
}

// A unary op. Sine and cosine reduce the same angle and take both polynomials of it: in one loop
// the compiler computes these once.
template <class M, class F, class Derivative>
void unary_row(int64_t count, void* value, void* tangent, const void* const* in) {
  using A = Access<M>;
  int64_t i = 0;
  for (; i + A::kLanes <= count; i += A::kLanes) {
    const auto x = A::load(in[0], i);
    store_as<M>(F{}(x), value, i);
    store_as<M>(Derivative{}(A::load(in[2], i), x), tangent, i);
  }
  if (i == count) return;
  const auto x = A::load_part(in[0], i, count - i);
  store_part_as<M>(F{}(x), value, i, count - i);
  store_part_as<M>(Derivative{}(A::load_part(in[2], i, count - i), x), tangent, i, count - i);
}

template <class M>
DualRow find_product(bool first, bool second) {
  if (first && second) return &product_row<M, true, true>;
  return first ? &product_row<M, true, false> : &product_row<M, false, true>;
}
template <class M>
DualRow find_quotient(bool first, bool second) {
  if (first && second) return &quotient_row<M, true, true>;
  return first ? &quotient_row<M, true, false> : &quotient_row<M, false, true>;
}

template <class M>
DualRow find(kernel::BinaryOp op, bool first, bool second) {
  if (op == kernel::BinaryOp::kMultiply) return find_product<M>(first, second);
  // The quotient is read back, so it must not have been rounded to a 16-bit float.
  if constexpr (!kIsShort<M>) {
    if (op == kernel::BinaryOp::kDivide) return find_quotient<M>(first, second);
  }
  return nullptr;
}
// A unary op is found by its derivative.
template <class M>
DualRow find_of_real(kernel::BinaryOp op, bool first, bool second) {
  if (op == kernel::BinaryOp::kSinGrad) return &unary_row<M, math::Sin, math::SinGrad>;
  if (op == kernel::BinaryOp::kCosGrad) return &unary_row<M, math::Cos, math::CosGrad>;
  return find<M>(op, first, second);
}

}  // namespace

DualRow find_dual(kernel::BinaryOp op, DType dtype, bool first, bool second) {
  switch (dtype) {
    case DType::kFloat32:
      return find_of_real<VF>(op, first, second);
    case DType::kFloat64:
      return find_of_real<VD>(op, first, second);
    case DType::kComplex64:
      return find<math::Complex<VF>>(op, first, second);
    case DType::kComplex128:
      return find<math::Complex<VD>>(op, first, second);
    case DType::kFloat16:
      return find<Float16>(op, first, second);
    case DType::kBFloat16:
      return find<Brain16>(op, first, second);
    default:
      return nullptr;
  }
}

}  // namespace tsr::cpu::TSR_ISA
