// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/resample_windows.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tsr::ops {
namespace {

// Keys (1981), "Cubic convolution interpolation for digital image processing": the weight of an
// element at a distance. The slope is -0.75 without antialiasing and -0.5 with it, as in PyTorch.
template <class T>
T cubic_weight(T distance, T slope) {
  const T x = std::abs(distance);
  if (x <= 1) return ((slope + 2) * x - (slope + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * slope - 4 * slope;
  return 0;
}

template <class T>
T triangle_weight(T distance) {
  return std::max(T{0}, 1 - std::abs(distance));
}

// Input positions per output position.
template <class T>
T step_of(const ResampledAxis& axis) {
  if (axis.align_corners)
    return axis.output > 1 ? static_cast<T>(axis.input - 1) / static_cast<T>(axis.output - 1)
                           : T{0};
  if (axis.factor > 0) return static_cast<T>(1 / axis.factor);
  return static_cast<T>(axis.input) / static_cast<T>(axis.output);
}

template <class T>
ResampleWindows<T> no_weights(const ResampledAxis& axis, int64_t taps) {
  ResampleWindows<T> made{axis.input, axis.output, std::min(taps, axis.input), {}, {}};
  made.begin.resize(static_cast<size_t>(axis.output));
  made.weights.resize(static_cast<size_t>(axis.output * made.taps));
  return made;
}

// Sets the window of an output to begin at `first`, or earlier, so that it fits into the input.
template <class T>
void set_begin(ResampleWindows<T>& made, int64_t o, int64_t first) {
  made.begin[static_cast<size_t>(o)] =
      static_cast<int32_t>(std::clamp<int64_t>(first, 0, made.input - made.taps));
}
template <class T>
void add_weight(ResampleWindows<T>& made, int64_t o, int64_t position, T weight) {
  const int64_t tap = position - made.begin[static_cast<size_t>(o)];
  made.weights[static_cast<size_t>(tap * made.output + o)] += weight;
}

template <class T>
ResampleWindows<T> nearest_windows(const ResampledAxis& axis) {
  ResampleWindows<T> made = no_weights<T>(axis, 1);
  made.weights.clear();
  const T step = step_of<T>(axis);
  const T centre = axis.mode == ResampleMode::kNearestExact ? static_cast<T>(0.5) : T{0};
  for (int64_t o = 0; o < axis.output; ++o)
    set_begin(made, o, static_cast<int64_t>(std::floor((static_cast<T>(o) + centre) * step)));
  return made;
}

// The position between the inputs that an output stands for.
template <class T>
T source_of(const ResampledAxis& axis, T step, int64_t o) {
  if (axis.align_corners) return step * static_cast<T>(o);
  const T half = static_cast<T>(0.5);
  return step * (static_cast<T>(o) + half) - half;
}

template <class T>
ResampleWindows<T> linear_windows(const ResampledAxis& axis) {
  ResampleWindows<T> made = no_weights<T>(axis, 2);
  const T step = step_of<T>(axis);
  const int64_t last = axis.input - 1;
  for (int64_t o = 0; o < axis.output; ++o) {
    const T source = std::max(T{0}, source_of(axis, step, o));
    const int64_t first = std::min(static_cast<int64_t>(source), last);
    const T share = std::min(T{1}, source - static_cast<T>(first));
    set_begin(made, o, first);
    add_weight(made, o, first, 1 - share);
    add_weight(made, o, std::min(first + 1, last), share);
  }
  return made;
}

template <class T>
ResampleWindows<T> cubic_windows(const ResampledAxis& axis) {
  ResampleWindows<T> made = no_weights<T>(axis, 4);
  const T step = step_of<T>(axis);
  for (int64_t o = 0; o < axis.output; ++o) {
    const T source = source_of(axis, step, o);
    const T floor = std::floor(source);
    const auto at = static_cast<int64_t>(floor);
    set_begin(made, o, at - 1);
    for (int64_t k = -1; k <= 2; ++k) {
      add_weight(made, o, std::clamp<int64_t>(at + k, 0, axis.input - 1),
                 cubic_weight(source - floor - static_cast<T>(k), static_cast<T>(-0.75)));
    }
  }
  return made;
}

// The mean over windows that cover the input evenly.
template <class T>
ResampleWindows<T> area_windows(const ResampledAxis& axis) {
  const auto begin = [&](int64_t o) { return o * axis.input / axis.output; };
  const auto end = [&](int64_t o) {
    return ((o + 1) * axis.input + axis.output - 1) / axis.output;
  };
  int64_t taps = 1;
  for (int64_t o = 0; o < axis.output; ++o) taps = std::max(taps, end(o) - begin(o));
  ResampleWindows<T> made = no_weights<T>(axis, taps);
  for (int64_t o = 0; o < axis.output; ++o) {
    set_begin(made, o, begin(o));
    for (int64_t i = begin(o); i < end(o); ++i)
      add_weight(made, o, i, 1 / static_cast<T>(end(o) - begin(o)));
  }
  return made;
}

// A filter as wide as an output is in the input, so that shrinking averages all elements. Weights
// are normalised; the windows are cut at the edges.
template <class T>
ResampleWindows<T> filtered_windows(const ResampledAxis& axis) {
  const bool cubic = axis.mode == ResampleMode::kCubicAntialias;
  const T step = step_of<T>(axis);
  const T half = static_cast<T>(0.5);
  const T width = std::max(T{1}, step);
  const T support = (cubic ? T{2} : T{1}) * width;
  ResampleWindows<T> made = no_weights<T>(axis, static_cast<int64_t>(std::ceil(support)) * 2 + 1);
  std::vector<T> weights;
  for (int64_t o = 0; o < axis.output; ++o) {
    const T centre = step * (static_cast<T>(o) + half);
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + half));
    const int64_t stop = std::min(axis.input, static_cast<int64_t>(centre + support + half));
    set_begin(made, o, first);
    weights.clear();
    T total = 0;
    for (int64_t i = first; i < std::min(stop, first + made.taps); ++i) {
      const T distance = (static_cast<T>(i) - centre + half) / width;
      weights.push_back(cubic ? cubic_weight(distance, -half) : triangle_weight(distance));
      total += weights.back();
    }
    for (size_t k = 0; k < weights.size(); ++k)
      add_weight(made, o, first + static_cast<int64_t>(k), total == 0 ? T{0} : weights[k] / total);
  }
  return made;
}

}  // namespace

template <class T>
ResampleWindows<T> resample_windows(const ResampledAxis& axis) {
  switch (axis.mode) {
    case ResampleMode::kLinear:
      return linear_windows<T>(axis);
    case ResampleMode::kCubic:
      return cubic_windows<T>(axis);
    case ResampleMode::kArea:
      return area_windows<T>(axis);
    case ResampleMode::kLinearAntialias:
    case ResampleMode::kCubicAntialias:
      return filtered_windows<T>(axis);
    default:
      return nearest_windows<T>(axis);
  }
}

template <class T>
ResampleWindows<T> transposed(const ResampleWindows<T>& windows) {
  const auto weight = [&](int64_t o, int64_t k) {
    return windows.weights.empty() ? T{1}
                                   : windows.weights[static_cast<size_t>(k * windows.output + o)];
  };
  // The outputs [low, high) that take a share of each input.
  std::vector<int64_t> low(static_cast<size_t>(windows.input), windows.output);
  std::vector<int64_t> high(static_cast<size_t>(windows.input), 0);
  for (int64_t o = 0; o < windows.output; ++o) {
    for (int64_t k = 0; k < windows.taps; ++k) {
      if (weight(o, k) == 0) continue;
      const auto i = static_cast<size_t>(windows.begin[static_cast<size_t>(o)] + k);
      low[i] = std::min(low[i], o);
      high[i] = o + 1;
    }
  }
  // Windows begin in order, also those of inputs that nobody takes.
  for (size_t i = low.size() - 1; i > 0; --i) low[i - 1] = std::min(low[i - 1], low[i]);
  int64_t taps = 1;
  for (size_t i = 0; i < low.size(); ++i) taps = std::max(taps, high[i] - low[i]);
  ResampleWindows<T> made =
      no_weights<T>({ResampleMode::kLinear, false, windows.output, windows.input, 0}, taps);
  for (int64_t i = 0; i < windows.input; ++i) set_begin(made, i, low[static_cast<size_t>(i)]);
  for (int64_t o = 0; o < windows.output; ++o) {
    for (int64_t k = 0; k < windows.taps; ++k) {
      if (weight(o, k) == 0) continue;
      add_weight(made, windows.begin[static_cast<size_t>(o)] + k, o, weight(o, k));
    }
  }
  return made;
}

template ResampleWindows<float> resample_windows(const ResampledAxis& axis);
template ResampleWindows<double> resample_windows(const ResampledAxis& axis);
template ResampleWindows<float> transposed(const ResampleWindows<float>& windows);
template ResampleWindows<double> transposed(const ResampleWindows<double>& windows);

}  // namespace tsr::ops
