// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Rows: the seam between the kernels' iteration, compiled once, and their arithmetic, compiled per
// instruction-set level. A row works on contiguous elements of one compute type; strides, threads,
// casts and broadcasts are the caller's.
#pragma once

#include <cstdint>

#include "kernel/pointwise.h"

namespace tsr::cpu {

// out[i] = f(in[0][i], ...) for i < count. `out` may be one of the inputs. False: an integer was
// divided by zero.
using Row = bool (*)(int64_t count, void* out, const void* const* in,
                     const kernel::Parameter* params);

// to[i] = from[i] converted, for i < count; the two do not overlap unless they are the same array
// and the target's element is not larger.
using CastRow = void (*)(int64_t count, void* to, const void* from);

// to[i] += *factor * from[i] for integers (wrapping) and bools (or of and).
using MultiplyAddRow = void (*)(int64_t count, void* to, const void* factor, const void* from);

// ---- Reductions ----

// What a reduction folds elements with; the norms are one each, because their inner loops differ.
enum class Fold : int32_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kArgMax,
  kArgMin,
  kCountTrue,  // of bytes that hold 0 or 1
  kVariance,
  kSumAbs,
  kSumSquares,
  kMaxAbs,
  kMinAbs,
  kSumPowers,  // of |x| to the power in params[0] (float64)
  kLogSumExp,
  kCount
};

// A state has one to three words of 8 bytes: doubles, but for integer and position words.
//   sum, product, norms: the value (complex: two) · max, min: the value · arg: value, int64
//   position count: int64 · variance: mean, sum of squared deviations · logsumexp: maximum, sum of
//   exp(x - maximum)
// Neighbouring results' states stand `width` apart: word w of result j is state[w * width + j].
inline constexpr int kMaxWords = 2;

struct ReduceRow {
  // Folds `count` elements into the state of one result (width 1); `before` elements went into it
  // already.
  void (*along)(int64_t count, const void* in, int64_t before, void* state,
                const kernel::Parameter* params);
  // Folds element j into the state of result j, for every j < count; `before` went into each
  // already.
  void (*across)(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                 const kernel::Parameter* params);
};

// What one level offers. Each function returns null for a combination that is not implemented.
struct Level {
  const char* name;
  Row (*unary)(kernel::UnaryOp op, DType compute);
  Row (*binary)(kernel::BinaryOp op, DType compute);
  Row (*ternary)(kernel::TernaryOp op, DType compute);
  CastRow (*cast)(DType from, DType to);
  // Elements are float32, float64, int64, uint64, complex128 or, for kCountTrue, bool; null
  // pointers if unsupported.
  ReduceRow (*reduce)(Fold fold, DType element);
  MultiplyAddRow (*multiply_add)(DType dtype);
  // Copies past the caches, unordered until the next store fence; `to` is 64-byte aligned, nbytes a
  // multiple of 64.
  void (*stream)(void* to, const void* from, int64_t nbytes);
};

// The best level of this machine among those that were built; null when it can run none.
// TSR_CPU_LEVEL in the environment may name a lower one.
const Level* best_level() noexcept;
// The rows of the best level from a table; null if not implemented. Valid once best_level() was not
// null.
Row find_row(kernel::UnaryOp op, DType compute) noexcept;
Row find_row(kernel::BinaryOp op, DType compute) noexcept;
Row find_row(kernel::TernaryOp op, DType compute) noexcept;
// The level of that name, or null when it was not built or this machine cannot run it.
const Level* find_level(const char* name) noexcept;

}  // namespace tsr::cpu
