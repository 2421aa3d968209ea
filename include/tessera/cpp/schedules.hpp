// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Schedules of learning rates: functions of the initial rate and the number of the step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/error.hpp"
#include "tessera/cpp/optim.hpp"

namespace tessera::optim {

// Any function of these is a schedule: the initial rate and the step, from 0 on. Those below have
// the names, options and defaults of PyTorch's schedulers; with a wrong option, or for a step
// behind their end, they throw InvalidValueError.
using Schedule = std::function<double(double base, int64_t step)>;

namespace detail {

constexpr double kPi = 3.14159265358979323846;

// Half a cosine from `from` to `to` while the share goes from 0 to 1.
inline double cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(kPi * share)) / 2;
}
inline double number(int64_t count) {
  return static_cast<double>(count);
}

}  // namespace detail

// Times gamma every step_size steps.
struct StepLR {
  int64_t step_size = 1;
  double gamma = 0.1;
  double operator()(double base, int64_t step) const {
    tessera::detail::check_at_least("StepLR", "step_size", 1, step_size);
    return base * std::pow(gamma, detail::number(step / step_size));
  }
};

// Times gamma at each of the milestones.
struct MultiStepLR {
  std::vector<int64_t> milestones;
  double gamma = 0.1;
  double operator()(double base, int64_t step) const {
    const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                      [&](int64_t milestone) { return milestone <= step; });
    return base * std::pow(gamma, detail::number(passed));
  }
};

// Times factor until step total_iters.
struct ConstantLR {
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
  double operator()(double base, int64_t step) const {
    return step >= total_iters ? base : base * factor;
  }
};

// Times a factor that goes from start_factor to end_factor in total_iters steps.
struct LinearLR {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  int64_t total_iters = 5;
  double operator()(double base, int64_t step) const {
    tessera::detail::check_at_least("LinearLR", "total_iters", 1, total_iters);
    const double share = detail::number(std::min(step, total_iters)) / detail::number(total_iters);
    return base * (start_factor + (end_factor - start_factor) * share);
  }
};

// Times gamma at each step.
struct ExponentialLR {
  double gamma = 0.1;
  double operator()(double base, int64_t step) const {
    return base * std::pow(gamma, detail::number(step));
  }
};

// Falls as (1 - step / total_iters)^power to 0.
struct PolynomialLR {
  int64_t total_iters = 5;
  double power = 1;
  double operator()(double base, int64_t step) const {
    tessera::detail::check_at_least("PolynomialLR", "total_iters", 1, total_iters);
    const double share = detail::number(std::min(step, total_iters)) / detail::number(total_iters);
    return base * std::pow(1 - share, power);
  }
};

// Half a cosine from the initial rate to eta_min in T_max steps, and back.
struct CosineAnnealingLR {
  int64_t T_max = 1;
  double eta_min = 0;
  double operator()(double base, int64_t step) const {
    tessera::detail::check_at_least("CosineAnnealingLR", "T_max", 1, T_max);
    return detail::cosine(base, eta_min, detail::number(step) / detail::number(T_max));
  }
};

// Half a cosine in T_0 steps, then again in T_mult times as many, and so on.
struct CosineAnnealingWarmRestarts {
  int64_t T_0 = 1;
  int64_t T_mult = 1;
  double eta_min = 0;
  double operator()(double base, int64_t step) const {
    tessera::detail::check_at_least("CosineAnnealingWarmRestarts", "T_0", 1, T_0);
    tessera::detail::check_at_least("CosineAnnealingWarmRestarts", "T_mult", 1, T_mult);
    int64_t length = T_0;
    if (T_mult == 1) step %= T_0;
    for (; step >= length; length *= T_mult) step -= length;
    return detail::cosine(base, eta_min, detail::number(step) / detail::number(length));
  }
};

// Triangles between base_lr and max_lr: of one height, of half the height before, or with a height
// of gamma^step.
struct CyclicLR {
  enum class Mode { kTriangular, kTriangular2, kExpRange };
  double base_lr = 0.001;
  double max_lr = 0.01;
  int64_t step_size_up = 2000;
  int64_t step_size_down = 0;  // 0: step_size_up
  Mode mode = Mode::kTriangular;
  double gamma = 1;
  double operator()(double /*base*/, int64_t step) const {
    tessera::detail::check_at_least("CyclicLR", "step_size_up", 1, step_size_up);
    tessera::detail::check_at_least("CyclicLR", "step_size_down", 0, step_size_down);
    const int64_t down = step_size_down == 0 ? step_size_up : step_size_down;
    const int64_t place = step % (step_size_up + down);
    const double height = place <= step_size_up
                              ? detail::number(place) / detail::number(step_size_up)
                              : 1 - detail::number(place - step_size_up) / detail::number(down);
    return base_lr + (max_lr - base_lr) * height * scale(step, step / (step_size_up + down));
  }

 private:
  double scale(int64_t step, int64_t cycle) const {
    if (mode == Mode::kTriangular2) return std::pow(0.5, detail::number(cycle));
    return mode == Mode::kExpRange ? std::pow(gamma, detail::number(step)) : 1;
  }
};

// One rise from max_lr / div_factor to max_lr in the share pct_start of the steps, and a fall to
// 1 / final_div_factor of the start; in three phases the fall pauses at the start's rate.
struct OneCycleLR {
  double max_lr = 0.01;
  int64_t total_steps = 1;
  double pct_start = 0.3;
  bool linear = false;  // instead of cosines
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phase = false;
  double operator()(double /*base*/, int64_t step) const {
    check(step);
    const double start = max_lr / div_factor;
    const double least = start / final_div_factor;
    const double top = pct_start * detail::number(total_steps) - 1;
    const double last = detail::number(total_steps - 1);
    const double now = detail::number(step);
    if (now <= top) return between(start, max_lr, now, top);
    if (!three_phase) return between(max_lr, least, now - top, last - top);
    if (now <= 2 * top) return between(max_lr, start, now - top, top);
    return between(start, least, now - 2 * top, last - 2 * top);
  }

 private:
  void check(int64_t step) const {
    tessera::detail::check_at_least("OneCycleLR", "total_steps", 1, total_steps);
    if (!(pct_start >= 0 && pct_start <= 1)) {
      throw InvalidValueError("OneCycleLR: pct_start: expected a number from 0 to 1, got " +
                              std::to_string(pct_start));
    }
    if (step > total_steps) {
      throw InvalidValueError("OneCycleLR: expected at most " + std::to_string(total_steps) +
                              " steps, got " + std::to_string(step));
    }
  }
  // A phase without length is at its end.
  double between(double from, double to, double place, double length) const {
    const double share = length > 0 ? place / length : 1;
    return linear ? from + (to - from) * share : detail::cosine(from, to, share);
  }
};

// The initial rate times a function of the step.
struct LambdaLR {
  std::function<double(int64_t)> factor;
  double operator()(double base, int64_t step) const { return base * factor(step); }
};

// One schedule after the other: the next begins with its step 0 at each of the milestones, which do
// not fall and are one fewer.
struct SequentialLR {
  std::vector<Schedule> schedules;
  std::vector<int64_t> milestones;
  double operator()(double base, int64_t step) const {
    if (schedules.size() != milestones.size() + 1) {
      throw InvalidValueError("SequentialLR: expected one milestone fewer than schedules");
    }
    if (!std::is_sorted(milestones.begin(), milestones.end())) {
      throw InvalidValueError("SequentialLR: expected milestones that do not fall");
    }
    const auto next = std::upper_bound(milestones.begin(), milestones.end(), step);
    const auto number = static_cast<size_t>(next - milestones.begin());
    return schedules[number](base, number == 0 ? step : step - milestones[number - 1]);
  }
};

// Several schedules at once: each changes the rate that the one before gives.
struct ChainedScheduler {
  std::vector<Schedule> schedules;
  double operator()(double base, int64_t step) const {
    for (const Schedule& schedule : schedules) base = schedule(base, step);
    return base;
  }
};

// At each step times a function of its number; step 0 has the initial rate.
struct MultiplicativeLR {
  std::function<double(int64_t)> factor;
  double operator()(double base, int64_t step) const {
    for (int64_t i = 1; i <= step; ++i) base *= factor(i);
    return base;
  }
};

namespace detail {

// The optimizer of a schedule. One of the library is copied, which is the same optimizer and
// follows it when it is moved; an optimizer of another class is referred to and must live as long.
template <class Kind>
class Scheduled {
 public:
  explicit Scheduled(Kind& optimizer) noexcept : optimizer_(&optimizer) {}
  Kind* operator->() const noexcept { return optimizer_; }

 private:
  Kind* optimizer_;
};

template <class Options>
class Scheduled<Optimizer<Options>> {
 public:
  explicit Scheduled(const Optimizer<Options>& optimizer) : optimizer_(optimizer) {}
  Optimizer<Options>* operator->() noexcept { return &optimizer_; }

 private:
  Optimizer<Options> optimizer_;
};

}  // namespace detail

// Sets the rates of an optimizer's groups by a schedule, at first those of step 0.
template <class Optimizer>
class Scheduler {
 public:
  Scheduler(Optimizer& optimizer, Schedule schedule)
      : optimizer_(optimizer), schedule_(std::move(schedule)) {
    for (int64_t group = 0; group < optimizer.group_count(); ++group) {
      initial_.push_back(optimizer.options(group).lr);
    }
    go_to(0);
  }

  // The next step, or any.
  void step() { go_to(step_ + 1); }
  void go_to(int64_t step) {
    for (size_t i = 0; i < initial_.size(); ++i) {
      const auto group = static_cast<int64_t>(i);
      auto options = optimizer_->options(group);
      options.lr = schedule_(initial_[i], step);
      optimizer_->set_options(options, group);
    }
    step_ = step;
  }
  int64_t current_step() const noexcept { return step_; }
  const std::vector<double>& initial_rates() const noexcept { return initial_; }

 private:
  detail::Scheduled<Optimizer> optimizer_;
  Schedule schedule_;
  std::vector<double> initial_;
  int64_t step_ = 0;
};

struct PlateauOptions {
  bool maximize = false;    // a larger measure is better, as of an accuracy
  double factor = 0.1;      // below 1
  int64_t patience = 10;    // so many steps without a better measure change nothing yet
  double threshold = 1e-4;  // by how much a measure must be better than the best to count
  bool absolute = false;    // threshold is a difference, and not a share of the best
  int64_t cooldown = 0;     // so many steps after a change do not count
  double min_lr = 0;        // no rate becomes smaller
  double eps = 1e-8;        // a rate that would change by no more than this stays
};

// What a checkpoint keeps of ReduceLROnPlateau.
struct PlateauState {
  std::optional<double> best = {};  // empty before the first step
  int64_t bad_steps = 0;            // since the best measure
  int64_t cooling = 0;              // steps of the cooldown that are left
};

// Times factor when a measure, such as the loss of held-out samples, has not become better for
// `patience` steps.
template <class Optimizer>
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, PlateauOptions options = {})
      : optimizer_(optimizer), options_(options) {
    if (options.factor >= 1) {
      tessera::detail::throw_value("ReduceLROnPlateau", "factor", "a number below 1",
                                   std::to_string(options.factor));
    }
  }

  // Takes the measure of a step, and changes the rates of all groups if it is time.
  void step(double measure) {
    if (is_better(measure)) {
      state_.best = measure;
      state_.bad_steps = 0;
    } else {
      ++state_.bad_steps;
    }
    if (state_.cooling > 0) {
      --state_.cooling;
      state_.bad_steps = 0;
    }
    if (state_.bad_steps <= options_.patience) return;
    state_.cooling = options_.cooldown;
    state_.bad_steps = 0;
    for (int64_t group = 0; group < optimizer_->group_count(); ++group) {
      auto changed = optimizer_->options(group);
      const double rate = std::max(changed.lr * options_.factor, options_.min_lr);
      if (changed.lr - rate <= options_.eps) continue;
      changed.lr = rate;
      optimizer_->set_options(changed, group);
    }
  }

  const PlateauState& state() const noexcept { return state_; }
  void set_state(const PlateauState& state) { state_ = state; }

 private:
  bool is_better(double measure) const {
    if (!state_.best) return !std::isnan(measure);
    const double margin = options_.maximize ? -options_.threshold : options_.threshold;
    const double bound = options_.absolute ? *state_.best - margin : *state_.best * (1 - margin);
    return options_.maximize ? measure > bound : measure < bound;
  }

  detail::Scheduled<Optimizer> optimizer_;
  PlateauOptions options_;
  PlateauState state_;
};

}  // namespace tessera::optim
