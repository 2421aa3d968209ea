// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random numbers: one Philox block per element, so that an element's value knows nothing of
// threads.
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/common/philox.h"
#include "backend/cpu/creation.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::RandomOp;
using kernel::RandomPlan;
using kernel::Status;

namespace {

constexpr int64_t kGrainElements = 4096;

// A number of the opmath type in [0, 1) with as many bits as T can hold exactly, so that rounding
// never reaches 1.
template <class T>
double uniform01(const PhiloxBlock& block) {
  constexpr int kBits = std::is_same_v<T, Half>       ? 11
                        : std::is_same_v<T, BFloat16> ? 8
                        : std::is_same_v<T, float>    ? 24
                                                      : 53;
  return std::ldexp(static_cast<double>(block.low() >> (64 - kBits)), -kBits);
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// [low, high): where rounding would reach high, low is as good.
template <class T>
T uniform(const RandomPlan& plan, const PhiloxBlock& block) {
  const double value = plan.p0 + (plan.p1 - plan.p0) * uniform01<T>(block);
  const T rounded = from_double<T>(value);
  const double back =
      static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(rounded));
  return back >= plan.p1 && plan.p1 > plan.p0 ? from_double<T>(plan.p0) : rounded;
}

// Box and Muller (1958): the radius from (0, 1], the angle from [0, 1).
template <class T>
T normal(const RandomPlan& plan, const PhiloxBlock& block) {
  if constexpr (std::is_same_v<T, double>) {
    const double radius =
        std::sqrt(-2 * std::log1p(-std::ldexp(static_cast<double>(block.low() >> 11), -53)));
    const double angle =
        2 * std::numbers::pi * std::ldexp(static_cast<double>(block.high() >> 11), -53);
    return plan.p0 + plan.p1 * radius * std::cos(angle);
  } else {
    const float radius =
        std::sqrt(-2 * std::log1p(-std::ldexp(static_cast<float>(block.words[0] >> 8), -24)));
    const float angle =
        2 * std::numbers::pi_v<float> * std::ldexp(static_cast<float>(block.words[2] >> 8), -24);
    return from_double<T>(plan.p0 + plan.p1 * static_cast<double>(radius * std::cos(angle)));
  }
}

// low + floor(u span / 2^64): the bias is below span / 2^64.
int64_t integer(const RandomPlan& plan, const PhiloxBlock& block) {
  const auto scaled = static_cast<unsigned __int128>(block.low()) * plan.span;
  return static_cast<int64_t>(static_cast<uint64_t>(plan.low) +
                              static_cast<uint64_t>(scaled >> 64));
}

template <class T>
T bernoulli(const RandomPlan& plan, const PhiloxBlock& block, int64_t i) {
  double probability = plan.p0;
  if (plan.probabilities != nullptr) {
    const T own = static_cast<const T*>(plan.probabilities)[i];
    probability =
        static_cast<double>(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(own));
  }
  return from_double<T>(uniform01<double>(block) < probability ? 1.0 : 0.0);
}

template <class T, class Draw>
Status draw_all(const RandomPlan& plan, Draw draw) {
  T* out = static_cast<T*>(plan.output);
  parallel_for(plan.numel, kGrainElements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = draw(philox(plan.seed, plan.offset + static_cast<uint64_t>(i)), i);
    }
  });
  return kernel::kOk;
}

template <class T>
Status floating(const RandomPlan& plan) {
  switch (plan.op) {
    case RandomOp::kUniform:
      return draw_all<T>(
          plan, [&](const PhiloxBlock& block, int64_t) { return uniform<T>(plan, block); });
    case RandomOp::kNormal:
      return draw_all<T>(plan,
                         [&](const PhiloxBlock& block, int64_t) { return normal<T>(plan, block); });
    case RandomOp::kBernoulli:
      return draw_all<T>(
          plan, [&](const PhiloxBlock& block, int64_t i) { return bernoulli<T>(plan, block, i); });
    case RandomOp::kInteger:
      return draw_all<T>(plan, [&](const PhiloxBlock& block, int64_t) {
        return from_double<T>(static_cast<double>(integer(plan, block)));
      });
    case RandomOp::kCount:
      break;
  }
  return failure(Code::kNotImplemented, "random: unknown distribution");
}

}  // namespace

Status random(const RandomPlan& plan) {
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return floating<T>(plan);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (plan.op == RandomOp::kInteger) {
        return draw_all<T>(plan, [&](const PhiloxBlock& block, int64_t) {
          return static_cast<T>(integer(plan, block));
        });
      }
    }
    return failure(Code::kDType,
                   "random: expected a floating dtype, or an integer one for integers");
  });
}

}  // namespace tsr::cpu
