// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Softmax and its relatives over one row, a register at a time.
#pragma once

#include <algorithm>

#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/isa/score.h"
#include "backend/cpu/nn/softmax_rows.h"

namespace tsr::cpu::TSR_ISA {

// The largest number. NaNs are skipped; the exponentials that follow are NaN for them.
template <class T>
inline T row_max(int64_t count, const T* x) {
  using V = Vec<T>;
  V most[4] = {V(-kInfinity), V(-kInfinity), V(-kInfinity), V(-kInfinity)};
  int64_t i = 0;
  for (; i + 4 * V::kSize <= count; i += 4 * V::kSize) {
    for (int k = 0; k < 4; ++k) most[k] = at_least(most[k], V::load(x + i + k * V::kSize));
  }
  for (; i + V::kSize <= count; i += V::kSize) most[0] = at_least(most[0], V::load(x + i));
  if (i < count) {
    const V rest = V::load_part(x + i, count - i, static_cast<T>(-kInfinity));
    most[0] = at_least(most[0], rest);
  }
  return largest_lane(at_least(at_least(most[0], most[1]), at_least(most[2], most[3])));
}

// The sum of exp(x - shift); kStore: also writes each to `out`.
template <bool kStore, class T>
inline T row_exp_sum(int64_t count, const T* x, T shift, [[maybe_unused]] T* out) {
  using V = Vec<T>;
  V sums[4] = {V(0), V(0), V(0), V(0)};
  int64_t i = 0;
  for (; i + 4 * V::kSize <= count; i += 4 * V::kSize) {
    for (int k = 0; k < 4; ++k) {
      const V e = exp_of_score(V::load(x + i + k * V::kSize) - V(shift));
      if constexpr (kStore) e.store(out + i + k * V::kSize);
      sums[k] = sums[k] + e;
    }
  }
  for (; i + V::kSize <= count; i += V::kSize) {
    const V e = exp_of_score(V::load(x + i) - V(shift));
    if constexpr (kStore) e.store(out + i);
    sums[0] = sums[0] + e;
  }
  if (i < count) {
    const V rest = V::load_part(x + i, count - i, static_cast<T>(-kInfinity));
    const V e = exp_of_score(rest - V(shift));
    if constexpr (kStore) e.store_part(out + i, count - i);
    sums[1] = sums[1] + e;
  }
  return sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// How many rows of so many columns are taken together where each needs a logarithm: the logarithms
// are then a register, and the rows are still in the cache afterwards.
template <class T>
inline int64_t rows_together(int64_t columns) {
  constexpr int64_t kCached = 4096;
  return std::clamp<int64_t>(kCached / columns, 1, Vec<T>::kSize);
}

// The largest number of each of up to a register of rows, and the logarithm of the sum of
// exp(x - largest).
template <class T>
inline void row_logs(int64_t rows, int64_t columns, const T* in, T* most, T* logs) {
  using V = Vec<T>;
  for (int64_t r = 0; r < rows; ++r) {
    most[r] = row_max(columns, in + r * columns);
    logs[r] = row_exp_sum<false, T>(columns, in + r * columns, most[r], nullptr);
  }
  tsr::cpu::TSR_ISA::log(V::load_part(logs, rows, T{1})).store_part(logs, rows);
}

template <class T>
void log_softmax(int64_t rows, int64_t columns, const T* in, T* out) {
  const int64_t step = rows_together<T>(columns);
  for (int64_t first = 0; first < rows; first += step) {
    T most[Vec<T>::kSize];
    T offsets[Vec<T>::kSize];
    const int64_t count = std::min(step, rows - first);
    row_logs(count, columns, in, most, offsets);
    for (int64_t r = 0; r < count; ++r, in += columns, out += columns) {
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) out[i] = (in[i] - most[r]) - offsets[r];
    }
  }
}

template <class T>
void softmax(int64_t rows, int64_t columns, bool log, const T* in, T* out) {
  if (log) return log_softmax(rows, columns, in, out);
  for (int64_t r = 0; r < rows; ++r, in += columns, out += columns) {
    const T factor = T{1} / row_exp_sum<true>(columns, in, row_max(columns, in), out);
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) out[i] *= factor;
  }
}

// softmax: y (g - Σ g y); log_softmax: g - exp(y) Σ g
template <class T>
void softmax_backward(int64_t rows, int64_t columns, bool log, const T* g, const T* y, T* out) {
  using V = Vec<T>;
  for (int64_t r = 0; r < rows; ++r, g += columns, y += columns, out += columns) {
    T sum = 0;
    if (log) {
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < columns; ++i) sum += g[i];
      int64_t i = 0;
      for (; i + V::kSize <= columns; i += V::kSize) {
        (V::load(g + i) - exp(V::load(y + i)) * V(sum)).store(out + i);
      }
      if (i < columns) {
        const int64_t rest = columns - i;
        const V tail = V::load_part(g + i, rest, 0) - exp(V::load_part(y + i, rest, 0)) * V(sum);
        tail.store_part(out + i, rest);
      }
    } else {
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < columns; ++i) sum += g[i] * y[i];
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) out[i] = y[i] * (g[i] - sum);
    }
  }
}

template <class T>
[[gnu::always_inline]] inline Vec<T> load_some(const T* source, int64_t count) {
  return count >= Vec<T>::kSize ? Vec<T>::load(source) : Vec<T>::load_part(source, count, T{0});
}
template <class T>
[[gnu::always_inline]] inline void store_some(Vec<T> value, T* target, int64_t count) {
  if (count >= Vec<T>::kSize)
    value.store(target);
  else
    value.store_part(target, count);
}

// ---- along an axis that is not the last, of fewer neighbouring positions than lanes ----

// Registers follow each other in memory and hold several columns each: lane i of register k belongs
// to position (k * kSize + i) % inner, and as many registers as there are positions make a round.
template <class T>
struct NarrowColumns {
  using V = Vec<T>;

  // Shorter axes are not worth the joining.
  static bool fits(int64_t columns, int64_t inner, int64_t begin, int64_t end) {
    return inner < V::kSize && begin == 0 && end == inner && columns >= 4 * V::kSize;
  }

  NarrowColumns(int64_t columns, int64_t width) : inner(width), total(columns * width) {}

  // Calls step(register of the round, first element, elements left).
  template <class Step>
  [[gnu::always_inline]] void along(const Step& step) const {
    int64_t k = 0;
    for (int64_t i = 0; i < total; i += V::kSize) {
      step(k, i, total - i);
      k = k + 1 == inner ? 0 : k + 1;
    }
  }
  // Joins all lanes of a position, and writes the result to all of them.
  template <class Join>
  void join(V* round, const Join& join) const {
    T lanes[V::kSize * V::kSize];
    for (int64_t k = 0; k < inner; ++k) round[k].store(lanes + k * V::kSize);
    const int64_t end = inner * V::kSize;
    for (int64_t i = inner; i < end; ++i) lanes[i % inner] = join(lanes[i % inner], lanes[i]);
    for (int64_t i = inner; i < end; ++i) lanes[i] = lanes[i - inner];
    for (int64_t k = 0; k < inner; ++k) round[k] = V::load(lanes + k * V::kSize);
  }

  int64_t inner;
  int64_t total;
};

template <class T>
void softmax_narrow(int64_t columns, int64_t inner, bool log, const T* in, T* out) {
  using V = Vec<T>;
  const NarrowColumns<T> narrow(columns, inner);
  V most[V::kSize];
  V sum[V::kSize];
  std::fill_n(most, inner, V(-kInfinity));
  std::fill_n(sum, inner, V(0));
  // Of the last register, lanes behind the end add nothing.
  const auto load = [&](int64_t i, int64_t count) {
    return count >= V::kSize ? V::load(in + i)
                             : V::load_part(in + i, count, static_cast<T>(-kInfinity));
  };
  narrow.along(
      [&](int64_t k, int64_t i, int64_t count) { most[k] = at_least(most[k], load(i, count)); });
  narrow.join(most, [](T a, T b) { return a < b ? b : a; });
  narrow.along([&](int64_t k, int64_t i, int64_t count) {
    const V e = exp_of_score(load(i, count) - most[k]);
    if (!log) store_some(e, out + i, count);
    sum[k] = sum[k] + e;
  });
  narrow.join(sum, [](T a, T b) { return a + b; });
  for (int64_t k = 0; k < inner; ++k) sum[k] = log ? tsr::cpu::TSR_ISA::log(sum[k]) : V(1) / sum[k];
  narrow.along([&](int64_t k, int64_t i, int64_t count) {
    const V value = log ? (load(i, count) - most[k]) - sum[k] : load_some(out + i, count) * sum[k];
    store_some(value, out + i, count);
  });
}

template <class T>
void softmax_narrow_backward(int64_t columns, int64_t inner, bool log, const T* g, const T* y,
                             T* out) {
  using V = Vec<T>;
  const NarrowColumns<T> narrow(columns, inner);
  V sum[V::kSize];
  std::fill_n(sum, inner, V(0));
  narrow.along([&](int64_t k, int64_t i, int64_t count) {
    const V slope = load_some(g + i, count);
    sum[k] = sum[k] + (log ? slope : slope * load_some(y + i, count));
  });
  narrow.join(sum, [](T a, T b) { return a + b; });
  narrow.along([&](int64_t k, int64_t i, int64_t count) {
    const V slope = load_some(g + i, count);
    const V value = load_some(y + i, count);
    store_some(log ? slope - exp(value) * sum[k] : value * (slope - sum[k]), out + i, count);
  });
}

// ---- along an axis that is not the last: a register of neighbouring positions at a time ----

// Registers of neighbouring positions that one pass over the columns takes. Columns are often a
// multiple of 4096 bytes apart, where single lines of all of them would share one set of the cache.
inline constexpr int kAbreast = 16;

template <class T>
void softmax_strided(int64_t columns, int64_t inner, int64_t begin, int64_t end, bool log,
                     const T* in, T* out) {
  using V = Vec<T>;
  if (NarrowColumns<T>::fits(columns, inner, begin, end))
    return softmax_narrow(columns, inner, log, in, out);
  for (int64_t first = begin; first < end; first += kAbreast * V::kSize) {
    const int64_t width = std::min<int64_t>(end - first, kAbreast * V::kSize);
    const int64_t registers = (width + V::kSize - 1) / V::kSize;
    V most[kAbreast];
    V sum[kAbreast];
    std::fill_n(most, registers, V(-kInfinity));
    std::fill_n(sum, registers, V(0));
    const T* x = in + first;
    T* y = out + first;
    // Calls step(register, position) along one column.
    const auto along = [width](auto step) {
      int k = 0;
      for (int64_t i = 0; i < width; i += V::kSize) step(k++, i);
    };
    for (int64_t c = 0; c < columns; ++c, x += inner)
      along([&](int k, int64_t i) { most[k] = at_least(most[k], load_some(x + i, width - i)); });
    x = in + first;
    for (int64_t c = 0; c < columns; ++c, x += inner, y += inner) {
      along([&](int k, int64_t i) {
        const V e = exp(load_some(x + i, width - i) - most[k]);
        if (!log) store_some(e, y + i, width - i);
        sum[k] = sum[k] + e;
      });
    }
    for (int64_t k = 0; k < registers; ++k)
      sum[k] = log ? tsr::cpu::TSR_ISA::log(sum[k]) : V(1) / sum[k];
    x = in + first;
    y = out + first;
    for (int64_t c = 0; c < columns; ++c, x += inner, y += inner) {
      along([&](int k, int64_t i) {
        const V value = log ? (load_some(x + i, width - i) - most[k]) - sum[k]
                            : load_some<T>(y + i, width - i) * sum[k];
        store_some(value, y + i, width - i);
      });
    }
  }
}

template <class T>
void softmax_strided_backward(int64_t columns, int64_t inner, int64_t begin, int64_t end, bool log,
                              const T* g, const T* y, T* out) {
  using V = Vec<T>;
  if (NarrowColumns<T>::fits(columns, inner, begin, end))
    return softmax_narrow_backward(columns, inner, log, g, y, out);
  for (int64_t first = begin; first < end; first += kAbreast * V::kSize) {
    const int64_t width = std::min<int64_t>(end - first, kAbreast * V::kSize);
    V sum[kAbreast];
    std::fill_n(sum, (width + V::kSize - 1) / V::kSize, V(0));
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = c * inner + first;
      int k = 0;
      for (int64_t i = 0; i < width; i += V::kSize, ++k) {
        const V slope = load_some(g + at + i, width - i);
        sum[k] = sum[k] + (log ? slope : slope * load_some(y + at + i, width - i));
      }
    }
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = c * inner + first;
      int k = 0;
      for (int64_t i = 0; i < width; i += V::kSize, ++k) {
        const V slope = load_some(g + at + i, width - i);
        const V value = load_some(y + at + i, width - i);
        const V result = log ? slope - exp(value) * sum[k] : value * (slope - sum[k]);
        store_some(result, out + at + i, width - i);
      }
    }
  }
}

// ---- classification losses ----

template <class T>
void log_sum_exp(int64_t rows, int64_t columns, const T* x, T* out) {
  const int64_t step = rows_together<T>(columns);
  for (int64_t first = 0; first < rows; first += step) {
    T most[Vec<T>::kSize];
    T logs[Vec<T>::kSize];
    const int64_t count = std::min(step, rows - first);
    row_logs(count, columns, x + first * columns, most, logs);
    for (int64_t r = 0; r < count; ++r) out[first + r] = most[r] + logs[r];
  }
}

template <class T>
double class_loss_distance(int64_t columns, const T* x, T lse, const T* weight) {
  using V = Vec<T>;
  constexpr int64_t kLongest = 4096;  // sums of so many numbers are formed in T
  double total = 0;
  for (int64_t start = 0; start < columns; start += kLongest) {
    const int64_t stop = std::min(columns, start + kLongest);
    V sums[4] = {V(0), V(0), V(0), V(0)};
    const auto add = [&](int chain, V away, int64_t i, int64_t count) {
      sums[chain] = weight == nullptr ? sums[chain] + away
                                      : fma(away, load_some(weight + i, count), sums[chain]);
    };
    int64_t i = start;
    for (; i + 4 * V::kSize <= stop; i += 4 * V::kSize) {
      for (int k = 0; k < 4; ++k)
        add(k, V(lse) - V::load(x + i + k * V::kSize), i + k * V::kSize, V::kSize);
    }
    for (; i + V::kSize <= stop; i += V::kSize) add(0, V(lse) - V::load(x + i), i, V::kSize);
    if (i < stop) add(1, V(lse) - V::load_part(x + i, stop - i, lse), i, stop - i);
    total += static_cast<double>(sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3])));
  }
  return total;
}

template <class T>
void class_loss_backward(int64_t columns, const T* x, T lse, T slope, T flat, const T* weight,
                         T* out) {
  using V = Vec<T>;
  for (int64_t i = 0; i < columns; i += V::kSize) {
    const int64_t count = columns - i;
    const V base = weight == nullptr ? V(flat) : load_some(weight + i, count) * V(flat);
    const V e = exp(load_some(x + i, count) - V(lse));
    store_some(e * V(slope) - base, out + i, count);
  }
}

// ---- of positions side by side, a register of them at a time ----

template <class T>
void log_sum_exp_beside(int64_t classes, int64_t step, int64_t count, const T* x, T* out) {
  using V = Vec<T>;
  constexpr int64_t kBlock = 128;  // a sum of more numbers is a sum of sums, which round less
  for (int64_t i = 0; i < count; i += V::kSize) {
    const auto logits = [&](int64_t c) { return load_some(x + c * step + i, count - i); };
    V most(-kInfinity);
    for (int64_t c = 0; c < classes; ++c) most = at_least(most, logits(c));
    V sum(0);
    for (int64_t start = 0; start < classes; start += kBlock) {
      V block(0);
      for (int64_t c = start; c < std::min(classes, start + kBlock); ++c)
        block = block + exp_of_score(logits(c) - most);
      sum = sum + block;
    }
    store_some(most + tsr::cpu::TSR_ISA::log(sum), out + i, count - i);
  }
}

template <class T>
void class_loss_backward_beside(int64_t classes, int64_t step, int64_t out_step, int64_t count,
                                const T* x, const T* lse, const T* slope, const T* flat,
                                const T* weight, T* out) {
  using V = Vec<T>;
  for (int64_t c = 0; c < classes; ++c, x += step, out += out_step) {
    const V factor(weight == nullptr ? T{1} : weight[c]);
    for (int64_t i = 0; i < count; i += V::kSize) {
      const int64_t rest = count - i;
      const V e = exp(load_some(x + i, rest) - load_some(lse + i, rest));
      store_some(e * load_some(slope + i, rest) - load_some(flat + i, rest) * factor, out + i,
                 rest);
    }
  }
}

template <class T>
inline constexpr SoftmaxRows<T> kSoftmaxRows{
    .forward = softmax<T>,
    .backward = softmax_backward<T>,
    .strided = softmax_strided<T>,
    .strided_backward = softmax_strided_backward<T>,
};

template <class T>
inline constexpr ClassLossRows<T> kClassLossRows{
    .log_sum_exp = log_sum_exp<T>,
    .log_sum_exp_beside = log_sum_exp_beside<T>,
    .distance = class_loss_distance<T>,
    .backward = class_loss_backward<T>,
    .backward_beside = class_loss_backward_beside<T>,
};

}  // namespace tsr::cpu::TSR_ISA
