// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling of one plane (row-major) or one image (channels last).
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/nn/pool_rows.h"

namespace tsr::cpu::TSR_ISA {

// Calls fn(offset of the input row) for every input row that the output row (d, h) covers.
template <class Fn>
inline void each_input_row(const PoolShape& shape, int64_t d, int64_t h, Fn fn) {
  const PoolAxis& depth = shape.axes[0];
  const PoolAxis& height = shape.axes[1];
  const PoolAxis& width = shape.axes[2];
  for (int64_t i = depth.begin[d]; i < depth.end[d]; i += depth.dilation) {
    for (int64_t j = height.begin[h]; j < height.end[h]; j += height.dilation) {
      fn((i * height.input + j) * width.input);
    }
  }
}

// The length of the windows of an axis if they cover it one behind the other; 0: they do not.
inline int64_t tile_of(const PoolAxis& axis) {
  if (axis.dilation != 1 || axis.output < 1 || axis.input % axis.output != 0) return 0;
  const int64_t length = axis.input / axis.output;
  for (int64_t o = 0; o < axis.output; ++o) {
    if (axis.begin[o] != o * length || axis.end[o] != (o + 1) * length) return 0;
  }
  return length;
}

// Tiles from this width on are folded by columns: first the rows of a window into one, which are
// whole registers, then the numbers of that one. Steps of smaller windows are short enough to be
// lanes.
inline constexpr int64_t kShortestTile = 4;

// ---- maximum ----

// A position type as wide as the numbers, so that one mask selects both.
template <class T>
using Position = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

inline constexpr int64_t kPoolTile = 256;

template <class T, class Index>
struct Best {
  T value[kPoolTile];
  Index position[kPoolTile];

  // A larger number or a NaN becomes the maximum.
  [[gnu::always_inline]] void offer(int64_t i, T candidate, Index at) {
    const bool wins = candidate > value[i] || candidate != candidate;
    value[i] = wins ? candidate : value[i];
    position[i] = wins ? at : position[i];
  }
  [[gnu::always_inline]] void start(int64_t i, Index at) { position[i] = at; }
  // Column `from` of the same rows joins column `to`, as if their elements had come in order: of
  // equal numbers the first one stays, of NaNs the last.
  void join(int64_t to, int64_t from) {
    const T candidate = value[from];
    const bool before = position[from] < position[to];
    const bool wins = candidate != candidate
                          ? value[to] == value[to] || !before
                          : candidate > value[to] || (candidate == value[to] && before);
    if (!wins) return;
    value[to] = candidate;
    position[to] = position[from];
  }
  // Column `from` takes the place of column `to`.
  void move(int64_t to, int64_t from) {
    value[to] = value[from];
    position[to] = position[from];
  }
  void keep(int64_t count, T* out, int64_t* positions) const {
    std::copy_n(value, count, out);
    for (int64_t i = 0; i < count; ++i) positions[i] = static_cast<int64_t>(position[i]);
  }
};

// Where nobody asks for the positions.
struct NoPosition {
  explicit NoPosition(int64_t) {}
};
template <class T>
struct Best<T, NoPosition> {
  T value[kPoolTile];

  [[gnu::always_inline]] void offer(int64_t i, T candidate, NoPosition) {
    const bool wins = candidate > value[i] || candidate != candidate;
    value[i] = wins ? candidate : value[i];
  }
  [[gnu::always_inline]] void start(int64_t, NoPosition) {}
  void join(int64_t to, int64_t from) { offer(to, value[from], NoPosition(0)); }
  void move(int64_t to, int64_t from) { value[to] = value[from]; }
  void keep(int64_t count, T* out, int64_t*) const { std::copy_n(value, count, out); }
};

// base + step, added in the type of the positions.
template <class Index>
[[gnu::always_inline]] inline Index place_of(int64_t base, int64_t step) {
  if constexpr (std::is_same_v<Index, NoPosition>)
    return NoPosition(0);
  else
    return static_cast<Index>(static_cast<Index>(base) + static_cast<Index>(step));
}

// Outputs [from, to) of a row whose windows are inside the input. kStride 0: the stride of the
// axis.
template <int64_t kStride, class T, class Index>
inline void max_inside(const PoolAxis& width, const T* row, int64_t offset, int64_t first,
                       int64_t from, int64_t to, Best<T, Index>& best) {
  const int64_t stride = kStride == 0 ? width.stride : kStride;
  for (int64_t k = 0; k < width.kernel; ++k) {
    const int64_t start = from * stride - width.padding + k * width.dilation;
    const T* source = row + start;
#pragma omp simd
    for (int64_t i = 0; i < to - from; ++i) {
      best.offer(from - first + i, source[i * stride], place_of<Index>(offset + start, i * stride));
    }
  }
}

// The maximum of at least a register of numbers; false if one of them is a NaN.
template <class T>
inline bool max_of_run(const T* numbers, int64_t count, T& most) {
  using V = Vec<T>;
  NanSeen nan;
  V first(-std::numeric_limits<T>::infinity());
  V second = first;
  const auto take = [&](const T* one, const T* two) {
    const V a = V::load(one);
    const V b = V::load(two);
    nan.look(a, b);
    first = greater_of(first, a);
    second = greater_of(second, b);
  };
  int64_t i = 0;
  for (; i + 2 * V::kSize <= count; i += 2 * V::kSize) take(numbers + i, numbers + i + V::kSize);
  if (i < count) {  // some numbers a second time
    const T* last = numbers + count - V::kSize;
    take(std::min(numbers + i, last), last);
  }
  most = largest_lane(greater_of(first, second));
  return !nan.any_seen();
}

// Windows longer than this are vectorised along the window.
inline constexpr int64_t kLongWindow = 16;
static_assert(kLongWindow >= Vec<float>::kSize);

template <class T, class Index>
inline void max_edge(const PoolAxis& width, const T* row, int64_t offset, int64_t first, int64_t o,
                     Best<T, Index>& best) {
  const int64_t begin = width.begin[o];
  const int64_t end = width.end[o];
  T most;
  if (width.dilation == 1 && end - begin > kLongWindow &&
      max_of_run(row + begin, end - begin, most)) {
    int64_t at = begin;
    if (!std::is_same_v<Index, NoPosition> || most == 0) {  // a zero has its own sign
      while (at + Vec<T>::kSize <= end && !any(Vec<T>::load(row + at) == Vec<T>(most)))
        at += Vec<T>::kSize;
      while (row[at] != most) ++at;
      most = row[at];
    }
    best.offer(o - first, most, static_cast<Index>(offset + at));
    return;
  }
  for (int64_t i = begin; i < end; i += width.dilation) {
    best.offer(o - first, row[i], static_cast<Index>(offset + i));
  }
}

// The offset of the first row of a window in the plane; -1 if all its rows are padding.
inline int64_t max_corner(const PoolShape& shape, int64_t d, int64_t h) {
  const PoolAxis& depth = shape.axes[0];
  const PoolAxis& height = shape.axes[1];
  if (depth.begin[d] >= depth.end[d] || height.begin[h] >= height.end[h]) return -1;
  return (depth.begin[d] * height.input + height.begin[h]) * shape.axes[2].input;
}

// The position of the maximum before any element is seen.
template <class Index>
Index max_start(const PoolAxis& width, int64_t corner, int64_t o) {
  const bool none = corner < 0 || width.begin[o] >= width.end[o];
  return static_cast<Index>(none ? -1 : corner + width.begin[o]);
}

// A row of windows that tile its axis.
template <class T, class Index>
inline void max_tiles(const PoolShape& shape, int64_t tile, int64_t d, int64_t h, const T* in,
                      T* out, int64_t* positions) {
  const PoolAxis& width = shape.axes[2];
  const int64_t corner = max_corner(shape, d, h);
  const int64_t together = kPoolTile / tile;
  Best<T, Index> best;
  for (int64_t first = 0; first < width.output; first += together) {
    const int64_t outputs = std::min(together, width.output - first);
    const int64_t columns = outputs * tile;
    for (int64_t c = 0; c < columns; ++c) {
      best.value[c] = -std::numeric_limits<T>::infinity();
      best.start(c, static_cast<Index>(corner < 0 ? -1 : corner + first * tile + c));
    }
    each_input_row(shape, d, h, [&](int64_t offset) {
      const T* row = in + offset + first * tile;
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c)
        best.offer(c, row[c], place_of<Index>(offset + first * tile, c));
    });
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t k = 1; k < tile; ++k) best.join(o * tile, o * tile + k);
      best.move(o, o * tile);
    }
    best.keep(outputs, out + first, positions == nullptr ? nullptr : positions + first);
  }
}

template <class T, class Index>
inline void max_row(const PoolShape& shape, int64_t d, int64_t h, const T* in, T* out,
                    int64_t* positions) {
  const PoolAxis& width = shape.axes[2];
  const int64_t corner = max_corner(shape, d, h);
  Best<T, Index> best;
  for (int64_t first = 0; first < width.output; first += kPoolTile) {
    const int64_t last = std::min(width.output, first + kPoolTile);
    for (int64_t o = first; o < last; ++o) {
      best.value[o - first] = -std::numeric_limits<T>::infinity();
      best.start(o - first, max_start<Index>(width, corner, o));
    }
    const int64_t from = std::clamp(width.inner_begin, first, last);
    const int64_t to = std::clamp(width.inner_end, from, last);
    each_input_row(shape, d, h, [&](int64_t offset) {
      const T* row = in + offset;
      for (int64_t o = first; o < from; ++o) max_edge(width, row, offset, first, o, best);
      if (width.stride == 1)
        max_inside<1>(width, row, offset, first, from, to, best);
      else if (width.stride == 2)
        max_inside<2>(width, row, offset, first, from, to, best);
      else
        max_inside<0>(width, row, offset, first, from, to, best);
      for (int64_t o = to; o < last; ++o) max_edge(width, row, offset, first, o, best);
    });
    best.keep(last - first, out + first, positions == nullptr ? nullptr : positions + first);
  }
}

template <class T, class Index>
inline void max_row_channels(const PoolShape& shape, int64_t d, int64_t h, const T* in, T* out,
                             int64_t* positions) {
  const PoolAxis& width = shape.axes[2];
  const int64_t corner = max_corner(shape, d, h);
  Best<T, Index> best;
  for (int64_t o = 0; o < width.output; ++o) {
    for (int64_t tile = 0; tile < shape.channels; tile += kPoolTile) {
      const int64_t count = std::min(kPoolTile, shape.channels - tile);
      std::fill_n(best.value, count, -std::numeric_limits<T>::infinity());
      for (int64_t i = 0; i < count; ++i) best.start(i, max_start<Index>(width, corner, o));
      each_input_row(shape, d, h, [&](int64_t offset) {
        for (int64_t i = width.begin[o]; i < width.end[o]; i += width.dilation) {
          const T* source = in + (offset + i) * shape.channels + tile;
          const auto at = static_cast<Index>(offset + i);
#pragma omp simd
          for (int64_t c = 0; c < count; ++c) best.offer(c, source[c], at);
        }
      });
      const int64_t place = o * shape.channels + tile;
      best.keep(count, out + place, positions == nullptr ? nullptr : positions + place);
    }
  }
}

template <class T, class Index>
inline void max_rows(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out,
                     int64_t* positions) {
  const int64_t height = shape.axes[1].output;
  const int64_t row = shape.axes[2].output * shape.channels;
  const int64_t tile = shape.channels == 1 ? tile_of(shape.axes[2]) : 0;
  const bool by_columns = tile >= kShortestTile && tile <= kPoolTile;
  for (int64_t r = begin; r < end; ++r) {
    int64_t* places = positions == nullptr ? nullptr : positions + r * row;
    if (by_columns) {
      max_tiles<T, Index>(shape, tile, r / height, r % height, in, out + r * row, places);
    } else if (shape.channels == 1) {
      max_row<T, Index>(shape, r / height, r % height, in, out + r * row, places);
    } else {
      max_row_channels<T, Index>(shape, r / height, r % height, in, out + r * row, places);
    }
  }
}

template <class T>
void max_pool(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out,
              int64_t* positions) {
  const int64_t plane = shape.axes[0].input * shape.axes[1].input * shape.axes[2].input;
  if (positions == nullptr) {
    max_rows<T, NoPosition>(shape, begin, end, in, out, positions);
  } else if (plane <= std::numeric_limits<int32_t>::max()) {
    max_rows<T, Position<T>>(shape, begin, end, in, out, positions);
  } else {
    max_rows<T, int64_t>(shape, begin, end, in, out, positions);
  }
}

// ---- average ----

inline double window_divisor(const PoolShape& shape, int64_t d, int64_t h, int64_t w) {
  if (shape.divisor != 0) return shape.divisor;
  return static_cast<double>(shape.axes[0].span[d] * shape.axes[1].span[h] * shape.axes[2].span[w]);
}

template <class T>
inline T window_sum(const PoolShape& shape, int64_t d, int64_t h, int64_t w, const T* in) {
  const int64_t first = shape.axes[2].begin[w];
  const int64_t count = shape.axes[2].end[w] - first;
  double total = 0;
  each_input_row(shape, d, h, [&](int64_t offset) {
    const T* row = in + offset + first;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) sum += row[i];
    total += static_cast<double>(sum);
  });
  return static_cast<T>(total / window_divisor(shape, d, h, w));
}

// Outputs [from, to) of a row whose windows are inside the input, one per lane: adds to totals the
// sum of every window's numbers in one input row. kStride 0: the stride of the axis.
template <int64_t kStride, class T>
inline void add_inside(const PoolAxis& width, const T* row, int64_t from, int64_t to,
                       double* totals) {
  const int64_t stride = kStride == 0 ? width.stride : kStride;
  const T* first = row + from * stride - width.padding;
  T sums[kPoolTile];
  std::fill_n(sums, to - from, T{0});
  for (int64_t k = 0; k < width.kernel; ++k) {
#pragma omp simd
    for (int64_t i = 0; i < to - from; ++i) sums[i] += first[i * stride + k];
  }
#pragma omp simd
  for (int64_t i = 0; i < to - from; ++i) totals[i] += static_cast<double>(sums[i]);
}

template <class T>
inline void average_inside(const PoolShape& shape, int64_t d, int64_t h, int64_t from, int64_t to,
                           const T* in, T* out) {
  const PoolAxis& width = shape.axes[2];
  const double divisor = window_divisor(shape, d, h, from);  // the same for all of them
  double totals[kPoolTile];
  for (int64_t first = from; first < to; first += kPoolTile) {
    const int64_t last = std::min(to, first + kPoolTile);
    std::fill_n(totals, last - first, 0.0);
    each_input_row(shape, d, h, [&](int64_t offset) {
      if (width.stride == 1)
        add_inside<1>(width, in + offset, first, last, totals);
      else if (width.stride == 2)
        add_inside<2>(width, in + offset, first, last, totals);
      else
        add_inside<0>(width, in + offset, first, last, totals);
    });
#pragma omp simd
    for (int64_t i = 0; i < last - first; ++i) out[first + i] = static_cast<T>(totals[i] / divisor);
  }
}

template <class T>
inline void window_sum_channels(const PoolShape& shape, int64_t d, int64_t h, int64_t w,
                                const T* in, T* out) {
  const PoolAxis& width = shape.axes[2];
  const int64_t channels = shape.channels;
  std::fill_n(out, channels, T{0});
  each_input_row(shape, d, h, [&](int64_t offset) {
    for (int64_t i = width.begin[w]; i < width.end[w]; ++i) {
      const T* source = in + (offset + i) * channels;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) out[c] += source[c];
    }
  });
  const T divisor = static_cast<T>(window_divisor(shape, d, h, w));
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) out[c] /= divisor;
}

// A row of windows that tile its axis.
template <class T>
inline void average_tiles(const PoolShape& shape, int64_t tile, int64_t d, int64_t h, const T* in,
                          T* out) {
  const PoolAxis& width = shape.axes[2];
  const int64_t together = kPoolTile / tile;
  T sums[kPoolTile];
  double totals[kPoolTile];
  for (int64_t first = 0; first < width.output; first += together) {
    const int64_t outputs = std::min(together, width.output - first);
    const int64_t columns = outputs * tile;
    std::fill_n(sums, columns, T{0});
    each_input_row(shape, d, h, [&](int64_t offset) {
      const T* row = in + offset + first * tile;
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) sums[c] += row[c];
    });
    std::fill_n(totals, outputs, 0.0);
    for (int64_t k = 0; k < tile; ++k) {
      for (int64_t o = 0; o < outputs; ++o) totals[o] += static_cast<double>(sums[o * tile + k]);
    }
    for (int64_t o = 0; o < outputs; ++o)
      out[first + o] = static_cast<T>(totals[o] / window_divisor(shape, d, h, first + o));
  }
}

// The rows of the largest window.
inline int64_t most_rows(const PoolShape& shape) {
  int64_t most = 1;
  for (int i = 0; i < 2; ++i) {
    int64_t longest = 0;
    for (int64_t o = 0; o < shape.axes[i].output; ++o)
      longest = std::max(longest, shape.axes[i].end[o] - shape.axes[i].begin[o]);
    most *= longest;
  }
  return most;
}

// Columns of so many rows are added up in T.
inline constexpr int64_t kMostSummed = 64;

template <class T>
void average_pool(const PoolShape& shape, int64_t begin, int64_t end, const T* in, T* out) {
  const int64_t height = shape.axes[1].output;
  const PoolAxis& axis = shape.axes[2];
  const int64_t width = axis.output;
  // Long windows are vectorised along the window instead.
  const bool lanes = shape.channels == 1 && axis.kernel <= kLongWindow;
  const int64_t from = lanes ? axis.inner_begin : width;
  const int64_t to = lanes ? axis.inner_end : width;
  const int64_t tile = shape.channels == 1 ? tile_of(axis) : 0;
  const bool by_columns =
      tile >= kShortestTile && tile <= kPoolTile && most_rows(shape) <= kMostSummed;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t d = r / height;
    const int64_t h = r % height;
    T* row = out + r * width * shape.channels;
    if (by_columns) {
      average_tiles(shape, tile, d, h, in, row);
      continue;
    }
    if (shape.channels != 1) {
      for (int64_t w = 0; w < width; ++w)
        window_sum_channels(shape, d, h, w, in, row + w * shape.channels);
      continue;
    }
    for (int64_t w = 0; w < from; ++w) row[w] = window_sum(shape, d, h, w, in);
    if (from < to) average_inside(shape, d, h, from, to, in, row);
    for (int64_t w = to; w < width; ++w) row[w] = window_sum(shape, d, h, w, in);
  }
}

// Adds the share of output (d, h, w) in its slopes to the inputs that it covers.
template <class T>
inline void spread(const PoolShape& shape, int64_t d, int64_t h, int64_t w, const T* slope, T* dx) {
  const PoolAxis& width = shape.axes[2];
  const int64_t channels = shape.channels;
  const T share = static_cast<T>(1 / window_divisor(shape, d, h, w));
  const int64_t first = width.begin[w] * channels;
  const int64_t last = width.end[w] * channels;
  each_input_row(shape, d, h, [&](int64_t offset) {
    T* row = dx + offset * channels;
    if (channels == 1) {
      const T part = *slope * share;
#pragma omp simd
      for (int64_t i = first; i < last; ++i) row[i] += part;
    } else {
      for (int64_t i = first; i < last; i += channels) {
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) row[i + c] += slope[c] * share;
      }
    }
  });
}

// The same for outputs [from, to) of a row whose windows are inside the input, one per lane: the
// lanes of a step write different inputs. kStride 0: the stride of the axis.
template <int64_t kStride, class T>
inline void spread_inside(const PoolAxis& width, const T* parts, int64_t from, int64_t count,
                          T* row) {
  const int64_t stride = kStride == 0 ? width.stride : kStride;
  T* first = row + from * stride - width.padding;
  for (int64_t k = 0; k < width.kernel; ++k) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) first[i * stride + k] += parts[i];
  }
}

template <class T>
inline void spread_row(const PoolShape& shape, int64_t d, int64_t h, const T* slopes, T* dx) {
  const PoolAxis& width = shape.axes[2];
  const T share = static_cast<T>(1 / window_divisor(shape, d, h, width.inner_begin));
  T parts[kPoolTile];
  for (int64_t from = width.inner_begin; from < width.inner_end; from += kPoolTile) {
    const int64_t count = std::min(kPoolTile, width.inner_end - from);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) parts[i] = slopes[from + i] * share;
    each_input_row(shape, d, h, [&](int64_t offset) {
      if (width.stride == 1)
        spread_inside<1>(width, parts, from, count, dx + offset);
      else if (width.stride == 2)
        spread_inside<2>(width, parts, from, count, dx + offset);
      else
        spread_inside<0>(width, parts, from, count, dx + offset);
    });
  }
}

// Where the windows tile the plane, an input has the share of one output: a row of them is written
// out and copied to all rows of the window.
template <class T>
inline void spread_tiles(const PoolShape& shape, int64_t tile, int64_t d, int64_t h,
                         const T* slopes, T* dx) {
  const PoolAxis& width = shape.axes[2];
  const int64_t together = std::max<int64_t>(1, kPoolTile / tile);
  T parts[kPoolTile];
  for (int64_t first = 0; first < width.output; first += together) {
    const int64_t outputs = std::min(together, width.output - first);
    for (int64_t o = 0; o < outputs; ++o) {
      const T share = static_cast<T>(1 / window_divisor(shape, d, h, first + o));
      std::fill_n(parts + o * tile, tile, slopes[first + o] * share);
    }
    each_input_row(shape, d, h, [&](int64_t offset) {
      std::copy_n(parts, outputs * tile, dx + offset + first * tile);
    });
  }
}

template <class T>
void average_pool_backward(const PoolShape& shape, const T* g, T* dx) {
  const PoolAxis& height = shape.axes[1];
  const PoolAxis& width = shape.axes[2];
  const int64_t channels = shape.channels;
  const int64_t tile = channels == 1 ? tile_of(width) : 0;
  if (tile >= 1 && tile <= kPoolTile && tile_of(height) > 0 && tile_of(shape.axes[0]) > 0) {
    for (int64_t r = 0; r < shape.axes[0].output * height.output; ++r)
      spread_tiles(shape, tile, r / height.output, r % height.output, g + r * width.output, dx);
    return;
  }
  std::fill_n(dx, shape.axes[0].input * height.input * width.input * channels, T{0});
  // As forward: long windows are vectorised along the window.
  const bool lanes = channels == 1 && width.kernel <= kLongWindow;
  const int64_t from = lanes ? width.inner_begin : width.output;
  const int64_t to = lanes ? width.inner_end : width.output;
  for (int64_t r = 0; r < shape.axes[0].output * height.output; ++r) {
    const int64_t d = r / height.output;
    const int64_t h = r % height.output;
    const T* slopes = g + r * width.output * channels;
    for (int64_t w = 0; w < from; ++w) spread(shape, d, h, w, slopes + w * channels, dx);
    if (from < to) spread_row(shape, d, h, slopes, dx);
    for (int64_t w = to; w < width.output; ++w) spread(shape, d, h, w, slopes + w * channels, dx);
  }
}

template <class T>
inline constexpr PoolRows<T> kPoolRows{
    .maximum = max_pool<T>,
    .average = average_pool<T>,
    .average_backward = average_pool_backward<T>,
};

}  // namespace tsr::cpu::TSR_ISA
