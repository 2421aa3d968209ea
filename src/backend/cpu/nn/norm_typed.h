// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A normalisation's plan with its types, and the pieces in which its numbers are widened.
#pragma once

#include <algorithm>

#include "backend/common/norm_math.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/norm_rows.h"
#include "backend/cpu/widen.h"
#include "kernel/nn.h"

namespace tsr::cpu {

inline constexpr int64_t kGrain = 16384;
// Sums over rows are formed in at most this many chunks; their size does not depend on the number
// of threads.
inline constexpr int64_t kMaxChunks = 32;
inline constexpr int64_t kChunkRows = 128;

inline kernel::Status no_memory() {
  return failure(Code::kOutOfMemory, "expected memory for partial sums, got none");
}

inline bool per_row(const kernel::NormPlan& plan) {
  return plan.kind == kernel::NormKind::kRows || plan.kind == kernel::NormKind::kRms;
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
  explicit Parameters(const kernel::NormPlan& plan)
      : Parameters(plan, per_row(plan) ? plan.inner : plan.channels) {}
  Parameters(const kernel::NormPlan& plan, int64_t count)
      : weight(plan.weight, plan.weight_dtype, count),
        bias(plan.bias, plan.bias_dtype, count),
        dw(plan.grad_weight, plan.weight_dtype, count),
        db(plan.grad_bias, plan.bias_dtype, count),
        weight_tangent(plan.tangent_weight, plan.weight_dtype, count),
        bias_tangent(plan.tangent_bias, plan.bias_dtype, count) {}

  [[nodiscard]] bool missing() const {
    return weight.missing() || bias.missing() || dw.missing() || db.missing() ||
           weight_tangent.missing() || bias_tangent.missing();
  }
  void fetch(const Widen<S>& widen) const {
    for (const Parameter<S>* each : {&weight, &bias, &weight_tangent, &bias_tangent})
      each->fetch(widen);
  }

  Parameter<S> weight, bias, dw, db, weight_tangent, bias_tangent;
};

// A typed plan: images and rows are stored as S, the rest as T.
template <class S>
struct Norm {
  using T = Opmath<S>;

  Norm(const kernel::NormPlan& p, const Parameters<S>& parameters)
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
        db(parameters.db.data()),
        t(static_cast<const S*>(p.tangent_input)),
        weight_tangent(parameters.weight_tangent.data()),
        bias_tangent(parameters.bias_tangent.data()),
        dy(static_cast<S*>(p.tangent_output)) {}

  // Forward mode: also the tangent of the output.
  [[nodiscard]] bool dual() const { return dy != nullptr; }
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

  // dy = t scale - (x - mean) b - c
  struct DualSlope {
    T b, c;
  };
  // For a channel whose statistics were formed over `numbers` numbers, from their sums about
  // `shift`.
  [[nodiscard]] DualSlope dual_slope(int64_t c, double center, double r, double shift,
                                     const DualSums& sums, double numbers) const {
    const double dot = sums.dot - (center - shift) * sums.tangents;
    const double w = static_cast<double>(weight_at(c));
    auto found = math::norm_slope(plan.use_statistics != 0, w, r, sums.tangents, dot, numbers);
    if (weight_tangent != nullptr) found.b -= r * static_cast<double>(weight_tangent[c]);
    if (bias_tangent != nullptr) found.c -= static_cast<double>(bias_tangent[c]);
    return {static_cast<T>(found.b), static_cast<T>(found.c)};
  }
  // The same for a channel of batch_norm, whose statistics are set.
  [[nodiscard]] DualSlope dual_slope(int64_t c, double shift, const DualSums& sums) const {
    return dual_slope(c, static_cast<double>(mean[c]), static_cast<double>(rstd[c]), shift, sums,
                      count());
  }

  const kernel::NormPlan& plan;
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
  const S* t;
  const T* weight_tangent;
  const T* bias_tangent;
  S* dy;
};

// ---- pieces ----

inline int64_t chunk_rows(int64_t rows) {
  return std::max(kChunkRows, (rows + kMaxChunks - 1) / kMaxChunks);
}

// Numbers widened at a time. Equal to the rows' kSumBlock, so that the sums equal those of float32
// input.
inline constexpr int64_t kPiece = 4096;
template <class S>
inline constexpr int64_t kPieceSize = kIsShort<S> ? kPiece : 1;

// Numbers widened at a time: whole rows, or a part of a long row.
inline constexpr int64_t kBlock = 4096;
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

// ---- the kinds that have files of their own ----

template <class S>
kernel::Status batch_norm(const Norm<S>& norm);
template <class S>
kernel::Status group_norm(const Norm<S>& norm);

}  // namespace tsr::cpu
