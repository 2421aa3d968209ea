// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Rows: the seam between the kernels' iteration, compiled once, and their arithmetic, compiled per
// instruction-set level. A row works on contiguous elements of one compute type; strides, threads,
// casts and broadcasts are the caller's.
#pragma once

#include <cstdint>

#include "kernel/pointwise.h"
#include "kernel/random.h"
#include "kernel/reduce.h"

namespace tsr::cpu {

// out[i] = f(in[0][i], ...) for i < count. `out` may be one of the inputs. False: an integer
// operand is one that the op refuses.
using Row = bool (*)(int64_t count, void* out, const void* const* in,
                     const kernel::Parameter* params);

// A pointwise op on one compute dtype.
struct PointwiseKernel {
  Row row = nullptr;              // null: not implemented
  DType result = DType::kBool;    // what the row writes
  const char* refusal = nullptr;  // what to say when the row returns false
};

// to[i] = from[i] converted, for i < count; the two do not overlap unless they are the same array
// and the target's element is not larger.
using CastRow = void (*)(int64_t count, void* to, const void* from);

// to[i] += *factor * from[i] for integers (wrapping) and bools (or of and).
using MultiplyAddRow = void (*)(int64_t count, void* to, const void* factor, const void* from);

// ---- Reductions ----

// States have one or two words of 8 bytes, and those of neighbouring results stand `width` apart:
// word w of result j is state[w * width + j]. See Note [Folds].
inline constexpr int kMaxWords = 2;

struct ReduceKernel {
  // Folds `count` elements into the state of one result (width 1); `before` elements went into it
  // already. Null: not implemented.
  void (*along)(int64_t count, const void* in, int64_t before, void* state,
                const kernel::Parameter* params) = nullptr;
  // Folds element j into the state of result j, for every j < count; `before` went into each
  // already.
  void (*across)(int64_t count, const void* in, int64_t before, void* state, int64_t width,
                 const kernel::Parameter* params) = nullptr;
  // Sets `count` states to "no element yet".
  void (*start)(int64_t count, void* states, int64_t width) = nullptr;
  // Joins `other`, which holds `other_elements`, into `states`, which holds `elements` and came
  // first.
  void (*merge)(int64_t count, void* states, int64_t elements, const void* other,
                int64_t other_elements, int64_t width) = nullptr;
  // Writes the results of `count` states, contiguous (at most 16 bytes each).
  void (*finish)(const kernel::ReducePlan& plan, int64_t count, const void* states, int64_t width,
                 void* results) = nullptr;
  DType element{};  // what is folded; input of another dtype is cast
  DType result{};   // what finish writes
  int words = 1;
  bool of_magnitudes = false;  // complex input is replaced by its absolute value first
  bool by_position = false;    // `before` counts from the start of the whole reduction
};

// Writes elements [begin, end) of the plan's output.
using RandomRow = void (*)(const kernel::RandomPlan& plan, int64_t begin, int64_t end);

// What one level offers. Each function returns a null row for a combination that is not
// implemented.
struct Level {
  const char* name;
  PointwiseKernel (*unary)(kernel::UnaryOp op, DType compute);
  PointwiseKernel (*binary)(kernel::BinaryOp op, DType compute);
  PointwiseKernel (*ternary)(kernel::TernaryOp op, DType compute);
  CastRow (*cast)(DType from, DType to);
  ReduceKernel (*reduce)(kernel::ReduceOp op, DType input);
  MultiplyAddRow (*multiply_add)(DType dtype);
  RandomRow (*random)(kernel::RandomOp op, DType dtype);
  // Copies past the caches, unordered until the next store fence; `to` is 64-byte aligned, nbytes a
  // multiple of 64.
  void (*stream)(void* to, const void* from, int64_t nbytes);
};

// The best level of this machine among those that were built; null when it can run none.
// TSR_CPU_LEVEL in the environment may name a lower one.
const Level* best_level() noexcept;
// The kernels of the best level from a table; null if not implemented. Valid once best_level() was
// not null.
const PointwiseKernel* find_kernel(kernel::UnaryOp op, DType compute) noexcept;
const PointwiseKernel* find_kernel(kernel::BinaryOp op, DType compute) noexcept;
const PointwiseKernel* find_kernel(kernel::TernaryOp op, DType compute) noexcept;
// The level of that name, or null when it was not built or this machine cannot run it.
const Level* find_level(const char* name) noexcept;

}  // namespace tsr::cpu
