// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps over a whole list of parameters, divided evenly among the threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/optim/optim_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::OptimOp;
using kernel::OptimPlan;
using kernel::OptimSlot;
using kernel::Status;

constexpr int64_t kGrain = 8192;
// Norms are summed in chunks of this size, so that they do not depend on the number of threads.
constexpr int64_t kChunk = 16384;

// A part of one operand as numbers of type T. A 16-bit operand is widened into a buffer; after the
// step it is rounded back if it was written.
template <class S, class T>
class Operand {
 public:
  Operand(const void* data, int64_t first, int64_t count)
      : source_(data == nullptr ? nullptr : static_cast<S*>(const_cast<void*>(data)) + first),
        count_(count) {
    if constexpr (!std::is_same_v<S, T>) {
      for (int64_t i = 0; source_ != nullptr && i < count; ++i) buffer_[i] = T(source_[i]);
    }
  }
  T* get() {
    if constexpr (std::is_same_v<S, T>)
      return source_;
    else
      return source_ == nullptr ? nullptr : buffer_;
  }
  void put() {
    if constexpr (!std::is_same_v<S, T>) {
      for (int64_t i = 0; source_ != nullptr && i < count_; ++i) source_[i] = S(buffer_[i]);
    }
  }

  static constexpr int64_t kCapacity = 1024;

 private:
  S* source_;
  int64_t count_;
  T buffer_[std::is_same_v<S, T> ? 1 : kCapacity];
};

// Runs body(slot, first, count) over every piece of every slot; a piece has at most `limit`
// elements.
template <class Body>
void for_pieces(const OptimPlan& plan, int64_t limit, Body body) {
  int64_t total = 0;
  for (int64_t s = 0; s < plan.count; ++s) total += plan.slots[s].numel;
  parallel_for(total, kGrain, [&](int64_t begin, int64_t end) {
    int64_t start = 0;
    for (int64_t s = 0; s < plan.count && start < end; ++s) {
      const OptimSlot& slot = plan.slots[s];
      const int64_t last = std::min(end - start, slot.numel);
      for (int64_t first = std::max<int64_t>(begin - start, 0); first < last;) {
        const int64_t count = std::min(limit, last - first);
        body(slot, first, count);
        first += count;  // adding the limit instead would overflow
      }
      start += slot.numel;
    }
  });
}

template <class S>
constexpr int64_t piece_limit() {
  return sizeof(S) == 2 ? Operand<S, float>::kCapacity : INT64_MAX;
}

template <class S, class T>
void clip(const OptimPlan& plan) {
  const T factor = static_cast<T>(math::clip_factor(plan.max_norm, *plan.norm));
  for_pieces(plan, piece_limit<S>(), [&](const OptimSlot& slot, int64_t first, int64_t count) {
    Operand<S, T> parameter(slot.parameter, first, count);
    rows_of<OptimRows<T>>().scale(count, factor, parameter.get());
    parameter.put();
  });
}

template <class S, class T>
void unscale(const OptimPlan& plan) {
  const T factor = static_cast<T>(*plan.factor);
  std::atomic<bool> finite{true};
  for_pieces(plan, piece_limit<S>(), [&](const OptimSlot& slot, int64_t first, int64_t count) {
    Operand<S, T> parameter(slot.parameter, first, count);
    if (!rows_of<OptimRows<T>>().unscale(count, factor, parameter.get())) {
      finite.store(false, std::memory_order_relaxed);
    }
    parameter.put();
  });
  if (!finite.load(std::memory_order_relaxed)) *plan.found = 1;
}

template <class S, class T>
void update(const OptimPlan& plan) {
  using Op = Operand<S, T>;
  math::with_step<T>(plan, [&plan](const auto& step) {
    using Step = std::remove_cvref_t<decltype(step)>;
    const StepRow<T> row =
        rows_of<OptimRows<T>>().steps.rows[math::step_number<Step>(math::AllSteps<T>())];
    for_pieces(plan, piece_limit<S>(), [&](const OptimSlot& slot, int64_t first, int64_t count) {
      Op parameter(slot.parameter, first, count);
      Op gradient(slot.gradient, first, count);
      Op a(slot.state0, first, count);
      Op b(slot.state1, first, count);
      Op c(slot.state2, first, count);
      row(count, &step, parameter.get(), gradient.get(), a.get(), b.get(), c.get());
      parameter.put();
      a.put();
      b.put();
      c.put();
    });
  });
}

// ---- the norm of all gradients ----

template <class S, class T>
double chunk_norm(const OptimPlan& plan, const OptimSlot& slot, int64_t first, int64_t count) {
  const double p = plan.norm_type;
  const auto* g = static_cast<const S*>(slot.gradient) + first;
  if constexpr (std::is_same_v<S, T>) {
    if (p == 2) return rows_of<OptimRows<T>>().sum_of_squares(count, g);
  }
  double total = math::norm_start(p);
  for (int64_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(static_cast<double>(T(g[i])));
    total = math::joined_norms(total, math::norm_term(magnitude, p), p);
  }
  return total;
}

template <class S, class T>
Status norm(const OptimPlan& plan) {
  int64_t chunks = 0;
  for (int64_t s = 0; s < plan.count; ++s) chunks += (plan.slots[s].numel + kChunk - 1) / kChunk;
  const Workspace space(chunks * static_cast<int64_t>(sizeof(double)));
  auto* partial = static_cast<double*>(space.data());
  if (partial == nullptr && chunks > 0) {
    return failure(Code::kOutOfMemory, "expected memory for partial sums, got none");
  }
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    int64_t start = 0;
    for (int64_t s = 0; s < plan.count && start < end; ++s) {
      const OptimSlot& slot = plan.slots[s];
      const int64_t own = (slot.numel + kChunk - 1) / kChunk;
      for (int64_t c = std::max<int64_t>(begin - start, 0); c < std::min(end - start, own); ++c) {
        const int64_t first = c * kChunk;
        partial[start + c] =
            chunk_norm<S, T>(plan, slot, first, std::min(kChunk, slot.numel - first));
      }
      start += own;
    }
  });
  const double p = plan.norm_type;
  double total = math::norm_start(p);
  for (int64_t c = 0; c < chunks; ++c) total = math::joined_norms(total, partial[c], p);
  if (plan.joins != 0) total = math::joined_norms(total, math::started_norm(*plan.norm, p), p);
  *plan.norm = math::finished_norm(total, p);
  return kernel::kOk;
}

template <class S, class T>
Status run(const OptimPlan& plan) {
  if (plan.op == OptimOp::kNorm) return norm<S, T>(plan);
  if (plan.op == OptimOp::kUnscale) {
    unscale<S, T>(plan);
  } else if (plan.op != OptimOp::kClip) {
    update<S, T>(plan);
  } else if (!(math::clip_factor(plan.max_norm, *plan.norm) >= 1)) {
    clip<S, T>(plan);  // also for NaN, so that the gradients become NaN
  }
  return kernel::kOk;
}

}  // namespace

Status optim(const OptimPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat32:
      return run<float, float>(plan);
    case DType::kFloat64:
      return run<double, double>(plan);
    case DType::kFloat16:
      return run<Half, float>(plan);
    case DType::kBFloat16:
      return run<BFloat16, float>(plan);
    default:
      return failure(Code::kDType, "expected parameters of a real floating dtype");
  }
}

}  // namespace tsr::cpu
