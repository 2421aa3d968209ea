// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of Fourier transforms; T is float or double.
//
// Note [Lanes of transforms]. A block holds the same element of as many transforms as a register
// has lanes: the real parts, then the imaginary parts. A transform of blocks needs no shuffles, and
// all lanes use the same twiddle factors. A long transform of n = columns x rows numbers becomes
// blocks of shorter ones (the "four-step" way; D. Bailey, FFTs in external or hierarchical memory,
// 1990): transforms of length `rows` with neighbouring columns as lanes, a multiplication by
// twiddle factors, and transforms of length `columns` with neighbouring rows as lanes.
//
// A backward transform is a forward one whose real and imaginary parts change places, on the way in
// and on the way out: `swap`.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// One pass of a mixed-radix transform without bit reversal (Stockham's order; J. Cooley and
// J. Tukey, An algorithm for the machine calculation of complex Fourier series, 1965).
template <class T>
struct FftPass {
  int64_t radix;
  int64_t count;      // butterflies with twiddle factors of their own
  int64_t inner;      // butterflies that share them
  const T* twiddles;  // [count][radix - 1] of cosine and sine
  const T* roots;     // [radix] of cosine and sine of 2πj/radix; null for powers of two
};

inline constexpr int kMaxFftPasses = 32;
inline constexpr int64_t kMaxFftRadix = 61;

// A transform of blocks.
template <class T>
struct FftLanes {
  int64_t length;
  int count;
  FftPass<T> passes[kMaxFftPasses];
};

// A transform in four steps.
template <class T>
struct FftSplit {
  int64_t columns, rows;
  FftLanes<T> down;    // of length rows
  FftLanes<T> across;  // of length columns
  const T* twiddles;   // [groups of columns][rows] blocks
};

// Where the transforms of some lanes are. Distances are in numbers, of which a complex one has two.
template <class T>
struct FftOperands {
  const T* input;
  T* output;
  int64_t input_step, input_lane;  // between elements, between lanes
  int64_t output_step, output_lane;
  int64_t lanes;  // at most `width`
  T scale;
  bool swap;
};

// A real transform of 2 h numbers by the complex one of h numbers.
template <class T>
struct FftHalf {
  const T* twiddles;  // h cosines and h sines of πk/h
  bool conjugate;     // the half is that of a backward transform
};

template <class T>
struct FftRows {
  int64_t width;  // lanes of a block
  // At most `width` transforms side by side. `scratch`: 2 * length blocks.
  void (*lanes)(const FftLanes<T>& transform, const FftOperands<T>& at, T* scratch);
  // The same in four steps, of lines that are neighbours.
  // `scratch`: rows * (columns + 1) + 2 * max(rows, columns) blocks.
  void (*lanes_split)(const FftSplit<T>& split, const FftOperands<T>& at, T* scratch);
  // The same of `width` contiguous lines; and of pairs of real numbers to their half, and back, as
  // `lanes_forward`. `scratch`: length + 1 more blocks.
  void (*lines_split)(const FftSplit<T>& split, const FftOperands<T>& at, T* scratch);
  void (*lines_split_forward)(const FftSplit<T>& split, const FftHalf<T>& half,
                              const FftOperands<T>& at, T* scratch);
  void (*lines_split_backward)(const FftSplit<T>& split, const FftHalf<T>& half,
                               const FftOperands<T>& at, T* scratch);
  // As `lanes`, of pairs of real numbers to their half, and back; `swap` is false. `scratch`:
  // 3 * length + 1 blocks.
  void (*lanes_forward)(const FftLanes<T>& transform, const FftHalf<T>& half,
                        const FftOperands<T>& at, T* scratch);
  void (*lanes_backward)(const FftLanes<T>& transform, const FftHalf<T>& half,
                         const FftOperands<T>& at, T* scratch);
  // The first steps for the groups [begin, end) of `width` columns. `middle` becomes
  // [groups of rows][columns] blocks; `scratch`: 2 * rows blocks.
  void (*columns)(const FftSplit<T>& split, const T* input, bool swap, int64_t begin, int64_t end,
                  T* middle, T* scratch);
  // The last step for the groups [begin, end) of `width` rows; `scratch`: 2 * columns blocks.
  void (*rows)(const FftSplit<T>& split, T* middle, T* output, T scale, bool swap, int64_t begin,
               int64_t end, T* scratch);
  // out = a b for interleaved complex numbers; `swap_in` changes the parts of a, `swap_out` those
  // of the result, which is multiplied by `scale`.
  void (*multiply)(int64_t count, const T* a, bool swap_in, const T* b, T scale, bool swap_out,
                   T* out);
  // One real transform: the half from the complex numbers z, and back.
  void (*real_forward)(int64_t h, const T* z, const FftHalf<T>& half, T scale, T* output);
  void (*real_backward)(int64_t h, const T* input, const FftHalf<T>& half, T* z);
};

}  // namespace tsr::cpu
