// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The taps of grid_sample along one axis: the formulas of ops/nn/grid.cpp with their derivatives,
// in the same order, so that both give the same numbers.
#pragma once

#include "backend/common/math_any.h"
#include "backend/cpu/nn/grid_rows.h"

namespace tsr::cpu::TSR_ISA {

// A number and its derivative by the coordinate.
template <class V>
struct Sloped {
  V value, slope;
};

// From [-1, 1] to elements.
template <class T>
[[gnu::always_inline]] inline Sloped<Vec<T>> to_elements(Vec<T> x, const GridAxis<T>& axis) {
  using V = Vec<T>;
  const V up = x + V(1);
  if (axis.align_corners) return {up * V(axis.half), V(axis.half)};
  return {(up * V(axis.size) - V(1)) * V(0.5), V(axis.size) * V(0.5)};
}

// Mirrored at the edges as often as needed.
template <class T>
[[gnu::always_inline]] inline Sloped<Vec<T>> reflected(Sloped<Vec<T>> x, const GridAxis<T>& axis) {
  using V = Vec<T>;
  if (axis.span == 0) return {x.value * V(0), V(0)};
  const V centred = x.value - V(axis.low);
  const V distance = abs(centred);
  const V rest = trunc_remainder(distance, V(axis.span));
  const V turns = floor(distance / V(axis.span));
  const Mask<T> backwards = trunc_remainder(turns, V(2)) != V(0);
  const V falls = select(centred < V(0), V(0) - x.slope, x.slope);
  const V slope = select(centred == V(0), V(0), falls);
  return {select(backwards, V(axis.high) - rest, rest + V(axis.low)),
          select(backwards, V(0) - slope, slope)};
}

// Limited to the elements; NaN stays.
template <class T>
[[gnu::always_inline]] inline Sloped<Vec<T>> at_border(Sloped<Vec<T>> x, const GridAxis<T>& axis) {
  using V = Vec<T>;
  const V last(axis.last);
  const Mask<T> inside = (x.value > V(0)) & (x.value < last);
  const V raised = select(x.value < V(0), V(0), x.value);
  return {select(raised > last, last, raised), select(inside, x.slope, V(0))};
}

template <class T>
[[gnu::always_inline]] inline Sloped<Vec<T>> padded(Sloped<Vec<T>> x, const GridAxis<T>& axis) {
  if (axis.padding == kernel::GridPadding::kZeros) return x;
  return at_border(axis.padding == kernel::GridPadding::kReflection ? reflected(x, axis) : x, axis);
}

// Keys's cubic convolution with slope -0.75, within 1 of an element and farther from it.
template <class V>
[[gnu::always_inline]] inline Sloped<V> cubic_near(V x) {
  const V inner = x * V(1.25) - V(2.25);
  return {inner * x * x + V(1), (x * V(3.75) - V(4.5)) * x};
}
template <class V>
[[gnu::always_inline]] inline Sloped<V> cubic_far(V x) {
  const V inner = (x - V(5)) * x + V(8);
  return {inner * x * V(-0.75) - V(-3), (x * V(3) - V(10)) * x * V(-0.75) - V(6)};
}

template <class T>
[[gnu::always_inline]] inline void store_tap(GridAxisTaps<T>& found, int tap, int64_t i,
                                             Vec<T> place, Vec<T> weight, Vec<T> slope,
                                             const GridAxis<T>& axis) {
  using V = Vec<T>;
  const Mask<T> inside = (place >= V(0)) & (place <= V(axis.last));  // not where it is NaN
  select(inside, place, V(-1)).store(found.places[tap] + i);
  weight.store(found.weights[tap] + i);
  slope.store(found.slopes[tap] + i);
}

template <class T>
[[gnu::always_inline]] inline void store_taps(const GridAxis<T>& axis, Vec<T> x, int64_t i,
                                              GridAxisTaps<T>& found) {
  using V = Vec<T>;
  const Sloped<V> at = to_elements(x, axis);
  if (axis.interpolation == kernel::GridInterpolation::kCubic) {
    const V first = floor(at.value);
    const V t = at.value - first;
    const V rest = V(1) - t;
    const Sloped<V> weights[] = {cubic_far(t + V(1)), cubic_near(t), cubic_near(rest),
                                 cubic_far(rest + V(1))};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const V place = padded(Sloped<V>{first + V(k - 1), V(0)}, axis).value;
      const V slope = weights[k].slope * at.slope;
      store_tap(found, k, i, place, weights[k].value, k < 2 ? slope : V(0) - slope, axis);
    }
    return;
  }
  const Sloped<V> inside = padded(at, axis);
  if (axis.interpolation == kernel::GridInterpolation::kNearest)
    return store_tap(found, 0, i, round_even(inside.value), V(1), V(0), axis);
  const V first = floor(inside.value);
  const V share = inside.value - first;
  store_tap(found, 0, i, first, V(1) - share, V(0) - inside.slope, axis);
  store_tap(found, 1, i, first + V(1), share, inside.slope, axis);
}

template <class T>
void grid_taps(const GridAxis<T>& axis, int64_t count, const T* x, GridAxisTaps<T>& found) {
  static_assert(kGridPoints % Vec<T>::kSize == 0);
  for (int64_t i = 0; i < count; i += Vec<T>::kSize)
    store_taps(axis, Vec<T>::load(x + i), i, found);
}

template <class T>
inline constexpr GridRows<T> kGridRows{grid_taps<T>};

}  // namespace tsr::cpu::TSR_ISA
