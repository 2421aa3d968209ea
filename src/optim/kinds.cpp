// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "optim/kinds.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/optim/optim.h"
#include "optim/generated/defaults.h"

namespace tsr::optim {
namespace {

using kernel::OptimOp;
using Form = OptionRow::Form;

constexpr double kLargest = 1.7976931348623157e308;  // the largest double: refuses NaN and infinity
constexpr double kSmallest = 4.9406564584124654e-324;
constexpr double kAboveOne = 1.0000000000000002;

constexpr OptionRow number(const char* name) {
  return {name, Form::kNumber, 0, kLargest, false, "a finite number of at least 0"};
}
constexpr OptionRow fraction(const char* name) {
  return {name, Form::kNumber, 0, 1, true, "a number from 0 below 1"};
}
constexpr OptionRow flag(const char* name) {
  return {name, Form::kFlag, 0, 1, false, "0 or 1"};
}

// In the order of Option.
constexpr OptionRow kOptions[] = {
    number("lr"),
    fraction("beta1"),
    fraction("beta2"),
    number("eps"),
    number("weight_decay"),
    number("momentum"),
    {"dampening", Form::kNumber, -kLargest, kLargest, false, "a finite number"},
    number("alpha"),
    {"rho", Form::kNumber, 0, 1, false, "a number from 0 to 1"},
    number("lr_decay"),
    number("initial_accumulator_value"),
    number("momentum_decay"),
    {"etaminus", Form::kNumber, kSmallest, 1, true, "a number above 0 and below 1"},
    {"etaplus", Form::kNumber, kAboveOne, kLargest, false, "a finite number above 1"},
    number("step_size_min"),
    number("step_size_max"),
    number("lambd"),
    number("t0"),
    {"ns_steps", Form::kCount, 1, 99, false, "a whole number from 1 to 99"},
    flag("nesterov"),
    flag("amsgrad"),
    flag("centered"),
    flag("decoupled_weight_decay"),
    flag("maximize"),
};
static_assert(std::size(kOptions) == kOptionCount);

using enum Option;

constexpr StateRow kMean{"exp_avg"};
constexpr StateRow kMeanSquare{"exp_avg_sq"};
constexpr StateRow kLargestSquare{"max_exp_avg_sq", kAmsgrad};
constexpr StateRow kBuffer{"momentum_buffer", kMomentum};
constexpr StateRow kSquare{"square_avg"};
constexpr StateRow kGradient{"grad_avg", kCentered};
constexpr StateRow kSum{"sum", kNone, kInitialAccumulatorValue};
constexpr StateRow kDelta{"acc_delta"};
constexpr StateRow kInfNorm{"exp_inf"};
constexpr StateRow kAlways{"momentum_buffer"};
constexpr StateRow kPrevious{"prev"};
constexpr StateRow kStepSize{"step_size", kNone, kLr};
constexpr StateRow kAverage{"ax"};

// States are in the order of the steps in backend/common/optim_step.h.
constexpr KindRow kKinds[] = {
    {Kind::kSgd, "sgd", kSgdOptions, {kBuffer}, OptimOp::kSgd},
    {Kind::kAdam, "adam", kAdamOptions, {kMean, kMeanSquare, kLargestSquare}, OptimOp::kAdam},
    {Kind::kAdamw, "adamw", kAdamwOptions, {kMean, kMeanSquare, kLargestSquare}, OptimOp::kAdamW},
    {Kind::kRmsprop, "rmsprop", kRmspropOptions, {kSquare, kBuffer, kGradient}, OptimOp::kRmsprop},
    {Kind::kAdagrad, "adagrad", kAdagradOptions, {kSum}, OptimOp::kAdagrad},
    {Kind::kAdadelta, "adadelta", kAdadeltaOptions, {kSquare, kDelta}, OptimOp::kAdadelta},
    {Kind::kAdamax, "adamax", kAdamaxOptions, {kMean, kInfNorm}, OptimOp::kAdamax},
    {Kind::kNadam, "nadam", kNadamOptions, {kMean, kMeanSquare}, OptimOp::kNadam},
    {Kind::kRadam, "radam", kRadamOptions, {kMean, kMeanSquare}, OptimOp::kRadam},
    {Kind::kLamb, "lamb", kLambOptions, {kMean, kMeanSquare}, OptimOp::kLamb, update_lamb},
    {Kind::kLion, "lion", kLionOptions, {kMean}, OptimOp::kLion},
    {Kind::kMuon, "muon", kMuonOptions, {kAlways}, OptimOp::kCount, update_muon, true},
    {Kind::kRprop, "rprop", kRpropOptions, {kPrevious, kStepSize}, OptimOp::kRprop},
    {Kind::kAsgd, "asgd", kAsgdOptions, {kAverage}, OptimOp::kAsgd},
};

bool uses(const KindRow& row, Option option) {
  for (const Default& known : row.options) {
    if (known.option == option) return true;
  }
  return false;
}

// The rate of ASGD falls as (1 + lambd lr t)^-alpha with the steps t before; from step t0 on the
// average is one of all parameters since.
void plan_average(const Options& options, int64_t step, kernel::OptimPlan& plan) {
  const auto before = static_cast<double>(step - 1);
  const double rate = options.get(kLr);
  plan.asgd_decay = options.get(kLambd);
  plan.average_rate = rate / std::pow(1 + plan.asgd_decay * rate * before, options.get(kAlpha));
  plan.average_weight = 1 / std::max(1.0, before - options.get(kT0));
}

}  // namespace

const OptionRow& row_of(Option option) noexcept {
  return kOptions[static_cast<size_t>(option)];
}

const KindRow& row_of(Kind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row;
  }
  fail(Code::kInvalidArgument, "options", __FILE__, __LINE__,
       "expected the number of a kind of optimizer from 1 to ", std::size(kKinds), ", got ",
       static_cast<int32_t>(kind));
}

Options::Options(Kind kind) : kind_(kind) {
  for (const Default& known : row_of(kind).options) set(known.option, known.value);
}

const KindRow& Options::row() const noexcept {
  return kKinds[static_cast<size_t>(kind_) - 1];
}

void Options::check() const {
  for (size_t i = 0; i < kOptionCount; ++i) {
    const OptionRow& option = kOptions[i];
    const double value = values_[i];
    if (!uses(row(), static_cast<Option>(i))) {
      TSR_CHECK(value == 0, Code::kValue, "options", row().name, ": expected no ", option.name,
                ", which this kind does not use, got ", value);
      continue;
    }
    const bool inside =
        value >= option.least && (option.below ? value < option.most : value <= option.most);
    TSR_CHECK(inside && (option.form == Form::kNumber || value == std::floor(value)), Code::kValue,
              "options", row().name, ": expected ", option.range, " for ", option.name, ", got ",
              value);
  }
  TSR_CHECK(kind_ != Kind::kSgd || !is_set(kNesterov) || (is_set(kMomentum) && !is_set(kDampening)),
            Code::kValue, "options",
            "sgd: expected a momentum above 0 and no dampening for nesterov, got momentum ",
            get(kMomentum), " and dampening ", get(kDampening));
  TSR_CHECK(get(kStepSizeMin) <= get(kStepSizeMax), Code::kValue, "options", row().name,
            ": expected a step_size_min of at most step_size_max, got ", get(kStepSizeMin), " and ",
            get(kStepSizeMax));
}

kernel::OptimPlan plan_of(const KindRow& row, const Batch& batch) {
  const Options& options = batch.options;
  kernel::OptimPlan plan{};
  plan.op = row.step;
  plan.step = batch.step;
  plan.learning_rate = options.get(kLr);
  plan.beta1 = options.get(kBeta1);
  plan.beta2 = options.get(kBeta2);
  plan.eps = options.get(kEps);
  plan.weight_decay = options.get(kWeightDecay);
  plan.momentum = options.get(kMomentum);
  plan.dampening = options.get(kDampening);
  plan.smoothing = options.get(row.kind == Kind::kAdadelta ? kRho : kAlpha);
  plan.lr_decay = options.get(kLrDecay);
  plan.momentum_decay = options.get(kMomentumDecay);
  plan.momentum_product = batch.momentum_product;
  plan.etaminus = options.get(kEtaminus);
  plan.etaplus = options.get(kEtaplus);
  plan.step_size_min = options.get(kStepSizeMin);
  plan.step_size_max = options.get(kStepSizeMax);
  if (row.kind == Kind::kAsgd) plan_average(options, batch.step, plan);
  plan.nesterov = options.is_set(kNesterov) ? 1 : 0;
  plan.decoupled = options.is_set(kDecoupledWeightDecay) ? 1 : 0;
  plan.maximize = options.is_set(kMaximize) ? 1 : 0;
  plan.first_momentum = batch.fresh ? 1 : 0;
  return plan;
}

void update_fused(const KindRow& row, const Batch& batch) {
  ops::take_step(plan_of(row, batch), batch.params, batch.grads,
                 {batch.states[0], batch.states[1], batch.states[2]});
}

}  // namespace tsr::optim
