// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The taps of grid_sample and the gradient of its positions: each axis alone, then the products of
// their weights.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/grid_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GridPass;
using kernel::GridTapsPlan;
using kernel::Status;

template <class T>
GridAxis<T> axis_of(const GridTapsPlan& plan, int32_t d) {
  const bool align = plan.align_corners != 0;
  const int64_t size = plan.sizes[d];
  const double low = align ? 0 : -0.5;
  const auto span = static_cast<double>(align ? size - 1 : size);
  return {plan.interpolation,
          plan.padding,
          align,
          static_cast<T>(size),
          static_cast<T>(static_cast<double>(size - 1) / 2),
          static_cast<T>(kernel::last_place(size, plan.dtype)),
          static_cast<T>(low),
          static_cast<T>(span + low),
          static_cast<T>(span)};
}

template <class T>
class GridTable {
 public:
  explicit GridTable(const GridTapsPlan& plan)
      : plan_(plan), each_(static_cast<int32_t>(kernel::taps_of_axis(plan.interpolation))) {
    for (int32_t d = plan.axes; d-- > 0;) {
      axes_[d] = axis_of<T>(plan, d);
      steps_[d] = static_cast<int32_t>(elements_);
      elements_ *= plan.sizes[d];
      taps_ *= each_;
    }
  }

  void run() const {
    constexpr int64_t kTasks = 8;  // at least so many for a thread
    const int64_t blocks = (plan_.points + kGridPoints - 1) / kGridPoints;
    parallel_for(plan_.batch * blocks, kTasks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) block(i / blocks, i % blocks * kGridPoints);
    });
  }

 private:
  void block(int64_t n, int64_t first) const {
    const int64_t count = std::min(kGridPoints, plan_.points - first);
    const int64_t point = n * plan_.points + first;
    GridAxisTaps<T> found[kernel::kMaxResampledAxes];
    T x[kGridPoints] = {};
    for (int32_t d = 0; d < plan_.axes; ++d) {
      const T* from = static_cast<const T*>(plan_.positions) + point * plan_.axes + coordinate(d);
      for (int64_t i = 0; i < count; ++i) x[i] = from[i * plan_.axes];
      rows_of<GridRows<T>>().taps(axes_[d], count, x, found[d]);
    }
    const int64_t table = n * taps_ * plan_.points + first;
    if (plan_.pass == GridPass::kForward) return write(found, table, count);
    for (int32_t d = 0; d < plan_.axes; ++d) {
      T* to = static_cast<T*>(plan_.position_grad) + point * plan_.axes + coordinate(d);
      add_slopes(found, d, table, count, to);
    }
  }

  // The last axis is the first coordinate.
  [[nodiscard]] int32_t coordinate(int32_t d) const { return plan_.axes - 1 - d; }
  // The tap of one axis that tap k of all axes has.
  [[nodiscard]] int32_t tap(int32_t k, int32_t d) const {
    for (int32_t behind = plan_.axes - 1; behind > d; --behind) k /= each_;
    return k % each_;
  }

  void write(const GridAxisTaps<T>* found, int64_t table, int64_t count) const {
    // So that the sum over the axes is negative if one of them is outside.
    const auto outside = static_cast<int32_t>(-elements_);
    int32_t offsets[kernel::kMaxResampledAxes][kMostGridTaps][kGridPoints];
    for (int32_t d = 0; d < plan_.axes; ++d) {
      for (int32_t k = 0; k < each_; ++k) {
        const T* places = found[d].places[k];
        int32_t* to = offsets[d][k];
        const int32_t step = steps_[d];
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) {
          const auto element = static_cast<int32_t>(places[i]);
          to[i] = element < 0 ? outside : element * step;
        }
      }
    }
    const int32_t last = plan_.axes - 1;
    for (int32_t k = 0; k < taps_; ++k) {
      int32_t* index = plan_.index + table + k * plan_.points;
      T* weight = static_cast<T*>(plan_.weight) + table + k * plan_.points;
      std::copy_n(offsets[last][tap(k, last)], count, index);
      std::copy_n(found[last].weights[tap(k, last)], count, weight);
      for (int32_t d = last; d-- > 0;) {
        const int32_t* more = offsets[d][tap(k, d)];
        const T* factor = found[d].weights[tap(k, d)];
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) {
          index[i] += more[i];
          weight[i] *= factor[i];
        }
      }
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) index[i] = std::max(index[i], -1);
    }
  }

  // The gradient of one coordinate of each point.
  void add_slopes(const GridAxisTaps<T>* found, int32_t along, int64_t table, int64_t count,
                  T* to) const {
    T sums[kGridPoints] = {};
    for (int32_t k = 0; k < taps_; ++k) {
      const T* g = static_cast<const T*>(plan_.weight) + table + k * plan_.points;
      const T* slope = found[along].slopes[tap(k, along)];
      T products[kGridPoints];
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) products[i] = g[i] * slope[i];
      for (int32_t d = 0; d < plan_.axes; ++d) {
        if (d == along) continue;
        const T* weight = found[d].weights[tap(k, d)];
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) products[i] *= weight[i];
      }
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) sums[i] += products[i];
    }
    for (int64_t i = 0; i < count; ++i) to[i * plan_.axes] = sums[i];
  }

  const GridTapsPlan& plan_;
  int32_t each_;      // taps of an axis
  int32_t taps_ = 1;  // of a point
  int64_t elements_ = 1;
  GridAxis<T> axes_[kernel::kMaxResampledAxes];
  int32_t steps_[kernel::kMaxResampledAxes];
};

}  // namespace

Status grid_taps(const GridTapsPlan& plan) {
  if (plan.dtype == DType::kFloat32)
    GridTable<float>(plan).run();
  else if (plan.dtype == DType::kFloat64)
    GridTable<double>(plan).run();
  else
    return failure(Code::kNotImplemented, "expected float32 or float64 for the taps of a grid");
  return kernel::kOk;
}

}  // namespace tsr::cpu
