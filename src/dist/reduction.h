// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions between ranks. Shared by the transports, which link nothing of the
// library; all is inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "dist/signature.h"

namespace tsr::dist {

// The type that a sum of several ranks has before it is rounded.
template <class T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// Integers wrap around, as those of the operators do. A type that is not promoted to int, because
// the product of two uint16_t can be too large for an int.
template <class A>
using Wrapping =
    std::conditional_t<sizeof(A) < sizeof(uint32_t), uint32_t, std::make_unsigned_t<A>>;

template <class A>
inline A sum_of(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<Wrapping<A>>(a) + static_cast<Wrapping<A>>(b));
  } else {
    return a + b;
  }
}
template <class A>
inline A product_of(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<Wrapping<A>>(a) * static_cast<Wrapping<A>>(b));
  } else {
    return a * b;
  }
}

// a op b; an average is a sum here. bool: sum and max are "or", prod and min are "and".
template <class A>
inline A combine(ReduceOp op, A a, A b) {
  if constexpr (std::is_same_v<A, bool>) {
    const bool both = op == ReduceOp::kProd || op == ReduceOp::kMin || op == ReduceOp::kBitAnd;
    if (op == ReduceOp::kBitXor) return a != b;
    return both ? (a && b) : (a || b);
  } else {
    if (op == ReduceOp::kSum || op == ReduceOp::kAvg) return sum_of(a, b);
    if (op == ReduceOp::kProd) return product_of(a, b);
    if constexpr (std::is_arithmetic_v<A>) {
      // A NaN wins, as in the operators minimum and maximum.
      if (op == ReduceOp::kMin) return b < a || b != b ? b : a;
      if (op == ReduceOp::kMax) return a < b || b != b ? b : a;
    }
    if constexpr (std::is_integral_v<A>) {
      if (op == ReduceOp::kBitAnd) return static_cast<A>(a & b);
      if (op == ReduceOp::kBitOr) return static_cast<A>(a | b);
      if (op == ReduceOp::kBitXor) return static_cast<A>(a ^ b);
    }
    return a;
  }
}

// target[i] = op over the parts of all ranks, from the first on; an average is divided. `target`
// may be one of the parts.
inline void reduce_parts(ReduceOp op, DType dtype, void* target, std::span<const void* const> parts,
                         int64_t begin, int64_t end) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    using A = Accumulator<T>;
    auto* out = static_cast<T*>(target);
    // Blocks that stay in the first cache: one pass over each part.
    constexpr int64_t kBlock = 512;
    A sums[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t count = std::min(kBlock, end - at);
      const auto* first = static_cast<const T*>(parts[0]) + at;
      for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<A>(first[i]);
      for (size_t rank = 1; rank < parts.size(); ++rank) {
        const auto* part = static_cast<const T*>(parts[rank]) + at;
        for (int64_t i = 0; i < count; ++i) sums[i] = combine(op, sums[i], static_cast<A>(part[i]));
      }
      if (op == ReduceOp::kAvg) {
        if constexpr (is_differentiable(dtype_of<T>())) {
          const A size = static_cast<A>(static_cast<float>(parts.size()));
          for (int64_t i = 0; i < count; ++i) sums[i] = sums[i] / size;
        }
      }
      for (int64_t i = 0; i < count; ++i) out[at + i] = static_cast<T>(sums[i]);
    }
  });
}

// The average of a sum, in place.
inline void divide(DType dtype, void* data, int64_t count, int32_t size) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (is_differentiable(dtype_of<T>())) {
      using A = Accumulator<T>;
      auto* values = static_cast<T*>(data);
      const A divisor = static_cast<A>(static_cast<float>(size));
      for (int64_t i = 0; i < count; ++i)
        values[i] = static_cast<T>(static_cast<A>(values[i]) / divisor);
    }
  });
}

}  // namespace tsr::dist
