// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm, layer_norm and rms_norm: divides channels or rows among the threads.
#include <algorithm>
#include <atomic>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/nn/norm_typed.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NormKind;
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
      else
        forward_group(norm, group);
    }
  });
  return kernel::kOk;
}

// ---- batch_norm, channels last: `outer` rows of `channels` numbers ----

// Calls add(first row, rows, sums, other sums) for every chunk and adds the chunks' sums into
// sums[0..2C).
template <class Add>
void sum_chunks(const NormPlan& plan, double* sums, Add add) {
  const int64_t width = 2 * plan.channels;
  const int64_t size = chunk_rows(plan.outer);
  const int64_t chunks = (plan.outer + size - 1) / size;
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      double* part = sums + chunk * width;
      std::fill_n(part, width, 0.0);
      const int64_t first = chunk * size;
      add(first, std::min(size, plan.outer - first), part, part + plan.channels);
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
    sum_chunks(plan, sums, [&](int64_t first, int64_t count, double* sum, double* squares) {
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

template <class S>
void backward_channels(const Norm<S>& norm, double* sums, Opmath<S>* vectors) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  sum_chunks(plan, sums, [&](int64_t first, int64_t count, double* sum, double* dot) {
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
  const int64_t doubles = (plan.outer + size - 1) / size * 2 * plan.channels;
  const Workspace space(doubles * 8 + 3 * plan.channels * static_cast<int64_t>(sizeof(T)));
  if (space.data() == nullptr) return no_memory();
  auto* sums = static_cast<double*>(space.data());
  auto* vectors = reinterpret_cast<T*>(sums + doubles);
  if (plan.backward != 0)
    backward_channels(norm, sums, vectors);
  else
    forward_channels(norm, sums, vectors);
  return kernel::kOk;
}

// ---- layer_norm and rms_norm ----

template <class S>
Status layer_norm_forward(const Norm<S>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  const int64_t grain = std::max<int64_t>(1, kGrain / width);
  if constexpr (!kIsShort<S>) {
    if (norm.mean == nullptr && width <= kShortRow) {
      parallel_for(plan.outer, grain, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; r += kRootsTogether) {
          norm.rows.rms_norm(std::min(kRootsTogether, end - r), width, norm.x + r * width,
                             norm.weight, norm.bias, plan.eps, norm.rstd + r, norm.y + r * width);
        }
      });
      return kernel::kOk;
    }
  }
  std::atomic<bool> ok{true};
  parallel_for(plan.outer, grain, [&](int64_t begin, int64_t end) {
    const RowBuffer<S> buffer(width);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * width;
      auto* y = norm.widen.target(norm.y + at, buffer.at());
      norm.rows.layer_norm(width, norm.widen.read(width, norm.x + at, buffer.at()), norm.weight,
                           norm.bias, plan.eps, norm.mean == nullptr ? nullptr : norm.mean + r,
                           norm.rstd + r, y);
      norm.widen.write(width, norm.y + at, y);
    }
  });
  return ok ? kernel::kOk : no_memory();
}

template <class T>
void add_chunks(int64_t chunks, int64_t stride, int64_t width, const T* parts, T* out) {
  parallel_for(width, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double total = 0;
      for (int64_t c = 0; c < chunks; ++c) total += static_cast<double>(parts[c * stride + i]);
      out[i] = static_cast<T>(total);
    }
  });
}

// One row: writes dx and adds the row's terms to the parameters' gradients in `part`.
template <class S>
void layer_norm_row(const Norm<S>& norm, int64_t r, const RowBuffer<S>& buffer, Opmath<S>* part) {
  using T = Opmath<S>;
  const int64_t width = norm.plan.inner;
  const int64_t at = r * width;
  const T* g = norm.widen.read(width, norm.y + at, buffer.at());
  const T* x = norm.widen.read(width, norm.x + at, buffer.at(width));
  T* dx = norm.dx == nullptr ? nullptr : norm.widen.target(norm.dx + at, buffer.at(width));
  const T* mean = norm.mean == nullptr ? nullptr : norm.mean + r;
  if (norm.plan.backward == 2) {
    norm.rows.layer_norm_tangent(width, g, x, norm.weight, mean, norm.rstd[r], dx);
  } else {
    norm.rows.layer_norm_backward(width, g, x, norm.weight, mean, norm.rstd[r], dx,
                                  norm.dw == nullptr ? nullptr : part,
                                  norm.db == nullptr ? nullptr : part + width);
  }
  if (dx != nullptr) norm.widen.write(width, norm.dx + at, dx);
}

template <class S>
Status layer_norm_backward(const Norm<S>& norm) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  const int64_t size = chunk_rows(plan.outer);
  const int64_t chunks = (plan.outer + size - 1) / size;
  const bool sums = norm.dw != nullptr || norm.db != nullptr;
  const Workspace space(sums ? chunks * 2 * width * static_cast<int64_t>(sizeof(T)) : 0);
  auto* parts = static_cast<T*>(space.data());
  if (sums && parts == nullptr) return no_memory();
  std::atomic<bool> ok{true};
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    const RowBuffer<S> buffer(2 * width);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      T* part = sums ? parts + chunk * 2 * width : nullptr;
      if (sums) std::fill_n(part, 2 * width, T{0});
      const int64_t last = std::min(plan.outer, (chunk + 1) * size);
      for (int64_t r = chunk * size; r < last; ++r) layer_norm_row(norm, r, buffer, part);
    }
  });
  if (!ok) return no_memory();
  if (norm.dw != nullptr) add_chunks(chunks, 2 * width, width, parts, norm.dw);
  if (norm.db != nullptr) add_chunks(chunks, 2 * width, width, parts + width, norm.db);
  return kernel::kOk;
}

template <class S>
Status run_typed(const Norm<S>& norm) {
  if (per_row(norm.plan))
    return norm.plan.backward != 0 ? layer_norm_backward(norm) : layer_norm_forward(norm);
  if (norm.plan.kind == NormKind::kGroups) return group_norm(norm);
  return norm.plan.inner == 1 ? batch_norm_channels(norm) : batch_norm_planes(norm);
}

template <class S>
Status run(const NormPlan& plan) {
  const Parameters<S> parameters(plan);
  if (parameters.missing()) return no_memory();
  const Norm<S> norm(plan, parameters);
  parameters.weight.fetch(norm.widen);
  parameters.bias.fetch(norm.widen);
  const Status status = run_typed(norm);
  if (status != kernel::kOk) return status;
  parameters.dw.put_back(norm.widen);
  parameters.db.put_back(norm.widen);
  return kernel::kOk;
}

}  // namespace

Status norm(const NormPlan& plan) {
  if (plan.outer * plan.channels * plan.inner == 0) return kernel::kOk;
  return visit_storage(plan.dtype, "expected a real floating dtype for a normalisation",
                       [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cpu
