// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Creation family: sequences, triangles and random numbers, all functions of an element's position.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

enum class RandomOp : int32_t {
  kUniform,      // [p0, p1)
  kNormal,       // mean p0, standard deviation p1
  kInteger,      // low (int64) .. low + span - 1
  kBernoulli,    // p1 with probability p0, or with probabilities[i] when that is not null; else 0
  kExponential,  // rate p0
  kCauchy,       // median p0, half width p1
  kLogNormal,    // e to a normal number of mean p0 and standard deviation p1
  kGeometric,    // trials up to the first success; p0 = log(1 - its probability)
  kTruncatedNormal,  // p0 + p1 x, x standard normal with the distribution function in [p2, p3]
  kPoisson,          // counts of the rates probabilities[i]
  kGamma,            // of shape probabilities[i] and rate 1
  kBinomial,         // successes of probability probabilities[i] in counts[i] trials
  // The numbers 0 to numel - 1 in random order, int64: from i = 0 on, the number at i changes
  // places with that at one of i .. numel - 1, which the integer of element i names. Only on the
  // CPU.
  kPermutation,
  kCount
};

// Counter-based (Philox4x32-10): element i of a contiguous output depends on (seed, offset, i)
// only, so numbers are the same on every device and for every number of threads (normal ones to
// 4 ULP, because devices and instruction sets differ in the last bits of log and cos). What needs
// more than one block (Poisson's, gamma, binomial) takes those of other high words of the counter.
struct RandomPlan {
  RandomOp op;
  int64_t numel;
  uint64_t seed;
  uint64_t offset;  // in blocks of four 32-bit numbers
  Place place;
  DType dtype;
  void* output;
  const void* probabilities;  // of dtype, contiguous
  const void* counts;         // the same; Binomial only
  double p0, p1, p2, p3;
  int64_t low;
  uint64_t span;
};
// Blocks of the counter that one element consumes, for every RandomOp: the caller advances its
// offset by numel * kBlocksPerElement.
inline constexpr int64_t kBlocksPerElement = 1;

inline const char* name_of(const RandomPlan& plan) noexcept {
  return name_in(
      {"uniform", "normal", "integer", "bernoulli", "exponential", "cauchy", "log_normal",
       "geometric", "truncated_normal", "poisson", "gamma", "binomial", "permutation"},
      plan.op);
}

// output[i] = start + i step (contiguous). A symmetric one counts its second half back from stop:
// 1 has stop as its last element, 2 would have it one step after, as a linspace without its end.
// Integers compute in int64, 16-bit floats in float32, others in double.
struct SequencePlan {
  int64_t numel;
  int32_t symmetric;
  Place place;
  DType dtype;
  void* output;
  int64_t start_integer, step_integer;  // used by integer dtypes
  double start, step, stop;             // used by the other dtypes (complex: imaginary part 0)
};

// Copies the elements of a batch of matrices with column - row <= diagonal (lower) or >= diagonal
// (upper) and writes zero elsewhere. Contiguous, row-major; the two may be one array.
struct TrianglePlan {
  int32_t upper;
  int64_t batch, rows, columns;
  int64_t diagonal;
  Place place;
  DType dtype;
  const void* input;
  void* output;
};

}  // namespace tsr::kernel
