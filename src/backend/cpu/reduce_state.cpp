// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/reduce_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tsr::cpu {

using kernel::ReduceOp;
using kernel::ReducePlan;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double float_parameter(const ReducePlan& plan) {
  double value;
  std::memcpy(&value, &plan.params[0], sizeof(value));
  return value;
}

// The type a fold computes in; 16-bit floats and small integers widen.
DType wide_element(DType dtype) {
  switch (category(dtype)) {
    case Category::kFloating:
      return dtype == DType::kFloat64 ? dtype : DType::kFloat32;
    case Category::kComplex:
      return DType::kComplex128;
    default:
      return dtype == DType::kUInt64 ? dtype : DType::kInt64;
  }
}

Fold norm_fold(double order) {
  if (order == 2) return Fold::kSumSquares;
  if (order == 1) return Fold::kSumAbs;
  if (order == 0) return Fold::kCountTrue;
  if (order == kInfinity) return Fold::kMaxAbs;
  return order == -kInfinity ? Fold::kMinAbs : Fold::kSumPowers;
}

ReduceKind total_kind(Fold fold, DType element) {
  const bool complex = is_complex(element);
  const DType result = complex ? element : is_floating(element) ? DType::kFloat64 : DType::kInt64;
  return {fold, element, result, complex ? 2 : 1, false};
}
ReduceKind extreme_kind(Fold fold, DType element, bool position) {
  const DType value = is_floating(element) ? DType::kFloat64 : element;
  return {fold, element, position ? DType::kInt64 : value, position ? 2 : 1, false};
}

}  // namespace

ReduceKind reduce_kind(const ReducePlan& plan) {
  const DType element = wide_element(plan.input_dtype);
  switch (plan.op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
      return total_kind(Fold::kSum, element);
    case ReduceOp::kProd:
      return total_kind(Fold::kProd, element);
    case ReduceOp::kMax:
      return extreme_kind(Fold::kMax, element, false);
    case ReduceOp::kMin:
      return extreme_kind(Fold::kMin, element, false);
    case ReduceOp::kArgMax:
      return extreme_kind(Fold::kArgMax, element, true);
    case ReduceOp::kArgMin:
      return extreme_kind(Fold::kArgMin, element, true);
    case ReduceOp::kAny:
    case ReduceOp::kAll:
      return {Fold::kCountTrue, DType::kBool, DType::kBool, 1, false};
    case ReduceOp::kCountNonzero:
      return {Fold::kCountTrue, DType::kBool, DType::kInt64, 1, false};
    case ReduceOp::kVar:
      return {Fold::kVariance, element, DType::kFloat64, 2, false};
    case ReduceOp::kLogSumExp:
      return {Fold::kLogSumExp, element, DType::kFloat64, 2, false};
    default:
      break;
  }
  const Fold fold = norm_fold(float_parameter(plan));
  if (fold == Fold::kCountTrue) return {fold, DType::kBool, DType::kInt64, 1, false};
  const DType real = real_dtype(plan.input_dtype);
  return {fold, wide_element(real), DType::kFloat64, 1, is_complex(plan.input_dtype)};
}

// ---- Start ----

namespace {

template <class T>
T start_value(Fold fold) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  switch (fold) {
    case Fold::kProd:
      return T{1};
    case Fold::kMax:
    case Fold::kArgMax:
    case Fold::kLogSumExp:
      return kFloat ? -Limits::infinity() : Limits::lowest();
    case Fold::kMin:
    case Fold::kArgMin:
    case Fold::kMinAbs:
      return kFloat ? Limits::infinity() : Limits::max();
    default:
      return T{0};
  }
}

int64_t start_bits(const ReduceKind& kind) {
  int64_t bits = 0;
  const auto keep = [&](auto value) { std::memcpy(&bits, &value, sizeof(value)); };
  if (kind.element == DType::kUInt64)
    keep(start_value<uint64_t>(kind.fold));
  else if (kind.element == DType::kInt64 || kind.element == DType::kBool)
    keep(start_value<int64_t>(kind.fold));
  else
    keep(start_value<double>(kind.fold));
  return bits;
}

}  // namespace

void start_states(const ReduceKind& kind, int64_t count, void* states, int64_t width) {
  auto* words = static_cast<int64_t*>(states);
  std::fill_n(words, count, start_bits(kind));
  if (kind.words == 1) return;
  const bool position = kind.fold == Fold::kArgMax || kind.fold == Fold::kArgMin;
  std::fill_n(words + width, count, position ? -1 : 0);
}

// ---- Merge ----

namespace {

template <class T>
bool is_nan(T value) {
  return value != value;
}
template <class T>
bool beats(bool largest, T candidate, T best) {
  if (is_nan(best)) return false;
  return is_nan(candidate) || (largest ? candidate > best : candidate < best);
}

template <class T>
void merge_value(Fold fold, T& a, T b) {
  switch (fold) {
    case Fold::kProd:
      a = static_cast<T>(a * b);
      return;
    case Fold::kMax:
    case Fold::kMaxAbs:
      if (beats(true, b, a)) a = b;
      return;
    case Fold::kMin:
    case Fold::kMinAbs:
      if (beats(false, b, a)) a = b;
      return;
    default:
      a = static_cast<T>(a + b);
  }
}

template <class T>
void merge_position(bool largest, T& value, int64_t& position, T other, int64_t other_position) {
  if (other_position < 0 || (position >= 0 && !beats(largest, other, value))) return;
  value = other;
  position = other_position;
}

void merge_variance(double& mean, double& squares, double n, double other_mean,
                    double other_squares, double m) {
  const double shift = other_mean - mean;
  mean += shift * m / (n + m);
  squares += other_squares + shift * shift * n * m / (n + m);
}

void merge_logsumexp(double& maximum, double& sum, double other_maximum, double other_sum) {
  const auto pivot = [](double value) { return std::isfinite(value) ? value : 0.0; };
  double joint = maximum;
  if (beats(true, other_maximum, joint)) joint = other_maximum;
  const double base = pivot(joint);
  sum = (sum == 0 ? 0 : sum * std::exp(pivot(maximum) - base)) +
        (other_sum == 0 ? 0 : other_sum * std::exp(pivot(other_maximum) - base));
  maximum = joint;
}

void merge_product(double& re, double& im, double x, double y) {
  const double real = re * x - im * y;
  im = re * y + im * x;
  re = real;
}

// Integers are merged unsigned, which wraps; comparisons of signed ones are not.
template <class T>
void merge_typed(const ReduceKind& kind, int64_t count, T* a, int64_t elements, const T* b,
                 int64_t other_elements, int64_t width) {
  for (int64_t j = 0; j < count; ++j) {
    if (kind.words == 1) {
      merge_value(kind.fold, a[j], b[j]);
      continue;
    }
    T& second = a[width + j];
    const T other = b[width + j];
    if (kind.fold == Fold::kArgMax || kind.fold == Fold::kArgMin) {
      int64_t position, other_position;
      std::memcpy(&position, &second, sizeof(position));
      std::memcpy(&other_position, &other, sizeof(position));
      merge_position(kind.fold == Fold::kArgMax, a[j], position, b[j], other_position);
      std::memcpy(&second, &position, sizeof(position));
    } else if constexpr (std::is_same_v<T, double>) {
      if (kind.fold == Fold::kVariance) {
        merge_variance(a[j], second, static_cast<double>(elements), b[j], other,
                       static_cast<double>(other_elements));
      } else if (kind.fold == Fold::kLogSumExp) {
        merge_logsumexp(a[j], second, b[j], other);
      } else if (kind.fold == Fold::kProd) {
        merge_product(a[j], second, b[j], other);
      } else {
        a[j] += b[j];
        second += other;
      }
    }
  }
}

}  // namespace

void merge_states(const ReduceKind& kind, int64_t count, void* states, int64_t elements,
                  const void* other, int64_t other_elements, int64_t width) {
  const bool sums =
      kind.fold == Fold::kSum || kind.fold == Fold::kProd || kind.fold == Fold::kCountTrue;
  const auto merge = [&]<class T>(TypeTag<T>) {
    merge_typed(kind, count, static_cast<T*>(states), elements, static_cast<const T*>(other),
                other_elements, width);
  };
  const bool integer = is_integral_or_bool(kind.element);
  if (!integer)
    merge(TypeTag<double>{});
  else if (sums || kind.element == DType::kUInt64)
    merge(TypeTag<uint64_t>{});
  else
    merge(TypeTag<int64_t>{});
}

// ---- Finish ----

namespace {

double finish_float(const ReduceKind& kind, const ReducePlan& plan, double first, double second) {
  const auto n = static_cast<double>(plan.reduced_numel);
  switch (kind.fold) {
    case Fold::kSum:
      return plan.op == ReduceOp::kMean ? first / n : first;
    case Fold::kVariance: {
      const double divisor = n - float_parameter(plan);
      return second / std::max(divisor, 0.0);
    }
    case Fold::kSumSquares:
      return std::sqrt(first);
    case Fold::kSumPowers:
      return std::pow(first, 1.0 / float_parameter(plan));
    case Fold::kLogSumExp: {
      const double pivot = std::isfinite(first) ? first : 0.0;
      return pivot + std::log(second);
    }
    default:
      return first;
  }
}

}  // namespace

void finish_states(const ReduceKind& kind, const ReducePlan& plan, int64_t count,
                   const void* states, int64_t width, void* results) {
  const auto* floats = static_cast<const double*>(states);
  const auto* integers = static_cast<const int64_t*>(states);
  const double scale = plan.op == ReduceOp::kMean ? static_cast<double>(plan.reduced_numel) : 1.0;
  const bool position = kind.fold == Fold::kArgMax || kind.fold == Fold::kArgMin;
  for (int64_t j = 0; j < count; ++j) {
    switch (kind.result) {
      case DType::kFloat64: {
        const double second = kind.words == 2 ? floats[width + j] : 0.0;
        static_cast<double*>(results)[j] = finish_float(kind, plan, floats[j], second);
        break;
      }
      case DType::kComplex128:
        static_cast<double*>(results)[2 * j] = floats[j] / scale;
        static_cast<double*>(results)[2 * j + 1] = floats[width + j] / scale;
        break;
      case DType::kBool:
        static_cast<uint8_t*>(results)[j] =
            (plan.op == ReduceOp::kAny ? integers[j] > 0 : integers[j] == plan.reduced_numel) ? 1
                                                                                              : 0;
        break;
      default:
        static_cast<int64_t*>(results)[j] = position ? integers[width + j] : integers[j];
    }
  }
}

}  // namespace tsr::cpu
