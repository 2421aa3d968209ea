// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arithmetic sequences: arange and linspace.
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SequencePlan;
using kernel::Status;

namespace {

constexpr int64_t kGrainElements = 16384;

// The second half counts back from stop, so that both ends are exact and the sequence is symmetric.
double real_element(const SequencePlan& plan, int64_t i) {
  const bool from_end = plan.symmetric != 0 && i >= (plan.numel + 1) / 2;
  return from_end ? plan.stop - plan.step * static_cast<double>(plan.numel - 1 - i)
                  : plan.start + plan.step * static_cast<double>(i);
}

template <class T>
T element(const SequencePlan& plan, int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    // Wraps as integer arithmetic does.
    return static_cast<T>(static_cast<uint64_t>(plan.start_integer) +
                          static_cast<uint64_t>(plan.step_integer) * static_cast<uint64_t>(i));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(real_element(plan, i)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real_element(plan, i));
  } else {
    return T(static_cast<typename T::value_type>(real_element(plan, i)));
  }
}

}  // namespace

Status sequence(const SequencePlan& plan) {
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_same_v<T, bool>) {
      return failure(Code::kDType, "sequence: expected a numeric dtype, got bool");
    } else {
      T* out = static_cast<T*>(plan.output);
      parallel_for(plan.numel, kGrainElements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = element<T>(plan, i);
      });
      return kernel::kOk;
    }
  });
}

}  // namespace tsr::cpu
