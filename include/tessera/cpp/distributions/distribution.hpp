// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The base of distributions, and what they share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/create.hpp"

namespace tessera::distributions {

// A parameter: a tensor or a number, which takes dtype and device of the tensors beside it.
class Value {
 public:
  Value(const Tensor& tensor) : tensor_(tensor) {  // NOLINT(google-explicit-constructor)
    if (tensor.defined()) return;
    throw InvalidArgumentError(
        "a parameter: expected a tensor or a number, got an undefined tensor");
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Value(T number)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<double>(number)) {}

  const Tensor& tensor() const noexcept { return tensor_; }
  double number() const noexcept { return number_; }

 private:
  Tensor tensor_;
  double number_ = 0;
};

namespace detail {

constexpr double kLogTwoPi = 1.8378770664093454836;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What a floating dtype can represent: the distance of 1 to the next number, the smallest normal
// number and the largest one.
struct Limits {
  double eps, tiny, max;
};

inline std::optional<Limits> limits(DType dtype) {
  const auto of = [](auto zero) {
    using Numbers = std::numeric_limits<decltype(zero)>;
    return Limits{Numbers::epsilon(), Numbers::min(), Numbers::max()};
  };
  if (dtype == kFloat64) return of(0.0);
  if (dtype == kFloat32) return of(0.0F);
  if (dtype == kFloat16) return Limits{std::ldexp(1.0, -10), std::ldexp(1.0, -14), 65504.0};
  if (dtype == kBFloat16) {
    return Limits{std::ldexp(1.0, -7), of(0.0F).tiny, std::ldexp(1 - std::ldexp(1.0, -8), 128)};
  }
  return std::nullopt;
}

inline Limits limits(const Tensor& tensor) {
  if (const auto found = limits(tensor.dtype())) return *found;
  throw DTypeError("a parameter: expected a floating dtype, got " +
                   std::string(name(tensor.dtype())));
}

// The parameters as tensors of one shape.
template <size_t kCount>
std::array<Tensor, kCount> broadcast(const std::array<Value, kCount>& values) {
  Tensor like;
  for (const Value& value : values) {
    if (!like.defined()) like = value.tensor();
  }
  std::vector<Tensor> made;
  for (const Value& value : values) {
    if (value.tensor().defined()) {
      made.push_back(value.tensor());
    } else if (like.defined() && limits(like.dtype())) {
      made.push_back(full({}, value.number(), like.dtype(), like.device()));
    } else if (like.defined()) {
      made.push_back(full({}, value.number(), std::nullopt, like.device()));
    } else {
      made.push_back(full({}, value.number()));
    }
  }
  std::vector<Tensor> found = broadcast_tensors(made);
  std::array<Tensor, kCount> result;
  for (size_t i = 0; i < kCount; ++i) result[i] = found[i];
  return result;
}

// Throws unless all elements are true.
inline void expect(const std::string& what, const std::string& expected, const Tensor& met) {
  if (all(met).item<bool>()) return;
  throw InvalidValueError(what + ": expected " + expected +
                          ", got one outside in a tensor of shape " +
                          tessera::detail::text_of(met.shape()));
}
inline void expect_positive(const std::string& what, const Tensor& tensor) {
  expect(what, "numbers above 0", tensor > 0);
}
inline void expect_real(const std::string& what, const Tensor& tensor) {
  expect(what, "numbers that are not NaN", tensor == tensor);
}
inline void expect_unit(const std::string& what, const Tensor& tensor) {
  expect(what, "numbers from 0 to 1", logical_and(tensor >= 0, tensor <= 1));
}

// Throws unless the last axes of a value are those of one value of the distribution.
inline void expect_event(const std::string& kind, const Tensor& value,
                         const std::vector<int64_t>& event) {
  const std::vector<int64_t> shape = value.shape();
  if (shape.size() >= event.size() && std::equal(event.rbegin(), event.rend(), shape.rbegin())) {
    return;
  }
  throw ShapeError(kind + ": value: expected a shape that ends in " +
                   tessera::detail::text_of(event) + ", got " + tessera::detail::text_of(shape));
}

// Moves probabilities away from 0 and 1 by one unit of their dtype.
inline Tensor clamp_probs(const Tensor& probs) {
  const double eps = limits(probs).eps;
  return clip(probs, eps, 1 - eps);
}

// Gamma numbers of rate 1, none of them 0.
inline Tensor gamma_numbers(const Tensor& concentration, const std::vector<int64_t>& shape) {
  const Tensor drawn = standard_gamma(broadcast_to(concentration, shape));
  return clip(drawn, limits(drawn).tiny);
}

inline std::vector<int64_t> without_last(std::vector<int64_t> shape) {
  shape.pop_back();
  return shape;
}

inline void expect_axes(const char* name, const Tensor& tensor) {
  if (tensor.ndim() > 0) return;
  throw ShapeError(std::string(name) + ": expected a tensor with at least one axis, got shape []");
}

inline NotSupportedError no_rsample(const std::string& kind) {
  return NotSupportedError(kind + " has no rsample");
}

}  // namespace detail

// A batch of independent distributions of one kind. A sample has the shape of the draws, then
// batch_shape, then event_shape: so many draws, so many distributions, and the axes of one value.
// Each class has kl_divergence with another distribution of its kind.
class Distribution {
 public:
  virtual ~Distribution() = default;

  virtual std::vector<int64_t> batch_shape() const = 0;
  // Of one value; empty for distributions of numbers.
  virtual std::vector<int64_t> event_shape() const { return {}; }
  virtual Tensor mean() const = 0;
  virtual Tensor variance() const = 0;
  // Random values, which take no part in any graph.
  virtual Tensor sample(const IntList& shape = {}) const {
    const NoGradGuard no_grad;
    return rsample(shape);
  }
  // Random values that can be differentiated with respect to the parameters. Throws
  // NotSupportedError where the values are discrete.
  virtual Tensor rsample(const IntList& shape = {}) const = 0;
  // The logarithm of the density, or of the probability, at each value. Throws InvalidValueError
  // for values that the distribution cannot have, and ShapeError unless values end in event_shape.
  virtual Tensor log_prob(const Tensor& value) const = 0;
  virtual Tensor entropy() const = 0;

 protected:
  Distribution() = default;
  Distribution(const Distribution&) = default;
  Distribution& operator=(const Distribution&) = default;

  std::vector<int64_t> extended(const IntList& shape) const {
    std::vector<int64_t> found = shape.to_vector();
    for (const auto& part : {batch_shape(), event_shape()}) {
      for (const int64_t size : part) found.push_back(size);
    }
    return found;
  }
};

// The divergence of Kullback and Leibler of two distributions of one kind.
template <class Kind>
Tensor kl_divergence(const Kind& p, const Kind& q) {
  return p.kl_divergence(q);
}

}  // namespace tessera::distributions
