// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arithmetic sequences: arange and linspace.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SequencePlan;
using kernel::Status;

namespace {

constexpr int64_t kGrainElements = 16384;

template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<typename T::value_type>(value));
  }
}

// out[j] = from + step (first + j). Counting by an int32 is what compilers make vectors of.
template <class T>
void fill_line(T* out, int64_t count, double from, double step, int64_t first, int sign) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int64_t done = 0; done < count; done += kMost) {
    const auto part = static_cast<int32_t>(std::min(kMost, count - done));
    const auto start = static_cast<double>(first + sign * done);
    T* to = out + done;
#pragma omp simd
    for (int32_t j = 0; j < part; ++j) {
      const auto place = static_cast<double>(sign * j);
      to[j] = rounded<T>(from + step * (start + place));
    }
  }
}

// The second half counts back from stop, so that both ends are exact and the sequence is symmetric.
// One without its end has the elements of the sequence with it, except the last.
template <class T>
void fill_real(const SequencePlan& plan, T* out, int64_t begin, int64_t end) {
  const int64_t half = plan.symmetric != 0 ? (plan.numel + plan.symmetric) / 2 : plan.numel;
  const int64_t middle = std::clamp(half, begin, end);
  const int64_t from_stop = plan.numel + plan.symmetric - 2 - middle;
  fill_line(out + begin, middle - begin, plan.start, plan.step, begin, 1);
  fill_line(out + middle, end - middle, plan.stop, -plan.step, from_stop, -1);
}

// Wraps as integer arithmetic does.
template <class T>
void fill_integers(const SequencePlan& plan, T* out, int64_t begin, int64_t end) {
  const auto step = static_cast<uint64_t>(plan.step_integer);
  uint64_t value = static_cast<uint64_t>(plan.start_integer) + step * static_cast<uint64_t>(begin);
  for (int64_t i = begin; i < end; ++i, value += step) out[i] = static_cast<T>(value);
}

}  // namespace

Status sequence(const SequencePlan& plan) {
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_same_v<T, bool>) {
      return failure(Code::kDType, "expected a numeric dtype, got bool");
    } else {
      T* out = static_cast<T*>(plan.output);
      parallel_for(plan.numel, kGrainElements, [&](int64_t begin, int64_t end) {
        if constexpr (std::is_integral_v<T>)
          fill_integers(plan, out, begin, end);
        else
          fill_real(plan, out, begin, end);
      });
      return kernel::kOk;
    }
  });
}

}  // namespace tsr::cpu
