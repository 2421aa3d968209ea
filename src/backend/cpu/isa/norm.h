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
void normalize(int64_t count, const T* x, T mean, T scale, T bias, T* y) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale + bias;
}

template <class T>
void normalize_backward(int64_t count, const T* g, const T* x, T mean, T a, T b, T c, T* dx) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) dx[i] = g[i] * a - (x[i] - mean) * b - c;
}

// ---- channels last ----

// Adds row(c, r) pairs over the rows into the two arrays of doubles, tile by tile of channels.
template <class T, class Pair>
inline void sum_channels(int64_t rows, int64_t channels, double* first, double* second, Pair pair) {
  T s[kChannelTile];
  T q[kChannelTile];
  for (int64_t tile = 0; tile < channels; tile += kChannelTile) {
    const int64_t width = std::min(kChannelTile, channels - tile);
    for (int64_t start = 0; start < rows; start += kRowBlock) {
      const int64_t stop = std::min(rows, start + kRowBlock);
      std::fill_n(s, width, T{0});
      std::fill_n(q, width, T{0});
      for (int64_t r = start; r < stop; ++r) pair(r, tile, width, s, q);
      for (int64_t c = 0; c < width; ++c) {
        first[tile + c] += static_cast<double>(s[c]);
        second[tile + c] += static_cast<double>(q[c]);
      }
    }
  }
}

template <class T>
void moments_channels(int64_t rows, int64_t channels, const T* x, const T* shift, double* sum,
                      double* squares) {
  sum_channels<T>(rows, channels, sum, squares,
                  [&](int64_t r, int64_t tile, int64_t width, T* s, T* q) {
                    const T* row = x + r * channels + tile;
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) {
                      const T d = row[c] - shift[tile + c];
                      s[c] += d;
                      q[c] += d * d;
                    }
                  });
}

template <class T>
void moments_channels_backward(int64_t rows, int64_t channels, const T* g, const T* x,
                               const T* mean, double* sum, double* dot) {
  sum_channels<T>(rows, channels, sum, dot,
                  [&](int64_t r, int64_t tile, int64_t width, T* s, T* q) {
                    const T* slope = g + r * channels + tile;
                    const T* row = x + r * channels + tile;
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) {
                      s[c] += slope[c];
                      q[c] += slope[c] * (row[c] - mean[tile + c]);
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
void layer_norm_tangent(int64_t count, const T* t, const T* x, const T* weight, const T* center,
                        T rstd, T* dy) {
  layer_norm_backward<T>(count, t, x, nullptr, center, rstd, dy, nullptr, nullptr);
  if (weight == nullptr) return;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) dy[i] *= weight[i];
}

template <class T>
inline constexpr NormRows<T> kNormRows{
    .moments = moments<T>,
    .moments_backward = moments_backward<T>,
    .normalize = normalize<T>,
    .normalize_backward = normalize_backward<T>,
    .moments_channels = moments_channels<T>,
    .moments_channels_backward = moments_channels_backward<T>,
    .normalize_channels = normalize_channels<T>,
    .normalize_channels_backward = normalize_channels_backward<T>,
    .layer_norm = layer_norm<T>,
    .rms_norm = rms_norm<T>,
    .layer_norm_backward = layer_norm_backward<T>,
    .layer_norm_tangent = layer_norm_tangent<T>,
};

}  // namespace tsr::cpu::TSR_ISA
