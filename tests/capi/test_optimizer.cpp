// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers over C: each kind against its formula for one number, groups, options, ownership,
// errors.
#include <algorithm>

#include "capi/optimizer_support.h"

namespace test_optimizer {

using namespace tsr::test;

namespace {

using Options = tsr_optimizer_options;

// ---- the formulas for one number, from the papers ----

struct Kept {
  double a = 0, b = 0, c = 0, product = 1;
  int step = 0;
};
using Formula = double (*)(const Options& o, Kept& k, double p, double g);

double sgd(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  if (o.momentum == 0) return p - o.lr * g;
  k.a = k.step == 1 ? g : o.momentum * k.a + (1 - o.dampening) * g;
  return p - o.lr * (o.nesterov != 0 ? g + o.momentum * k.a : k.a);
}

double adam_with(const Options& o, Kept& k, double p, double g) {
  k.a = o.beta1 * k.a + (1 - o.beta1) * g;
  k.b = o.beta2 * k.b + (1 - o.beta2) * g * g;
  k.c = std::max(k.c, k.b);
  const double mean = k.a / (1 - std::pow(o.beta1, k.step));
  const double square = (o.amsgrad != 0 ? k.c : k.b) / (1 - std::pow(o.beta2, k.step));
  return p - o.lr * mean / (std::sqrt(square) + o.eps);
}
double adam(const Options& o, Kept& k, double p, double g) {
  return adam_with(o, k, p, g + o.weight_decay * p);
}
double adamw(const Options& o, Kept& k, double p, double g) {
  return adam_with(o, k, p * (1 - o.lr * o.weight_decay), g);
}

double rmsprop(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  k.a = o.alpha * k.a + (1 - o.alpha) * g * g;
  k.c = o.alpha * k.c + (1 - o.alpha) * g;
  const double root = std::sqrt(o.centered != 0 ? k.a - k.c * k.c : k.a) + o.eps;
  k.b = o.momentum * k.b + g / root;
  return p - o.lr * k.b;
}

double adagrad(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  if (k.step == 1) k.a = o.initial_accumulator_value;
  k.a += g * g;
  return p - o.lr / (1 + (k.step - 1) * o.lr_decay) * g / (std::sqrt(k.a) + o.eps);
}

double adadelta(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  k.a = o.rho * k.a + (1 - o.rho) * g * g;
  const double delta = std::sqrt(k.b + o.eps) / std::sqrt(k.a + o.eps) * g;
  k.b = o.rho * k.b + (1 - o.rho) * delta * delta;
  return p - o.lr * delta;
}

double adamax(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  k.a = o.beta1 * k.a + (1 - o.beta1) * g;
  k.b = std::max(o.beta2 * k.b, std::abs(g) + o.eps);
  return p - o.lr / (1 - std::pow(o.beta1, k.step)) * k.a / k.b;
}

double nadam(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  const auto mu = [&](int step) {
    return o.beta1 * (1 - 0.5 * std::pow(0.96, step * o.momentum_decay));
  };
  k.product *= mu(k.step);
  k.a = o.beta1 * k.a + (1 - o.beta1) * g;
  k.b = o.beta2 * k.b + (1 - o.beta2) * g * g;
  const double next = mu(k.step + 1);
  const double mean = next * k.a / (1 - k.product * next) + (1 - mu(k.step)) * g / (1 - k.product);
  return p - o.lr * mean / (std::sqrt(k.b / (1 - std::pow(o.beta2, k.step))) + o.eps);
}

double radam(const Options& o, Kept& k, double p, double g) {
  g += o.weight_decay * p;
  k.a = o.beta1 * k.a + (1 - o.beta1) * g;
  k.b = o.beta2 * k.b + (1 - o.beta2) * g * g;
  const double decayed = std::pow(o.beta2, k.step);
  const double mean = k.a / (1 - std::pow(o.beta1, k.step));
  const double limit = 2 / (1 - o.beta2) - 1;
  const double length = limit - 2 * k.step * decayed / (1 - decayed);
  if (length <= 5) return p - o.lr * mean;
  const double rectified =
      std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
  return p - o.lr * mean * rectified * std::sqrt(1 - decayed) / (std::sqrt(k.b) + o.eps);
}

double lamb(const Options& o, Kept& k, double p, double g) {
  k.a = o.beta1 * k.a + (1 - o.beta1) * g;
  k.b = o.beta2 * k.b + (1 - o.beta2) * g * g;
  const double mean = k.a / (1 - std::pow(o.beta1, k.step));
  const double root = std::sqrt(k.b / (1 - std::pow(o.beta2, k.step)));
  const double u = mean / (root + o.eps) + o.weight_decay * p;
  return p - o.lr * (p != 0 && u != 0 ? std::abs(p) / std::abs(u) : 1) * u;
}

double lion(const Options& o, Kept& k, double p, double g) {
  const double mixed = o.beta1 * k.a + (1 - o.beta1) * g;
  k.a = o.beta2 * k.a + (1 - o.beta2) * g;
  const double turn = mixed > 0 ? 1 : (mixed < 0 ? -1 : 0);
  return p - o.lr * (turn + o.weight_decay * p);
}

double muon(const Options& o, Kept& k, double p, double g) {
  k.a = o.momentum * k.a + (1 - o.momentum) * g;
  double x = o.nesterov != 0 ? (1 - o.momentum) * g + o.momentum * k.a : k.a;
  x /= std::max(std::abs(x), o.eps);
  for (int i = 0; i < o.ns_steps; ++i) {
    x = 3.4445 * x - 4.7750 * std::pow(x, 3) + 2.0315 * std::pow(x, 5);
  }
  return p * (1 - o.lr * o.weight_decay) - o.lr * x;
}

// The size of the step is kept in b, the gradient before in a.
double rprop(const Options& o, Kept& k, double p, double g) {
  if (k.step == 1) k.b = o.lr;
  if (g * k.a > 0) k.b *= o.etaplus;
  if (g * k.a < 0) k.b *= o.etaminus;
  k.b = std::clamp(k.b, o.step_size_min, o.step_size_max);
  k.a = g * k.a < 0 ? 0 : g;
  return p - (k.a > 0 ? k.b : k.a < 0 ? -k.b : 0);
}

double asgd(const Options& o, Kept& k, double p, double g) {
  const double rate = o.lr / std::pow(1 + o.lambd * o.lr * (k.step - 1), o.alpha);
  return p * (1 - o.lambd * rate) - rate * (g + o.weight_decay * p);
}

struct Case {
  const char* name;
  tsr_optimizer_kind kind;
  Formula formula;
  void (*change)(Options& o);
};
void unchanged(Options& /*o*/) {}

const Case kCases[] = {
    {"sgd", TSR_OPTIMIZER_SGD, sgd, unchanged},
    {"sgd_momentum", TSR_OPTIMIZER_SGD, sgd,
     [](Options& o) { o.momentum = 0.9, o.dampening = 0.5, o.weight_decay = 0.1; }},
    {"sgd_nesterov", TSR_OPTIMIZER_SGD, sgd,
     [](Options& o) { o.momentum = 0.9, o.nesterov = 1, o.maximize = 1; }},
    {"adam", TSR_OPTIMIZER_ADAM, adam, unchanged},
    {"adam_amsgrad", TSR_OPTIMIZER_ADAM, adam,
     [](Options& o) { o.amsgrad = 1, o.weight_decay = 0.1, o.beta1 = 0.8, o.maximize = 1; }},
    {"adamw", TSR_OPTIMIZER_ADAMW, adamw, unchanged},
    {"adamw_amsgrad", TSR_OPTIMIZER_ADAMW, adamw,
     [](Options& o) { o.amsgrad = 1, o.weight_decay = 0.3, o.beta2 = 0.9; }},
    {"rmsprop", TSR_OPTIMIZER_RMSPROP, rmsprop, unchanged},
    {"rmsprop_momentum", TSR_OPTIMIZER_RMSPROP, rmsprop,
     [](Options& o) { o.momentum = 0.7, o.weight_decay = 0.1; }},
    {"rmsprop_centered", TSR_OPTIMIZER_RMSPROP, rmsprop,
     [](Options& o) { o.centered = 1, o.alpha = 0.9, o.maximize = 1; }},
    {"rmsprop_both", TSR_OPTIMIZER_RMSPROP, rmsprop,
     [](Options& o) { o.centered = 1, o.momentum = 0.7; }},
    {"adagrad", TSR_OPTIMIZER_ADAGRAD, adagrad, unchanged},
    {"adagrad_all", TSR_OPTIMIZER_ADAGRAD, adagrad,
     [](Options& o) {
       o.lr_decay = 0.1, o.initial_accumulator_value = 0.5, o.weight_decay = 0.1, o.maximize = 1;
     }},
    {"adadelta", TSR_OPTIMIZER_ADADELTA, adadelta, unchanged},
    {"adadelta_all", TSR_OPTIMIZER_ADADELTA, adadelta,
     [](Options& o) { o.rho = 0.7, o.weight_decay = 0.1, o.maximize = 1; }},
    {"adamax", TSR_OPTIMIZER_ADAMAX, adamax, unchanged},
    {"adamax_all", TSR_OPTIMIZER_ADAMAX, adamax,
     [](Options& o) { o.beta2 = 0.6, o.weight_decay = 0.1, o.maximize = 1; }},
    {"nadam", TSR_OPTIMIZER_NADAM, nadam, unchanged},
    {"nadam_all", TSR_OPTIMIZER_NADAM, nadam,
     [](Options& o) { o.momentum_decay = 0.2, o.weight_decay = 0.1, o.maximize = 1; }},
    {"radam", TSR_OPTIMIZER_RADAM, radam, unchanged},
    {"radam_all", TSR_OPTIMIZER_RADAM, radam,
     [](Options& o) { o.beta2 = 0.9, o.weight_decay = 0.1, o.maximize = 1; }},
    {"lamb", TSR_OPTIMIZER_LAMB, lamb, unchanged},
    {"lamb_all", TSR_OPTIMIZER_LAMB, lamb,
     [](Options& o) { o.lr = 0.1, o.weight_decay = 0.3, o.maximize = 1; }},
    {"lion", TSR_OPTIMIZER_LION, lion, unchanged},
    {"lion_all", TSR_OPTIMIZER_LION, lion,
     [](Options& o) { o.lr = 0.1, o.weight_decay = 0.3, o.maximize = 1; }},
    {"rprop", TSR_OPTIMIZER_RPROP, rprop, unchanged},
    {"rprop_all", TSR_OPTIMIZER_RPROP, rprop,
     [](Options& o) {
       o.lr = 0.1, o.etaminus = 0.3, o.etaplus = 1.5, o.step_size_max = 0.2, o.maximize = 1;
     }},
    {"asgd", TSR_OPTIMIZER_ASGD, asgd, unchanged},
    {"asgd_all", TSR_OPTIMIZER_ASGD, asgd,
     [](Options& o) { o.lr = 0.1, o.lambd = 0.1, o.weight_decay = 0.3, o.maximize = 1; }},
    {"muon", TSR_OPTIMIZER_MUON, muon, unchanged},
    {"muon_all", TSR_OPTIMIZER_MUON, muon,
     [](Options& o) { o.lr = 0.1, o.nesterov = 0, o.momentum = 0.5, o.maximize = 1; }},
};

class Kind : public testing::TestWithParam<Case> {};

TEST_P(Kind, twenty_steps_match_the_formula) {
  const Case& row = GetParam();
  const Options options = options_of(row.kind, row.change);
  for (const tsr_dtype dtype : {TSR_FLOAT64, TSR_FLOAT32}) {
    const Tensor p = parameter(dtype, {1, 1}, {1.5});
    const Optimizer optimizer(options, {p});
    Kept kept;
    double expected = 1.5;
    for (kept.step = 1; kept.step <= 20; ++kept.step) {
      const double g = gradient_at(kept.step);
      set_grad(p, reals(dtype, {1, 1}, {g}));
      ok(tsr_optimizer_step(optimizer));
      expected = row.formula(options, kept, expected, options.maximize != 0 ? -g : g);
    }
    EXPECT_NEAR(values_of(p)[0], expected, dtype == TSR_FLOAT64 ? 1e-12 : 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizer, Kind, testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

// Every kind computes all elements in the same way: also in 16 bits, in parts, and with strides of
// any order.
TEST(Optimizer, elements_do_not_depend_on_layout_and_16_bit_parameters_train) {
  for (const tsr_optimizer_kind kind : kAllKinds) {
    const Tensor rows = parameter(TSR_FLOAT64, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor plain(reals(TSR_FLOAT64, {3, 2}, {1, 4, 2, 5, 3, 6}));
    Tensor turned;
    ok(tsr_matrix_transpose(plain, turned.slot()));
    ok(tsr_tensor_set_requires_grad(turned, 1));
    const Literal g = reals(TSR_FLOAT64, {2, 3}, {1, -1, 2, -2, 3, -3});
    const Tensor small = parameter(TSR_BFLOAT16, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Optimizer optimizer(options_of(kind, [](Options& o) { o.lr = 0.5; }),
                              {rows, turned, small});
    for (int i = 0; i < 3; ++i) {
      set_grad(rows, g);
      set_grad(turned, g);
      set_grad(small, reals(TSR_BFLOAT16, {2, 3}, {1, -1, 2, -2, 3, -3}));
      ok(tsr_optimizer_step(optimizer));
    }
    const std::vector<double> expected = values_of(rows);
    const std::vector<double> found = values_of(turned);
    const std::vector<double> rounded = values_of(small);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-12) << kind;
      EXPECT_NEAR(rounded[i], expected[i], 0.05 * (std::abs(expected[i]) + 1)) << kind;
    }
  }
}

TEST(Optimizer, groups_have_their_own_options_and_parameters_without_gradient_stay) {
  const Tensor slow = parameter(TSR_FLOAT32, {1}, {1});
  const Tensor idle = parameter(TSR_FLOAT32, {1}, {1});
  const Tensor fast = parameter(TSR_FLOAT32, {1}, {1});
  Options options = options_of(TSR_OPTIMIZER_SGD, [](Options& o) { o.lr = 0.25; });
  const Optimizer optimizer(options, {slow, idle});
  options.lr = 1;
  const tsr_tensor more[] = {fast};
  ok(tsr_optimizer_add_group(optimizer, &options, more, 1));
  set_grad(slow, reals(TSR_FLOAT32, {1}, {1}));
  set_grad(fast, reals(TSR_FLOAT32, {1}, {1}));
  ok(tsr_optimizer_step(optimizer));
  EXPECT_EQ(values_of(slow)[0], 0.75);
  EXPECT_EQ(values_of(idle)[0], 1);
  EXPECT_EQ(values_of(fast)[0], 0);
  options.lr = 0;
  ok(tsr_optimizer_options_set(optimizer, 1, &options));
  ok(tsr_optimizer_step(optimizer));
  EXPECT_EQ(values_of(slow)[0], 0.5);
  EXPECT_EQ(values_of(fast)[0], 0);
  refused(tsr_optimizer_options_set(optimizer, 2, &options), TSR_INDEX);
  refused(tsr_optimizer_options_set(optimizer, -1, &options), TSR_INDEX);
}

TEST(Optimizer, late_parameters_have_steps_of_their_own) {
  for (const tsr_optimizer_kind kind : {TSR_OPTIMIZER_SGD, TSR_OPTIMIZER_ADAM}) {
    const Tensor early = parameter(TSR_FLOAT64, {1}, {1});
    const Tensor late = parameter(TSR_FLOAT64, {1}, {1});
    const Tensor alone = parameter(TSR_FLOAT64, {1}, {1});
    const Options options = options_of(kind, [kind](Options& o) {
      o.lr = 0.1;
      if (kind == TSR_OPTIMIZER_SGD) o.momentum = 0.9, o.dampening = 0.5;
    });
    const Optimizer both(options, {early, late});
    const Optimizer one(options, {alone});
    for (int i = 0; i < 4; ++i) {
      set_grad(early, reals(TSR_FLOAT64, {1}, {1}));
      if (i >= 2) {
        set_grad(late, reals(TSR_FLOAT64, {1}, {gradient_at(i)}));
        set_grad(alone, reals(TSR_FLOAT64, {1}, {gradient_at(i)}));
        ok(tsr_optimizer_step(one));
      }
      ok(tsr_optimizer_step(both));
    }
    EXPECT_EQ(values_of(late), values_of(alone)) << kind;
  }
}

TEST(Optimizer, a_step_raises_versions_and_records_nothing) {
  const Tensor p = parameter(TSR_FLOAT32, {2}, {1, 2});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_ADAM), {p});
  set_grad(p, reals(TSR_FLOAT32, {2}, {1, 1}));
  int64_t before = 0, after = 0;
  const int64_t nodes = tsr_live_nodes();
  ok(tsr_tensor_version(p, &before));
  ok(tsr_optimizer_step(optimizer));
  ok(tsr_tensor_version(p, &after));
  EXPECT_GT(after, before);
  EXPECT_EQ(tsr_live_nodes(), nodes);
}

// A state that is made in inference mode must be writable by later steps.
TEST(Optimizer, steps_in_any_mode) {
  const Tensor p = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_ADAM), {p});
  set_grad(p, reals(TSR_FLOAT32, {1}, {1}));
  int32_t previous = 0;
  ok(tsr_inference_mode_set(1, &previous));
  ok(tsr_optimizer_step(optimizer));
  ok(tsr_inference_mode_set(0, &previous));
  ok(tsr_optimizer_step(optimizer));
  EXPECT_NEAR(values_of(p)[0], 0.998, 1e-6);
}

TEST(Optimizer, gradients_may_be_given) {
  const Tensor a = parameter(TSR_FLOAT32, {1}, {1});
  const Tensor b = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_SGD, [](Options& o) { o.lr = 0.5; }), {a, b});
  const Tensor g(reals(TSR_FLOAT32, {1}, {1}));
  const Tensor wide(reals(TSR_FLOAT32, {2}, {1, 1}));
  const Tensor twice(reals(TSR_FLOAT64, {1}, {1}));
  const tsr_tensor first[] = {g, nullptr};
  ok(tsr_optimizer_step_with(optimizer, first, 2));
  EXPECT_EQ(values_of(a)[0], 0.5);
  EXPECT_EQ(values_of(b)[0], 1);
  refused(tsr_optimizer_step_with(optimizer, first, 1), TSR_INVALID_ARGUMENT);
  const tsr_tensor shapes[] = {nullptr, wide};
  refused(tsr_optimizer_step_with(optimizer, shapes, 2), TSR_SHAPE);
  const tsr_tensor dtypes[] = {nullptr, twice};
  refused(tsr_optimizer_step_with(optimizer, dtypes, 2), TSR_DTYPE);
  EXPECT_EQ(values_of(a)[0], 0.5);
}

TEST(Optimizer, keeps_its_parameters_and_lets_them_go) {
  const int64_t before = tsr_live_handles();
  {
    Tensor p = parameter(TSR_FLOAT32, {1}, {1});
    const Optimizer optimizer(options_of(TSR_OPTIMIZER_ADAM), {p});
    set_grad(p, reals(TSR_FLOAT32, {1}, {1}));
    tsr_tensor_release(p.detach());
    ok(tsr_optimizer_step(optimizer));
    tsr_tensor found[1] = {nullptr};
    int32_t count = 0;
    refused(tsr_optimizer_params_get(optimizer, 0, found, 0, &count), TSR_BUFFER);
    EXPECT_EQ(count, 1);
    ok(tsr_optimizer_params_get(optimizer, 0, found, 1, &count));
    EXPECT_NEAR(values_of(found[0])[0], 0.999, 1e-6);
    tsr_tensor_release(found[0]);
  }
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Optimizer, zero_grad_drops_or_clears) {
  const Tensor p = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_SGD), {p});
  set_grad(p, reals(TSR_FLOAT32, {1}, {3}));
  Tensor grad;
  ok(tsr_optimizer_zero_grad(optimizer, 0));
  ok(tsr_tensor_grad(p, grad.slot()));
  same(grad, reals(TSR_FLOAT32, {1}, {0}));
  ok(tsr_optimizer_zero_grad(optimizer, 1));
  ok(tsr_tensor_grad(p, grad.slot()));
  EXPECT_EQ(static_cast<tsr_tensor>(grad), nullptr);
  ok(tsr_optimizer_zero_grad(optimizer, 0));
}

// ---- errors ----

struct Wrong {
  const char* name;
  tsr_optimizer_kind kind;
  void (*change)(Options& o);
  const char* says;
};
const Wrong kWrong[] = {
    {"lr", TSR_OPTIMIZER_SGD, [](Options& o) { o.lr = -1; },
     "sgd: expected a finite number of at least 0 for lr, got -1"},
    {"nan", TSR_OPTIMIZER_ADAM, [](Options& o) { o.lr = kNan; }, "for lr, got nan"},
    {"inf", TSR_OPTIMIZER_ADAM, [](Options& o) { o.eps = kInf; }, "for eps, got inf"},
    {"beta1", TSR_OPTIMIZER_ADAMW, [](Options& o) { o.beta1 = 1; },
     "adamw: expected a number from 0 below 1 for beta1, got 1"},
    {"beta2", TSR_OPTIMIZER_NADAM, [](Options& o) { o.beta2 = -0.1; }, "for beta2"},
    {"rho", TSR_OPTIMIZER_ADADELTA, [](Options& o) { o.rho = 1.1; },
     "adadelta: expected a number from 0 to 1 for rho"},
    {"alpha", TSR_OPTIMIZER_RMSPROP, [](Options& o) { o.alpha = -1; }, "for alpha"},
    {"etaminus", TSR_OPTIMIZER_RPROP, [](Options& o) { o.etaminus = 1; }, "for etaminus"},
    {"etaplus", TSR_OPTIMIZER_RPROP, [](Options& o) { o.etaplus = 1; }, "for etaplus"},
    {"step_sizes", TSR_OPTIMIZER_RPROP, [](Options& o) { o.step_size_min = 51; },
     "at most step_size_max"},
    {"t0", TSR_OPTIMIZER_ASGD, [](Options& o) { o.t0 = -1; }, "for t0"},
    {"weight_decay", TSR_OPTIMIZER_LAMB, [](Options& o) { o.weight_decay = -1; },
     "for weight_decay"},
    {"unused", TSR_OPTIMIZER_LION, [](Options& o) { o.momentum = 0.9; },
     "lion: expected no momentum, which this kind does not use, got 0.9"},
    {"flag", TSR_OPTIMIZER_ADAM, [](Options& o) { o.amsgrad = 2; }, "expected 0 or 1 for amsgrad"},
    {"ns_steps", TSR_OPTIMIZER_MUON, [](Options& o) { o.ns_steps = 0; },
     "muon: expected a whole number from 1 to 99 for ns_steps, got 0"},
    {"nesterov", TSR_OPTIMIZER_SGD, [](Options& o) { o.nesterov = 1; },
     "sgd: expected a momentum above 0 and no dampening for nesterov, got momentum 0"},
};

std::string last_message() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return std::string(view.message, static_cast<size_t>(view.message_len));
}

TEST(Optimizer, wrong_options_name_kind_option_and_value) {
  const Tensor p = parameter(TSR_FLOAT32, {1, 1}, {1});
  const tsr_tensor params[] = {p};
  for (const Wrong& row : kWrong) {
    const Options options = options_of(row.kind, row.change);
    tsr_optimizer made = nullptr;
    refused(tsr_optimizer_new(&options, params, 1, &made), TSR_VALUE);
    EXPECT_NE(last_message().find(row.says), std::string::npos)
        << row.name << ": " << last_message();
    const Optimizer good(options_of(row.kind), {p});
    refused(tsr_optimizer_options_set(good, 0, &options), TSR_VALUE);
  }
}

TEST(Optimizer, wrong_parameters_are_refused) {
  const Tensor p = parameter(TSR_FLOAT32, {2}, {1, 2});
  Tensor computed;
  ok(tsr_exp(p, computed.slot()));
  const Options options = options_of(TSR_OPTIMIZER_SGD);
  tsr_optimizer made = nullptr;
  refused(tsr_optimizer_new(&options, nullptr, 0, &made), TSR_VALUE);
  const tsr_tensor twice[] = {p, p};
  refused(tsr_optimizer_new(&options, twice, 2, &made), TSR_VALUE);
  EXPECT_NE(last_message().find("got one again at position 1"), std::string::npos);
  const tsr_tensor results[] = {computed};
  refused(tsr_optimizer_new(&options, results, 1, &made), TSR_VALUE);
  const Options muon_options = options_of(TSR_OPTIMIZER_MUON);
  refused(tsr_optimizer_new(&muon_options, twice, 1, &made), TSR_SHAPE);
  EXPECT_EQ(made, nullptr);
  const Optimizer optimizer(options, {p});
  refused(tsr_optimizer_add_group(optimizer, &options, twice, 1), TSR_VALUE);
  refused(tsr_optimizer_add_group(optimizer, &muon_options, nullptr, 0), TSR_INVALID_ARGUMENT);
  int64_t count = 0;
  ok(tsr_optimizer_group_count(optimizer, &count));
  EXPECT_EQ(count, 1);
  Options none = {};
  none.struct_size = sizeof(none);
  refused(tsr_optimizer_new(&none, twice, 1, &made), TSR_INVALID_ARGUMENT);
}

TEST(Optimizer, integers_cannot_be_stepped) {
  const Tensor p(ints(TSR_INT64, {1}, {1}));
  const Tensor g(ints(TSR_INT64, {1}, {1}));
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_SGD), {p});
  const tsr_tensor gradients[] = {g};
  refused(tsr_optimizer_step_with(optimizer, gradients, 1), TSR_DTYPE);
}

}  // namespace
}  // namespace test_optimizer
