// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm: divides channels, or rows of channels, among the threads.
#include <algorithm>

#include "backend/cpu/nn/norm_typed.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NormPlan;
using kernel::Status;

// ---- batch_norm, row-major: a channel is `outer` runs of `inner` numbers ----

// Neighbouring channels with short runs are widened together.
template <class S>
inline constexpr int64_t kMostTogether = kIsShort<S> ? 64 : 1;

template <class S>
int64_t channels_together(const NormPlan& plan) {
  return kIsShort<S> ? std::clamp<int64_t>(kPiece / plan.inner, 1, kMostTogether<S>) : 1;
}

// Neighbouring channels that are processed together; one if their runs are long.
struct Group {
  int64_t first, count;
};

// Calls fn(offset, count) for the pieces of the runs of a group: a part of a run of one channel, or
// a run of each.
template <class S, class Fn>
void for_pieces(const Norm<S>& norm, Group group, Fn fn) {
  const int64_t inner = norm.plan.inner;
  const int64_t step = norm.plan.channels * inner;
  const int64_t length = group.count * inner;
  const int64_t most = kIsShort<S> ? std::min(length, kPiece) : length;
  for (int64_t n = 0; n < norm.plan.outer; ++n) {
    for (int64_t i = 0; i < length; i += most)
      fn(n * step + group.first * inner + i, std::min(most, length - i));
  }
}

template <class S>
void set_group_statistics(const Norm<S>& norm, Group group, Opmath<S>* buffer) {
  using T = Opmath<S>;
  T shift[kMostTogether<S>];
  double sum[kMostTogether<S>] = {};
  double squares[kMostTogether<S>] = {};
  for (int64_t k = 0; k < group.count; ++k)
    shift[k] = static_cast<T>(norm.x[(group.first + k) * norm.plan.inner]);
  for_pieces(norm, group, [&](int64_t at, int64_t count) {
    const T* x = norm.widen.read(count, norm.x + at, buffer);
    const int64_t run = group.count == 1 ? count : norm.plan.inner;
    for (int64_t k = 0; k < group.count; ++k)
      norm.rows.moments(run, x + k * run, shift[k], &sum[k], &squares[k]);
  });
  for (int64_t k = 0; k < group.count; ++k)
    norm.set_statistics(group.first + k, static_cast<double>(shift[k]), sum[k], squares[k]);
}

template <class S>
void forward_group(const Norm<S>& norm, Group group) {
  using T = Opmath<S>;
  T buffer[kPieceSize<S>];
  if (norm.plan.use_statistics == 0) set_group_statistics(norm, group, buffer);
  for_pieces(norm, group, [&](int64_t at, int64_t count) {
    const T* x = norm.widen.read(count, norm.x + at, buffer);
    T* y = norm.widen.target(norm.y + at, buffer);
    const int64_t run = group.count == 1 ? count : norm.plan.inner;
    for (int64_t k = 0; k < group.count; ++k) {
      const int64_t c = group.first + k;
      norm.rows.normalize(run, x + k * run, norm.mean[c], norm.rstd[c] * norm.weight_at(c),
                          norm.bias_at(c), y + k * run);
    }
    norm.widen.write(count, norm.y + at, y);
  });
}

// As forward_group, and the tangent.
template <class S>
void dual_group(const Norm<S>& norm, Group group) {
  using T = Opmath<S>;
  T numbers[kPieceSize<S>];
  T tangents[kPieceSize<S>];
  T shift[kMostTogether<S>] = {};
  DualSums sums[kMostTogether<S>] = {};
  // Calls fn(k, offset in the piece, numbers of a run) for the runs of a piece.
  const auto for_runs = [&](int64_t count, auto fn) {
    const int64_t run = group.count == 1 ? count : norm.plan.inner;
    for (int64_t k = 0; k < group.count; ++k) fn(k, k * run, run);
  };
  if (norm.plan.use_statistics == 0) {
    for (int64_t k = 0; k < group.count; ++k)
      shift[k] = static_cast<T>(norm.x[(group.first + k) * norm.plan.inner]);
    for_pieces(norm, group, [&](int64_t at, int64_t count) {
      const T* x = norm.widen.read(count, norm.x + at, numbers);
      const T* t = norm.widen.read(count, norm.t + at, tangents);
      for_runs(count, [&](int64_t k, int64_t i, int64_t run) {
        norm.rows.moments_dual(run, x + i, t + i, shift[k], &sums[k]);
      });
    });
  }
  typename Norm<S>::DualSlope slope[kMostTogether<S>] = {};
  for (int64_t k = 0; k < group.count; ++k) {
    const int64_t c = group.first + k;
    const auto from = static_cast<double>(shift[k]);
    if (norm.plan.use_statistics == 0) norm.set_statistics(c, from, sums[k].sum, sums[k].squares);
    slope[k] = norm.dual_slope(c, from, sums[k]);
  }
  for_pieces(norm, group, [&](int64_t at, int64_t count) {
    const T* x = norm.widen.read(count, norm.x + at, numbers);
    const T* t = norm.widen.read(count, norm.t + at, tangents);
    T* y = norm.widen.target(norm.y + at, numbers);
    T* dy = norm.widen.target(norm.dy + at, tangents);
    for_runs(count, [&](int64_t k, int64_t i, int64_t run) {
      const int64_t c = group.first + k;
      norm.rows.normalize_dual(run, x + i, t + i, norm.mean[c], norm.rstd[c] * norm.weight_at(c),
                               norm.bias_at(c), slope[k].b, slope[k].c, y + i, dy + i);
    });
    norm.widen.write(count, norm.y + at, y);
    norm.widen.write(count, norm.dy + at, dy);
  });
}

template <class S>
void backward_group(const Norm<S>& norm, Group group) {
  using T = Opmath<S>;
  T slopes[kPieceSize<S>];
  T numbers[kPieceSize<S>];
  double sum[kMostTogether<S>] = {};
  double dot[kMostTogether<S>] = {};
  for_pieces(norm, group, [&](int64_t at, int64_t count) {
    const T* g = norm.widen.read(count, norm.y + at, slopes);
    const T* x = norm.widen.read(count, norm.x + at, numbers);
    const int64_t run = group.count == 1 ? count : norm.plan.inner;
    for (int64_t k = 0; k < group.count; ++k)
      norm.rows.moments_backward(run, g + k * run, x + k * run, norm.mean[group.first + k], &sum[k],
                                 &dot[k]);
  });
  typename Norm<S>::Slope slope[kMostTogether<S>];
  for (int64_t k = 0; k < group.count; ++k) slope[k] = norm.slope(group.first + k, sum[k], dot[k]);
  if (norm.dx == nullptr) return;
  for_pieces(norm, group, [&](int64_t at, int64_t count) {
    const T* g = norm.widen.read(count, norm.y + at, slopes);
    const T* x = norm.widen.read(count, norm.x + at, numbers);
    T* dx = norm.widen.target(norm.dx + at, numbers);
    const int64_t run = group.count == 1 ? count : norm.plan.inner;
    for (int64_t k = 0; k < group.count; ++k) {
      norm.rows.normalize_backward(run, g + k * run, x + k * run, norm.mean[group.first + k],
                                   slope[k].a, slope[k].b, slope[k].c, dx + k * run);
    }
    norm.widen.write(count, norm.dx + at, dx);
  });
}

template <class S>
Status batch_norm_planes(const Norm<S>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t grain = std::max<int64_t>(1, kGrain / (plan.outer * plan.inner + 1));
  parallel_for(plan.channels, grain, [&](int64_t begin, int64_t end) {
    const int64_t together = channels_together<S>(plan);
    for (int64_t c = begin; c < end; c += together) {
      const Group group{c, std::min(together, end - c)};
      if (plan.backward != 0)
        backward_group(norm, group);
      else if (norm.dual())
        dual_group(norm, group);
      else
        forward_group(norm, group);
    }
  });
  return kernel::kOk;
}

// ---- batch_norm, channels last: `outer` rows of `channels` numbers ----

// The sums of a channel: two, or those of DualSums.
template <class S>
int64_t sums_of(const Norm<S>& norm) {
  return norm.dual() ? 4 : 2;
}

// Calls add(first row, rows, sums) for every chunk, with `kinds` sums for each channel, one kind
// behind the other, and adds the chunks' sums into sums[0..kinds C).
template <class Add>
void sum_chunks(const NormPlan& plan, int64_t kinds, double* sums, Add add) {
  const int64_t width = kinds * plan.channels;
  const int64_t size = chunk_rows(plan.outer);
  const int64_t chunks = (plan.outer + size - 1) / size;
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      double* part = sums + chunk * width;
      std::fill_n(part, width, 0.0);
      const int64_t first = chunk * size;
      add(first, std::min(size, plan.outer - first), part);
    }
  });
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[chunk * width + i];
  }
}

template <class S>
void forward_channels(const Norm<S>& norm, double* sums, Opmath<S>* vectors) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  T* scale = vectors;
  T* bias = vectors + channels;
  if (plan.use_statistics == 0) {
    const T* shift = norm.widen.read(channels, norm.x, vectors);
    sum_chunks(plan, 2, sums, [&](int64_t first, int64_t count, double* sum) {
      double* squares = sum + channels;
      T buffer[kBlockSize<S>];
      for_blocks(norm, first, count, [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
        const T* x = norm.widen.read(rows * width, norm.x + row * channels + c, buffer);
        norm.rows.moments_channels(rows, width, x, shift + c, sum + c, squares + c);
      });
    });
    for (int64_t c = 0; c < channels; ++c)
      norm.set_statistics(c, static_cast<double>(shift[c]), sums[c], sums[channels + c]);
  }
  for (int64_t c = 0; c < channels; ++c) {
    scale[c] = norm.rstd[c] * norm.weight_at(c);
    bias[c] = norm.bias_at(c);
  }
  parallel_for(
      plan.outer, std::max<int64_t>(1, kGrain / channels), [&](int64_t begin, int64_t end) {
        T buffer[kBlockSize<S>];
        for_blocks(
            norm, begin, end - begin, [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
              const int64_t at = row * channels + c;
              T* y = norm.widen.target(norm.y + at, buffer);
              norm.rows.normalize_channels(rows, width,
                                           norm.widen.read(rows * width, norm.x + at, buffer),
                                           norm.mean + c, scale + c, bias + c, y);
              norm.widen.write(rows * width, norm.y + at, y);
            });
      });
}

// As forward_channels, and the tangent.
template <class S>
void dual_channels(const Norm<S>& norm, double* sums, Opmath<S>* vectors) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  T* scale = vectors;
  T* bias = vectors + channels;
  T* b = vectors + 2 * channels;
  T* k = vectors + 3 * channels;
  const T* shift = norm.widen.read(channels, norm.x, scale);
  if (plan.use_statistics == 0) {
    sum_chunks(plan, 4, sums, [&](int64_t first, int64_t count, double* sum) {
      T numbers[kBlockSize<S>];
      T tangents[kBlockSize<S>];
      for_blocks(norm, first, count, [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
        const int64_t at = row * channels + c;
        norm.rows.moments_channels_dual(
            rows, width, norm.widen.read(rows * width, norm.x + at, numbers),
            norm.widen.read(rows * width, norm.t + at, tangents), shift + c, sum + c,
            sum + channels + c, sum + 2 * channels + c, sum + 3 * channels + c);
      });
    });
  } else {
    std::fill_n(sums, 4 * channels, 0.0);
  }
  for (int64_t c = 0; c < channels; ++c) {
    const DualSums found{sums[c], sums[channels + c], sums[2 * channels + c],
                         sums[3 * channels + c]};
    const auto from = static_cast<double>(shift[c]);
    if (plan.use_statistics == 0) norm.set_statistics(c, from, found.sum, found.squares);
    const auto slope = norm.dual_slope(c, from, found);
    scale[c] = norm.rstd[c] * norm.weight_at(c);  // after the shift, which may be in this memory
    bias[c] = norm.bias_at(c);
    b[c] = slope.b;
    k[c] = slope.c;
  }
  parallel_for(
      plan.outer, std::max<int64_t>(1, kGrain / channels), [&](int64_t begin, int64_t end) {
        T numbers[kBlockSize<S>];
        T tangents[kBlockSize<S>];
        for_blocks(norm, begin, end - begin,
                   [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
                     const int64_t at = row * channels + c;
                     const T* x = norm.widen.read(rows * width, norm.x + at, numbers);
                     const T* t = norm.widen.read(rows * width, norm.t + at, tangents);
                     T* y = norm.widen.target(norm.y + at, numbers);
                     T* dy = norm.widen.target(norm.dy + at, tangents);
                     norm.rows.normalize_channels_dual(rows, width, x, t, norm.mean + c, scale + c,
                                                       bias + c, b + c, k + c, y, dy);
                     norm.widen.write(rows * width, norm.y + at, y);
                     norm.widen.write(rows * width, norm.dy + at, dy);
                   });
      });
}

template <class S>
void backward_channels(const Norm<S>& norm, double* sums, Opmath<S>* vectors) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  sum_chunks(plan, 2, sums, [&](int64_t first, int64_t count, double* sum) {
    double* dot = sum + channels;
    T slopes[kBlockSize<S>];
    T numbers[kBlockSize<S>];
    for_blocks(norm, first, count, [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
      const int64_t at = row * channels + c;
      norm.rows.moments_channels_backward(
          rows, width, norm.widen.read(rows * width, norm.y + at, slopes),
          norm.widen.read(rows * width, norm.x + at, numbers), norm.mean + c, sum + c, dot + c);
    });
  });
  T* a = vectors;
  T* b = vectors + channels;
  T* k = vectors + 2 * channels;
  for (int64_t c = 0; c < channels; ++c) {
    const auto slope = norm.slope(c, sums[c], sums[channels + c]);
    a[c] = slope.a;
    b[c] = slope.b;
    k[c] = slope.c;
  }
  if (norm.dx == nullptr) return;
  parallel_for(plan.outer, std::max<int64_t>(1, kGrain / channels),
               [&](int64_t begin, int64_t end) {
                 T slopes[kBlockSize<S>];
                 T numbers[kBlockSize<S>];
                 for_blocks(norm, begin, end - begin,
                            [&](int64_t row, int64_t rows, int64_t c, int64_t width) {
                              const int64_t at = row * channels + c;
                              T* dx = norm.widen.target(norm.dx + at, numbers);
                              norm.rows.normalize_channels_backward(
                                  rows, width, norm.widen.read(rows * width, norm.y + at, slopes),
                                  norm.widen.read(rows * width, norm.x + at, numbers),
                                  norm.mean + c, a + c, b + c, k + c, dx);
                              norm.widen.write(rows * width, norm.dx + at, dx);
                            });
               });
}

template <class S>
Status batch_norm_channels(const Norm<S>& norm) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t size = chunk_rows(plan.outer);
  const int64_t doubles = (plan.outer + size - 1) / size * sums_of(norm) * plan.channels;
  const Workspace space(doubles * 8 + 4 * plan.channels * static_cast<int64_t>(sizeof(T)));
  if (space.data() == nullptr) return no_memory();
  auto* sums = static_cast<double*>(space.data());
  auto* vectors = reinterpret_cast<T*>(sums + doubles);
  if (plan.backward != 0)
    backward_channels(norm, sums, vectors);
  else if (norm.dual())
    dual_channels(norm, sums, vectors);
  else
    forward_channels(norm, sums, vectors);
  return kernel::kOk;
}

}  // namespace

template <class S>
Status batch_norm(const Norm<S>& norm) {
  return norm.plan.inner == 1 ? batch_norm_channels(norm) : batch_norm_planes(norm);
}

template Status batch_norm(const Norm<Half>& norm);
template Status batch_norm(const Norm<BFloat16>& norm);
template Status batch_norm(const Norm<float>& norm);
template Status batch_norm(const Norm<double>& norm);

}  // namespace tsr::cpu
