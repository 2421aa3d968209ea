// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Schedules against the rates of tests/conformance/schedules.txt, and what sets them.
#include <fstream>
#include <map>
#include <sstream>

#include "support.hpp"
#include "support/places.h"

namespace test_schedules {

using namespace tessera;
using namespace tessera::test;

namespace {

// The rows of schedules, or those of measures.
std::map<std::string, std::vector<double>> expected_rates(bool of_measures = false) {
  std::map<std::string, std::vector<double>> found;
  std::ifstream file(tsr::testing::source_path("tests/conformance/schedules.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if ((line.rfind("plateau", 0) == 0) != of_measures) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (double rate = 0; words >> rate;) found[name].push_back(rate);
  }
  return found;
}

optim::CyclicLR triangles(optim::CyclicLR::Mode mode, int64_t up, int64_t down, double gamma) {
  optim::CyclicLR cyclic;
  cyclic.base_lr = 0.01;
  cyclic.max_lr = 0.2;
  cyclic.step_size_up = up;
  cyclic.step_size_down = down;
  cyclic.mode = mode;
  cyclic.gamma = gamma;
  return cyclic;
}

optim::OneCycleLR cycle(int64_t steps, bool lines) {
  optim::OneCycleLR one;
  one.max_lr = 0.5;
  one.total_steps = steps;
  one.linear = one.three_phase = lines;
  return one;
}

// The schedules of make_schedules.py.
std::map<std::string, optim::Schedule> schedules() {
  using Mode = optim::CyclicLR::Mode;
  return {
      {"step", optim::StepLR{7}},
      {"multi_step", optim::MultiStepLR{{4, 9, 9, 20}, 0.3}},
      {"constant", optim::ConstantLR{0.25, 9}},
      {"linear", optim::LinearLR{0.1, 0.75, 11}},
      {"exponential", optim::ExponentialLR{0.9}},
      {"polynomial", optim::PolynomialLR{30, 1.7}},
      {"cosine", optim::CosineAnnealingLR{9, 0.01}},
      {"warm_restarts", optim::CosineAnnealingWarmRestarts{7}},
      {"longer_restarts", optim::CosineAnnealingWarmRestarts{3, 2, 0.02}},
      {"triangular", triangles(Mode::kTriangular, 5, 8, 1)},
      {"triangular2", triangles(Mode::kTriangular2, 5, 0, 1)},
      {"exp_range", triangles(Mode::kExpRange, 4, 0, 0.9)},
      {"one_cycle", cycle(41, false)},
      {"three_phases", cycle(45, true)},
      {"sequence", optim::SequentialLR{{optim::LinearLR{0.1, 1, 4}, optim::CosineAnnealingLR{10},
                                        optim::ExponentialLR{0.8}},
                                       {4, 12}}},
      {"chained", optim::ChainedScheduler{{optim::ConstantLR{0.1, 3}, optim::ExponentialLR{0.9}}}},
      {"multiplicative",
       optim::MultiplicativeLR{[](int64_t step) { return step % 3 == 0 ? 0.8 : 1.0; }}},
  };
}

// A member beside its optimizer, as programs have it, in a place that changes.
struct Trained {
  explicit Trained(const Tensor& x) : sgd(x), rates(sgd, optim::StepLR{1, 0.5}), plateau(sgd) {}
  optim::SGD sgd;
  optim::Scheduler<optim::SGD> rates;
  optim::ReduceLROnPlateau<optim::SGD> plateau;
};

TEST(Schedules, follow_an_optimizer_that_is_moved) {
  std::vector<Trained> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(leaf({1}));
  const double before = all[0].sgd.options().lr;
  all[0].rates.step();
  EXPECT_EQ(all[0].sgd.options().lr, before / 2);
  for (int i = 0; i < 12; ++i) all[0].plateau.step(1);
  EXPECT_EQ(all[0].sgd.options().lr, before / 20);
}

}  // namespace

TEST(Schedules, have_the_rates_of_the_table) {
  const auto table = expected_rates();
  const auto ours = schedules();
  ASSERT_EQ(table.size(), ours.size());
  for (const auto& [name, rates] : table) {
    ASSERT_EQ(rates.size(), 41U);
    for (size_t step = 0; step < rates.size(); ++step) {
      EXPECT_NEAR(ours.at(name)(0.3, static_cast<int64_t>(step)), rates[step], 1e-12)
          << name << ' ' << step;
    }
  }
}

TEST(Schedules, lower_the_rate_when_a_measure_stays) {
  optim::PlateauOptions half, up;
  half.factor = 0.5;
  half.patience = 3;
  half.cooldown = 2;
  up.maximize = true;
  up.patience = 2;
  up.threshold = 0.06;
  up.absolute = true;
  up.min_lr = 1e-3;
  const auto table = expected_rates(true);
  ASSERT_EQ(table.size(), 2U);
  for (const auto& [name, rates] : table) {
    const optim::PlateauOptions& options = name == "plateau" ? half : up;
    Tensor x = ones({1}).requires_grad_();
    optim::SGDOptions rate;
    rate.lr = 0.3;
    optim::SGD sgd(x, rate);
    optim::ReduceLROnPlateau plateau(sgd, options);
    for (size_t step = 0; step < rates.size(); ++step) {
      EXPECT_NEAR(sgd.options().lr, rates[step], 1e-12) << name << ' ' << step;
      const double measure = step < 10 ? 1.0 / static_cast<double>(step + 1) : 0.1;
      // As after a checkpoint.
      optim::ReduceLROnPlateau resumed(sgd, options);
      resumed.set_state(plateau.state());
      resumed.step(options.maximize ? -measure : measure);
      plateau.set_state(resumed.state());
    }
  }
  half.factor = 1;
  optim::SGD sgd(ones({1}).requires_grad_());
  EXPECT_THROW(optim::ReduceLROnPlateau(sgd, half), InvalidValueError);
}

TEST(Schedules, set_the_rates_of_all_groups) {
  Tensor x = ones({1}).requires_grad_();
  Tensor y = ones({1}).requires_grad_();
  optim::SGDOptions options;
  options.lr = 1;
  optim::SGD sgd(x, options);
  options.lr = 2;
  sgd.add_group(y, options);
  optim::Scheduler scheduler(sgd, optim::LambdaLR{[](int64_t step) { return 1.0 / (1 + step); }});
  EXPECT_EQ(sgd.options(1).lr, 2);
  scheduler.step();
  EXPECT_EQ(sgd.options(0).lr, 0.5);
  EXPECT_EQ(sgd.options(1).lr, 1);
  scheduler.go_to(3);
  EXPECT_EQ(scheduler.current_step(), 3);
  EXPECT_EQ(sgd.options(1).lr, 0.5);
  EXPECT_EQ(scheduler.initial_rates(), (std::vector<double>{1, 2}));
}

TEST(Schedules, that_do_not_fit_their_milestones_are_refused) {
  const optim::SequentialLR wrong{{optim::StepLR{1}}, {3}};
  EXPECT_THROW(wrong(1, 0), InvalidValueError);
  const optim::SequentialLR falling{{optim::StepLR{1}, optim::StepLR{1}, optim::StepLR{1}},
                                    {10, 5}};
  EXPECT_THROW(falling(1, 7), InvalidValueError);
}

TEST(Schedules, with_wrong_options_are_refused) {
  optim::SGD sgd(ones({1}).requires_grad_());
  const auto refused = [&](const optim::Schedule& schedule, const char* option) {
    const std::string message =
        message_of<InvalidValueError>([&] { optim::Scheduler scheduler(sgd, schedule); });
    EXPECT_NE(message.find(option), std::string::npos) << message;
  };
  refused(optim::CosineAnnealingWarmRestarts{0}, "T_0");
  refused(optim::CosineAnnealingWarmRestarts{2, 0}, "T_mult");
  refused(optim::StepLR{0}, "step_size");
  refused(optim::LinearLR{0.5, 1, 0}, "total_iters");
  refused(optim::PolynomialLR{0}, "total_iters");
  refused(optim::CosineAnnealingLR{0}, "T_max");
  refused(triangles(optim::CyclicLR::Mode::kTriangular, 0, 0, 1), "step_size_up");
  refused(cycle(0, false), "total_steps");
  optim::OneCycleLR one = cycle(10, false);
  one.pct_start = 1.5;
  refused(one, "pct_start");
}

TEST(Schedules, of_one_cycle_begin_at_the_top_and_end) {
  optim::OneCycleLR one = cycle(10, false);
  one.pct_start = 0.1;
  EXPECT_EQ(one(0, 0), 0.5);
  one.three_phase = true;
  EXPECT_EQ(one(0, 0), 0.5);
  optim::SGD sgd(ones({1}).requires_grad_());
  optim::Scheduler scheduler(sgd, one);
  scheduler.go_to(10);
  EXPECT_THROW(scheduler.step(), InvalidValueError);
  EXPECT_EQ(scheduler.current_step(), 10);
}

}  // namespace test_schedules
