// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints, and the saved-tensor hooks of the library, over C.
#include <functional>
#include <string>
#include <vector>

#include "capi/abi_support.h"
#include "support/places.h"

namespace test_checkpoint {

using namespace tsr::test;

namespace {

// A function of tensors that the library may run again.
struct Function {
  std::function<tsr_status(const tsr_tensor*, tsr_tensor*)> body;
  int runs = 0, drops = 0;

  static tsr_status run(void* user, const tsr_tensor* inputs, int32_t) {
    tsr_tensor out = nullptr;
    auto& self = *static_cast<Function*>(user);
    ++self.runs;
    const tsr_status status = self.body(inputs, &out);
    tsr_tensor_release(out);
    return status;
  }
  static void drop(void* user) { ++static_cast<Function*>(user)->drops; }

  Tensor checkpoint(tsr_tensor input, int32_t flags = 0) {
    ok(tsr_checkpoint_begin(&input, 1, run, this, drop, flags));
    Tensor out;
    ok(body(&input, out.slot()));
    ok(tsr_saved_hooks_pop());
    return out;
  }
};

Tensor leaf_of(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor tensor(reals(TSR_FLOAT64, {count}, std::move(values)));
  ok(tsr_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

tsr_status backward(const Tensor& output, int32_t flags = 0) {
  Tensor total;
  ok(tsr_sum(output, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor roots[1] = {total};
  return tsr_backward(roots, 1, nullptr, 0, nullptr, 0, flags);
}

Tensor grad_of(const Tensor& leaf) {
  Tensor grad;
  ok(tsr_tensor_grad(leaf, grad.slot()));
  return grad;
}

void expect_equal(const Tensor& a, const Tensor& b) {
  Tensor equal, all;
  ok(tsr_equal(a, b, equal.slot()));
  ok(tsr_all(equal, nullptr, -1, 0, all.slot()));
  uint8_t value = 0;
  ok(tsr_tensor_read(all, &value, 1));
  EXPECT_EQ(value, 1);
}

std::string last_message() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return {view.message, static_cast<size_t>(view.message_len)};
}

// exp(sin(x)); the nodes save the input of sin and the result of exp.
tsr_status exp_of_sin(const tsr_tensor* in, tsr_tensor* out) {
  Tensor sine;
  const tsr_status status = tsr_sin(in[0], sine.slot());
  return status != TSR_OK ? status : tsr_exp(sine, out);
}

// exp(x) * random
tsr_status noisy(const tsr_tensor* in, tsr_tensor* out) {
  Tensor power, random;
  tsr_status status = tsr_exp(in[0], power.slot());
  if (status != TSR_OK) return status;
  status = tsr_rand_like(power, -1, -1, -1, nullptr, random.slot());
  return status != TSR_OK ? status : tsr_multiply(power, random, out);
}

}  // namespace

TEST(Checkpoint, P1_gives_the_gradients_of_the_plain_call_and_lets_the_function_go) {
  Function function{exp_of_sin};
  const Tensor x = leaf_of({0.1, 0.2}), z = leaf_of({0.1, 0.2});
  Tensor plain;
  const tsr_tensor in[1] = {z};
  ok(exp_of_sin(in, plain.slot()));
  ok(backward(plain));
  {
    const Tensor y = function.checkpoint(x);
    EXPECT_EQ(function.runs, 0);
    ok(backward(y));
    EXPECT_EQ(function.runs, 1) << "all tensors come from one run";
    EXPECT_EQ(function.drops, 1) << "with the last node that needs it";
  }
  expect_equal(grad_of(x), grad_of(z));
  Function unused{exp_of_sin};
  static_cast<void>(unused.checkpoint(x));
  EXPECT_EQ(unused.runs, 0);
  EXPECT_EQ(unused.drops, 1);
}

TEST(Checkpoint, P1_a_retained_graph_runs_again_without_a_third_run) {
  Function function{exp_of_sin};
  const Tensor x = leaf_of({0.1, 0.2});
  const Tensor y = function.checkpoint(x);
  ok(backward(y, TSR_BACKWARD_RETAIN_GRAPH));
  ok(backward(y, TSR_BACKWARD_RETAIN_GRAPH));
  EXPECT_EQ(function.runs, 1);
  ok(backward(y));
  EXPECT_EQ(function.drops, 1);
  EXPECT_EQ(backward(y), TSR_AUTOGRAD);
}

TEST(Checkpoint, P1_repeats_the_random_numbers_and_leaves_the_generator_alone) {
  for (const int32_t fresh : {0, static_cast<int32_t>(TSR_CHECKPOINT_FRESH_RANDOM)}) {
    Function function{noisy};
    const Tensor x = leaf_of({0.5, 1.5, 2.5});
    tsr_generator generator = nullptr;
    ok(tsr_generator_default(&generator));
    ok(tsr_generator_seed(generator, 11));
    const Tensor y = function.checkpoint(x, fresh);
    uint64_t seed = 0, before = 0, after = 0;
    ok(tsr_generator_get_state(generator, &seed, &before));
    ok(backward(y));
    ok(tsr_generator_get_state(generator, &seed, &after));
    tsr_generator_release(generator);
    EXPECT_EQ(before == after, fresh == 0);
    // d(exp(x) r)/dx = exp(x) r
    Tensor difference, largest;
    ok(tsr_subtract(grad_of(x), y, difference.slot()));
    ok(tsr_abs(difference, largest.slot()));
    double values[3] = {};
    ok(tsr_tensor_read(largest, values, sizeof values));
    EXPECT_EQ(values[0] + values[1] + values[2] < 1e-12, fresh == 0);
  }
}

TEST(Checkpoint, P1_its_second_run_has_the_anomaly_mode_of_the_backward) {
  std::vector<int32_t> modes;
  Function function{[&](const tsr_tensor* in, tsr_tensor* out) {
    modes.push_back(tsr_anomaly_mode());
    return exp_of_sin(in, out);
  }};
  const Tensor x = leaf_of({0.1, 0.2});
  const Tensor y = function.checkpoint(x);
  int32_t previous = -1;
  ok(tsr_anomaly_mode_set(TSR_ANOMALY_ENABLED, &previous));
  ok(backward(y));
  EXPECT_EQ(tsr_anomaly_mode(), TSR_ANOMALY_ENABLED);
  ok(tsr_anomaly_mode_set(previous, &previous));
  EXPECT_EQ(modes, (std::vector<int32_t>{0, TSR_ANOMALY_ENABLED}));
}

TEST(Checkpoint, P1_ends_early_or_runs_to_the_end) {
  for (const int32_t flag : {0, static_cast<int32_t>(TSR_CHECKPOINT_RUN_TO_END)}) {
    int ends = 0;
    Function function{[&](const tsr_tensor* in, tsr_tensor* out) {
      const tsr_status status = exp_of_sin(in, out);
      ends += status == TSR_OK ? 1 : 0;
      EXPECT_TRUE(status == TSR_OK || status == TSR_CANCELLED) << status;
      return status;
    }};
    const Tensor x = leaf_of({0.1, 0.2});
    ok(backward(function.checkpoint(x, flag)));
    EXPECT_EQ(ends, flag == 0 ? 1 : 2);
  }
}

TEST(Checkpoint, P1_different_runs_are_errors_that_say_what_differs) {
  int calls = 0;
  Function wider{[&](const tsr_tensor* in, tsr_tensor* out) {
    Tensor twice;
    const tsr_tensor parts[2] = {in[0], in[0]};
    ok(tsr_concat(parts, ++calls == 1 ? 1 : 2, 0, twice.slot()));
    return tsr_exp(twice, out);
  }};
  const Tensor x = leaf_of({0.1, 0.2});
  EXPECT_EQ(backward(wider.checkpoint(x)), TSR_AUTOGRAD);
  EXPECT_NE(last_message().find("tensor 0"), std::string::npos) << last_message();
  EXPECT_NE(last_message().find("float64 [2] on cpu, by the second float64 [4] on cpu"),
            std::string::npos)
      << last_message();
  calls = 0;
  Function fewer{[&](const tsr_tensor* in, tsr_tensor* out) {
    return ++calls == 1 ? exp_of_sin(in, out) : tsr_sin(in[0], out);
  }};
  EXPECT_EQ(backward(fewer.checkpoint(x)), TSR_AUTOGRAD);
  EXPECT_NE(last_message().find("the first run saved 2 tensors for the backward, the second 1"),
            std::string::npos)
      << last_message();
  calls = 0;
  Function more{[&](const tsr_tensor* in, tsr_tensor* out) {
    return ++calls == 1 ? tsr_sin(in[0], out) : exp_of_sin(in, out);
  }};
  EXPECT_EQ(backward(more.checkpoint(x, TSR_CHECKPOINT_RUN_TO_END)), TSR_AUTOGRAD);
  EXPECT_NE(last_message().find("saved 1 tensors for the backward, the second 2"),
            std::string::npos)
      << last_message();
  calls = 0;
  ok(backward(more.checkpoint(x, TSR_CHECKPOINT_RUN_TO_END | TSR_CHECKPOINT_UNCHECKED)));
}

TEST(Checkpoint, P1_checkpoints_can_be_nested) {
  Function inner{noisy};
  Function outer{[&](const tsr_tensor* in, tsr_tensor* out) {
    Tensor sine, between;
    tsr_status status = tsr_sin(in[0], sine.slot());
    if (status != TSR_OK) return status;
    const tsr_tensor raw = sine;
    status = tsr_checkpoint_begin(&raw, 1, Function::run, &inner, Function::drop, 0);
    if (status != TSR_OK) return status;
    status = inner.body(&raw, between.slot());
    ok(tsr_saved_hooks_pop());
    return status != TSR_OK ? status : tsr_exp(between, out);
  }};
  const auto seeded = [](uint64_t seed) {
    tsr_generator generator = nullptr;
    ok(tsr_generator_default(&generator));
    ok(tsr_generator_seed(generator, seed));
    tsr_generator_release(generator);
  };
  const Tensor x = leaf_of({0.1, 0.2}), z = leaf_of({0.1, 0.2});
  seeded(5);
  ok(backward(outer.checkpoint(x)));
  seeded(5);
  Tensor sine, between, plain;
  ok(tsr_sin(z, sine.slot()));
  const tsr_tensor raw[1] = {sine};
  ok(noisy(raw, between.slot()));
  ok(tsr_exp(between, plain.slot()));
  ok(backward(plain));
  expect_equal(grad_of(x), grad_of(z));
  EXPECT_EQ(outer.drops, 1);
  EXPECT_EQ(inner.drops, 2)
      << "the inner function belongs to a checkpoint in each run of the outer";
}

TEST(Checkpoint, P1_an_input_that_was_modified_is_noticed) {
  Function function{exp_of_sin};
  const Tensor x = leaf_of({0.1, 0.2});
  Tensor copy;
  ok(tsr_add(x, x, copy.slot()));
  const Tensor y = function.checkpoint(copy);
  Tensor bare;
  ok(tsr_detach(copy, bare.slot()));
  ok(tsr_zero_inplace(bare));
  EXPECT_EQ(backward(y), TSR_AUTOGRAD);
  EXPECT_NE(last_message().find("modified by an in-place operation"), std::string::npos);
}

TEST(Checkpoint, P1_a_failure_of_the_second_run_comes_out_of_the_backward) {
  int calls = 0;
  Function function{[&](const tsr_tensor* in, tsr_tensor* out) {
    if (++calls != 2) return exp_of_sin(in, out);
    ok(tsr_error_set(TSR_IO, "no more", -1, nullptr, nullptr));
    return tsr_status{TSR_IO};
  }};
  const Tensor x = leaf_of({0.1});
  const Tensor y = function.checkpoint(x);
  EXPECT_EQ(backward(y, TSR_BACKWARD_RETAIN_GRAPH), TSR_IO);
  ok(backward(y));
  EXPECT_EQ(calls, 3);
}

TEST(Checkpoint, P1_says_whether_a_backward_reaches_all_leaves) {
  struct Seen {
    std::vector<int32_t> values;
    static tsr_status hook(void* user, tsr_tensor, tsr_tensor*) {
      int32_t value = -1;
      const tsr_status status = tsr_backward_reaches_all(&value);
      static_cast<Seen*>(user)->values.push_back(value);
      return status;
    }
  } seen;
  const Tensor x = leaf_of({0.1});
  Tensor y, total, grad;
  ok(tsr_exp(x, y.slot()));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(y, Seen::hook, &seen, nullptr, &id));
  ok(tsr_sum(y, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor roots[1] = {total}, inputs[1] = {x};
  ok(tsr_backward(roots, 1, nullptr, 0, nullptr, 0, TSR_BACKWARD_RETAIN_GRAPH));
  ok(tsr_backward(roots, 1, nullptr, 0, inputs, 1, TSR_BACKWARD_RETAIN_GRAPH));
  ok(tsr_grad(roots, 1, nullptr, 0, inputs, 1, 0, grad.slot()));
  EXPECT_EQ(seen.values, (std::vector<int32_t>{1, 0, 0}));
}

// ---- Hooks of the library ----

TEST(SavedOnDevice, P1_keeps_saved_tensors_on_another_device) {
  ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  const auto live = [](tsr_device_type device) {
    tsr_memory_stats stats = {};
    stats.struct_size = sizeof(stats);
    ok(tsr_memory_stats_get(device, 0, &stats));
    return stats.allocated_bytes.all.current;
  };
  const int64_t shape[1] = {1 << 18};
  Tensor x;
  ok(tsr_ones(shape, 1, TSR_FLOAT64, TSR_DEVICE_CPU, 0, x.slot()));
  ok(tsr_tensor_set_requires_grad(x, 1));
  const int64_t host = live(TSR_DEVICE_CPU), device = live(TSR_DEVICE_SIMULATED);
  Tensor total;
  ok(tsr_saved_hooks_push_device(TSR_DEVICE_SIMULATED, 0, 0, 0));
  {
    Tensor y;
    ok(tsr_exp(x, y.slot()));
    ok(tsr_sum(y, nullptr, -1, 0, -1, total.slot()));
  }
  ok(tsr_saved_hooks_pop());
  EXPECT_LT(live(TSR_DEVICE_CPU) - host, 1 << 16);
  EXPECT_GE(live(TSR_DEVICE_SIMULATED) - device, int64_t{1} << 21);
  const tsr_tensor roots[1] = {total};
  ok(tsr_backward(roots, 1, nullptr, 0, nullptr, 0, 0));
  EXPECT_LT(live(TSR_DEVICE_SIMULATED) - device, 1 << 16);
  Tensor expected;
  ok(tsr_exp(x, expected.slot()));
  expect_equal(grad_of(x), expected);
}

TEST(SavedHooks, P1_a_pack_callback_that_modifies_its_tensor_is_an_error) {
  tsr_saved_hooks_vtable hooks = {};
  hooks.struct_size = sizeof(hooks);
  hooks.pack = [](void*, tsr_tensor tensor, void** payload, tsr_drop_fn*) {
    *payload = nullptr;
    return tsr_zero_inplace(tensor);
  };
  hooks.unpack = [](void*, void*, tsr_tensor*) -> tsr_status { return TSR_INTERNAL; };
  ok(tsr_saved_hooks_push(&hooks, nullptr));
  const Tensor x = leaf_of({1, 2});
  Tensor y;
  EXPECT_EQ(tsr_exp(x, y.slot()), TSR_AUTOGRAD);
  EXPECT_NE(last_message().find("modified it in place"), std::string::npos) << last_message();
  ok(tsr_saved_hooks_pop());
}

}  // namespace test_checkpoint
