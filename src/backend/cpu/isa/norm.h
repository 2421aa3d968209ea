// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation over one row: moments, their application and their derivatives.
#pragma once

#include <algorithm>
#include <cmath>

#include "backend/common/vec.h"
#include "backend/cpu/nn/norm_rows.h"

namespace tsr::cpu::TSR_ISA {

// Sums of this many numbers are formed in T and then added in double, so that the rounding error
// does not grow with the batch.
inline constexpr int64_t kSumBlock = 4096;
// The same for rows of channels-last data.
inline constexpr int64_t kRowBlock = 64;
inline constexpr int64_t kChannelTile = 256;

template <int kHalf, class T>
[[gnu::always_inline]] inline T lanes_added(Vec<T> a) {
  if constexpr (kHalf == 0)
    return first_lane(a);
  else
    return lanes_added<kHalf / 2>(a + rotate_lanes<kHalf>(a));
}

// Rows are often short, so the elements behind the last whole register are taken in one, too.
template <class T>
void moments(int64_t count, const T* x, T shift, double* sum, double* squares) {
  using V = Vec<T>;
  const V from(shift);
  for (int64_t start = 0; start < count; start += kSumBlock) {
    const int64_t stop = std::min(count, start + kSumBlock);
    V s[2] = {V(0), V(0)};  // two chains of additions
    V q[2] = {V(0), V(0)};
    const auto take = [&](int chain, V value) {
      const V d = value - from;
      s[chain] = s[chain] + d;
      q[chain] = fma(d, d, q[chain]);
    };
    int64_t i = start;
    for (; i + 2 * V::kSize <= stop; i += 2 * V::kSize) {
      take(0, V::load(x + i));
      take(1, V::load(x + i + V::kSize));
    }
    if (i + V::kSize <= stop) {
      take(0, V::load(x + i));
      i += V::kSize;
    }
    if (i < stop) take(1, V::load_part(x + i, stop - i, shift));
    *sum += static_cast<double>(lanes_added<V::kSize / 2>(s[0] + s[1]));
    *squares += static_cast<double>(lanes_added<V::kSize / 2>(q[0] + q[1]));
  }
}

template <class T>
void moments_backward(int64_t count, const T* g, const T* x, T mean, double* sum, double* dot) {
  using V = Vec<T>;
  const V center(mean);
  for (int64_t start = 0; start < count; start += kSumBlock) {
    const int64_t stop = std::min(count, start + kSumBlock);
    V s[2] = {V(0), V(0)};  // two chains of additions
    V q[2] = {V(0), V(0)};
    const auto take = [&](int chain, V slope, V value) {
      s[chain] = s[chain] + slope;
      q[chain] = fma(slope, value - center, q[chain]);
    };
    int64_t i = start;
    for (; i + 2 * V::kSize <= stop; i += 2 * V::kSize) {
      take(0, V::load(g + i), V::load(x + i));
      take(1, V::load(g + i + V::kSize), V::load(x + i + V::kSize));
    }
    if (i + V::kSize <= stop) {
      take(0, V::load(g + i), V::load(x + i));
      i += V::kSize;
    }
    if (i < stop) take(1, V::load_part(g + i, stop - i, T{0}), V::load_part(x + i, stop - i, mean));
    *sum += static_cast<double>(lanes_added<V::kSize / 2>(s[0] + s[1]));
    *dot += static_cast<double>(lanes_added<V::kSize / 2>(q[0] + q[1]));
  }
}

template <class T>
void moments_dual(int64_t count, const T* x, const T* t, T shift, DualSums* sums) {
  using V = Vec<T>;
  const V from(shift);
  for (int64_t start = 0; start < count; start += kSumBlock) {
    const int64_t stop = std::min(count, start + kSumBlock);
    V s[2] = {V(0), V(0)};  // two chains of additions, as in `moments`
    V q[2] = {V(0), V(0)};
    V st[2] = {V(0), V(0)};
    V qt[2] = {V(0), V(0)};
    const auto take = [&](int chain, V value, V tangent) {
      const V d = value - from;
      s[chain] = s[chain] + d;
      q[chain] = fma(d, d, q[chain]);
      st[chain] = st[chain] + tangent;
      qt[chain] = fma(tangent, d, qt[chain]);
    };
    int64_t i = start;
    for (; i + 2 * V::kSize <= stop; i += 2 * V::kSize) {
      take(0, V::load(x + i), V::load(t + i));
      take(1, V::load(x + i + V::kSize), V::load(t + i + V::kSize));
    }
    if (i + V::kSize <= stop) {
      take(0, V::load(x + i), V::load(t + i));
      i += V::kSize;
    }
    if (i < stop)
      take(1, V::load_part(x + i, stop - i, shift), V::load_part(t + i, stop - i, T{0}));
    const auto added = [](const V* chains) {
      return static_cast<double>(lanes_added<V::kSize / 2>(chains[0] + chains[1]));
    };
    sums->sum += added(s);
    sums->squares += added(q);
    sums->tangents += added(st);
    sums->dot += added(qt);
  }
}

template <class T>
void normalize(int64_t count, const T* x, T mean, T scale, T bias, T* y) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale + bias;
}

template <class T>
void normalize_backward(int64_t count, const T* g, const T* x, T mean, T a, T b, T c, T* dx) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) dx[i] = g[i] * a - (x[i] - mean) * b - c;
}

template <class T>
void normalize_dual(int64_t count, const T* x, const T* t, T mean, T scale, T bias, T b, T c, T* y,
                    T* dy) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T d = x[i] - mean;
    const T slope = t[i] * scale - d * b - c;
    y[i] = d * scale + bias;
    dy[i] = slope;
  }
}

// ---- channels last ----

// Adds the terms of each row into the arrays of doubles, tile by tile of channels:
// add(row, tile, width, sums) adds those of channels [tile, tile + width).
template <class T, int kSums, class Add>
inline void sum_channels(int64_t rows, int64_t channels, double* const (&totals)[kSums], Add add) {
  T sums[kSums][kChannelTile];
  for (int64_t tile = 0; tile < channels; tile += kChannelTile) {
    const int64_t width = std::min(kChannelTile, channels - tile);
    for (int64_t start = 0; start < rows; start += kRowBlock) {
      const int64_t stop = std::min(rows, start + kRowBlock);
      for (T* const sum : sums) std::fill_n(sum, width, T{0});
      for (int64_t r = start; r < stop; ++r) add(r, tile, width, sums);
      for (int k = 0; k < kSums; ++k)
        for (int64_t c = 0; c < width; ++c) totals[k][tile + c] += static_cast<double>(sums[k][c]);
    }
  }
}

template <class T>
void moments_channels(int64_t rows, int64_t channels, const T* x, const T* shift, double* sum,
                      double* squares) {
  double* const totals[] = {sum, squares};
  sum_channels<T>(rows, channels, totals,
                  [&](int64_t r, int64_t tile, int64_t width, T(*sums)[kChannelTile]) {
                    const T* row = x + r * channels + tile;
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) {
                      const T d = row[c] - shift[tile + c];
                      sums[0][c] += d;
                      sums[1][c] += d * d;
                    }
                  });
}

template <class T>
void moments_channels_backward(int64_t rows, int64_t channels, const T* g, const T* x,
                               const T* mean, double* sum, double* dot) {
  double* const totals[] = {sum, dot};
  sum_channels<T>(rows, channels, totals,
                  [&](int64_t r, int64_t tile, int64_t width, T(*sums)[kChannelTile]) {
                    const T* slope = g + r * channels + tile;
                    const T* row = x + r * channels + tile;
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) {
                      sums[0][c] += slope[c];
                      sums[1][c] += slope[c] * (row[c] - mean[tile + c]);
                    }
                  });
}

template <class T>
void moments_channels_dual(int64_t rows, int64_t channels, const T* x, const T* t, const T* shift,
                           double* sum, double* squares, double* tangents, double* dot) {
  double* const totals[] = {sum, squares, tangents, dot};
  sum_channels<T>(rows, channels, totals,
                  [&](int64_t r, int64_t tile, int64_t width, T(*sums)[kChannelTile]) {
                    const T* row = x + r * channels + tile;
                    const T* tangent = t + r * channels + tile;
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) {
                      const T d = row[c] - shift[tile + c];
                      sums[0][c] += d;
                      sums[1][c] += d * d;
                      sums[2][c] += tangent[c];
                      sums[3][c] += tangent[c] * d;
                    }
                  });
}

template <class T>
void normalize_channels(int64_t rows, int64_t channels, const T* x, const T* mean, const T* scale,
                        const T* bias, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += channels, y += channels) {
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) y[c] = (x[c] - mean[c]) * scale[c] + bias[c];
  }
}

template <class T>
void normalize_channels_backward(int64_t rows, int64_t channels, const T* g, const T* x,
                                 const T* mean, const T* a, const T* b, const T* c, T* dx) {
  for (int64_t r = 0; r < rows; ++r, g += channels, x += channels, dx += channels) {
#pragma omp simd
    for (int64_t k = 0; k < channels; ++k) {
      dx[k] = g[k] * a[k] - (x[k] - mean[k]) * b[k] - c[k];
    }
  }
}

template <class T>
void normalize_channels_dual(int64_t rows, int64_t channels, const T* x, const T* t, const T* mean,
                             const T* scale, const T* bias, const T* b, const T* c, T* y, T* dy) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * channels;
#pragma omp simd
    for (int64_t k = 0; k < channels; ++k) {
      const T d = x[at + k] - mean[k];
      const T slope = t[at + k] * scale[k] - d * b[k] - c[k];
      y[at + k] = d * scale[k] + bias[k];
      dy[at + k] = slope;
    }
  }
}

// ---- layer normalisation ----

// The sum of the squares of a row.
template <class T>
[[gnu::always_inline]] inline double square_sum(int64_t count, const T* x) {
  using V = Vec<T>;
  double total = 0;
  for (int64_t start = 0; start < count; start += kSumBlock) {
    const int64_t stop = std::min(count, start + kSumBlock);
    V q[4] = {V(0), V(0), V(0), V(0)};  // four chains of additions
    int64_t i = start;
    for (; i + 4 * V::kSize <= stop; i += 4 * V::kSize) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const V value = V::load(x + i + k * V::kSize);
        q[k] = fma(value, value, q[k]);
      }
    }
    for (; i + V::kSize <= stop; i += V::kSize) {
      const V value = V::load(x + i);
      q[0] = fma(value, value, q[0]);
    }
    if (i < stop) {
      const V value = V::load_part(x + i, stop - i, T{0});
      q[1] = fma(value, value, q[1]);
    }
    total += static_cast<double>(lanes_added<V::kSize / 2>((q[0] + q[1]) + (q[2] + q[3])));
  }
  return total;
}

// y = (x - center) scale weight + bias of a row; weight and bias may be null.
template <class T>
[[gnu::always_inline]] inline void write_normalized(int64_t count, const T* x, T center, T scale,
                                                    const T* weight, const T* bias, T* y) {
  using V = Vec<T>;
  const V middle(center);
  const V factor(scale);
  const auto some = [count](const T* from, int64_t i) {
    const int64_t rest = count - i;
    return rest >= V::kSize ? V::load(from + i) : V::load_part(from + i, rest, T{0});
  };
  for (int64_t i = 0; i < count; i += V::kSize) {
    V hat = (some(x, i) - middle) * factor;
    if (weight != nullptr) hat = hat * some(weight, i);
    if (bias != nullptr) hat = hat + some(bias, i);
    if (count - i >= V::kSize)
      hat.store(y + i);
    else
      hat.store_part(y + i, count - i);
  }
}

template <class T>
void layer_norm(int64_t count, const T* x, const T* weight, const T* bias, double eps, T* mean,
                T* rstd, T* y) {
  double sum = 0;
  double squares = 0;
  const double n = static_cast<double>(count);
  T center = 0;
  double off = 0;
  if (mean == nullptr) {
    squares = square_sum(count, x);
  } else {
    // Two passes: the row is in the cache, and deviations from the mean do not cancel.
    moments(count, x, T{0}, &sum, &squares);
    center = static_cast<T>(sum / n);
    sum = 0;
    squares = 0;
    moments(count, x, center, &sum, &squares);
    off = sum / n;
    *mean = center;
  }
  const T scale = static_cast<T>(1 / std::sqrt(squares / n - off * off + eps));
  *rstd = scale;
  write_normalized(count, x, center, scale, weight, bias, y);
}

// What a row's tangent needs of the row: with d = x - center and h = d scale, the tangent of h is
// t scale - d b - c.
template <class T>
struct RowSlope {
  T center, scale, b, c;
};

// As write_normalized, and with the tangent of y = h weight + bias.
template <class T>
[[gnu::always_inline]] inline void write_dual(int64_t count, const T* x, const RowSlope<T>& slope,
                                              const T* weight, const T* bias, T* y,
                                              const RowTangent<T>& tangent) {
  using V = Vec<T>;
  const V middle(slope.center);
  const V factor(slope.scale);
  const V of_deviation(slope.b);
  const V constant(slope.c);
  const auto write = [&](int64_t i, const auto& load, const auto& store) {
    const V d = load(x + i) - middle;
    V hat = d * factor;
    V moved = load(tangent.input + i) * factor - d * of_deviation - constant;
    if (weight != nullptr) moved = moved * load(weight + i);
    if (tangent.weight != nullptr) moved = moved + hat * load(tangent.weight + i);
    if (tangent.bias != nullptr) moved = moved + load(tangent.bias + i);
    if (weight != nullptr) hat = hat * load(weight + i);
    if (bias != nullptr) hat = hat + load(bias + i);
    store(hat, y + i);
    store(moved, tangent.output + i);
  };
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize)
    write(
        i, [](const T* from) { return V::load(from); }, [](V v, T* to) { v.store(to); });
  const int64_t rest = count - i;
  if (rest == 0) return;
  write(
      i, [rest](const T* from) { return V::load_part(from, rest, T{0}); },
      [rest](V v, T* to) { v.store_part(to, rest); });
}

template <class T>
void layer_norm_dual(int64_t count, const T* x, const T* weight, const T* bias, double eps, T* mean,
                     T* rstd, T* y, const RowTangent<T>& tangent) {
  const double n = static_cast<double>(count);
  DualSums sums{};
  T center = 0;
  double off = 0;
  // The sums of x are formed as in layer_norm, so that the value is the same.
  if (mean == nullptr) {
    sums.squares = square_sum(count, x);
    moments_backward(count, tangent.input, x, T{0}, &sums.tangents, &sums.dot);
  } else {
    double sum = 0;
    double squares = 0;
    moments(count, x, T{0}, &sum, &squares);
    center = static_cast<T>(sum / n);
    moments_dual(count, x, tangent.input, center, &sums);
    off = sums.sum / n;
    *mean = center;
  }
  const T scale = static_cast<T>(1 / std::sqrt(sums.squares / n - off * off + eps));
  *rstd = scale;
  const double r = static_cast<double>(scale);
  const double dot = sums.dot - off * sums.tangents;
  const RowSlope<T> slope{center, scale, static_cast<T>(r * r * r * dot / n),
                          mean == nullptr ? T{0} : static_cast<T>(r * sums.tangents / n)};
  write_dual(count, x, slope, weight, bias, y, tangent);
}

template <class T>
void rms_norm(int64_t rows, int64_t count, const T* x, const T* weight, const T* bias, double eps,
              T* rstd, T* y) {
  double squares[kRootsTogether] = {};
  for (int64_t r = 0; r < rows; ++r) squares[r] = square_sum(count, x + r * count);
  const double n = static_cast<double>(count);
  T scales[kRootsTogether];
#pragma omp simd
  for (int64_t r = 0; r < kRootsTogether; ++r)
    scales[r] = static_cast<T>(1 / std::sqrt(squares[r] / n + eps));
  for (int64_t r = 0; r < rows; ++r) {
    rstd[r] = scales[r];
    write_normalized(count, x + r * count, T{0}, scales[r], weight, bias, y + r * count);
  }
}

template <class T>
void layer_norm_backward(int64_t count, const T* g, const T* x, const T* weight, const T* center,
                         T rstd, T* dx, T* weight_sum, T* bias_sum) {
  const T mean = center == nullptr ? T{0} : *center;
  if (weight_sum != nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) weight_sum[i] += g[i] * ((x[i] - mean) * rstd);
  }
  if (bias_sum != nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) bias_sum[i] += g[i];
  }
  if (dx == nullptr) return;
  double sum = 0;
  double dot = 0;
  if (weight == nullptr) moments_backward(count, g, x, mean, &sum, &dot);
  for (int64_t start = 0; weight != nullptr && start < count; start += kSumBlock) {
    const int64_t stop = std::min(count, start + kSumBlock);
    T s = 0;
    T q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = start; i < stop; ++i) {
      const T slope = g[i] * weight[i];
      s += slope;
      q += slope * (x[i] - mean);
    }
    sum += static_cast<double>(s);
    dot += static_cast<double>(q);
  }
  const double n = static_cast<double>(count);
  const double r = static_cast<double>(rstd);
  const T a = rstd;
  const T b = static_cast<T>(r * r * r * dot / n);
  const T c = center == nullptr ? T{0} : static_cast<T>(r * sum / n);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    dx[i] = g[i] * (weight == nullptr ? T{1} : weight[i]) * a - (x[i] - mean) * b - c;
  }
}

template <class T>
inline constexpr NormRows<T> kNormRows{
    .moments = moments<T>,
    .moments_backward = moments_backward<T>,
    .normalize = normalize<T>,
    .normalize_backward = normalize_backward<T>,
    .moments_dual = moments_dual<T>,
    .normalize_dual = normalize_dual<T>,
    .moments_channels = moments_channels<T>,
    .moments_channels_backward = moments_channels_backward<T>,
    .normalize_channels = normalize_channels<T>,
    .normalize_channels_backward = normalize_channels_backward<T>,
    .moments_channels_dual = moments_channels_dual<T>,
    .normalize_channels_dual = normalize_channels_dual<T>,
    .layer_norm = layer_norm<T>,
    .layer_norm_dual = layer_norm_dual<T>,
    .rms_norm = rms_norm<T>,
    .layer_norm_backward = layer_norm_backward<T>,
};

}  // namespace tsr::cpu::TSR_ISA
