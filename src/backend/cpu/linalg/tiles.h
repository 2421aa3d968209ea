// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 matrices, with sums in float32, by the tiles of the processor (Intel AMX). A
// tile has 16 rows of 64 bytes. The operands come in arrays of whole tiles: a caller rounds sizes
// up with `whole` and fills the rest of the inner dimension with zeros.
#pragma once

#include <cstdint>

#include "base/half.h"

namespace tsr::cpu::tiles {

inline constexpr int64_t kSide = 16;   // rows of a tile; also its columns of float32
inline constexpr int64_t kDepth = 32;  // its columns of bfloat16

constexpr int64_t whole(int64_t count, int64_t part) {
  return (count + part - 1) / part * part;
}

// Whether the processor has such tiles and the system gives them to this process. At levels below
// AVX-512 they are not used.
bool available() noexcept;

// The tiles of the calling thread; `product` needs one. Its end gives the tiles the shapes that
// they had before: other libraries that use tiles may expect them.
class Session {
 public:
  Session() noexcept;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  alignas(64) uint8_t before_[64];
};

// The second operand, k x n, as `product` reads it: whole(k, kDepth) * whole(n, kSide) numbers.
// `step` numbers lie between the rows of `from`. Returns false if one of them is infinite or NaN.
bool pack(int64_t k, int64_t n, const BFloat16* from, int64_t step, BFloat16* packed) noexcept;
// The same from the transposed matrix, n x k.
void pack_transposed(int64_t k, int64_t n, const BFloat16* from, int64_t step,
                     BFloat16* packed) noexcept;
// Copies rows times a factor and fills them up with zeros to whole(columns, kDepth), which is also
// their new step. Rows up to whole(rows, kSide) become zero.
void pad(int64_t rows, int64_t columns, float factor, const BFloat16* from, int64_t step,
         BFloat16* to) noexcept;

// high + low is the row but for its last 8 bits: of each number the nearest bfloat16, and that of
// what is left. Both are filled up with zeros to whole(count, kDepth).
void split(int64_t count, const float* row, BFloat16* high, BFloat16* low) noexcept;

// The first operand: m x k, with a step between rows; `low` is added to it, or null.
struct Left {
  const BFloat16 *high, *low;
  int64_t step;
};
// c = a b, or c += a b. All sizes are those of whole tiles.
void product(int64_t m, int64_t n, int64_t k, const Left& a, const BFloat16* packed, bool add,
             float* c, int64_t c_step) noexcept;

}  // namespace tsr::cpu::tiles
