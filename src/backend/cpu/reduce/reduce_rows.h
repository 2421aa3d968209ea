// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of the reductions: folding contiguous elements into states.
#pragma once

#include <cstdint>

#include "kernel/reduce.h"

namespace tsr::cpu {

// A state has one or two words of 8 bytes. Word w of result j is state[w * width + j]. See Note
// [Folds].
inline constexpr int kMaxWords = 2;

// Rows of elements: the first one, how many there are, and the bytes from one to the next.
struct AcrossRows {
  const void* first;
  int64_t count;
  int64_t step;
};

struct ReduceKernel {
  // Folds `count` elements into the state of one result (width 1); `before` elements went into it
  // already. Null: not implemented.
  void (*along)(int64_t count, const void* in, int64_t before, void* state,
                const kernel::Parameter* params) = nullptr;
  // `along` for the first `count` elements of each of several results, whose elements are `step`
  // bytes apart and whose states are neighbours. Null for most states of two words.
  void (*along_rows)(int64_t rows, int64_t count, const void* in, int64_t step, void* states,
                     int64_t width, const kernel::Parameter* params) = nullptr;
  // Folds element j of each row into the state of result j, for
  // every j < count; `before` went into each already.
  void (*across)(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                 const kernel::Parameter* params) = nullptr;
  // Sets `count` states to "no element yet".
  void (*start)(int64_t count, void* states, int64_t width) = nullptr;
  // Merges `other` (states of `other_elements` elements) into `states` (of `elements` elements,
  // which come first).
  void (*merge)(int64_t count, void* states, int64_t elements, const void* other,
                int64_t other_elements, int64_t width) = nullptr;
  // Writes the results of `count` states, contiguous (at most 16 bytes each).
  void (*finish)(const kernel::ReducePlan& plan, int64_t count, const void* states, int64_t width,
                 void* results) = nullptr;
  DType element{};  // what is folded; input of another dtype is cast
  DType result{};   // what finish writes
  int words = 1;
  int64_t short_row =
      0;  // rows of fewer elements are not worth the start of along_rows; 0: the usual number
  bool of_magnitudes = false;  // complex input is replaced by its absolute value first
  bool by_position = false;    // `before` counts from the start of the whole reduction
};

struct ReduceRows {
  // Without functions for an op and input dtype that are not implemented together.
  ReduceKernel (*find)(kernel::ReduceOp op, DType input);
};

}  // namespace tsr::cpu
