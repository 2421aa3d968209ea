// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Weighted sums of elements at given places, and their gradients. The threads share out what is
// written, so every sum has a fixed order.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/triangle_rows.h"
#include "backend/cpu/nn/resample_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::Status;
using kernel::WeightedGatherPlan;
using kernel::WeightedPass;

constexpr int64_t kBlock = 1024;  // points whose indices and weights stay in the first-level cache
constexpr int64_t kGrain = 8192;
// Of an image whose channels are put side by side; more would leave the caches.
constexpr int64_t kMostElements = 32768;

template <class T>
class WeightedGather {
 public:
  explicit WeightedGather(const WeightedGatherPlan& plan)
      : plan_(plan),
        rows_(rows_of<WeightedGatherRows<T>>()),
        blocks_((plan.points + kBlock - 1) / kBlock),
        input_(static_cast<T*>(plan.input)),
        weight_(static_cast<T*>(plan.weight)),
        output_(static_cast<T*>(plan.output)) {}

  void run() const {
    const int64_t taps = plan_.batch * plan_.taps;
    switch (plan_.pass) {
      case WeightedPass::kBackwardInput:
        return each(plan_.batch * plan_.channels, plan_.points * plan_.taps,
                    [&](int64_t plane) { scatter(plane); });
      case WeightedPass::kBackwardWeight:
        return each(taps * blocks_, std::min(kBlock, plan_.points) * plan_.channels,
                    [&](int64_t i) { products(i / blocks_, i % blocks_ * kBlock); });
      default:
        return gather_all();
    }
  }

 private:
  template <class Body>
  static void each(int64_t count, int64_t cost, const Body& body) {
    parallel_for(count, std::max<int64_t>(1, kGrain / (cost + 1)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  }

  // ---- the forward pass ----

  // Where that pays, a line of channels is gathered at once, from a copy in which the channels are
  // neighbours; the other channels one by one. Both add up the taps in their order.
  void gather_all() const {
    const bool pays = plan_.elements <= std::min(kMostElements, 2 * plan_.points);
    const int64_t lines = pays ? plan_.channels / kLineChannels<T> : 0;
    const int64_t cost = plan_.points * plan_.taps * kLineChannels<T>;
    const int64_t room = (plan_.elements + kBlock) * kLineChannels<T>;
    parallel_for(plan_.batch * lines, std::max<int64_t>(1, kGrain / (cost + 1)),
                 [&](int64_t begin, int64_t end) {
                   const Workspace space(room * static_cast<int64_t>(sizeof(T)));
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t first = i % lines * kLineChannels<T>;
                     if (space.data() != nullptr)
                       gather_lines(i / lines, first, static_cast<T*>(space.data()));
                     else
                       gather_image(i / lines, first, first + kLineChannels<T>);
                   }
                 });
    const int64_t first = lines * kLineChannels<T>;
    if (first == plan_.channels) return;
    each(plan_.batch * blocks_, std::min(kBlock, plan_.points) * (plan_.channels - first),
         [&](int64_t i) { gather(i / blocks_, i % blocks_ * kBlock, first, plan_.channels); });
  }

  // The channels from `first` on.
  void gather_lines(int64_t n, int64_t first, T* space) const {
    constexpr int64_t kLine = kLineChannels<T>;
    const auto turn = rows_of<TriangleRows<T>>().turn;
    T* const found = space + plan_.elements * kLine;
    const int64_t plane = n * plan_.channels + first;
    turn(plan_.elements, kLine, space, kLine, input_ + plane * plan_.elements, plan_.elements);
    for (int64_t point = 0; point < plan_.points; point += kBlock) {
      const int64_t count = std::min(kBlock, plan_.points - point);
      const int64_t table = n * plan_.taps * plan_.points + point;
      rows_.gather_lines(count, plan_.taps, plan_.points, plan_.index + table, weight_ + table,
                         space, found);
      turn(kLine, count, output_ + plane * plan_.points + point, plan_.points, found, kLine);
    }
  }

  void gather_image(int64_t n, int64_t first, int64_t last) const {
    for (int64_t i = 0; i < blocks_; ++i) gather(n, i * kBlock, first, last);
  }

  void gather(int64_t n, int64_t point, int64_t first, int64_t last) const {
    const int64_t count = std::min(kBlock, plan_.points - point);
    const int64_t table = n * plan_.taps * plan_.points + point;
    for (int64_t c = first; c < last; ++c) {
      const int64_t plane = n * plan_.channels + c;
      rows_.gather(count, plan_.taps, plan_.points, plan_.index + table, weight_ + table,
                   input_ + plane * plan_.elements, output_ + plane * plan_.points + point);
    }
  }

  // ---- the gradients ----

  void scatter(int64_t plane) const {
    T* to = input_ + plane * plan_.elements;
    const T* g = output_ + plane * plan_.points;
    std::fill_n(to, plan_.elements, T{0});
    for (int64_t k = 0; k < plan_.taps; ++k) {
      const int64_t table = (plane / plan_.channels * plan_.taps + k) * plan_.points;
      const int32_t* index = plan_.index + table;
      const T* weight = weight_ + table;
      for (int64_t p = 0; p < plan_.points; ++p) {
        if (index[p] >= 0) to[index[p]] += weight[p] * g[p];
      }
    }
  }

  // `line` counts taps of items of the batch.
  void products(int64_t line, int64_t point) const {
    const int64_t count = std::min(kBlock, plan_.points - point);
    T* to = weight_ + line * plan_.points + point;
    std::fill_n(to, count, T{0});
    for (int64_t c = 0; c < plan_.channels; ++c) {
      const int64_t plane = line / plan_.taps * plan_.channels + c;
      rows_.products(count, plan_.index + line * plan_.points + point,
                     input_ + plane * plan_.elements, output_ + plane * plan_.points + point, to);
    }
  }

  const WeightedGatherPlan& plan_;
  const WeightedGatherRows<T>& rows_;
  int64_t blocks_;
  T* input_;
  T* weight_;
  T* output_;
};

}  // namespace

Status weighted_gather(const WeightedGatherPlan& plan) {
  if (plan.dtype == DType::kFloat32)
    WeightedGather<float>(plan).run();
  else if (plan.dtype == DType::kFloat64)
    WeightedGather<double>(plan).run();
  else
    return failure(Code::kNotImplemented, "expected float32 or float64 for weighted gathering");
  return kernel::kOk;
}

}  // namespace tsr::cpu
