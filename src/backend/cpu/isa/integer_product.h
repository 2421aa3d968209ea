// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of integer matrices (wrapping) and of bools (or of ands): a tile of the result stays in
// registers while the lines of the right matrix go by.
#pragma once

#include <cstring>
#include <utility>

#include "backend/common/vec.h"
#include "backend/cpu/linalg/product_rows.h"

namespace tsr::cpu::TSR_ISA {

// ---- Sums of products in the lanes of a register ----

template <class T>
struct IntegerSum {
  using Element = T;
  static constexpr int kRegisters = 1;
  struct Factor {
    Vec<T> value;
    [[gnu::always_inline]] explicit Factor(T number) : value(number) {}
  };
  Vec<T> total{0};

  [[gnu::always_inline]] void add(const Factor& factor, Vec<T> x) {
    total = total + factor.value * x;
  }
  [[gnu::always_inline]] [[nodiscard]] Vec<T> value() const { return total; }
};

struct BoolSum {
  using Element = uint8_t;
  static constexpr int kRegisters = 1;
  using Factor = IntegerSum<uint8_t>::Factor;
  Vec<uint8_t> total{0};

  [[gnu::always_inline]] void add(const Factor& factor, Vec<uint8_t> x) {
    total = total | (factor.value & x);
  }
  [[gnu::always_inline]] [[nodiscard]] Vec<uint8_t> value() const { return total; }
};

#if !defined(__AVX512DQ__)
// Without an instruction for products of 64-bit lanes: the products of the low halves are added in
// 64 bits; of the products of a low with a high half only 32 bits count.
[[gnu::always_inline]] inline VI as_halves(VU a) {
  return VI(reinterpret_cast<VI::Native>(a.v));
}
template <size_t... kLane>
[[gnu::always_inline]] inline VI swap_halves(VI a, std::index_sequence<kLane...>) {
  return VI(__builtin_shufflevector(a.v, a.v, (kLane ^ 1)...));
}
template <>
struct IntegerSum<uint64_t> {
  using Element = uint64_t;
  static constexpr int kRegisters = 2;
  struct Factor {
    VU value;
    VI swapped;
    [[gnu::always_inline]] explicit Factor(uint64_t number)
        : value(number),
          swapped(swap_halves(as_halves(value), std::make_index_sequence<VI::kSize>())) {}
  };
  VU low{0};
  VI crossed{0};

  [[gnu::always_inline]] void add(const Factor& factor, VU x) {
    low = low + multiply_low_words(factor.value, x);
    crossed = crossed + factor.swapped * as_halves(x);
  }
  [[gnu::always_inline]] [[nodiscard]] VU value() const {
    const VU halves(reinterpret_cast<VU::Native>(crossed.v));
    return low + shift_left<32>(halves + shift_right<32>(halves));
  }
};
// Of numbers that int32 can hold.
struct NarrowSum {
  using Element = uint64_t;
  static constexpr int kRegisters = 1;
  using Factor = VU;
  VU total{0};

  [[gnu::always_inline]] void add(VU factor, VU x) {
    total = total + multiply_signed_words(factor, x);
  }
  [[gnu::always_inline]] [[nodiscard]] VU value() const { return total; }
};
#endif

// ---- Tiles ----

// Rows of the result that are computed together.
inline constexpr int kIntegerRows = 4;
// Registers of a row; with those of the sums, of a line and of a factor they fit into 16.
template <class Sum>
inline constexpr int kIntegerWidth = 2 / Sum::kRegisters;

// kRows rows of kWidth registers; with a `part` above 0 only so many columns of one register.
template <class Sum, int kRows, int kWidth>
void integer_tile(const IntegerProduct& p, int64_t row, int64_t column, int64_t part) {
  using T = typename Sum::Element;
  using V = Vec<T>;
  const T* left = static_cast<const T*>(p.left) + row * p.left_row;
  const T* right = static_cast<const T*>(p.right) + column;
  T* out = static_cast<T*>(p.out) + row * p.out_row + column;
  Sum sums[kRows][kWidth];
  for (int64_t i = 0; i < p.inner; ++i) {
    const T* line = right + i * p.right_row;
    V x[kWidth];
#pragma GCC unroll 2
    for (int w = 0; w < kWidth; ++w)
      x[w] = part > 0 ? V::load_part(line, part, T{0}) : V::load(line + w * V::kSize);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const typename Sum::Factor factor(left[r * p.left_row + i * p.left_step]);
#pragma GCC unroll 2
      for (int w = 0; w < kWidth; ++w) sums[r][w].add(factor, x[w]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < kWidth; ++w) {
      T* to = out + r * p.out_row + w * V::kSize;
      const V value = sums[r][w].value();
      part > 0 ? value.store_part(to, part) : value.store(to);
    }
  }
}

// The rows [begin, end) of a panel of kWidth registers.
template <class Sum, int kWidth>
void integer_panel(const IntegerProduct& p, int64_t begin, int64_t end, int64_t column,
                   int64_t part) {
  int64_t row = begin;
  for (; row + kIntegerRows <= end; row += kIntegerRows)
    integer_tile<Sum, kIntegerRows, kWidth>(p, row, column, part);
  for (; row < end; ++row) integer_tile<Sum, 1, kWidth>(p, row, column, part);
}

// Panel by panel, so that the part of the right matrix that a panel reads stays in the cache.
template <class Sum>
void integer_product(const IntegerProduct& p, int64_t begin, int64_t end) {
#if !defined(__AVX512DQ__)
  if constexpr (std::is_same_v<Sum, IntegerSum<uint64_t>>) {
    if (p.narrow) return integer_product<NarrowSum>(p, begin, end);
  }
#endif
  constexpr int64_t kSize = Vec<typename Sum::Element>::kSize;
  constexpr int64_t kPanelSize = kIntegerWidth<Sum> * kSize;
  int64_t column = 0;
  for (; column + kPanelSize <= p.columns; column += kPanelSize)
    integer_panel<Sum, kIntegerWidth<Sum>>(p, begin, end, column, 0);
  for (; column + kSize <= p.columns; column += kSize)
    integer_panel<Sum, 1>(p, begin, end, column, 0);
  if (column < p.columns) integer_panel<Sum, 1>(p, begin, end, column, p.columns - column);
}

// ---- Multiples of one row ----

template <class T, bool kLogical>
void multiply_add_row(int64_t count, void* to, const void* factor, const void* from) {
  // uint16 would be promoted to int, whose products overflow.
  using Wide = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
  T scale;
  std::memcpy(&scale, factor, sizeof(T));
  T* target = static_cast<T*>(to);
  const T* source = static_cast<const T*>(from);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kLogical)
      target[i] = static_cast<T>(target[i] | (scale & source[i]));
    else
      target[i] = static_cast<T>(target[i] + Wide{scale} * source[i]);
  }
}

// ---- The rows of a dtype ----

inline IntegerProductRow find_integer_product(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return &integer_product<BoolSum>;
    case DType::kUInt8:
    case DType::kInt8:
      return &integer_product<IntegerSum<uint8_t>>;
    case DType::kUInt16:
    case DType::kInt16:
      return &integer_product<IntegerSum<uint16_t>>;
    case DType::kUInt32:
    case DType::kInt32:
      return &integer_product<IntegerSum<uint32_t>>;
    default:
      return &integer_product<IntegerSum<uint64_t>>;
  }
}

inline MultiplyAddRow find_multiply_add(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return &multiply_add_row<uint8_t, true>;
    case DType::kUInt8:
    case DType::kInt8:
      return &multiply_add_row<uint8_t, false>;
    case DType::kUInt16:
    case DType::kInt16:
      return &multiply_add_row<uint16_t, false>;
    case DType::kUInt32:
    case DType::kInt32:
      return &multiply_add_row<uint32_t, false>;
    default:
      return &multiply_add_row<uint64_t, false>;
  }
}

inline constexpr IntegerProductRows kIntegerProductRows{
    .multiply = find_integer_product,
    .multiply_add = find_multiply_add,
};

}  // namespace tsr::cpu::TSR_ISA
