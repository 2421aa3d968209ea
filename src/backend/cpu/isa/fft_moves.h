// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Moves between interleaved complex numbers and blocks of lanes.
#pragma once

#include "backend/cpu/isa/fft_butterflies.h"
#include "backend/cpu/isa/transpose.h"

namespace tsr::cpu::TSR_ISA {

template <class T>
[[gnu::always_inline]] inline Lanes<T> split_parts(Vec<T> a, Vec<T> b) {
  return {every_second<0>(a, b), every_second<1>(a, b)};
}
// Two registers of interleaved numbers by turns, kGroupLanes / 2 numbers of each: the lanes keep
// the order of line_of, below. And the numbers of either register again.
template <size_t kPart, class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> part_of(Vec<T> a, Vec<T> b, std::index_sequence<kLane...>) {
  constexpr size_t kGroup = kGroupLanes<T>;
  return Vec<T>(__builtin_shufflevector(a.v, b.v,
                                        (kLane / kGroup * kGroup + 2 * kLane % kGroup + kPart +
                                         kLane % kGroup / (kGroup / 2) * Vec<T>::kSize)...));
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> split_by_turns(Vec<T> a, Vec<T> b) {
  return {part_of<0>(a, b, LaneSequence<T>()), part_of<1>(a, b, LaneSequence<T>())};
}
// The line, and so the lane, whose numbers register i of the first or second set holds.
template <class T>
constexpr int64_t line_of(int64_t set, int64_t i) {
  constexpr int64_t kTurn = kGroupLanes<T> / 2;
  return i / kTurn * 2 * kTurn + set * kTurn + i % kTurn;
}

template <class T, size_t... kLane>
[[gnu::always_inline]] inline Vec<T> reversed(Vec<T> a, std::index_sequence<kLane...>) {
  return Vec<T>(__builtin_shufflevector(a.v, a.v, (Vec<T>::kSize - 1 - kLane)...));
}

template <class T>
[[gnu::always_inline]] inline Lanes<T> reversed(Lanes<T> a) {
  return {reversed(a.re, LaneSequence<T>()), reversed(a.im, LaneSequence<T>())};
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> swap_parts(Lanes<T> a, bool swap) {
  return swap ? Lanes<T>{a.im, a.re} : a;
}

// As many interleaved numbers as there are lanes.
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_parts(const T* source) {
  using V = Vec<T>;
  return split_parts(V::load(source), V::load(source + V::kSize));
}
template <class T>
[[gnu::always_inline]] inline void store_parts(Lanes<T> a, T* target) {
  by_turns<0>(a.re, a.im).store(target);
  by_turns<1>(a.re, a.im).store(target + Vec<T>::kSize);
}
// Half as many; the other lanes are zero.
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_half_parts(const T* source) {
  using V = Vec<T>;
  return split_parts(V::load(source), V(0));
}
template <class T>
[[gnu::always_inline]] inline void store_half_parts(Lanes<T> a, T* target) {
  by_turns<0>(a.re, a.im).store(target);
}
// The first `count` of them, `lane_step` numbers apart; the other lanes are zero.
template <class T>
[[gnu::noinline]] Lanes<T> load_some_parts(const T* source, int64_t count, int64_t lane_step = 2) {
  T parts[2 * Vec<T>::kSize] = {};
  for (int64_t i = 0; i < count; ++i) {
    parts[2 * i] = source[i * lane_step];
    parts[2 * i + 1] = source[i * lane_step + 1];
  }
  return load_parts<T>(parts);
}
template <class T>
[[gnu::noinline]] void store_some_parts(Lanes<T> a, T* target, int64_t count,
                                        int64_t lane_step = 2) {
  T parts[2 * Vec<T>::kSize];
  store_parts(a, parts);
  for (int64_t i = 0; i < count; ++i) {
    target[i * lane_step] = parts[2 * i];
    target[i * lane_step + 1] = parts[2 * i + 1];
  }
}

}  // namespace tsr::cpu::TSR_ISA
