// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The state of optimizers over C: names, saving, resuming bit for bit, refusals, conversions.
#include <cstdio>
#include <map>

#include "capi/optimizer_support.h"

namespace test_optimizer_state {

using namespace tsr::test;

namespace {

using Options = tsr_optimizer_options;

std::string text_of(tsr_buffer buffer) {
  const char* text = nullptr;
  int64_t size = 0;
  ok(tsr_buffer_data(buffer, &text, &size));
  std::string found(text, static_cast<size_t>(size));
  tsr_buffer_release(buffer);
  return found;
}

struct State {
  explicit State(tsr_optimizer optimizer) {
    tsr_buffer first = nullptr, second = nullptr;
    int32_t count = 0;
    ok(tsr_optimizer_state(optimizer, &first, &second, tensors, kRoom, &count));
    n = count;
    description = text_of(first);
    names = text_of(second);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { tsr_tensor_release_many(tensors, n); }
  tsr_status load_into(tsr_optimizer optimizer) const {
    return tsr_optimizer_state_load(optimizer, description.c_str(), -1, names.c_str(), -1, tensors,
                                    n);
  }

  static constexpr int32_t kRoom = 16;
  std::string description, names;
  tsr_tensor tensors[kRoom] = {};
  int32_t n = 0;
};

// Two matrices in two groups; the second gets a gradient only at every other step.
struct Training {
  explicit Training(tsr_optimizer_kind kind, const Change& change = {})
      : first(parameter(TSR_FLOAT32, {2, 2}, {1, -2, 0.5, 3})),
        second(parameter(TSR_FLOAT32, {1, 3}, {0.1, 0.2, 0.3})),
        options(options_of(kind, change)),
        optimizer(options, {first}) {
    const tsr_tensor more[] = {second};
    options.lr *= 2;
    ok(tsr_optimizer_add_group(optimizer, &options, more, 1));
  }
  void run(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const double g = gradient_at(i);
      ok(tsr_optimizer_zero_grad(optimizer, 1));
      set_grad(first, reals(TSR_FLOAT32, {2, 2}, {g, -g, 2 * g, 0.3}));
      if (i % 2 == 1) set_grad(second, reals(TSR_FLOAT32, {1, 3}, {g, 1 - g, -g}));
      ok(tsr_optimizer_step(optimizer));
    }
  }
  // Copies the parameters of another run, as loading a model file would.
  void take_parameters(const Training& from) {
    Tensor source;
    ok(tsr_detach(from.first, source.slot()));
    Tensor own;
    ok(tsr_detach(first, own.slot()));
    ok(tsr_copy_inplace(own, source, 0));
    ok(tsr_detach(from.second, source.slot()));
    ok(tsr_detach(second, own.slot()));
    ok(tsr_copy_inplace(own, source, 0));
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all = values_of(first);
    for (const double value : values_of(second)) all.push_back(value);
    return all;
  }

  Tensor first, second;
  Options options;
  Optimizer optimizer;
};

void with_everything(Options& o) {
  switch (o.kind) {
    case TSR_OPTIMIZER_ADAM:
    case TSR_OPTIMIZER_ADAMW:
      o.amsgrad = 1;
      break;
    case TSR_OPTIMIZER_RMSPROP:
      o.centered = 1;
      o.momentum = 0.9;
      break;
    case TSR_OPTIMIZER_SGD:
      o.momentum = 0.9;
      o.dampening = 0.5;
      break;
    default:
      break;
  }
  o.lr = 0.1 + 1e-17;
  if (o.kind != TSR_OPTIMIZER_RPROP) o.weight_decay = 1.0 / 3;
}

TEST(OptimizerState, a_run_resumes_bit_for_bit_from_a_file) {
  const char* path = "optimizer_state_test.safetensors";
  for (const tsr_optimizer_kind kind : kAllKinds) {
    Training whole(kind, with_everything);
    whole.run(0, 5);
    ok(tsr_optimizer_save(whole.optimizer, path, -1));
    Training resumed(kind);  // with the defaults: the file brings the options
    resumed.take_parameters(whole);
    ok(tsr_optimizer_load(resumed.optimizer, path, -1));
    Options options = options_of(kind);
    ok(tsr_optimizer_options_get(resumed.optimizer, 0, &options));
    EXPECT_EQ(options.lr, 0.1 + 1e-17);
    EXPECT_EQ(options.weight_decay, kind == TSR_OPTIMIZER_RPROP ? 0 : 1.0 / 3);
    whole.run(5, 10);
    resumed.run(5, 10);
    EXPECT_EQ(resumed.values(), whole.values()) << kind;
    const State a(whole.optimizer), b(resumed.optimizer);
    EXPECT_EQ(a.names, b.names);
    EXPECT_EQ(a.description, b.description);
  }
  EXPECT_EQ(std::remove(path), 0);
}

TEST(OptimizerState, has_the_names_of_the_format) {
  const std::map<tsr_optimizer_kind, std::vector<const char*>> names = {
      {TSR_OPTIMIZER_SGD, {"momentum_buffer"}},
      {TSR_OPTIMIZER_ADAM, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
      {TSR_OPTIMIZER_ADAMW, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
      {TSR_OPTIMIZER_RMSPROP, {"square_avg", "momentum_buffer", "grad_avg"}},
      {TSR_OPTIMIZER_ADAGRAD, {"sum"}},
      {TSR_OPTIMIZER_ADADELTA, {"square_avg", "acc_delta"}},
      {TSR_OPTIMIZER_ADAMAX, {"exp_avg", "exp_inf"}},
      {TSR_OPTIMIZER_NADAM, {"mu_product", "exp_avg", "exp_avg_sq"}},
      {TSR_OPTIMIZER_RADAM, {"exp_avg", "exp_avg_sq"}},
      {TSR_OPTIMIZER_LAMB, {"exp_avg", "exp_avg_sq"}},
      {TSR_OPTIMIZER_LION, {"exp_avg"}},
      {TSR_OPTIMIZER_MUON, {"momentum_buffer"}},
      {TSR_OPTIMIZER_RPROP, {"prev", "step_size"}},
      {TSR_OPTIMIZER_ASGD, {"ax"}},
  };
  for (const tsr_optimizer_kind kind : kAllKinds) {
    Training training(kind, with_everything);
    EXPECT_EQ(State(training.optimizer).names, "[]");
    training.run(0, 1);  // the second parameter has no gradient yet
    std::string expected = "[\"0.0.step\"";
    for (const char* name : names.at(kind)) expected += std::string(",\"0.0.") + name + "\"";
    EXPECT_EQ(State(training.optimizer).names, expected + "]") << kind;
  }
}

TEST(OptimizerState, describes_kind_and_options) {
  const Tensor p = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer sgd(options_of(TSR_OPTIMIZER_SGD, [](Options& o) { o.lr = 0.5; }), {p});
  EXPECT_EQ(State(sgd).description,
            "{\"format\":1,\"groups\":[{\"options\":{\"dampening\":0.0,\"lr\":0.5,"
            "\"maximize\":false,\"momentum\":0.0,\"nesterov\":false,\"weight_decay\":0.0},"
            "\"params\":1}],\"kind\":\"sgd\"}");
}

// A replacement for one text in a state, and the expected error.
struct Spoiled {
  const char* part;
  const char* with;
  tsr_status status;
  const char* says;
};

std::string replaced(std::string text, const std::string& part, const std::string& with) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), with);
}

std::string last_message() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return std::string(view.message, static_cast<size_t>(view.message_len));
}

TEST(OptimizerState, names_that_do_not_fit_are_refused_and_change_nothing) {
  Training training(TSR_OPTIMIZER_ADAM);
  training.run(0, 2);
  const State state(training.optimizer);
  const Spoiled rows[] = {
      {"0.0.step", "0.7.step", TSR_VALUE, "got '0.7.step'"},
      {"0.0.step", "2.0.step", TSR_VALUE, "got '2.0.step'"},
      {"0.0.step", "00.0.step", TSR_VALUE, "got '00.0.step'"},
      {"0.0.step", "+0.0.step", TSR_VALUE, "got '+0.0.step'"},
      {"0.0.step", "99999999999999999999.0.step", TSR_VALUE, "<group>.<index>.<state>"},
      {"0.0.step", "step", TSR_VALUE, "got 'step'"},
      {"0.0.step", "0.0", TSR_VALUE, "got '0.0'"},
      {"0.0.step", "0.0.", TSR_VALUE, "expected a state of this kind"},
      {"0.0.step", "0.0.momentum_buffer", TSR_VALUE, "adam: expected a state of this kind"},
      {"0.0.step", "0.0.mu_product", TSR_VALUE, "adam: expected a state of this kind"},
      {"0.0.exp_avg_sq", "0.0.exp_avg", TSR_VALUE, "got '0.0.exp_avg' again"},
      {"0.0.exp_avg_sq", "0.0.max_exp_avg_sq", TSR_VALUE, "expected also '0.0.exp_avg_sq'"},
  };
  for (const Spoiled& row : rows) {
    const std::string names = replaced(state.names, row.part, row.with);
    refused(tsr_optimizer_state_load(training.optimizer, state.description.c_str(), -1,
                                     names.c_str(), -1, state.tensors, state.n),
            row.status);
    EXPECT_NE(last_message().find(row.says), std::string::npos) << last_message();
    EXPECT_EQ(State(training.optimizer).names, state.names);
  }
}

TEST(OptimizerState, descriptions_that_do_not_fit_are_refused_and_change_nothing) {
  Training training(TSR_OPTIMIZER_ADAM);
  training.run(0, 2);
  const State state(training.optimizer);
  const Spoiled rows[] = {
      {"\"format\":1", "\"format\":2", TSR_VALUE, "of format 1"},
      {"\"kind\":\"adam\"", "\"kind\":\"sgd\"", TSR_VALUE,
       "expected the state of adam, got that of sgd"},
      {"\"kind\":\"adam\"", "\"kind\":7", TSR_VALUE, "of format 1"},
      {"\"lr\":0.001", "\"lr\":-1", TSR_VALUE, "for lr, got -1"},
      {"\"lr\":0.001", "\"lr\":\"fast\"", TSR_VALUE, "for lr, got \"fast\""},
      {"\"lr\":0.001", "\"rate\":1", TSR_VALUE, "got 'rate'"},
      {"\"amsgrad\":false", "\"amsgrad\":1", TSR_VALUE,
       "expected true or false for amsgrad, got 1"},
      {"\"amsgrad\":false", "\"amsgrad\":true", TSR_VALUE, "expected also '0.0.max_exp_avg_sq'"},
      {"\"params\":1", "\"params\":2", TSR_VALUE, "expected 1 parameters in group 0"},
      {"\"params\":1", "\"params\":null", TSR_VALUE, "expected 1 parameters in group 0"},
      {"\"groups\":[", "\"groups\":[{},", TSR_VALUE, "expected 2 groups, got 3"},
      {"\"options\":{", "\"options\":[],\"more\":{", TSR_VALUE, "expected an object of options"},
      {"{", "[", TSR_VALUE, "expected the description"},
  };
  for (const Spoiled& row : rows) {
    const std::string description = replaced(state.description, row.part, row.with);
    refused(tsr_optimizer_state_load(training.optimizer, description.c_str(), -1,
                                     state.names.c_str(), -1, state.tensors, state.n),
            row.status);
    EXPECT_NE(last_message().find(row.says), std::string::npos) << last_message();
    EXPECT_EQ(State(training.optimizer).description, state.description);
  }
  ok(state.load_into(training.optimizer));
}

TEST(OptimizerState, tensors_that_do_not_fit_are_refused) {
  Training training(TSR_OPTIMIZER_SGD, with_everything);
  training.run(0, 1);
  const State state(training.optimizer);
  const char* names = "[\"0.0.step\",\"0.0.momentum_buffer\"]";
  const Tensor step(ints(TSR_INT64, {}, {3}));
  const Tensor real_step(reals(TSR_FLOAT32, {}, {3}));
  const Tensor none(ints(TSR_INT64, {}, {0}));
  const Tensor steps(ints(TSR_INT64, {2}, {3, 3}));
  const Tensor buffer(reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4}));
  const Tensor longer(reals(TSR_FLOAT32, {4}, {1, 2, 3, 4}));
  const Tensor whole(ints(TSR_INT64, {2, 2}, {1, 2, 3, 4}));
  const auto load = [&](tsr_tensor first, tsr_tensor second) {
    const tsr_tensor both[] = {first, second};
    return tsr_optimizer_state_load(training.optimizer, state.description.c_str(), -1, names, -1,
                                    both, 2);
  };
  refused(load(real_step, buffer), TSR_DTYPE);
  refused(load(none, buffer), TSR_VALUE);
  refused(load(steps, buffer), TSR_SHAPE);
  refused(load(step, longer), TSR_SHAPE);
  EXPECT_NE(last_message().find("for '0.0.momentum_buffer', got [4]"), std::string::npos)
      << last_message();
  refused(load(step, whole), TSR_DTYPE);
  EXPECT_EQ(State(training.optimizer).names, state.names);
  ok(load(step, buffer));
  refused(tsr_optimizer_state_load(training.optimizer, state.description.c_str(), -1, names, -1,
                                   state.tensors, 1),
          TSR_VALUE);
}

TEST(OptimizerState, what_is_loaded_is_a_copy_in_the_dtype_of_the_parameter) {
  Training training(TSR_OPTIMIZER_LION);
  training.run(0, 2);
  const State state(training.optimizer);
  const Tensor wide = parameter(TSR_FLOAT64, {2, 2}, {1, -2, 0.5, 3});
  const Tensor other = parameter(TSR_FLOAT64, {1, 3}, {1, 1, 1});
  const Options options = options_of(TSR_OPTIMIZER_LION);
  const Optimizer optimizer(options, {wide});
  const tsr_tensor more[] = {other};
  ok(tsr_optimizer_add_group(optimizer, &options, more, 1));
  ok(state.load_into(optimizer));
  training.run(2, 3);  // changes the tensors of `state`, which share its memory
  const State loaded(optimizer);
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(loaded.tensors[1], &info));
  EXPECT_EQ(info.dtype, TSR_FLOAT64);
  EXPECT_NE(values_of(loaded.tensors[1]), values_of(state.tensors[1]));
}

TEST(OptimizerState, belongs_to_the_parameter_whatever_its_memory) {
  Training training(TSR_OPTIMIZER_ADAM, with_everything);
  training.run(0, 3);
  Tensor converted;
  {
    Tensor plain;
    ok(tsr_detach(training.first, plain.slot()));
    ok(tsr_astype(plain, TSR_FLOAT64, 1, converted.slot()));
  }
  ok(tsr_optimizer_zero_grad(training.optimizer, 1));
  ok(tsr_tensor_set_data(training.first, converted));
  set_grad(training.first, reals(TSR_FLOAT64, {2, 2}, {1, 1, 1, 1}));
  ok(tsr_optimizer_step(training.optimizer));
  const State state(training.optimizer);
  EXPECT_NE(state.names.find("0.0.max_exp_avg_sq"), std::string::npos);
  EXPECT_EQ(values_of(state.tensors[0])[0], 4);
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(state.tensors[1], &info));
  EXPECT_EQ(info.dtype, TSR_FLOAT64);

  const Tensor other(reals(TSR_FLOAT64, {3}, {1, 2, 3}));
  ok(tsr_optimizer_zero_grad(training.optimizer, 1));
  ok(tsr_tensor_set_data(training.first, other));
  set_grad(training.first, reals(TSR_FLOAT64, {3}, {1, 1, 1}));
  refused(tsr_optimizer_step(training.optimizer), TSR_SHAPE);
}

TEST(OptimizerState, parameters_that_leave_a_group_lose_their_state) {
  const Tensor stays = parameter(TSR_FLOAT32, {1}, {1});
  const Tensor leaves = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_ADAM), {leaves, stays});
  set_grad(stays, reals(TSR_FLOAT32, {1}, {1}));
  set_grad(leaves, reals(TSR_FLOAT32, {1}, {1}));
  ok(tsr_optimizer_step(optimizer));
  const tsr_tensor rest[] = {stays};
  const tsr_tensor both[] = {stays, leaves};
  ok(tsr_optimizer_params_set(optimizer, 0, rest, 1));
  EXPECT_EQ(State(optimizer).n, 3);
  ok(tsr_optimizer_params_set(optimizer, 0, both, 2));
  EXPECT_EQ(State(optimizer).names, "[\"0.0.step\",\"0.0.exp_avg\",\"0.0.exp_avg_sq\"]");
  const tsr_tensor twice[] = {stays, stays};
  refused(tsr_optimizer_params_set(optimizer, 0, twice, 2), TSR_VALUE);
  refused(tsr_optimizer_params_set(optimizer, 1, rest, 1), TSR_INDEX);
}

TEST(OptimizerState, files_that_are_no_state_are_refused) {
  const char* path = "optimizer_state_test.safetensors";
  const Tensor p = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer(options_of(TSR_OPTIMIZER_SGD), {p});
  const Tensor weight(reals(TSR_FLOAT32, {1}, {1}));
  const tsr_tensor tensors[] = {weight};
  ok(tsr_archive_save(path, -1, "[\"weight\"]", -1, tensors, 1, "{}", -1));
  refused(tsr_optimizer_load(optimizer, path, -1), TSR_VALUE);
  EXPECT_EQ(std::remove(path), 0);
  refused(tsr_optimizer_load(optimizer, path, -1), TSR_IO);
  refused(tsr_optimizer_save(optimizer, "/no/such/folder/state.safetensors", -1), TSR_IO);
}

}  // namespace
}  // namespace test_optimizer_state
