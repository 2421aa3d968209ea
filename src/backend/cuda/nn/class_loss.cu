// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Cross entropy and negative log-likelihood with class targets: a team per
// position (Note [Rows by layout]).
#include "backend/cuda/fault.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"
#include "backend/cuda/team.cuh"

namespace tsr::cuda {

using kernel::ClassLossPlan;
using kernel::ClassReduction;
using kernel::Status;

namespace {

constexpr int64_t kPart = 4096;  // positions whose losses one block adds

// The contribution of a position to a reduced loss.
struct Share {
  double loss, weight;
};

// A typed plan: lse and the sum of the weights are T, the rest is stored as S.
template <class S>
struct Positions {
  using T = typename S::Value::Element;
  using Type = typename S::Type;
  ClassLossPlan plan;

  __device__ static T load(const void* data, int64_t i) {
    return S::load(static_cast<const Type*>(data)[i]).v;
  }
  __device__ static void put(void* data, int64_t i, double value) {
    static_cast<Type*>(data)[i] = S::store(Number<T>(static_cast<T>(value)));
  }
  // The offset of class 0 of a position.
  __device__ int64_t first(int64_t position) const {
    return position / plan.inner * plan.classes * plan.inner + position % plan.inner;
  }
  __device__ T score(int64_t base, int64_t c) const {
    return load(plan.input, base + c * plan.inner);
  }
  __device__ double weight(int64_t c) const {
    return plan.weight == nullptr ? 1.0 : static_cast<double>(load(plan.weight, c));
  }
  // The target of a position; -1 if the position is ignored.
  __device__ int64_t target(int64_t position, const Reporter* reporter) const {
    const int64_t t = plan.target[position];
    if (t == plan.ignore) return -1;
    if (t >= 0 && t < plan.classes) return t;
    if (reporter != nullptr) report(*reporter, 0, t, plan.classes, 1);
    return -1;
  }
  __device__ bool reduced() const { return plan.reduction != ClassReduction::kNone; }
};

template <class S>
struct ClassLossForward {
  using T = typename Positions<S>::T;
  Positions<S> at;
  Share* shares;
  Reporter reporter;

  template <class Team>
  __device__ void operator()(int64_t position, const Team& team) const {
    const ClassLossPlan& plan = at.plan;
    const int64_t base = at.first(position);
    const int64_t t = at.target(position, team.leads() ? &reporter : nullptr);
    T lse = 0;
    double smooth = 0;
    if (plan.log_probabilities == 0 || plan.smoothing != 0) {
      const auto row = team.hold(plan.classes, [&](int64_t c) { return at.score(base, c); });
      if (plan.log_probabilities == 0) lse = log_sum_exp(row, team);
      // Also for an ignored position, because all threads of a block must reach the sum.
      if (plan.smoothing != 0) smooth = smoothed(row, lse, team);
    }
    if (team.leads() && plan.log_probabilities == 0) static_cast<T*>(plan.lse)[position] = lse;
    if (!team.leads()) return;
    Share share{0, 0};
    if (t >= 0) {
      share.weight = at.weight(t);
      const double own = static_cast<double>(lse - at.score(base, t));
      share.loss = (1 - plan.smoothing) * share.weight * own + smooth;
    }
    shares[position] = share;
    if (!at.reduced()) at.put(plan.loss, position, share.loss);
  }

 private:
  template <class Row, class Team>
  __device__ static T log_sum_exp(const Row& row, const Team& team) {
    // NaNs are skipped here; the exponentials are NaN for them.
    T most = -std::numeric_limits<T>::infinity();
    row.each([&](int64_t, T x) { most = most < x ? x : most; });
    const T shift = team.largest(most);
    double sum = 0;
    row.each([&](int64_t, T x) { sum += static_cast<double>(std::exp(x - shift)); });
    return shift + static_cast<T>(std::log(team.sum(sum)));
  }
  template <class Row, class Team>
  __device__ double smoothed(const Row& row, T lse, const Team& team) const {
    double sum = 0;
    row.each([&](int64_t c, T x) { sum += at.weight(c) * static_cast<double>(lse - x); });
    return team.sum(sum) * at.plan.smoothing / static_cast<double>(at.plan.classes);
  }
};

// Targets out of range were reported by the forward pass; here they are ignored.
template <class S>
struct Backward {
  using T = typename Positions<S>::T;
  Positions<S> at;

  template <class Team>
  __device__ void operator()(int64_t position, const Team& team) const {
    const ClassLossPlan& plan = at.plan;
    const int64_t base = at.first(position);
    const int64_t t = at.target(position, nullptr);
    double g = at.load(plan.grad, at.reduced() ? 0 : position);
    if (plan.reduction == ClassReduction::kMean)
      g /= static_cast<double>(*static_cast<const T*>(plan.weights));
    const double own = t < 0 ? 0 : g * (1 - plan.smoothing) * at.weight(t);
    const double flat = t < 0 ? 0 : g * plan.smoothing / static_cast<double>(plan.classes);
    const T slope = static_cast<T>(own + flat * total_weight(team));
    const bool curved = plan.log_probabilities == 0 && t >= 0;
    const T lse = curved ? static_cast<const T*>(plan.lse)[position] : T{0};
    team.visit(plan.classes, [&](int64_t c) {
      T value = static_cast<T>(-flat * at.weight(c));
      if (curved) value += std::exp(at.score(base, c) - lse) * slope;
      if (c == t) value -= static_cast<T>(own);
      at.put(plan.grad_input, base + c * plan.inner, t < 0 ? 0.0 : static_cast<double>(value));
    });
  }

 private:
  // Used only with label smoothing.
  template <class Team>
  __device__ double total_weight(const Team& team) const {
    if (at.plan.smoothing == 0 || at.plan.weight == nullptr)
      return static_cast<double>(at.plan.classes);
    double sum = 0;
    team.visit(at.plan.classes, [&](int64_t c) { sum += at.weight(c); });
    return team.sum(sum);
  }
};

// ---- The sum over the positions ----

__device__ Share add_shares(const Share* shares, int64_t begin, int64_t end, Share* place) {
  Share own{0, 0};
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    own.loss += shares[i].loss;
    own.weight += shares[i].weight;
  }
  return join_block(own, place, [](const Share& a, const Share& b) {
    return Share{a.loss + b.loss, a.weight + b.weight};
  });
}

__global__ void parts_kernel(const Share* shares, int64_t count, int64_t parts, Share* sums) {
  __shared__ Share place[kWarps];
  for (int64_t part = blockIdx.x; part < parts; part += gridDim.x) {
    const int64_t end = (part + 1) * kPart < count ? (part + 1) * kPart : count;
    const Share sum = add_shares(shares, part * kPart, end, place);
    if (threadIdx.x == 0) sums[part] = sum;
  }
}

// Run by one block.
template <class S>
__global__ void finish_kernel(const Share* sums, int64_t parts, ClassLossPlan plan) {
  __shared__ Share place[kWarps];
  Share sum = add_shares(sums, 0, parts, place);
  if (threadIdx.x != 0) return;
  if (plan.reduction == ClassReduction::kMean) sum.loss /= sum.weight;
  using T = typename Positions<S>::T;
  if (plan.reduction != ClassReduction::kNone) Positions<S>::put(plan.loss, 0, sum.loss);
  if (plan.weights != nullptr) *static_cast<T*>(plan.weights) = static_cast<T>(sum.weight);
}

template <class S>
Status add_up(const ClassLossPlan& plan, const Share* shares, int64_t count, Share* sums) {
  const int64_t parts = (count + kPart - 1) / kPart;
  const Status status =
      launch_blocks(plan.place, parts, kThreads, &parts_kernel, shares, count, parts, sums);
  if (status != kernel::kOk) return status;
  return launch_blocks(plan.place, 1, kThreads, &finish_kernel<S>, static_cast<const Share*>(sums),
                       parts, plan);
}

template <class S>
Status forward(const ClassLossPlan& plan) {
  const int64_t count = plan.batch * plan.inner;
  const int64_t parts = (count + kPart - 1) / kPart;
  const Workspace space(plan.place, (count + parts) * static_cast<int64_t>(sizeof(Share)));
  if (space.missing()) return no_workspace();
  auto* shares = space.data<Share>();
  Reporter reporter;
  Status status =
      reporter_for(plan.place, FaultKind::kTarget,
                   plan.log_probabilities == 0 ? "cross_entropy" : "nll_loss", reporter);
  if (status != kernel::kOk) return status;
  status = launch_rows(plan.place, plan.batch, plan.classes, plan.inner,
                       ClassLossForward<S>{{plan}, shares, reporter});
  if (status != kernel::kOk) return status;
  return add_up<S>(plan, shares, count, shares + count);
}

template <class S>
Status run(const ClassLossPlan& plan) {
  if (plan.backward == 0) return forward<S>(plan);
  return launch_rows(plan.place, plan.batch, plan.classes, plan.inner, Backward<S>{{plan}});
}

}  // namespace

Status class_loss(const ClassLossPlan& plan) {
  return visit_floating(plan.dtype, "expected a real floating dtype for a classification loss",
                        [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cuda
