// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loss of alignments for one sequence: one step of the forward and of the backward recursion in
// log space (see AlignLossPlan; Graves et al. 2006, sections 4.1 and 4.2). beta of a state at time
// t is the log of the probability of all paths from it to the end, without time t itself, so that
// alpha + beta is that of all paths through the state.
#pragma once

#include <cmath>
#include <limits>

#include "base/host_device.h"
#include "kernel/recurrent.h"

namespace tsr::math {

template <class T>
TSR_HD T never() {  // log 0
  return -std::numeric_limits<T>::infinity();
}

// log(e**a + e**b + e**c)
template <class T>
TSR_HD T log_sum(T a, T b, T c) {
  T most = a < b ? b : a;
  most = most < c ? c : most;
  if (most == never<T>() && b == b && c == c) return most;  // NaN stays NaN
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

template <class T>
struct AlignPath {
  int64_t length;      // time steps
  int64_t labels;      // in the target
  int64_t time_step;   // from one time to the next in log_probs
  int64_t alpha_step;  // the same in alpha
  int64_t blank;
  const int64_t* target;
  const T* log_probs;
  T* alpha;
  T* work;

  [[nodiscard]] TSR_HD int64_t states() const { return 2 * labels + 1; }
  // Even states are blanks.
  [[nodiscard]] TSR_HD int64_t label(int64_t s) const { return s % 2 == 0 ? blank : target[s / 2]; }
  // Whether a path may come to s from s - 2, past the blank between two different labels.
  [[nodiscard]] TSR_HD bool skips(int64_t s) const {
    return s % 2 == 1 && s >= 3 && target[s / 2] != target[s / 2 - 1];
  }
  [[nodiscard]] TSR_HD T score(int64_t t, int64_t s) const {
    return log_probs[t * time_step + label(s)];
  }
  [[nodiscard]] TSR_HD bool is_last(int64_t s) const { return s >= states() - 2; }

  [[nodiscard]] TSR_HD T alpha_at(int64_t t, int64_t s) const {
    if (t == 0) return s < 2 ? score(0, s) : never<T>();
    const T* before = alpha + (t - 1) * alpha_step;
    const T one = s >= 1 ? before[s - 1] : never<T>();
    const T two = skips(s) ? before[s - 2] : never<T>();
    return log_sum(before[s], one, two) + score(t, s);
  }
  // beta at time t from that at t + 1.
  [[nodiscard]] TSR_HD T beta_at(int64_t t, int64_t s, const T* after) const {
    if (t == length - 1) return is_last(s) ? T{0} : never<T>();
    const bool one_more = s + 1 < states();
    const bool two_more = s + 2 < states() && skips(s + 2);
    const T same = after[s] + score(t + 1, s);
    const T one = one_more ? after[s + 1] + score(t + 1, s + 1) : never<T>();
    const T two = two_more ? after[s + 2] + score(t + 1, s + 2) : never<T>();
    return log_sum(same, one, two);
  }
  // -log p, from alpha at the last time. An empty input yields an empty target only.
  [[nodiscard]] TSR_HD T total() const {
    if (length == 0) return labels == 0 ? T{0} : -never<T>();
    const T* last = alpha + (length - 1) * alpha_step;
    const T label_end = labels > 0 ? last[states() - 2] : never<T>();
    return -log_sum(last[states() - 1], label_end, never<T>());
  }
  // Whether s is the first state with its label: the one that adds those of all.
  [[nodiscard]] TSR_HD bool leads(int64_t s) const {
    const int64_t own = label(s);
    if (s % 2 == 0 || own == blank) return s == 0;
    for (int64_t other = 1; other < s; other += 2) {
      if (label(other) == own) return false;
    }
    return true;
  }
  [[nodiscard]] TSR_HD T sum_of_label(int64_t s, const T* values) const {
    const int64_t own = label(s);
    T sum = 0;
    for (int64_t other = s; other < states(); ++other) {
      if (label(other) == own) sum += values[other];
    }
    return sum;
  }
};

template <class T>
TSR_HD AlignPath<T> path_of(const kernel::AlignLossPlan& plan, int64_t b) {
  AlignPath<T> path;
  path.length = plan.input_lengths[b];
  path.labels = plan.target_lengths[b];
  path.time_step = plan.batch * plan.classes;
  path.alpha_step = plan.states;
  path.blank = plan.blank;
  path.target = plan.targets + plan.target_starts[b];
  path.log_probs = static_cast<const T*>(plan.log_probs) + b * plan.classes;
  path.alpha = static_cast<T*>(plan.alpha) + b * plan.time * plan.states;
  path.work = static_cast<T*>(plan.work) + (plan.work == nullptr ? 0 : b * 3 * plan.states);
  return path;
}

// Whether the gradient of a sequence is zero everywhere.
template <class T>
TSR_HD bool is_dropped(const kernel::AlignLossPlan& plan, T total) {
  return plan.zero_infinity != 0 && total == -never<T>();
}

}  // namespace tsr::math
