// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The row of grid_sample's taps; T is float or double.
#pragma once

#include <cstdint>

#include "kernel/resample.h"

namespace tsr::cpu {

inline constexpr int64_t kGridPoints = 128;  // at a time; whole registers at every level
inline constexpr int kMostGridTaps = 4;

// One axis of the image, whose positions are elements.
template <class T>
struct GridAxis {
  kernel::GridInterpolation interpolation;
  kernel::GridPadding padding;
  bool align_corners;
  T size;
  T half;             // of the distance of the first and the last element
  T last;             // kernel::last_place
  T low, high, span;  // the edges, or with align_corners the centres, where positions are reflected
};

// Of one axis and kGridPoints points, for each tap: the element, -1 outside of the image; the
// weight; the derivative of the weight by the coordinate.
template <class T>
struct GridAxisTaps {
  T places[kMostGridTaps][kGridPoints];
  T weights[kMostGridTaps][kGridPoints];
  T slopes[kMostGridTaps][kGridPoints];
};

template <class T>
struct GridRows {
  // The taps of the first `count` of kGridPoints coordinates; also those behind them may be read
  // and written.
  void (*taps)(const GridAxis<T>& axis, int64_t count, const T* x, GridAxisTaps<T>& found);
};

}  // namespace tsr::cpu
