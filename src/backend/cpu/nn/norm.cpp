// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Normalisation: layer_norm and rms_norm, and the choice among the kinds.
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

// As layer_norm_forward, and the tangent.
template <class S>
Status layer_norm_dual(const Norm<S>& norm) {
  using T = Opmath<S>;
  const NormPlan& plan = norm.plan;
  const int64_t width = plan.inner;
  std::atomic<bool> ok{true};
  parallel_for(plan.outer, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    const RowBuffer<S> buffer(2 * width);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * width;
      const T* x = norm.widen.read(width, norm.x + at, buffer.at());
      const T* t = norm.widen.read(width, norm.t + at, buffer.at(width));
      T* y = norm.widen.target(norm.y + at, buffer.at());
      T* dy = norm.widen.target(norm.dy + at, buffer.at(width));
      norm.rows.layer_norm_dual(width, x, norm.weight, norm.bias, plan.eps,
                                norm.mean == nullptr ? nullptr : norm.mean + r, norm.rstd + r, y,
                                {t, norm.weight_tangent, norm.bias_tangent, dy});
      norm.widen.write(width, norm.y + at, y);
      norm.widen.write(width, norm.dy + at, dy);
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
  norm.rows.layer_norm_backward(width, g, x, norm.weight, mean, norm.rstd[r], dx,
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
  if (per_row(norm.plan)) {
    if (norm.plan.backward != 0) return layer_norm_backward(norm);
    return norm.dual() ? layer_norm_dual(norm) : layer_norm_forward(norm);
  }
  if (norm.plan.kind == NormKind::kGroups) return group_norm(norm);
  return batch_norm(norm);
}

template <class S>
Status run(const NormPlan& plan) {
  const Parameters<S> parameters(plan);
  if (parameters.missing()) return no_memory();
  const Norm<S> norm(plan, parameters);
  parameters.fetch(norm.widen);
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
