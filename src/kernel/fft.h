// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms along one axis.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// What goes in and out. A transform of n numbers has n/2 + 1 (rounded down) results that are not
// the conjugates of others when its input is real: they are a half.
enum class FftOp : int32_t {
  kComplex,     // n complex numbers to n complex numbers
  kRealToHalf,  // n real numbers to the half
  kHalfToReal,  // the half, of which the imaginary parts of number 0 and, for an even n, of
                // number n/2 are not read, to n real numbers
  kCount
};

// output[k] = scale * sum over j of input[j] * exp(-2πi jk / length); +2πi when `inverse`. The
// batch has the `rank` dims; strides and steps are in elements of their operand. kComplex may have
// its input as the output, with the same strides.
struct FftPlan {
  FftOp op;
  DType dtype;  // of the real numbers, or of the parts of the complex ones: float32 or float64
  Place place;
  int32_t inverse;
  int32_t rank;
  int64_t length;  // at least 1
  double scale;
  int64_t sizes[kMaxRank];  // none is 0
  int64_t input_strides[kMaxRank];
  int64_t output_strides[kMaxRank];
  int64_t input_step, output_step;  // along the axis
  const void* input;
  void* output;
};
inline const char* name_of(const FftPlan& plan) noexcept {
  return name_in({"fft", "rfft", "irfft"}, plan.op);
}

}  // namespace tsr::kernel
