// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loss of alignments (CTC): divides the sequences among the threads.
#include <algorithm>
#include <utility>

#include "backend/common/align_path.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::AlignLossPlan;
using kernel::Status;
using math::AlignPath;

template <class T>
void forward(const AlignLossPlan& plan, int64_t b) {
  const auto path = math::path_of<T>(plan, b);
  for (int64_t t = 0; t < path.length; ++t) {
    for (int64_t s = 0; s < path.states(); ++s)
      path.alpha[t * path.alpha_step + s] = path.alpha_at(t, s);
  }
  const T total = path.total();
  static_cast<T*>(plan.total)[b] = total;
  static_cast<T*>(plan.loss)[b] = math::is_dropped(plan, total) ? T{0} : total;
}

template <class T>
void backward(const AlignLossPlan& plan, int64_t b) {
  const auto path = math::path_of<T>(plan, b);
  const T total = static_cast<const T*>(plan.total)[b];
  const T slope = -static_cast<const T*>(plan.grad)[b];
  const bool dropped = math::is_dropped(plan, total);
  T* now = path.work;
  T* after = path.work + plan.states;
  for (int64_t t = plan.time - 1; t >= 0; --t) {
    T* row = static_cast<T*>(plan.grad_input) + (t * plan.batch + b) * plan.classes;
    std::fill_n(row, plan.classes, T{0});
    if (t >= path.length || dropped) continue;
    for (int64_t s = 0; s < path.states(); ++s) {
      now[s] = path.beta_at(t, s, after);
      row[path.label(s)] += slope * std::exp(path.alpha[t * path.alpha_step + s] + now[s] + total);
    }
    std::swap(now, after);
  }
}

template <class T>
Status run(const AlignLossPlan& plan) {
  parallel_for(plan.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      if (plan.backward != 0)
        backward<T>(plan, b);
      else
        forward<T>(plan, b);
    }
  });
  return kernel::kOk;
}

}  // namespace

Status align_loss(const AlignLossPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for a loss of alignments");
}

}  // namespace tsr::cpu
