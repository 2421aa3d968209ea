// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Counting into bins: every part of the elements has bins of its own.
#include <algorithm>

#include "backend/common/histogram_bin.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::HistogramPlan;
using kernel::Status;

namespace {

constexpr int64_t kPart = 32768;  // elements that are worth a part of their own

// As many parts as threads, but the bins of all of them are not more than the elements.
int64_t parts_of(const HistogramPlan& plan) {
  const int64_t most = std::min(plan.count / kPart, plan.count / plan.bins);
  return std::clamp<int64_t>(num_threads(), 1, std::max<int64_t>(most, 1));
}

// Another thread may write the numbers since they were looked at.
bool is_bin(const HistogramPlan& plan, int64_t number) {
  return number >= 0 && number < plan.bins;
}

// bin_of(i) gives the bin of element i, -1 for none.
template <class BinOf>
Status count_all(const HistogramPlan& plan, const BinOf& bin_of) {
  auto* counts = static_cast<int64_t*>(plan.output);
  std::fill_n(counts, plan.bins, 0);
  const int64_t parts = parts_of(plan);
  const Workspace space((parts - 1) * plan.bins * static_cast<int64_t>(sizeof(int64_t)));
  auto* others = static_cast<int64_t*>(space.data());
  if (parts > 1 && others == nullptr)
    return failure(Code::kOutOfMemory, "expected scratch memory, got none");
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t* bins = part == 0 ? counts : others + (part - 1) * plan.bins;
      if (part != 0) std::fill_n(bins, plan.bins, 0);
      const int64_t last = plan.count * (part + 1) / parts;
      for (int64_t i = plan.count * part / parts; i < last; ++i) {
        const int64_t bin = bin_of(i);
        if (bin >= 0) ++bins[bin];
      }
    }
  });
  for (int64_t part = 1; part < parts; ++part) {
    const int64_t* bins = others + (part - 1) * plan.bins;
    for (int64_t b = 0; b < plan.bins; ++b) counts[b] += bins[b];
  }
  return kernel::kOk;
}

// The parts depend on the numbers of elements and of bins alone.
template <class T>
Status weigh_numbers(const HistogramPlan& plan) {
  constexpr int64_t kMostParts = 16;
  const int64_t most = std::min({plan.count / kPart, plan.count / plan.bins, kMostParts});
  const int64_t parts = std::max<int64_t>(most, 1);
  const Workspace space(parts * plan.bins * static_cast<int64_t>(sizeof(double)));
  auto* sums = static_cast<double*>(space.data());
  if (sums == nullptr) return failure(Code::kOutOfMemory, "expected scratch memory, got none");
  const auto* numbers = static_cast<const int64_t*>(plan.input);
  const T* weights = static_cast<const T*>(plan.weights);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      double* bins = sums + part * plan.bins;
      std::fill_n(bins, plan.bins, 0.0);
      const int64_t last = plan.count * (part + 1) / parts;
      for (int64_t i = plan.count * part / parts; i < last; ++i) {
        if (is_bin(plan, numbers[i])) bins[numbers[i]] += static_cast<double>(weights[i]);
      }
    }
  });
  T* output = static_cast<T*>(plan.output);
  for (int64_t b = 0; b < plan.bins; ++b) {
    double whole = 0;
    for (int64_t part = 0; part < parts; ++part) whole += sums[part * plan.bins + b];
    output[b] = static_cast<T>(whole);
  }
  return kernel::kOk;
}

template <class T>
Status count_between(const HistogramPlan& plan) {
  const auto bins = math::Bins<T>::of(plan.edges, plan.bins, plan.equal_widths != 0);
  const T* values = static_cast<const T*>(plan.input);
  return count_all(plan, [&](int64_t i) { return bins.bin_of(values[i]); });
}

}  // namespace

Status histogram(const HistogramPlan& plan) {
  if (plan.bins == 0) return kernel::kOk;
  if (plan.edges == nullptr) {
    const auto* numbers = static_cast<const int64_t*>(plan.input);
    if (plan.weights != nullptr) {
      return plan.weights_dtype == DType::kFloat32 ? weigh_numbers<float>(plan)
                                                   : weigh_numbers<double>(plan);
    }
    return count_all(plan, [&](int64_t i) { return is_bin(plan, numbers[i]) ? numbers[i] : -1; });
  }
  if (plan.dtype == DType::kFloat32) return count_between<float>(plan);
  if (plan.dtype == DType::kFloat64) return count_between<double>(plan);
  return failure(Code::kDType, "expected float32 or float64");
}

}  // namespace tsr::cpu
