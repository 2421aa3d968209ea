// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Cross entropy and negative log-likelihood with class targets.
#include <algorithm>
#include <atomic>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/softmax_rows.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ClassLossPlan;
using kernel::ClassReduction;
using kernel::Status;

// Partial sums belong to chunks of fixed size, so that a result does not depend on the threads.
constexpr int64_t kChunk = 64;
constexpr int64_t kGrain = 16384;
// Rows that are widened together, and the logits of as many rows as are taken together where they
// are read in place: those stay in the first-level cache.
constexpr int64_t kTile = 16;
constexpr int64_t kTogether = 4096;

// `weight` is the weight of the plan, as T.
template <class S>
class ClassLoss {
  using T = Opmath<S>;

 public:
  ClassLoss(const ClassLossPlan& plan, const T* weight)
      : plan_(plan),
        rows_(rows_of<ClassLossRows<T>>()),
        input_(static_cast<const S*>(plan.input)),
        weight_(weight),
        positions_(plan.batch * plan.inner) {
    weight_sum_ = static_cast<double>(plan.classes);
    if (weight_ != nullptr) {
      weight_sum_ = 0;
      for (int64_t c = 0; c < plan.classes; ++c) weight_sum_ += static_cast<double>(weight_[c]);
    }
  }

  Status forward() {
    const int64_t chunks = chunk_count();
    const Workspace sums(chunks * 2 * static_cast<int64_t>(sizeof(double)));
    auto* partial = static_cast<double*>(sums.data());
    if (partial == nullptr && chunks > 0) return no_memory();
    for_chunks([&](int64_t chunk, T* tile) {
      double loss = 0;
      double weights = 0;
      if (picks()) {
        forward_picked(chunk, loss, weights);
      } else if (plan_.inner > 1) {
        forward_beside(chunk, tile, loss, weights);
      } else {
        for_rows(chunk, tile, [&](int64_t position, int64_t count, const T* x) {
          forward_rows(position, count, x, loss, weights);
        });
      }
      partial[2 * chunk] = loss;
      partial[2 * chunk + 1] = weights;
    });
    double loss = 0;
    double weights = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      loss += partial[2 * chunk];
      weights += partial[2 * chunk + 1];
    }
    if (plan_.reduction == ClassReduction::kMean) loss /= weights;
    if (reduced()) put_loss(0, loss);
    if (plan_.weights != nullptr) *static_cast<T*>(plan_.weights) = static_cast<T>(weights);
    return verdict();
  }

  Status backward() {
    for_chunks([&](int64_t chunk, T* tile) {
      if (picks()) return backward_picked(chunk);
      if (plan_.inner > 1) return backward_beside(chunk, tile);
      for_rows(chunk, tile, [&](int64_t position, int64_t count, const T* x) {
        // The scratch rows of these positions are free once they have been read.
        T* rows = widen_.target(grad_at(position), tile);
        for (int64_t j = 0; j < count; ++j)
          backward_row(position + j, x + j * plan_.classes, rows + j * plan_.classes);
        widen_.write(count * plan_.classes, grad_at(position), rows);
      });
    });
    return verdict();
  }

 private:
  [[nodiscard]] bool reduced() const { return plan_.reduction != ClassReduction::kNone; }
  static Status no_memory() {
    return failure(Code::kOutOfMemory, "expected memory for partial sums, got none");
  }
  Status verdict() const {
    if (out_of_memory_) return no_memory();
    if (!bad_) return kernel::kOk;
    return failure(
        Code::kIndex,
        concat("expected targets in [0, ", plan_.classes, "), got ", bad_target_.load()).c_str());
  }

  // Without smoothing the negative log-likelihood is one number of each position.
  [[nodiscard]] bool picks() const { return plan_.log_probabilities != 0 && plan_.smoothing == 0; }
  void put_loss(int64_t position, double loss) const {
    static_cast<S*>(plan_.loss)[position] = static_cast<S>(static_cast<T>(loss));
  }
  [[nodiscard]] S* grad_at(int64_t position) const {
    return static_cast<S*>(plan_.grad_input) + element(position);
  }

  // How many positions are taken together.
  [[nodiscard]] int64_t together() const {
    if (plan_.inner > 1) return kChunk;
    const int64_t cached = std::max<int64_t>(1, kTogether / std::max<int64_t>(1, plan_.classes));
    return std::min(cached, kIsShort<S> ? kTile : kChunk);
  }

  [[nodiscard]] int64_t chunk_count() const { return (positions_ + kChunk - 1) / kChunk; }
  // Runs body(chunk, tile) for every chunk; the tile holds the logits of together() positions where
  // they are widened.
  template <class Body>
  void for_chunks(Body body) {
    const bool needs_tile = kIsShort<S> && !picks();
    const int64_t nbytes = together() * plan_.classes * static_cast<int64_t>(sizeof(T));
    const int64_t grain =
        std::max<int64_t>(1, kGrain / (kChunk * (picks() ? 1 : plan_.classes) + 1));
    parallel_for(chunk_count(), grain, [&](int64_t begin, int64_t end) {
      const Workspace space(needs_tile ? nbytes : 0);
      if (needs_tile && space.data() == nullptr) {
        out_of_memory_ = true;
        return;
      }
      for (int64_t chunk = begin; chunk < end; ++chunk) body(chunk, static_cast<T*>(space.data()));
    });
  }

  // Runs body(first, count) for the runs of neighbours among the positions of a chunk.
  template <class Body>
  void for_runs(int64_t chunk, int64_t most, Body body) {
    const int64_t end = std::min(positions_, (chunk + 1) * kChunk);
    for (int64_t p = chunk * kChunk, count = 0; p < end; p += count) {
      count = std::min(most, end - p);
      if (plan_.inner > 1) count = std::min(count, plan_.inner - p % plan_.inner);
      body(p, count);
    }
  }
  // Runs body(position, count, contiguous logits) for the positions of a chunk.
  template <class Body>
  void for_rows(int64_t chunk, T* tile, Body body) {
    for_runs(chunk, together(), [&](int64_t p, int64_t count) {
      body(p, count, widen_.read(count * plan_.classes, input_ + element(p), tile));
    });
  }
  // The offset of class 0 of a position.
  [[nodiscard]] int64_t element(int64_t position) const {
    return position / plan_.inner * plan_.classes * plan_.inner + position % plan_.inner;
  }

  // The target of a position; -1 if the position is ignored.
  int64_t target(int64_t position) {
    const int64_t t = plan_.target[position];
    if (t == plan_.ignore) return -1;
    if (t < 0 || t >= plan_.classes) {
      bad_target_ = t;
      bad_ = true;
      return -1;
    }
    return t;
  }
  // Elements from a position to the next one of a run.
  [[nodiscard]] int64_t stride() const { return plan_.inner > 1 ? 1 : plan_.classes; }
  void forward_picked(int64_t chunk, double& sum, double& weights) {
    for_runs(chunk, kChunk, [&](int64_t first, int64_t count) {
      const S* logits = input_ + element(first);
      for (int64_t p = first; p < first + count; ++p, logits += stride()) {
        const int64_t t = target(p);
        double loss = 0;
        if (t >= 0) {
          const double weight = weight_of(t);
          loss = weight * static_cast<double>(T{0} - static_cast<T>(logits[t * plan_.inner]));
          sum += loss;
          weights += weight;
        }
        if (!reduced()) put_loss(p, loss);
      }
    });
  }
  void backward_picked(int64_t chunk) {
    for_runs(chunk, kChunk, [&](int64_t first, int64_t count) {
      if (plan_.inner == 1) std::fill_n(grad_at(first), count * plan_.classes, S{});
      for (int64_t c = 0; c < plan_.classes && plan_.inner > 1; ++c)
        std::fill_n(grad_at(first) + c * plan_.inner, count, S{});
      S* grad = grad_at(first);
      for (int64_t p = first; p < first + count; ++p, grad += stride()) {
        const int64_t t = target(p);
        if (t < 0) continue;
        const T own = static_cast<T>(upstream(p) * weight_of(t));
        grad[t * plan_.inner] = static_cast<S>(T{0} - own);
      }
    });
  }
  // The gradient of the loss of a position.
  [[nodiscard]] double upstream(int64_t position) const {
    const auto* given = static_cast<const S*>(plan_.grad);
    const double g = static_cast<double>(static_cast<T>(given[reduced() ? 0 : position]));
    return plan_.reduction == ClassReduction::kMean
               ? g / static_cast<double>(*static_cast<const T*>(plan_.weights))
               : g;
  }
  [[nodiscard]] double weight_of(int64_t t) const {
    return weight_ == nullptr ? 1.0 : static_cast<double>(weight_[t]);
  }

  // ---- classes that are not the last axis: positions side by side ----

  // The logits of neighbouring positions: those of class c at `at` + c * step.
  struct Beside {
    const T* at;
    int64_t step;
  };
  Beside beside(int64_t first, int64_t count, T* tile) const {
    const S* source = input_ + element(first);
    if constexpr (kIsShort<S>) {
      for (int64_t c = 0; c < plan_.classes; ++c)
        widen_.read(count, source + c * plan_.inner, tile + c * count);
      return {tile, count};
    } else {
      return {source, plan_.inner};
    }
  }

  void forward_beside(int64_t chunk, T* tile, double& sum, double& weights) {
    for_runs(chunk, kChunk, [&](int64_t first, int64_t count) {
      const Beside x = beside(first, count, tile);
      const T none[kChunk] = {};
      const T* lse = none;
      if (plan_.log_probabilities == 0) {
        T* made = static_cast<T*>(plan_.lse) + first;
        rows_.log_sum_exp_beside(plan_.classes, x.step, count, x.at, made);
        lse = made;
      }
      double smooth[kChunk] = {};
      for (int64_t c = 0; plan_.smoothing != 0 && c < plan_.classes; ++c) {
        const double weight = weight_of(c);
        for (int64_t i = 0; i < count; ++i)
          smooth[i] += weight * static_cast<double>(lse[i] - x.at[c * x.step + i]);
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t t = target(first + i);
        const T away = t < 0 ? T{0} : lse[i] - x.at[t * x.step + i];
        add_loss(first + i, t, away, smooth[i], sum, weights);
      }
    });
  }

  void backward_beside(int64_t chunk, T* tile) {
    const double shared = reduced() ? upstream(0) : 0;
    for_runs(chunk, kChunk, [&](int64_t first, int64_t count) {
      int64_t targets[kChunk];
      T own[kChunk];
      T slope[kChunk];
      T flat[kChunk];
      for (int64_t i = 0; i < count; ++i) {
        const int64_t t = targets[i] = target(first + i);
        const double g = t < 0 ? 0 : reduced() ? shared : upstream(first + i);
        const Slope of = slope_of(t, g);
        own[i] = of.own;
        slope[i] = of.slope;
        flat[i] = of.flat;
      }
      const Beside x = beside(first, count, tile);
      T* out = widen_.target(grad_at(first), tile);
      const int64_t step = kIsShort<S> ? count : plan_.inner;
      if (plan_.log_probabilities == 0) {
        const T* lse = static_cast<const T*>(plan_.lse) + first;
        rows_.backward_beside(plan_.classes, x.step, step, count, x.at, lse, slope, flat, weight_,
                              out);
      } else {
        for (int64_t c = 0; c < plan_.classes; ++c) {
          for (int64_t i = 0; i < count; ++i)
            out[c * step + i] = static_cast<T>(-flat[i] * weight_of(c));
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        if (targets[i] >= 0)
          out[targets[i] * step + i] -= own[i];
        else  // also where the logits are not finite
          for (int64_t c = 0; c < plan_.classes; ++c) out[c * step + i] = T{0};
      }
      for (int64_t c = 0; kIsShort<S> && c < plan_.classes; ++c)
        widen_.write(count, grad_at(first) + c * plan_.inner, out + c * step);
    });
  }

  // ---- classes along the last axis: rows ----

  void forward_rows(int64_t position, int64_t count, const T* x, double& sum, double& weights) {
    auto* lse = plan_.log_probabilities == 0 ? static_cast<T*>(plan_.lse) + position : nullptr;
    if (lse != nullptr) rows_.log_sum_exp(count, plan_.classes, x, lse);
    for (int64_t j = 0; j < count; ++j) {
      forward_row(position + j, x + j * plan_.classes, lse == nullptr ? T{0} : lse[j], sum,
                  weights);
    }
  }
  void forward_row(int64_t position, const T* x, T lse, double& sum, double& weights) {
    const int64_t t = target(position);
    const bool smooths = t >= 0 && plan_.smoothing != 0;
    const double smooth = smooths ? rows_.distance(plan_.classes, x, lse, weight_) : 0;
    add_loss(position, t, t < 0 ? T{0} : lse - x[t], smooth, sum, weights);
  }
  // The loss of a position whose target's logit is `away` from the logarithm; `smooth`: the sum of
  // these distances over all classes.
  void add_loss(int64_t position, int64_t t, T away, double smooth, double& sum, double& weights) {
    double loss = 0;
    if (t >= 0) {
      loss = (1 - plan_.smoothing) * weight_of(t) * static_cast<double>(away);
      if (plan_.smoothing != 0)
        loss += plan_.smoothing / static_cast<double>(plan_.classes) * smooth;
      sum += loss;
      weights += weight_of(t);
    }
    if (!reduced()) put_loss(position, loss);
  }

  void backward_row(int64_t position, const T* x, T* row) {
    const int64_t t = target(position);
    if (t < 0)
      std::fill_n(row, plan_.classes, T{0});
    else
      slopes(position, t, upstream(position), x, row);
  }
  // What the gradient of a position is made of: slope exp(x - lse) - flat weight, less `own` for
  // the target.
  struct Slope {
    T own, slope, flat;
  };
  [[nodiscard]] Slope slope_of(int64_t t, double g) const {
    const double own = g * (1 - plan_.smoothing) * (t < 0 ? 0 : weight_of(t));
    const double flat = g * plan_.smoothing / static_cast<double>(plan_.classes);
    return {static_cast<T>(own), static_cast<T>(own + flat * weight_sum_), static_cast<T>(flat)};
  }
  void slopes(int64_t position, int64_t t, double g, const T* x, T* row) const {
    const Slope of = slope_of(t, g);
    if (plan_.log_probabilities != 0) {
      for (int64_t c = 0; c < plan_.classes; ++c)
        row[c] = static_cast<T>(-static_cast<double>(of.flat) * weight_of(c));
    } else {
      const T lse = static_cast<const T*>(plan_.lse)[position];
      rows_.backward(plan_.classes, x, lse, of.slope, of.flat, weight_, row);
    }
    row[t] -= of.own;
  }

  const ClassLossPlan& plan_;
  const ClassLossRows<T>& rows_;
  Widen<S> widen_;
  const S* input_;
  const T* weight_;
  int64_t positions_;
  double weight_sum_;
  std::atomic<bool> bad_{false};
  std::atomic<bool> out_of_memory_{false};
  std::atomic<int64_t> bad_target_{0};
};

template <class S>
Status run(const ClassLossPlan& plan) {
  const Widen<S> widen;
  const RowBuffer<S> room(plan.weight == nullptr ? 1 : plan.classes);
  if (room.missing())
    return failure(Code::kOutOfMemory, "expected memory for weights in float32, got none");
  const Opmath<S>* weight =
      plan.weight == nullptr
          ? nullptr
          : widen.read(plan.classes, static_cast<const S*>(plan.weight), room.at());
  ClassLoss<S> loss(plan, weight);
  return plan.backward != 0 ? loss.backward() : loss.forward();
}

}  // namespace

Status class_loss(const ClassLossPlan& plan) {
  return visit_storage(plan.dtype, "expected a real floating dtype for a classification loss",
                       [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cpu
