// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm and layer_norm: divides channels or rows among the threads.
#include <algorithm>
#include <atomic>

#include "backend/common/norm_math.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/norm_rows.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NormPlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;
// Sums over rows are formed in at most this many chunks; their size does not depend on the number
// of threads.
constexpr int64_t kMaxChunks = 32;
constexpr int64_t kChunkRows = 128;

Status no_memory() {
  return failure(Code::kOutOfMemory, "expected memory for partial sums, got none");
}

// A weight, a bias or the gradient of one, as T. If it is stored in 16 bits, as the images or rows
// may be, this object holds a copy.
template <class S>
class Parameter {
  using T = Opmath<S>;

 public:
  Parameter(const void* data, DType dtype, int64_t count)
      : count_(count),
        short_(kIsShort<S> && data != nullptr && dtype == dtype_of<S>()),
        memory_(const_cast<void*>(data)),
        space_(short_ ? count : 0) {}

  [[nodiscard]] T* data() const { return short_ ? space_.at() : static_cast<T*>(memory_); }
  [[nodiscard]] bool missing() const { return short_ && space_.missing(); }
  void fetch(const Widen<S>& widen) const {
    if (short_) widen.read(count_, static_cast<const S*>(memory_), space_.at());
  }
  void put_back(const Widen<S>& widen) const {
    if (short_) widen.write(count_, static_cast<S*>(memory_), space_.at());
  }

 private:
  int64_t count_;
  bool short_;
  void* memory_;
  RowBuffer<S> space_;
};

template <class S>
struct Parameters {
  explicit Parameters(const NormPlan& plan)
      : Parameters(plan, plan.per_channel != 0 ? plan.channels : plan.inner) {}
  Parameters(const NormPlan& plan, int64_t count)
      : weight(plan.weight, plan.weight_dtype, count),
        bias(plan.bias, plan.bias_dtype, count),
        dw(plan.grad_weight, plan.weight_dtype, count),
        db(plan.grad_bias, plan.bias_dtype, count) {}

  [[nodiscard]] bool missing() const {
    return weight.missing() || bias.missing() || dw.missing() || db.missing();
  }

  Parameter<S> weight, bias, dw, db;
};

// A typed plan: images and rows are stored as S, the rest as T.
template <class S>
struct Norm {
  using T = Opmath<S>;

  Norm(const NormPlan& p, const Parameters<S>& parameters)
      : plan(p),
        rows(rows_of<NormRows<T>>()),
        x(static_cast<const S*>(p.input)),
        weight(parameters.weight.data()),
        bias(parameters.bias.data()),
        mean(static_cast<T*>(p.mean)),
        rstd(static_cast<T*>(p.rstd)),
        y(static_cast<S*>(p.output)),
        dx(static_cast<S*>(p.grad_input)),
        dw(parameters.dw.data()),
        db(parameters.db.data()) {}

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
  Widen<S> widen;
  const S* x;
  const T* weight;
  const T* bias;
  T* mean;
  T* rstd;
  S* y;
  S* dx;
  T* dw;
  T* db;
};

// ---- batch_norm, row-major: a channel is `outer` runs of `inner` numbers ----

// Numbers widened at a time. Equal to the rows' kSumBlock, so that the sums equal those of float32
// input.
constexpr int64_t kPiece = 4096;
// Neighbouring channels with short runs are widened together.
template <class S>
inline constexpr int64_t kMostTogether = kIsShort<S> ? 64 : 1;

template <class S>
int64_t channels_together(const NormPlan& plan) {
  return kIsShort<S> ? std::clamp<int64_t>(kPiece / plan.inner, 1, kMostTogether<S>) : 1;
}
template <class S>
inline constexpr int64_t kPieceSize = kIsShort<S> ? kPiece : 1;

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

int64_t chunk_rows(int64_t rows) {
  return std::max(kChunkRows, (rows + kMaxChunks - 1) / kMaxChunks);
}

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

// Numbers widened at a time: whole rows, or a part of a long row.
constexpr int64_t kBlock = 4096;
template <class S>
inline constexpr int64_t kBlockSize = kIsShort<S> ? kBlock : 1;

// Calls fn(row, rows, column, columns) for contiguous blocks of `count` rows from `first` on, or
// once for all of them if nothing is widened.
template <class S, class Fn>
void for_blocks(const Norm<S>& norm, int64_t first, int64_t count, Fn fn) {
  const int64_t channels = norm.plan.channels;
  const int64_t columns = kIsShort<S> ? std::min(channels, kBlock) : channels;
  const int64_t rows = !kIsShort<S> ? count : columns < channels ? 1 : kBlock / channels;
  for (int64_t row = 0; row < count; row += rows) {
    for (int64_t column = 0; column < channels; column += columns)
      fn(first + row, std::min(rows, count - row), column, std::min(columns, channels - column));
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

// ---- layer_norm ----

template <class S>
Status layer_norm_forward(const Norm<S>& norm) {
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  std::atomic<bool> ok{true};
  parallel_for(plan.outer, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    const RowBuffer<S> buffer(width);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * width;
      auto* y = norm.widen.target(norm.y + at, buffer.at());
      norm.rows.layer_norm(width, norm.widen.read(width, norm.x + at, buffer.at()), norm.weight,
                           norm.bias, plan.eps, norm.mean + r, norm.rstd + r, y);
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
  norm.rows.layer_norm_backward(width, g, x, norm.weight, norm.mean[r], norm.rstd[r], dx,
                                norm.dw == nullptr ? nullptr : part,
                                norm.db == nullptr ? nullptr : part + width);
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
  if (norm.plan.per_channel == 0)
    return norm.plan.backward != 0 ? layer_norm_backward(norm) : layer_norm_forward(norm);
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
