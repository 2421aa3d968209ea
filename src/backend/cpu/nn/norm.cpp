// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm and layer_norm: spreads channels or rows over the threads.
#include <algorithm>

#include "backend/common/norm_math.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/norm_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NormPlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;
// Sums over rows are taken in at most this many chunks of a size that the threads do not change.
constexpr int64_t kMaxChunks = 32;
constexpr int64_t kChunkRows = 128;

Status no_memory() {
  return failure(Code::kOutOfMemory, "expected memory for partial sums, got none");
}

// The plan with its types.
template <class T>
struct Norm {
  explicit Norm(const NormPlan& p)
      : plan(p),
        rows(rows_of<NormRows<T>>()),
        x(static_cast<const T*>(p.input)),
        weight(static_cast<const T*>(p.weight)),
        bias(static_cast<const T*>(p.bias)),
        mean(static_cast<T*>(p.mean)),
        rstd(static_cast<T*>(p.rstd)),
        y(static_cast<T*>(p.output)),
        dx(static_cast<T*>(p.grad_input)),
        dw(static_cast<T*>(p.grad_weight)),
        db(static_cast<T*>(p.grad_bias)) {}

  [[nodiscard]] T weight_at(int64_t c) const { return weight == nullptr ? T{1} : weight[c]; }
  [[nodiscard]] T bias_at(int64_t c) const { return bias == nullptr ? T{0} : bias[c]; }
  [[nodiscard]] double count() const { return static_cast<double>(plan.outer * plan.inner); }

  // From the sums of (x - shift) and its square over a channel.
  void set_statistics(int64_t c, double shift, double sum, double squares) const {
    const math::GroupMoments found = math::group_moments(shift, sum, squares, count());
    mean[c] = static_cast<T>(found.mean);
    rstd[c] = static_cast<T>(math::reciprocal_deviation(found.variance, plan.eps));
    if (plan.running_mean == nullptr) return;
    move(static_cast<T*>(plan.running_mean)[c], found.mean);
    move(static_cast<T*>(plan.running_var)[c], math::unbiased(found.variance, count()));
  }
  void move(T& running, double batch) const {
    running =
        static_cast<T>(math::moved_statistic(static_cast<double>(running), batch, plan.momentum));
  }

  // dx = g a - (x - mean) b - c
  struct Slope {
    T a, b, c;
  };
  // From the sums of g and g (x - mean) over a channel; also writes dw and db.
  [[nodiscard]] Slope slope(int64_t c, double sum, double dot) const {
    const double r = static_cast<double>(rstd[c]);
    const double w = static_cast<double>(weight_at(c));
    if (dw != nullptr) dw[c] = static_cast<T>(dot * r);
    if (db != nullptr) db[c] = static_cast<T>(sum);
    const auto found = math::norm_slope(plan.use_statistics != 0, w, r, sum, dot, count());
    return {static_cast<T>(found.a), static_cast<T>(found.b), static_cast<T>(found.c)};
  }

  const NormPlan& plan;
  const NormRows<T>& rows;
  const T* x;
  const T* weight;
  const T* bias;
  T* mean;
  T* rstd;
  T* y;
  T* dx;
  T* dw;
  T* db;
};

// ---- batch_norm, row-major: a channel is `outer` runs of `inner` numbers ----

template <class T>
void forward_channel(const Norm<T>& norm, int64_t c) {
  const NormPlan& plan = norm.plan;
  const int64_t step = plan.channels * plan.inner;
  const T* x = norm.x + c * plan.inner;
  if (plan.use_statistics == 0) {
    double sum = 0;
    double squares = 0;
    for (int64_t n = 0; n < plan.outer; ++n) {
      norm.rows.moments(plan.inner, x + n * step, x[0], &sum, &squares);
    }
    norm.set_statistics(c, static_cast<double>(x[0]), sum, squares);
  }
  const T scale = norm.rstd[c] * norm.weight_at(c);
  T* y = norm.y + c * plan.inner;
  for (int64_t n = 0; n < plan.outer; ++n) {
    norm.rows.normalize(plan.inner, x + n * step, norm.mean[c], scale, norm.bias_at(c),
                        y + n * step);
  }
}

template <class T>
void backward_channel(const Norm<T>& norm, int64_t c) {
  const NormPlan& plan = norm.plan;
  const int64_t step = plan.channels * plan.inner;
  const int64_t first = c * plan.inner;
  double sum = 0;
  double dot = 0;
  for (int64_t n = 0; n < plan.outer; ++n) {
    const int64_t at = first + n * step;
    norm.rows.moments_backward(plan.inner, norm.y + at, norm.x + at, norm.mean[c], &sum, &dot);
  }
  const auto slope = norm.slope(c, sum, dot);
  if (norm.dx == nullptr) return;
  for (int64_t n = 0; n < plan.outer; ++n) {
    const int64_t at = first + n * step;
    norm.rows.normalize_backward(plan.inner, norm.y + at, norm.x + at, norm.mean[c], slope.a,
                                 slope.b, slope.c, norm.dx + at);
  }
}

template <class T>
Status batch_norm_planes(const Norm<T>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t grain = std::max<int64_t>(1, kGrain / (plan.outer * plan.inner + 1));
  parallel_for(plan.channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      if (plan.backward != 0)
        backward_channel(norm, c);
      else
        forward_channel(norm, c);
    }
  });
  return kernel::kOk;
}

// ---- batch_norm, channels last: `outer` rows of `channels` numbers ----

int64_t chunk_rows(int64_t rows) {
  return std::max(kChunkRows, (rows + kMaxChunks - 1) / kMaxChunks);
}

// Adds up what add(first row, rows, sums, other sums) finds in every chunk, into sums[0..2C).
template <class T, class Add>
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

template <class T>
void forward_channels(const Norm<T>& norm, double* sums, T* vectors) {
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  if (plan.use_statistics == 0) {
    sum_chunks<T>(plan, sums, [&](int64_t first, int64_t count, double* sum, double* squares) {
      norm.rows.moments_channels(count, channels, norm.x + first * channels, norm.x, sum, squares);
    });
    for (int64_t c = 0; c < channels; ++c) {
      norm.set_statistics(c, static_cast<double>(norm.x[c]), sums[c], sums[channels + c]);
    }
  }
  T* scale = vectors;
  T* bias = vectors + channels;
  for (int64_t c = 0; c < channels; ++c) {
    scale[c] = norm.rstd[c] * norm.weight_at(c);
    bias[c] = norm.bias_at(c);
  }
  parallel_for(plan.outer, std::max<int64_t>(1, kGrain / channels),
               [&](int64_t begin, int64_t end) {
                 norm.rows.normalize_channels(end - begin, channels, norm.x + begin * channels,
                                              norm.mean, scale, bias, norm.y + begin * channels);
               });
}

template <class T>
void backward_channels(const Norm<T>& norm, double* sums, T* vectors) {
  const NormPlan& plan = norm.plan;
  const int64_t channels = plan.channels;
  sum_chunks<T>(plan, sums, [&](int64_t first, int64_t count, double* sum, double* dot) {
    const int64_t at = first * channels;
    norm.rows.moments_channels_backward(count, channels, norm.y + at, norm.x + at, norm.mean, sum,
                                        dot);
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
  parallel_for(
      plan.outer, std::max<int64_t>(1, kGrain / channels), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * channels;
        norm.rows.normalize_channels_backward(end - begin, channels, norm.y + at, norm.x + at,
                                              norm.mean, a, b, k, norm.dx + at);
      });
}

template <class T>
Status batch_norm_channels(const Norm<T>& norm) {
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

// ---- layer_norm ----

template <class T>
Status layer_norm_forward(const Norm<T>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  parallel_for(plan.outer, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      norm.rows.layer_norm(width, norm.x + r * width, norm.weight, norm.bias, plan.eps,
                           norm.mean + r, norm.rstd + r, norm.y + r * width);
    }
  });
  return kernel::kOk;
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

template <class T>
Status layer_norm_backward(const Norm<T>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  const int64_t size = chunk_rows(plan.outer);
  const int64_t chunks = (plan.outer + size - 1) / size;
  const bool sums = norm.dw != nullptr || norm.db != nullptr;
  const Workspace space(sums ? chunks * 2 * width * static_cast<int64_t>(sizeof(T)) : 0);
  auto* parts = static_cast<T*>(space.data());
  if (sums && parts == nullptr) return no_memory();
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      T* part = parts + chunk * 2 * width;
      if (sums) std::fill_n(part, 2 * width, T{0});
      const int64_t last = std::min(plan.outer, (chunk + 1) * size);
      for (int64_t r = chunk * size; r < last; ++r) {
        const int64_t at = r * width;
        norm.rows.layer_norm_backward(width, norm.y + at, norm.x + at, norm.weight, norm.mean[r],
                                      norm.rstd[r], norm.dx == nullptr ? nullptr : norm.dx + at,
                                      norm.dw == nullptr ? nullptr : part,
                                      norm.db == nullptr ? nullptr : part + width);
      }
    }
  });
  if (norm.dw != nullptr) add_chunks(chunks, 2 * width, width, parts, norm.dw);
  if (norm.db != nullptr) add_chunks(chunks, 2 * width, width, parts + width, norm.db);
  return kernel::kOk;
}

template <class T>
Status run(const NormPlan& plan) {
  const Norm<T> typed(plan);
  if (plan.per_channel == 0) {
    return plan.backward != 0 ? layer_norm_backward(typed) : layer_norm_forward(typed);
  }
  return plan.inner == 1 ? batch_norm_channels(typed) : batch_norm_planes(typed);
}

}  // namespace

Status norm(const NormPlan& plan) {
  if (plan.outer * plan.channels * plan.inner == 0) return kernel::kOk;
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for a normalisation");
}

}  // namespace tsr::cpu
