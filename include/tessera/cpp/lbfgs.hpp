// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// LBFGS: a quasi-Newton method that computes the loss several times a step, with PyTorch's options.
//
// Nocedal and Wright, "Numerical Optimization", 2nd edition: algorithm 7.4 (the two loops over the
// history), 3.5 and 3.6 (the line search for the strong Wolfe conditions), 3.59 (cubic
// interpolation).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/create.hpp"

namespace tessera::optim {

struct LBFGSOptions {
  double lr = 1;          // of a step, or the first one that a search tries
  int64_t max_iter = 20;  // iterations in one step()
  std::optional<int64_t> max_eval = std::nullopt;  // of the loss in one step(); 1.25 max_iter
  double tolerance_grad = 1e-7;                    // ends when no element of the gradient is larger
  double tolerance_change = 1e-9;                  // ends when parameters or loss change by less
  // Steps that the approximated second derivatives know; at most 0: none.
  int64_t history_size = 100;
  bool line_search = false;  // for the strong Wolfe conditions
};

namespace detail {

// What is known of one step length; the slope is that of the loss in the search direction.
struct SearchPoint {
  double t = 0;
  double loss = 0;
  Tensor gradient = {};
  double slope = 0;
};

// A search for a step length that lowers the loss enough and has a flat enough slope.
class WolfeSearch {
 public:
  using Evaluate = std::function<SearchPoint(double)>;

  // `largest` is the largest element of the direction.
  WolfeSearch(Evaluate evaluate, SearchPoint start, double largest, double tolerance)
      : evaluate_(std::move(evaluate)),
        start_(std::move(start)),
        largest_(largest),
        tolerance_(tolerance) {}

  // The point, and how many were tried: the first one and up to `most` more.
  std::pair<SearchPoint, int64_t> run(double t, int64_t most) {
    SearchPoint before = start_;
    SearchPoint now = evaluate_(t);
    int64_t calls = 1;
    SearchPoint other = start_;
    while (calls <= most) {
      const bool passed = too_high(now) || (calls > 2 && now.loss >= before.loss);
      if (!passed && is_flat(now)) return {now, calls};
      if (passed || now.slope >= 0) {
        other = before;
        break;
      }
      t = cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::exchange(now, evaluate_(t));
      ++calls;
    }
    return zoom(other, now, calls, most);
  }

 private:
  // The strong Wolfe conditions, with the usual numbers c1 = 1e-4 and c2 = 0.9.
  bool too_high(const SearchPoint& point) const {
    return point.loss > start_.loss + 1e-4 * point.t * start_.slope;
  }
  bool is_flat(const SearchPoint& point) const {
    return std::abs(point.slope) <= -0.9 * start_.slope;
  }

  // Where the cubic through two points with their slopes is lowest, in [low, high]; the middle if
  // it has no such place.
  static double cubic(const SearchPoint& a, const SearchPoint& b, double low, double high) {
    const SearchPoint& one = a.t > b.t ? b : a;
    const SearchPoint& two = a.t > b.t ? a : b;
    const double d1 = one.slope + two.slope - 3 * (one.loss - two.loss) / (one.t - two.t);
    const double squared = d1 * d1 - one.slope * two.slope;
    if (!(squared >= 0)) return (low + high) / 2;
    const double d2 = std::sqrt(squared);
    const double share = (two.slope + d2 - d1) / (two.slope - one.slope + 2 * d2);
    return std::min(std::max(two.t - (two.t - one.t) * share, low), high);
  }

  // Narrows a bracket until a point meets both conditions.
  std::pair<SearchPoint, int64_t> zoom(SearchPoint low, SearchPoint high, int64_t calls,
                                       int64_t most) {
    if (high.loss < low.loss) std::swap(low, high);
    bool stuck = false;
    while (calls <= most) {
      const double width = std::abs(high.t - low.t);
      if (width * largest_ < tolerance_) break;
      const double left = std::min(low.t, high.t);
      const double right = std::max(low.t, high.t);
      double t = cubic(low, high, left, right);
      // A place near an end, twice in a row or at the end itself, moves inwards by a tenth of the
      // width.
      const bool near = std::min(right - t, t - left) < 0.1 * width;
      const bool moves = near && (stuck || t >= right || t <= left);
      if (moves) {
        t = std::abs(t - right) < std::abs(t - left) ? right - 0.1 * width : left + 0.1 * width;
      }
      stuck = near && !moves;
      SearchPoint now = evaluate_(t);
      ++calls;
      if (too_high(now) || now.loss >= low.loss) {
        high = std::move(now);
        if (high.loss < low.loss) std::swap(low, high);
        continue;
      }
      if (is_flat(now)) return {now, calls};
      if (now.slope * (high.t - low.t) >= 0) high = low;
      low = std::move(now);
    }
    return {low, calls};
  }

  Evaluate evaluate_;
  SearchPoint start_;
  double largest_, tolerance_;
};

}  // namespace detail

// Limited-memory BFGS: all parameters are one vector.
class LBFGS {
 public:
  explicit LBFGS(const TensorList& parameters, const LBFGSOptions& given = {}) : options(given) {
    if (parameters.size() == 0) {
      throw InvalidValueError("params: expected at least one parameter, got an empty list");
    }
    for (int32_t i = 0; i < parameters.size(); ++i) {
      parameters_.push_back(Tensor::borrow(parameters.data()[i]));
    }
  }

  explicit LBFGS(std::initializer_list<Tensor> parameters, const LBFGSOptions& given = {})
      : LBFGS(TensorList(parameters), given) {}

  LBFGSOptions options;  // may change between steps

  void zero_grad() {
    for (Tensor& parameter : parameters_) parameter.set_grad({});
  }

  // Minimises for up to max_iter iterations. The closure computes the loss, calls its backward and
  // returns it; gradients are cleared before. Returns the loss of the first evaluation.
  template <class Closure>
  Tensor step(Closure closure) {
    const std::function<Tensor()> function = std::move(closure);
    return minimise(function);
  }

 private:
  using Point = detail::SearchPoint;

  Tensor minimise(const std::function<Tensor()>& closure) {
    const NoGradGuard no_grad;
    const int64_t max_eval = options.max_eval.value_or(options.max_iter * 5 / 4);
    const Tensor first = evaluate(closure);
    int64_t evaluations = 1;
    Point now{0, first.item<double>(), gather(), 0};
    if (largest(now.gradient) <= options.tolerance_grad) return first;
    for (int64_t iteration = 1; iteration <= options.max_iter; ++iteration) {
      const bool begins = !direction_.defined();
      const double before = now.loss;
      const Tensor direction = next_direction(now.gradient);
      double length = options.lr;
      if (begins) length *= std::min(1.0, 1.0 / abs(now.gradient).sum().item<double>());
      now = {0, now.loss, now.gradient, dot(now.gradient, direction)};
      direction_ = direction;
      gradient_ = now.gradient;
      length_ = 0;
      if (now.slope > -options.tolerance_change) break;
      const bool ends = iteration == options.max_iter;
      evaluations += advance(closure, now, length, ends, max_eval - evaluations);
      length_ = now.t;
      if (ends || evaluations >= max_eval || largest(now.gradient) <= options.tolerance_grad ||
          now.t * largest(direction) <= options.tolerance_change ||
          std::abs(now.loss - before) < options.tolerance_change) {
        break;
      }
    }
    return first;
  }

  // Moves the parameters along the direction, and the point with them. Returns how often the
  // closure was called; a search takes up to `most` steps.
  int64_t advance(const std::function<Tensor()>& closure, Point& point, double length, bool ends,
                  int64_t most) {
    if (!options.line_search) {
      move(length);
      point.t = length;
      if (ends) return 0;  // nobody needs the loss there
      point.loss = evaluate(closure).item<double>();
      point.gradient = gather();
      return 1;
    }
    std::vector<Tensor> begin;
    for (const Tensor& parameter : parameters_) begin.push_back(parameter.detach().clone());
    const auto at = [&](double t) {
      move(t);
      const double loss = evaluate(closure).item<double>();
      Point found{t, loss, gather(), 0};
      found.slope = dot(found.gradient, direction_);
      for (size_t i = 0; i < begin.size(); ++i) parameters_[i].copy_(begin[i]);
      return found;
    };
    detail::WolfeSearch search(at, point, largest(direction_), options.tolerance_change);
    const auto [found, calls] = search.run(length, most);
    point = found;
    move(point.t);
    return calls;
  }

  // The gradient times the approximate inverse of the matrix of second derivatives, negative.
  Tensor next_direction(const Tensor& gradient) {
    if (!direction_.defined()) return -gradient;
    const Tensor y = gradient - gradient_;
    const Tensor s = direction_ * length_;
    const double curvature = dot(y, s);
    if (curvature > 1e-10) {
      scale_ = curvature / dot(y, y);
      history_.push_back({y, s, 1.0 / curvature});
      const int64_t most = std::max<int64_t>(options.history_size, 0);
      while (static_cast<int64_t>(history_.size()) > most) history_.erase(history_.begin());
    }
    Tensor q = -gradient;
    std::vector<double> weights(history_.size());
    for (size_t i = history_.size(); i-- > 0;) {
      weights[i] = history_[i].rho * dot(history_[i].s, q);
      q = q - history_[i].y * weights[i];
    }
    q = q * scale_;
    for (size_t i = 0; i < history_.size(); ++i) {
      q = q + history_[i].s * (weights[i] - history_[i].rho * dot(history_[i].y, q));
    }
    return q;
  }

  Tensor evaluate(const std::function<Tensor()>& closure) {
    zero_grad();
    const EnableGradGuard enable_grad;
    return closure();
  }

  // All gradients as one vector.
  Tensor gather() const {
    std::vector<Tensor> flat;
    for (const Tensor& parameter : parameters_) {
      const Tensor gradient = parameter.grad();
      flat.push_back((gradient.defined() ? gradient.detach() : zeros_like(parameter)).reshape(-1));
    }
    return concat(flat);
  }

  void move(double length) {
    int64_t begin = 0;
    for (Tensor& parameter : parameters_) {
      const int64_t count = parameter.numel();
      parameter.add_(direction_.narrow(0, begin, count).reshape(parameter.shape()) * length);
      begin += count;
    }
  }

  static double dot(const Tensor& a, const Tensor& b) { return vecdot(a, b).item<double>(); }
  static double largest(const Tensor& vector) {
    return vector.numel() == 0 ? 0 : abs(vector).max().item<double>();
  }

  struct Step {
    Tensor y, s;
    double rho;
  };

  std::vector<Tensor> parameters_;
  std::vector<Step> history_;
  double scale_ = 1;
  // The last iteration: its direction, the gradient before, and how far the parameters went.
  Tensor direction_, gradient_;
  double length_ = 0;
};

}  // namespace tessera::optim
