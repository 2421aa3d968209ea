// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Cross entropy and negative log-likelihood with class targets.
#include <algorithm>
#include <atomic>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/softmax_rows.h"
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
// Positions whose classes are gathered or widened together, and the logits of as many positions as
// are taken together where they are read in place.
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
    const int64_t chunks = (positions_ + kChunk - 1) / kChunk;
    const Workspace sums(chunks * 2 * static_cast<int64_t>(sizeof(double)));
    auto* partial = static_cast<double*>(sums.data());
    if (partial == nullptr && chunks > 0) return no_memory();
    for_chunks(chunks, [&](int64_t chunk, T* tile) {
      double loss = 0;
      double weights = 0;
      for_rows(chunk, tile, [&](int64_t position, int64_t count, const T* x) {
        forward_rows(position, count, x, loss, weights);
      });
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
    for_chunks((positions_ + kChunk - 1) / kChunk, [&](int64_t chunk, T* tile) {
      for_rows(chunk, tile, [&](int64_t position, int64_t count, const T* x) {
        for (int64_t j = 0; j < count; ++j) backward_row(position + j, x + j * plan_.classes, tile);
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

  // Rows are gathered into a tile if they are strided or need widening.
  [[nodiscard]] bool tiled() const { return plan_.inner > 1 || kIsShort<S>; }
  void put_loss(int64_t position, double loss) const {
    static_cast<S*>(plan_.loss)[position] = static_cast<S>(static_cast<T>(loss));
  }

  // How many rows are taken together: those that are gathered share cache lines, others stay in the
  // first-level cache.
  [[nodiscard]] int64_t together() const {
    if (plan_.inner > 1) return kTile;
    const int64_t cached = std::max<int64_t>(1, kTogether / std::max<int64_t>(1, plan_.classes));
    return std::min(cached, tiled() ? kTile : kChunk);
  }

  // Runs body(chunk, tile) for every chunk; the tile holds together() rows if tiled().
  template <class Body>
  void for_chunks(int64_t chunks, Body body) {
    const int64_t grain = std::max<int64_t>(1, kGrain / (kChunk * plan_.classes + 1));
    parallel_for(chunks, grain, [&](int64_t begin, int64_t end) {
      const Workspace space(tiled() ? together() * plan_.classes * static_cast<int64_t>(sizeof(T))
                                    : 0);
      if (tiled() && space.data() == nullptr) {
        out_of_memory_ = true;
        return;
      }
      for (int64_t chunk = begin; chunk < end; ++chunk) body(chunk, static_cast<T*>(space.data()));
    });
  }

  // Runs body(position, count, contiguous logits) for the positions of a chunk.
  template <class Body>
  void for_rows(int64_t chunk, T* tile, Body body) {
    const int64_t end = std::min(positions_, (chunk + 1) * kChunk);
    for (int64_t p = chunk * kChunk; p < end;) {
      int64_t count = std::min(together(), end - p);
      if (plan_.inner == 1) {
        body(p, count, widen_.read(count * plan_.classes, input_ + p * plan_.classes, tile));
      } else {
        count = std::min(count, plan_.inner - p % plan_.inner);
        const S* source = input_ + element(p);
        for (int64_t c = 0; c < plan_.classes; ++c) {
          for (int64_t j = 0; j < count; ++j)
            tile[j * plan_.classes + c] = static_cast<T>(source[c * plan_.inner + j]);
        }
        body(p, count, tile);
      }
      p += count;
    }
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
  [[nodiscard]] double weight_of(int64_t t) const {
    return weight_ == nullptr ? 1.0 : static_cast<double>(weight_[t]);
  }

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
    double loss = 0;
    if (t >= 0) {
      loss = (1 - plan_.smoothing) * weight_of(t) * static_cast<double>(lse - x[t]);
      if (plan_.smoothing != 0) {
        const double smooth = rows_.distance(plan_.classes, x, lse, weight_);
        loss += plan_.smoothing / static_cast<double>(plan_.classes) * smooth;
      }
      sum += loss;
      weights += weight_of(t);
    }
    if (!reduced()) put_loss(position, loss);
  }

  void backward_row(int64_t position, const T* x, T* tile) {
    const int64_t t = target(position);
    auto* grad = static_cast<S*>(plan_.grad_input) + element(position);
    // The scratch row of this position is free once it has been read.
    T* row = tiled() ? tile + (x - tile) : widen_.target(grad, nullptr);
    const auto* upstream = static_cast<const S*>(plan_.grad);
    double g = static_cast<double>(static_cast<T>(upstream[reduced() ? 0 : position]));
    if (plan_.reduction == ClassReduction::kMean) {
      g /= static_cast<double>(*static_cast<const T*>(plan_.weights));
    }
    if (t < 0) {
      std::fill_n(row, plan_.classes, T{0});
    } else {
      slopes(position, t, g, x, row);
    }
    if (!tiled()) return;
    if (plan_.inner == 1) {
      widen_.write(plan_.classes, grad, row);
      return;
    }
    for (int64_t c = 0; c < plan_.classes; ++c) grad[c * plan_.inner] = static_cast<S>(row[c]);
  }
  void slopes(int64_t position, int64_t t, double g, const T* x, T* row) const {
    const double own = g * (1 - plan_.smoothing) * weight_of(t);
    const double flat = g * plan_.smoothing / static_cast<double>(plan_.classes);
    if (plan_.log_probabilities != 0 && flat == 0) {
      std::fill_n(row, plan_.classes, T{0});
    } else if (plan_.log_probabilities != 0) {
      for (int64_t c = 0; c < plan_.classes; ++c) row[c] = static_cast<T>(-flat * weight_of(c));
    } else {
      const T lse = static_cast<const T*>(plan_.lse)[position];
      rows_.backward(plan_.classes, x, lse, static_cast<T>(own + flat * weight_sum_),
                     static_cast<T>(flat), weight_, row);
    }
    row[t] -= static_cast<T>(own);
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
