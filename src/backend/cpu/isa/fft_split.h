// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Long Fourier transforms in four steps, and the table of all rows of the family.
#pragma once

#include "backend/cpu/isa/fft.h"

namespace tsr::cpu::TSR_ISA {

// Multiplies the blocks of one group of columns by their twiddle factors and transposes them to
// blocks of rows. kWhole: a square of as many rows and columns as lanes.
template <bool kWhole, class T>
[[gnu::noinline]] void turn_square(const T* blocks, const T* twiddles, int64_t rows,
                                   int64_t columns, T* target) {
  constexpr int64_t kSize = Vec<T>::kSize;
  Vec<T> re[kSize];
  Vec<T> im[kSize];
  const auto load = [&](int64_t i) __attribute__((always_inline)) {
    Lanes<T> x{Vec<T>(0), Vec<T>(0)};
    if (kWhole || i < rows) {
      const Lanes<T> factor = Lanes<T>::load(twiddles + i * kBlock<T>);
      x = multiply(Lanes<T>::load(blocks + i * kBlock<T>), factor.re, factor.im);
    }
    re[i] = x.re;
    im[i] = x.im;
  };
  if constexpr (kWhole) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSize; ++i) load(i);
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < kSize; ++i) load(i);
  }
  transpose(re);
  transpose(im);
  if constexpr (kWhole) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSize; ++i) Lanes<T>{re[i], im[i]}.store(target + i * kBlock<T>);
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < columns; ++i) Lanes<T>{re[i], im[i]}.store(target + i * kBlock<T>);
  }
}
template <class T>
inline void turn_columns(const FftSplit<T>& split, int64_t group, const T* blocks, T* middle) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const int64_t first = group * kSize;
  const int64_t columns = std::min(kSize, split.columns - first);
  const T* twiddles = split.twiddles + group * split.rows * kBlock<T>;
  for (int64_t k = 0; k < split.rows; k += kSize) {
    const int64_t count = std::min(kSize, split.rows - k);
    T* const target = middle + (k / kSize * split.columns + first) * kBlock<T>;
    const bool whole = count == kSize && columns == kSize;
    (whole ? turn_square<true, T> : turn_square<false, T>)(blocks + k * kBlock<T>,
                                                           twiddles + k * kBlock<T>, count, columns,
                                                           target);
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

// The twiddle factors of one column, for a line in each lane; the products are `row` apart.
template <class T>
inline void multiply_column(const FftSplit<T>& split, int64_t column, const T* from, T* to,
                            int64_t row) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const T* const twiddles =
      split.twiddles + column / kSize * split.rows * kBlock<T> + column % kSize;
  for (int64_t k = 0; k < split.rows; ++k) {
    const T* const factor = twiddles + k * kBlock<T>;
    multiply(Lanes<T>::load(from + k * kBlock<T>), Vec<T>(factor[0]), Vec<T>(factor[kSize]))
        .store(to + k * row);
  }
}

// Transforms of neighbouring lines, a line in each lane. A line has the bits that the two functions
// above give it: there the lanes are its columns, then its rows, but the same numbers are combined.
template <class T>
void transform_lanes_split(const FftSplit<T>& split, const FftOperands<T>& at, T* scratch) {
  // (Rows a power of two apart would share few sets of the cache.)
  const int64_t row = (split.columns + 1) * kBlock<T>;
  T* const middle = scratch;
  T* const blocks = scratch + split.rows * row;
  FftOperands<T> down = at;
  down.input_step = at.input_step * split.columns;
  for (int64_t column = 0; column < split.columns; ++column) {
    down.input = at.input + column * at.input_step;
    const T* const from = read_and_run(split.down, down, 0, blocks);
    multiply_column(split, column, from, middle + column * kBlock<T>, row);
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

// The same of blocks, a line in each lane, where they are.
template <class T>
[[gnu::noinline]] void transform_blocks_split(const FftSplit<T>& split, T* blocks, T* scratch) {
  const int64_t row = (split.columns + 1) * kBlock<T>;
  T* const middle = scratch;
  T* const one = scratch + split.rows * row;
  T* const other = one + std::max(split.rows, split.columns) * kBlock<T>;
  const Elements<T> own{one, kBlock<T>};
  for (int64_t column = 0; column < split.columns; ++column) {
    run_pass(split.down.passes[0], {blocks + column * kBlock<T>, split.columns * kBlock<T>}, own);
    const T* const from = run_passes(split.down, 1, split.down.count, one, other);
    multiply_column(split, column, from, middle + column * kBlock<T>, row);
  }
  const int last = split.across.count - 1;
  for (int64_t k = 0; k < split.rows; ++k) {
    T* const found = run_passes(split.across, 0, last, middle + k * row, one);
    run_pass(split.across.passes[last], blocks_at(found),
             {blocks + k * kBlock<T>, split.rows * kBlock<T>});
  }
}

// Contiguous lines, as many as lanes, which are transposed on the way in and on the way out.
template <class T>
void lines_split(const FftSplit<T>& split, const FftOperands<T>& at, T* scratch) {
  const int64_t length = split.columns * split.rows;
  load_transposed(length, at, scratch);
  transform_blocks_split(split, scratch, scratch + (length + 1) * kBlock<T>);
  store_transposed(length, at, scratch);
}
template <class T>
void lines_split_forward(const FftSplit<T>& split, const FftHalf<T>& half, const FftOperands<T>& at,
                         T* scratch) {
  const int64_t h = split.columns * split.rows;
  load_transposed(h, at, scratch);
  transform_blocks_split(split, scratch, scratch + (h + 1) * kBlock<T>);
  blocks_to_half(h, half, at.scale, scratch, scratch);
  FftOperands<T> scaled = at;
  scaled.scale = 1;
  store_transposed(h + 1, scaled, scratch);
}
template <class T>
void lines_split_backward(const FftSplit<T>& split, const FftHalf<T>& half,
                          const FftOperands<T>& at, T* scratch) {
  const int64_t h = split.columns * split.rows;
  load_transposed(h + 1, at, scratch);
  blocks_from_half(h, half, scratch, scratch);
  transform_blocks_split(split, scratch, scratch + (h + 1) * kBlock<T>);
  FftOperands<T> swapped = at;
  swapped.swap = true;
  store_transposed(h, swapped, scratch);
}

template <class T>
inline constexpr FftRows<T> kFftRows{
    .width = Vec<T>::kSize,
    .lanes = transform_lanes<T>,
    .lanes_split = transform_lanes_split<T>,
    .lines_split = lines_split<T>,
    .lines_split_forward = lines_split_forward<T>,
    .lines_split_backward = lines_split_backward<T>,
    .lanes_forward = lanes_forward<T>,
    .lanes_backward = lanes_backward<T>,
    .columns = transform_columns<T>,
    .rows = transform_rows<T>,
    .multiply = multiply_rows<T>,
    .real_forward = real_forward<T>,
    .real_backward = real_backward<T>,
};

}  // namespace tsr::cpu::TSR_ISA
