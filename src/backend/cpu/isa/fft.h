// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of blocks; see Note [Lanes of transforms] in fft/fft_rows.h.
#pragma once

#include <algorithm>

#include "backend/cpu/isa/fft_moves.h"

namespace tsr::cpu::TSR_ISA {

template <class T>
inline constexpr int64_t kBlock = 2 * Vec<T>::kSize;

// ---- Passes ----

// The elements that a pass reads or writes, `step` numbers apart: blocks, or numbers of
// neighbouring lanes as the caller has them (`parts`).
template <class T>
struct Elements {
  T* data;
  int64_t step;
  bool swap = false;  // parts only
  T scale = 1;        // parts that are written
};
template <class T>
inline Elements<T> blocks_at(T* blocks) {
  return {blocks, kBlock<T>};
}

// Which side of a pass has parts, and whether they are of all lanes or of half of them.
enum class Parts { kNone, kRead, kHalfRead, kWritten, kHalfWritten };

template <Parts kParts, class T>
[[gnu::always_inline]] inline Lanes<T> load_element(const T* source, bool swap) {
  if constexpr (kParts == Parts::kRead)
    return swap_parts(load_parts(source), swap);
  else if constexpr (kParts == Parts::kHalfRead)
    return swap_parts(load_half_parts(source), swap);
  else
    return Lanes<T>::load(source);
}
template <Parts kParts, class T>
[[gnu::always_inline]] inline void store_element(Lanes<T> x, T* target, bool swap, Vec<T> scale) {
  if constexpr (kParts == Parts::kWritten)
    store_parts(swap_parts(Lanes<T>{x.re * scale, x.im * scale}, swap), target);
  else if constexpr (kParts == Parts::kHalfWritten)
    store_half_parts(swap_parts(Lanes<T>{x.re * scale, x.im * scale}, swap), target);
  else
    x.store(target);
}

// One butterfly; elements are `step` numbers apart in the source and `out_step` in the target.
template <int kRadix, bool kTwiddle, Parts kParts, class T>
[[gnu::always_inline]] inline void butterfly(const FftPass<T>& pass, const T* source, int64_t step,
                                             bool swap_in, const T* twiddles, T* target,
                                             int64_t out_step, bool swap_out, Vec<T> scale) {
  constexpr int64_t kRoom = kRadix == 0 ? kMaxFftRadix : kRadix;
  const int64_t radix = kRadix == 0 ? pass.radix : kRadix;
  Lanes<T> x[kRoom];
#pragma GCC unroll 16
  for (int64_t j = 0; j < radix; ++j) x[j] = load_element<kParts>(source + j * step, swap_in);
  transform<kRadix>(x, radix, pass.roots);
  store_element<kParts>(x[0], target, swap_out, scale);
#pragma GCC unroll 16
  for (int64_t k = 1; k < radix; ++k) {
    if constexpr (kTwiddle) {
      const T* factor = twiddles + 2 * (k - 1);
      x[k] = multiply(x[k], Vec<T>(factor[0]), Vec<T>(factor[1]));
    }
    store_element<kParts>(x[k], target + k * out_step, swap_out, scale);
  }
}

template <int kRadix, Parts kParts, class T>
[[gnu::noinline]] void run_pass(const FftPass<T>& pass, const Elements<T>& from,
                                const Elements<T>& to) {
  const int64_t radix = kRadix == 0 ? pass.radix : kRadix;
  const int64_t step = pass.count * pass.inner * from.step;
  const int64_t out_step = pass.inner * to.step;
  const Vec<T> scale(to.scale);
  for (int64_t q = 0; q < pass.inner; ++q) {
    butterfly<kRadix, false, kParts>(pass, from.data + q * from.step, step, from.swap,
                                     pass.twiddles, to.data + q * to.step, out_step, to.swap,
                                     scale);
  }
  for (int64_t p = 1; p < pass.count; ++p) {
    const T* twiddles = pass.twiddles + 2 * p * (radix - 1);
    const T* source = from.data + p * pass.inner * from.step;
    T* target = to.data + p * radix * out_step;
    for (int64_t q = 0; q < pass.inner; ++q) {
      butterfly<kRadix, true, kParts>(pass, source + q * from.step, step, from.swap, twiddles,
                                      target + q * to.step, out_step, to.swap, scale);
    }
  }
}

template <class T>
inline void run_pass(const FftPass<T>& pass, const Elements<T>& from, const Elements<T>& to) {
  switch (pass.radix) {
    case 2:
      return run_pass<2, Parts::kNone>(pass, from, to);
    case 3:
      return run_pass<3, Parts::kNone>(pass, from, to);
    case 4:
      return run_pass<4, Parts::kNone>(pass, from, to);
    case 5:
      return run_pass<5, Parts::kNone>(pass, from, to);
    case 7:
      return run_pass<7, Parts::kNone>(pass, from, to);
    case 8:
      return run_pass<8, Parts::kNone>(pass, from, to);
    case 11:
      return run_pass<11, Parts::kNone>(pass, from, to);
    case 13:
      return run_pass<13, Parts::kNone>(pass, from, to);
    case 16:
      return run_pass<16, Parts::kNone>(pass, from, to);
    default:
      return run_pass<0, Parts::kNone>(pass, from, to);
  }
}

template <Parts kParts>
using PartsOf = std::integral_constant<Parts, kParts>;

// The same with parts on one side, for the radices of powers of two alone: false for another one.
template <Parts kParts, class T>
inline bool run_pass_of_parts(const FftPass<T>& pass, const Elements<T>& from,
                              const Elements<T>& to) {
  switch (pass.radix) {
    case 4:
      run_pass<4, kParts>(pass, from, to);
      return true;
    case 8:
      run_pass<8, kParts>(pass, from, to);
      return true;
    case 16:
      run_pass<16, kParts>(pass, from, to);
      return true;
    default:
      return false;
  }
}

// The passes [begin, end) of the blocks at `from`, which are lost; returns where the result is: at
// `from` or at `to`.
template <class T>
inline T* run_passes(const FftLanes<T>& transform, int begin, int end, T* from, T* to) {
  for (int i = begin; i < end; ++i) {
    run_pass(transform.passes[i], blocks_at(from), blocks_at(to));
    std::swap(from, to);
  }
  return from;
}
template <class T>
inline T* run_passes(const FftLanes<T>& transform, T* from, T* to) {
  return run_passes(transform, 0, transform.count, from, to);
}

// ---- Short transforms ----

// Contiguous transforms, one after another: squares of complex numbers are transposed, those of
// half of the lines at a time.
template <class T>
[[gnu::noinline]] void load_transposed(int64_t length, const FftOperands<T>& at, T* blocks) {
  constexpr int64_t kSize = Vec<T>::kSize;
  constexpr int64_t kNumbers = kSize / 2;
  int64_t j = 0;
  for (; j + kNumbers <= length; j += kNumbers) {
    Vec<T> sets[2][kNumbers];
#pragma GCC unroll 2
    for (int64_t set = 0; set < 2; ++set) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < kNumbers; ++i)
        sets[set][i] = Vec<T>::load(at.input + line_of<T>(set, i) * at.input_lane + 2 * j);
      transpose_units<2>(sets[set]);
    }
#pragma GCC unroll 8
    for (int64_t i = 0; i < kNumbers; ++i) {
      const Lanes<T> x = split_by_turns(sets[0][i], sets[1][i]);
      swap_parts(x, at.swap).store(blocks + (j + i) * kBlock<T>);
    }
  }
  for (; j < length; ++j) {
    const Lanes<T> x = load_some_parts(at.input + 2 * j, kSize, at.input_lane);
    swap_parts(x, at.swap).store(blocks + j * kBlock<T>);
  }
}

template <class T>
[[gnu::noinline]] void store_transposed(int64_t length, const FftOperands<T>& at, const T* blocks) {
  constexpr int64_t kSize = Vec<T>::kSize;
  constexpr int64_t kNumbers = kSize / 2;
  const Vec<T> scale(at.scale);
  int64_t j = 0;
  for (; j + kNumbers <= length; j += kNumbers) {
    Vec<T> sets[2][kNumbers];
#pragma GCC unroll 8
    for (int64_t i = 0; i < kNumbers; ++i) {
      const Lanes<T> x = swap_parts(Lanes<T>::load(blocks + (j + i) * kBlock<T>), at.swap);
      const Vec<T> re = x.re * scale;
      const Vec<T> im = x.im * scale;
      sets[0][i] = interleave<1, 0>(re, im, LaneSequence<T>());
      sets[1][i] = interleave<1, 1>(re, im, LaneSequence<T>());
    }
#pragma GCC unroll 2
    for (int64_t set = 0; set < 2; ++set) {
      transpose_units<2>(sets[set]);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kNumbers; ++i)
        sets[set][i].store(at.output + line_of<T>(set, i) * at.output_lane + 2 * j);
    }
  }
  for (; j < length; ++j) {
    const Lanes<T> x = swap_parts(Lanes<T>::load(blocks + j * kBlock<T>), at.swap);
    store_some_parts(Lanes<T>{x.re * scale, x.im * scale}, at.output + 2 * j, kSize,
                     at.output_lane);
  }
}

// A single transform, in all lanes.
template <class T>
inline void load_one(int64_t length, const FftOperands<T>& at, T* blocks) {
  const int64_t re = at.swap ? 1 : 0;
  for (int64_t j = 0; j < length; ++j) {
    const T* source = at.input + j * at.input_step;
    Lanes<T>{Vec<T>(source[re]), Vec<T>(source[1 - re])}.store(blocks + j * kBlock<T>);
  }
}
template <class T>
inline void store_one(int64_t length, const FftOperands<T>& at, const T* blocks) {
  const int64_t re = at.swap ? 1 : 0;
  for (int64_t j = 0; j < length; ++j) {
    T* target = at.output + j * at.output_step;
    const T* block = blocks + j * kBlock<T>;
    target[re] = block[0] * at.scale;
    target[1 - re] = block[Vec<T>::kSize] * at.scale;
  }
}

// Lanes that are neighbours, and few lanes of any step.
template <class T>
[[gnu::noinline]] void load_lanes(int64_t length, const FftOperands<T>& at, T* blocks) {
  if (at.lanes == 1) return load_one(length, at, blocks);
  const bool whole = at.lanes == Vec<T>::kSize && at.input_lane == 2;
  for (int64_t j = 0; j < length; ++j) {
    const T* source = at.input + j * at.input_step;
    const Lanes<T> x =
        whole ? load_parts(source) : load_some_parts(source, at.lanes, at.input_lane);
    swap_parts(x, at.swap).store(blocks + j * kBlock<T>);
  }
}
template <class T>
[[gnu::noinline]] void store_lanes(int64_t length, const FftOperands<T>& at, const T* blocks) {
  if (at.lanes == 1) return store_one(length, at, blocks);
  const bool whole = at.lanes == Vec<T>::kSize && at.output_lane == 2;
  const Vec<T> scale(at.scale);
  for (int64_t j = 0; j < length; ++j) {
    const Lanes<T> x = swap_parts(Lanes<T>::load(blocks + j * kBlock<T>), at.swap);
    const Lanes<T> scaled{x.re * scale, x.im * scale};
    T* target = at.output + j * at.output_step;
    if (whole) {
      store_parts(scaled, target);
    } else {
      store_some_parts(scaled, target, at.lanes, at.output_lane);
    }
  }
}

template <class T>
inline void load_blocks(int64_t length, const FftOperands<T>& at, T* blocks) {
  if (at.lanes == Vec<T>::kSize && at.input_step == 2 && at.input_lane != 2) {
    load_transposed(length, at, blocks);
  } else {
    load_lanes(length, at, blocks);
  }
}
template <class T>
inline void store_blocks(int64_t length, const FftOperands<T>& at, const T* blocks) {
  if (at.lanes == Vec<T>::kSize && at.output_step == 2 && at.output_lane != 2) {
    store_transposed(length, at, blocks);
  } else {
    store_lanes(length, at, blocks);
  }
}

// Reads the lanes and runs the passes but the last `left` ones; returns where the blocks are, in
// one of the two halves of the scratch memory.
template <class T>
inline T* read_and_run(const FftLanes<T>& transform, const FftOperands<T>& at, int left,
                       T* scratch) {
  T* const other = scratch + transform.length * kBlock<T>;
  const int end = transform.count - left;
  // Nothing is written to what is only read.
  const Elements<T> from{const_cast<T*>(at.input), at.input_step, at.swap};
  const bool side_by_side = at.input_lane == 2 && end > 0;
  const auto read = [&](auto parts) {
    return run_pass_of_parts<decltype(parts)::value>(transform.passes[0], from, blocks_at(scratch));
  };
  if (side_by_side && at.lanes == Vec<T>::kSize && read(PartsOf<Parts::kRead>()))
    return run_passes(transform, 1, end, scratch, other);
  if (side_by_side && at.lanes == Vec<T>::kSize / 2 && read(PartsOf<Parts::kHalfRead>()))
    return run_passes(transform, 1, end, scratch, other);
  load_blocks(transform.length, at, scratch);
  return run_passes(transform, 0, end, scratch, other);
}

// Runs the passes from `begin` on, at most one, and writes the lanes.
template <class T>
inline void run_and_write(const FftLanes<T>& transform, int begin, const FftOperands<T>& at,
                          T* blocks, T* other) {
  const Elements<T> to{at.output, at.output_step, at.swap, at.scale};
  const bool side_by_side = at.output_lane == 2 && begin < transform.count;
  const auto write = [&](auto parts) {
    return run_pass_of_parts<decltype(parts)::value>(transform.passes[begin], blocks_at(blocks),
                                                     to);
  };
  if (side_by_side && at.lanes == Vec<T>::kSize && write(PartsOf<Parts::kWritten>())) return;
  if (side_by_side && at.lanes == Vec<T>::kSize / 2 && write(PartsOf<Parts::kHalfWritten>()))
    return;
  store_blocks(transform.length, at, run_passes(transform, begin, transform.count, blocks, other));
}

template <class T>
void transform_lanes(const FftLanes<T>& transform, const FftOperands<T>& at, T* scratch) {
  T* const other = scratch + transform.length * kBlock<T>;
  const int left = transform.count > 1 ? 1 : 0;
  T* const blocks = read_and_run(transform, at, left, scratch);
  run_and_write(transform, transform.count - left, at, blocks, blocks == scratch ? other : scratch);
}

// ---- Rows of complex numbers ----

template <class T>
void multiply_rows(int64_t count, const T* a, bool swap_in, const T* b, T scale, bool swap_out,
                   T* out) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const Vec<T> factor(scale);
  for (int64_t i = 0; i < count; i += kSize) {
    const int64_t rest = count - i;
    const bool whole = rest >= kSize;
    const Lanes<T> x = whole ? load_parts(a + 2 * i) : load_some_parts(a + 2 * i, rest);
    const Lanes<T> y = whole ? load_parts(b + 2 * i) : load_some_parts(b + 2 * i, rest);
    const Lanes<T> product = multiply(swap_parts(x, swap_in), y.re, y.im);
    const Lanes<T> result =
        swap_parts(Lanes<T>{product.re * factor, product.im * factor}, swap_out);
    if (whole) {
      store_parts(result, out + 2 * i);
    } else {
      store_some_parts(result, out + 2 * i, rest);
    }
  }
}

// ---- Real numbers ----

template <class T>
struct LanePair {
  Lanes<T> front, back;
};

// With Z the transform of x[2j] + i x[2j+1], a = Z[k] and b = Z[h-k]: E = (a + conj b) / 2 and
// O = (a - conj b) / 2i are those of the even and of the odd numbers, and X[k] = E + exp(-πik/h) O,
// X[h-k] = conj(E - exp(-πik/h) O). `re` and `im` scale the parts, and halve them.
template <class T>
[[gnu::always_inline]] inline LanePair<T> to_half(Lanes<T> a, Lanes<T> b, Vec<T> cosine,
                                                  Vec<T> sine, Vec<T> re, Vec<T> im) {
  const Lanes<T> even{a.re + b.re, a.im - b.im};
  const Lanes<T> odd{a.im + b.im, b.re - a.re};
  const Lanes<T> turned = multiply(odd, cosine, -sine);
  const Lanes<T> front = even + turned;
  const Lanes<T> back = even - turned;
  return {{front.re * re, front.im * im}, {back.re * re, -(back.im * im)}};
}
// The reverse, times two: Z[k] = (a + conj b) + i exp(πik/h) (a - conj b) with a = X[k], b =
// X[h-k]; `sign` is -1 for the conjugate of X.
template <class T>
[[gnu::always_inline]] inline LanePair<T> from_half(Lanes<T> a, Lanes<T> b, Vec<T> cosine,
                                                    Vec<T> sine, Vec<T> sign) {
  const Lanes<T> even{a.re + b.re, (a.im - b.im) * sign};
  const Lanes<T> odd{a.re - b.re, (a.im + b.im) * sign};
  const Lanes<T> product = multiply(odd, cosine, sine);
  const Lanes<T> turned{-product.im, product.re};
  const Lanes<T> back = even - turned;
  return {even + turned, {back.re, -back.im}};
}

// Numbers from `last` backwards, and from `first` on: as many as lanes, or `count` where that is
// less.
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_back(const T* row, int64_t last, int64_t count) {
  constexpr int64_t kSize = Vec<T>::kSize;
  if (count >= kSize) return reversed(load_parts(row + 2 * (last - kSize + 1)));
  return load_some_parts(row + 2 * last, count, -2);
}
template <class T>
[[gnu::always_inline]] inline void store_back(Lanes<T> a, T* row, int64_t last, int64_t count) {
  constexpr int64_t kSize = Vec<T>::kSize;
  if (count >= kSize) {
    store_parts(reversed(a), row + 2 * (last - kSize + 1));
  } else {
    store_some_parts(a, row + 2 * last, count, -2);
  }
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_front(const T* row, int64_t first, int64_t count) {
  return count >= Vec<T>::kSize ? load_parts(row + 2 * first)
                                : load_some_parts(row + 2 * first, count);
}
template <class T>
[[gnu::always_inline]] inline void store_front(Lanes<T> a, T* row, int64_t first, int64_t count) {
  if (count >= Vec<T>::kSize) {
    store_parts(a, row + 2 * first);
  } else {
    store_some_parts(a, row + 2 * first, count);
  }
}
template <class T>
[[gnu::always_inline]] inline Vec<T> load_table(const T* table, int64_t count) {
  return count >= Vec<T>::kSize ? Vec<T>::load(table) : Vec<T>::load_part(table, count, T{0});
}

// Both loops compute the middle twice where it is its own pair, to the same value.
template <class T>
void real_forward(int64_t h, const T* z, const FftHalf<T>& half, T scale, T* output) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const T halved = scale * T{0.5};
  const Vec<T> re(halved);
  const Vec<T> im(half.conjugate ? -halved : halved);
  const T first_re = z[0];
  const T first_im = z[1];
  const int64_t end = h / 2 + 1;
  for (int64_t k = 1; k < end; k += kSize) {
    const int64_t count = std::min(end - k, kSize);
    const Vec<T> cosine = load_table(half.twiddles + k, count);
    const Vec<T> sine = load_table(half.twiddles + h + k, count);
    const LanePair<T> pair =
        to_half(load_front(z, k, count), load_back(z, h - k, count), cosine, sine, re, im);
    store_back(pair.back, output, h - k, count);
    store_front(pair.front, output, k, count);
  }
  output[0] = (first_re + first_im) * scale;
  output[1] = 0;
  output[2 * h] = (first_re - first_im) * scale;
  output[2 * h + 1] = 0;
}

template <class T>
void real_backward(int64_t h, const T* input, const FftHalf<T>& half, T* z) {
  constexpr int64_t kSize = Vec<T>::kSize;
  const Vec<T> sign(half.conjugate ? T{-1} : T{1});
  const T first = input[0];
  const T last = input[2 * h];
  const int64_t end = h / 2 + 1;
  for (int64_t k = 1; k < end; k += kSize) {
    const int64_t count = std::min(end - k, kSize);
    const Vec<T> cosine = load_table(half.twiddles + k, count);
    const Vec<T> sine = load_table(half.twiddles + h + k, count);
    const LanePair<T> pair =
        from_half(load_front(input, k, count), load_back(input, h - k, count), cosine, sine, sign);
    store_back(pair.back, z, h - k, count);
    store_front(pair.front, z, k, count);
  }
  z[0] = first + last;
  z[1] = first - last;
}

// The same for blocks: z has h of them, the half h + 1. They may be in one place.
template <class T>
[[gnu::noinline]] void blocks_to_half(int64_t h, const FftHalf<T>& half, T scale, const T* z,
                                      T* blocks) {
  const Lanes<T> first = Lanes<T>::load(z);
  const Vec<T> re(scale * T{0.5});
  const Vec<T> im(half.conjugate ? -re : re);
  for (int64_t k = 1; k < h / 2 + 1; ++k) {
    const Lanes<T> a = Lanes<T>::load(z + k * kBlock<T>);
    const Lanes<T> b = Lanes<T>::load(z + (h - k) * kBlock<T>);
    const LanePair<T> pair =
        to_half(a, b, Vec<T>(half.twiddles[k]), Vec<T>(half.twiddles[h + k]), re, im);
    pair.back.store(blocks + (h - k) * kBlock<T>);
    pair.front.store(blocks + k * kBlock<T>);
  }
  const Vec<T> whole(scale);
  Lanes<T>{(first.re + first.im) * whole, Vec<T>(0)}.store(blocks);
  Lanes<T>{(first.re - first.im) * whole, Vec<T>(0)}.store(blocks + h * kBlock<T>);
}
// Leaves z with its parts swapped, for a backward transform.
template <class T>
[[gnu::noinline]] void blocks_from_half(int64_t h, const FftHalf<T>& half, const T* blocks, T* z) {
  const Vec<T> first = Vec<T>::load(blocks);
  const Vec<T> last = Vec<T>::load(blocks + h * kBlock<T>);
  const Vec<T> sign(half.conjugate ? T{-1} : T{1});
  for (int64_t k = 1; k < h / 2 + 1; ++k) {
    const Lanes<T> a = Lanes<T>::load(blocks + k * kBlock<T>);
    const Lanes<T> b = Lanes<T>::load(blocks + (h - k) * kBlock<T>);
    const LanePair<T> pair =
        from_half(a, b, Vec<T>(half.twiddles[k]), Vec<T>(half.twiddles[h + k]), sign);
    swap_parts(pair.back, true).store(z + (h - k) * kBlock<T>);
    swap_parts(pair.front, true).store(z + k * kBlock<T>);
  }
  Lanes<T>{first - last, first + last}.store(z);
}

template <class T>
void lanes_forward(const FftLanes<T>& transform, const FftHalf<T>& half, const FftOperands<T>& at,
                   T* scratch) {
  const int64_t h = transform.length;
  load_blocks(h, at, scratch);
  const T* const z = run_passes(transform, scratch, scratch + h * kBlock<T>);
  T* const blocks = scratch + 2 * h * kBlock<T>;
  blocks_to_half(h, half, at.scale, z, blocks);
  FftOperands<T> scaled = at;
  scaled.scale = 1;
  store_blocks(h + 1, scaled, blocks);
}

template <class T>
void lanes_backward(const FftLanes<T>& transform, const FftHalf<T>& half, const FftOperands<T>& at,
                    T* scratch) {
  const int64_t h = transform.length;
  T* const blocks = scratch + 2 * h * kBlock<T>;
  load_blocks(h + 1, at, blocks);
  blocks_from_half(h, half, blocks, scratch);
  FftOperands<T> swapped = at;
  swapped.swap = true;
  store_blocks(h, swapped, run_passes(transform, scratch, scratch + h * kBlock<T>));
}

}  // namespace tsr::cpu::TSR_ISA
