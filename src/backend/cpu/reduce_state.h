// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a reduction does outside its inner loops: which fold serves an op, how states start, join
// and become results.
#pragma once

#include "backend/cpu/rows.h"
#include "kernel/reduce.h"

namespace tsr::cpu {

// How one ReduceOp runs.
struct ReduceKind {
  Fold fold;
  DType element;  // what the fold takes in; inputs of another dtype are cast
  DType result;   // what finish_states writes
  int words;
  bool magnitude;  // complex input is replaced by its absolute value first
};
ReduceKind reduce_kind(const kernel::ReducePlan& plan);

// Sets `count` states to "no element yet".
void start_states(const ReduceKind& kind, int64_t count, void* states, int64_t width);
// Joins `other`, which holds `other_elements`, into `states`, which holds `elements` and came
// first.
void merge_states(const ReduceKind& kind, int64_t count, void* states, int64_t elements,
                  const void* other, int64_t other_elements, int64_t width);
// Writes the results of `count` states, contiguous, in kind.result (at most 16 bytes each).
void finish_states(const ReduceKind& kind, const kernel::ReducePlan& plan, int64_t count,
                   const void* states, int64_t width, void* results);

}  // namespace tsr::cpu
