// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random numbers: divides the elements among threads; the rows compute them. Distributions with
// branches have their rows here, which go number by number.
#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/common/random_math.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/random/random_rows.h"
#include "base/half.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::RandomOp;
using kernel::RandomPlan;

constexpr int64_t kGrainElements = 4096;

template <class T>
double number_of(T value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  return static_cast<double>(static_cast<float>(value));
}
template <class T>
T rounded(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  return T(static_cast<float>(value));
}

// out[i] = fn(i, draws of element i).
template <class T, class Fn>
void draw_row(const RandomPlan& plan, int64_t begin, int64_t end, const Fn& fn) {
  constexpr int64_t kTogether = 32;
  math::UnitPair firsts[kTogether];
  auto* out = static_cast<T*>(plan.output);
  for (int64_t i = begin; i < end; i += kTogether) {
    const uint64_t counter = plan.offset + static_cast<uint64_t>(i);
    const int64_t count = std::min(kTogether, end - i);
    for (int64_t k = 0; k < count; ++k)
      firsts[k] = math::open_units(plan.seed, counter + static_cast<uint64_t>(k), 0);
    for (int64_t k = 0; k < count; ++k) {
      const math::Draws draws(plan.seed, counter + static_cast<uint64_t>(k), firsts[k]);
      out[i + k] = rounded<T>(fn(i + k, draws));
    }
  }
}

template <class T>
void truncated_normal_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  draw_row<T>(plan, begin, end, [&](int64_t, const math::Draws& draws) {
    const double u = plan.p2 + draws.first.first * (plan.p3 - plan.p2);
    return plan.p0 + plan.p1 * math::normal_quantile(u);
  });
}

template <class T>
void poisson_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  const auto* rates = static_cast<const T*>(plan.probabilities);
  draw_row<T>(plan, begin, end, [&](int64_t i, const math::Draws& draws) {
    return math::poisson_of(number_of(rates[i]), draws);
  });
}

template <class T>
void gamma_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  const auto* shapes = static_cast<const T*>(plan.probabilities);
  draw_row<T>(plan, begin, end, [&](int64_t i, const math::Draws& draws) {
    return math::gamma_of(number_of(shapes[i]), draws);
  });
}

template <class T>
void binomial_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  const auto* chances = static_cast<const T*>(plan.probabilities);
  const auto* counts = static_cast<const T*>(plan.counts);
  draw_row<T>(plan, begin, end, [&](int64_t i, const math::Draws& draws) {
    return math::binomial_of(number_of(counts[i]), number_of(chances[i]), draws);
  });
}

template <class T>
RandomRow branching_row(RandomOp op) {
  switch (op) {
    case RandomOp::kTruncatedNormal:
      return &truncated_normal_row<T>;
    case RandomOp::kPoisson:
      return &poisson_row<T>;
    case RandomOp::kGamma:
      return &gamma_row<T>;
    default:
      return &binomial_row<T>;
  }
}

bool branches(RandomOp op) {
  return op == RandomOp::kTruncatedNormal || op == RandomOp::kPoisson || op == RandomOp::kGamma ||
         op == RandomOp::kBinomial;
}

RandomRow find_row(RandomOp op, DType dtype) {
  if (!branches(op)) return rows_of<RandomRows>().find(op, dtype);
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) -> RandomRow {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> ||
                  std::is_same_v<T, BFloat16>) {
      return branching_row<T>(op);
    }
    return nullptr;
  });
}

// By Fisher and Yates, in one thread: each step depends on the ones before it. The integers of a
// block are drawn before its steps, so that the memory they name is on its way.
kernel::Status permute(const RandomPlan& plan) {
  if (plan.dtype != DType::kInt64)
    return failure(Code::kDType, "random: expected int64 for a permutation");
  constexpr int64_t kBlock = 256;
  int64_t numbers[kBlock];
  auto* out = static_cast<int64_t*>(plan.output);
  std::iota(out, out + plan.numel, int64_t{0});
  RandomPlan draw = plan;
  draw.op = RandomOp::kInteger;
  draw.low = 0;
  draw.span = ~uint64_t{0};  // a span of 2**64 has no number
  draw.output = numbers;
  const RandomRow row = find_row(draw.op, draw.dtype);
  for (int64_t first = 0; first < plan.numel; first += kBlock) {
    const int64_t count = std::min(kBlock, plan.numel - first);
    draw.offset = plan.offset + static_cast<uint64_t>(first);
    row(draw, 0, count);
    for (int64_t k = 0; k < count; ++k) {
      const auto scaled = static_cast<unsigned __int128>(static_cast<uint64_t>(numbers[k])) *
                          static_cast<uint64_t>(plan.numel - first - k);
      numbers[k] = first + k + static_cast<int64_t>(scaled >> 64);
      __builtin_prefetch(out + numbers[k], 1);
    }
    for (int64_t k = 0; k < count; ++k) std::swap(out[first + k], out[numbers[k]]);
  }
  return kernel::kOk;
}

}  // namespace

kernel::Status random(const RandomPlan& plan) {
  if (plan.op == RandomOp::kPermutation) return permute(plan);
  const RandomRow row = find_row(plan.op, plan.dtype);
  if (row == nullptr) {
    return failure(Code::kDType,
                   "random: expected a floating dtype, or an integer one for integers");
  }
  parallel_for(plan.numel, kGrainElements,
               [&](int64_t begin, int64_t end) { row(plan, begin, end); });
  return kernel::kOk;
}

}  // namespace tsr::cpu
