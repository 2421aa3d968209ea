// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Long Fourier transforms in four steps, and the table of all rows of the family.
#pragma once

#include "backend/cpu/isa/fft.h"

namespace tsr::cpu::TSR_ISA {

// Multiplies the blocks of one group of columns by their twiddle factors and transposes them to
// blocks of rows.
template <class T>
inline void turn_columns(const FftSplit<T>& split, int64_t group, const T* blocks, T* middle) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const int64_t first = group * kSize;
  const int64_t columns = std::min(kSize, split.columns - first);
  const T* twiddles = split.twiddles + group * split.rows * kBlock<T>;
  for (int64_t k = 0; k < split.rows; k += kSize) {
    const int64_t count = std::min(kSize, split.rows - k);
    Vec<T> re[kSize];
    Vec<T> im[kSize];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSize; ++i) {
      Lanes<T> x{Vec<T>(0), Vec<T>(0)};
      if (i < count) {
        const Lanes<T> factor = Lanes<T>::load(twiddles + (k + i) * kBlock<T>);
        x = multiply(Lanes<T>::load(blocks + (k + i) * kBlock<T>), factor.re, factor.im);
      }
      re[i] = x.re;
      im[i] = x.im;
    }
    transpose(re);
    transpose(im);
    T* target = middle + (k / kSize * split.columns + first) * kBlock<T>;
    for (int64_t i = 0; i < columns; ++i) Lanes<T>{re[i], im[i]}.store(target + i * kBlock<T>);
  }
}

template <class T>
void transform_columns(const FftSplit<T>& split, const T* input, bool swap, int64_t begin,
                       int64_t end, T* middle, T* scratch) {
  constexpr int64_t kSize = Vec<T>::kSize;
  FftOperands<T> at{};
  at.input_step = 2 * split.columns;
  at.input_lane = 2;
  at.swap = swap;
  for (int64_t group = begin; group < end; ++group) {
    at.input = input + 2 * group * kSize;
    at.lanes = std::min(kSize, split.columns - group * kSize);
    turn_columns(split, group, read_and_run(split.down, at, 0, scratch), middle);
  }
}

template <class T>
void transform_rows(const FftSplit<T>& split, T* middle, T* output, T scale, bool swap,
                    int64_t begin, int64_t end, T* scratch) {
  constexpr int64_t kSize = Vec<T>::kSize;
  FftOperands<T> at{};
  at.output_step = 2 * split.rows;
  at.output_lane = 2;
  at.swap = swap;
  at.scale = scale;
  for (int64_t group = begin; group < end; ++group) {
    at.output = output + 2 * group * kSize;
    at.lanes = std::min(kSize, split.rows - group * kSize);
    T* blocks = middle + group * split.columns * kBlock<T>;
    const int last = std::max(split.across.count - 1, 0);
    T* const found = run_passes(split.across, 0, last, blocks, scratch);
    run_and_write(split.across, last, at, found, found == blocks ? scratch : blocks);
  }
}

// Transforms of neighbouring lines, a line in each lane. A line has the bits that the two functions
// above give it: there the lanes are its columns, then its rows, but the same numbers are combined.
template <class T>
void transform_lanes_split(const FftSplit<T>& split, const FftOperands<T>& at, T* scratch) {
  constexpr int64_t kSize = Vec<T>::kSize;
  // (Rows a power of two apart would share few sets of the cache.)
  const int64_t row = (split.columns + 1) * kBlock<T>;
  T* const middle = scratch;
  T* const blocks = scratch + split.rows * row;
  FftOperands<T> down = at;
  down.input_step = at.input_step * split.columns;
  for (int64_t column = 0; column < split.columns; ++column) {
    down.input = at.input + column * at.input_step;
    const T* const from = read_and_run(split.down, down, 0, blocks);
    const T* const twiddles =
        split.twiddles + column / kSize * split.rows * kBlock<T> + column % kSize;
    for (int64_t k = 0; k < split.rows; ++k) {
      const T* const factor = twiddles + k * kBlock<T>;
      multiply(Lanes<T>::load(from + k * kBlock<T>), Vec<T>(factor[0]), Vec<T>(factor[kSize]))
          .store(middle + k * row + column * kBlock<T>);
    }
  }
  FftOperands<T> across = at;
  across.output_step = at.output_step * split.rows;
  const int last = std::max(split.across.count - 1, 0);
  for (int64_t k = 0; k < split.rows; ++k) {
    across.output = at.output + k * at.output_step;
    T* const own = middle + k * row;
    T* const found = run_passes(split.across, 0, last, own, blocks);
    run_and_write(split.across, last, across, found, found == own ? blocks : own);
  }
}

template <class T>
inline constexpr FftRows<T> kFftRows{
    .width = Vec<T>::kSize,
    .lanes = transform_lanes<T>,
    .lanes_split = transform_lanes_split<T>,
    .lanes_forward = lanes_forward<T>,
    .lanes_backward = lanes_backward<T>,
    .columns = transform_columns<T>,
    .rows = transform_rows<T>,
    .multiply = multiply_rows<T>,
    .real_forward = real_forward<T>,
    .real_backward = real_backward<T>,
};

}  // namespace tsr::cpu::TSR_ISA
